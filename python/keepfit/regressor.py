"""Regression."""
from typing import Any, Dict, Optional

import numpy as np
from sklearn.base import RegressorMixin

from ._library import lib
from .base import Estimator
from .group import Group
from .options import loss_of, losses

NUMBERS = losses(lib.KEEPFIT_LOSS_NUMBERS)


def _outputs(y: np.ndarray) -> Optional[int]:
    """How many columns; None: y has one dimension."""
    return y.shape[1] if y.ndim > 1 else None


class KeepfitRegressor(RegressorMixin, Estimator):
    """Linear regression that stays within epsilon of the best for all rows so far, while rows keep coming.

    Several outputs (y with a column each) have a fit each; the objective, its gap and epsilon are then of their sum.

    The objective is ``mean(loss) + lam*|coef|^2``, or ``sum(loss) + lam_total*|coef|^2``; with loss "squared" that is
    scikit-learn's Ridge with ``alpha = lam_total``, which is ``n*lam``.

    Parameters
    ----------
    loss : "squared" (or "squared_error"), "huber" or "logcosh"
        (a.x - b)^2; the same up to ``delta`` and linear beyond; or ln cosh(a.x - b), which is as little moved by outliers and
        smooth.
    lam, lam_total : float, optional
        The regulariser on the mean loss (its weight stays the same as rows come) or on the sum (its weight falls).
        Both together are an error; with neither, lam is 1e-3.
    fit_intercept : bool
        An intercept that is not regularised, as in scikit-learn. With losses "huber" and "logcosh" the gap cannot always be proved
        then.
    bias : float, optional
        Instead: a constant feature of this value, regularised like the others; everything is proved then.
    domain : str
        The convex set that the model stays in: "none", "ball:R", "box:LO:HI", "simplex".
    epsilon, epsilon_kind
        How far above the least possible objective the model may be after each call: "absolute", "relative" to the
        least objective, or "stat" (divided by the number of rows).
    guarantee : "proved" or "estimate"
    method : str
        ``keepfit.METHODS`` lists them.
    stage_budget : int, optional
        At most so many gradients a call; a ``ConvergenceWarning`` says so when they were not enough.
    window : int, optional
        Fit the newest so many rows only.
    half_life : int, optional
        The weight of a row halves every so many rows.
    standardise : bool
        Penalise each column in units of its spread, as if the columns had been standardised, with the bound proved for
        the spreads in force. A running StandardScaler breaks every promise. Wants ``fit_intercept``.
    delta : float
        Where huber becomes linear.
    journal : path, optional
        A folder where rows are kept durably; an estimator with the same folder goes on where the last one stopped.
    options : dict, optional
        Further options of the library, by name (``keepfit.OPTIONS``). Those that would do nothing are refused: parameters
        of the estimator, and what says how the command reads files ("scale", "limit", "target", ...).
    trace : bool
        Keep a report of every call in ``trace_``.
    random_state, n_jobs, verbose
        Seed, threads (the result is the same for any number), progress bar in ``stages``.

    Attributes
    ----------
    coef_, intercept_, n_features_in_, feature_names_in_, n_iter_
        As usual.
    gap_bound_ : float
        Proved: the objective is at most so far above its minimum. NaN where nothing can be proved.
    gap_target_, n_gradients_, n_points_, report_, trace_
        What epsilon asked for, gradients computed, rows fitted to, and all that is known.
    """

    def __init__(self, loss: str = "squared", *, lam: Optional[float] = None, lam_total: Optional[float] = None,
                 fit_intercept: bool = True, bias: Optional[float] = None, domain: str = "none", epsilon: float = 1e-3,
                 epsilon_kind: str = "absolute", guarantee: str = "proved", method: str = "auto",
                 stage_budget: Optional[int] = None, window: Optional[int] = None, half_life: Optional[int] = None,
                 standardise: bool = False, delta: float = 1.0, journal=None,
                 options: Optional[Dict[str, Any]] = None, trace: bool = False, random_state=None,
                 n_jobs: Optional[int] = None, verbose: int = 0):
        self.loss = loss
        self.lam = lam
        self.lam_total = lam_total
        self.fit_intercept = fit_intercept
        self.bias = bias
        self.domain = domain
        self.epsilon = epsilon
        self.epsilon_kind = epsilon_kind
        self.guarantee = guarantee
        self.method = method
        self.stage_budget = stage_budget
        self.window = window
        self.half_life = half_life
        self.standardise = standardise
        self.delta = delta
        self.journal = journal
        self.options = options
        self.trace = trace
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _more_tags(self) -> Dict[str, Any]:
        return {"multioutput": True}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = True
        tags.target_tags.multi_output = True
        return tags

    @staticmethod
    def _targets() -> Dict[str, bool]:
        return {"y_numeric": True, "multi_output": True}

    def _has_outputs(self) -> bool:
        return isinstance(self._fitted().fit, Group)

    def _loss(self) -> str:
        return loss_of(self.loss, NUMBERS)

    def fit(self, X, y, sample_weight=None) -> "KeepfitRegressor":
        """Forgets everything and fits these rows, as one stage."""
        X, y = self._checked(X, y, reset=True)
        weight = self._weights(X, sample_weight)
        self._extend(self._begin(self._loss(), outputs=_outputs(y)), X, np.ascontiguousarray(y, np.float64), weight)
        return self

    def partial_fit(self, X, y, sample_weight=None) -> "KeepfitRegressor":
        """Adds these rows, as one stage: the model is then within epsilon for all rows so far."""
        first = not self._running() and not self._resumed(X)
        if first or not self._is_ready(X, y):
            X, y = self._checked(X, y, reset=first)
        kept = self._begin(self._loss(), anew=False, features=None if "_typed" in self.__dict__ else X.shape[1],
                           outputs=_outputs(y)) if first else self._kept
        self._extend(kept, X, np.ascontiguousarray(y, np.float64), self._weights(X, sample_weight))
        return self

    def predict(self, X) -> np.ndarray:
        scores = self._scores(X)
        return scores if self._has_outputs() else scores[:, 0]

    @property
    def coef_(self) -> np.ndarray:
        coefficients = self._linear()[0]
        return coefficients if self._has_outputs() else coefficients[0]

    @property
    def intercept_(self) -> Any:
        intercepts = self._linear()[1]
        return intercepts if self._has_outputs() else float(intercepts[0])
