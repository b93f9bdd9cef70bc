"""Classification."""
from typing import Any, Dict, Optional, Tuple

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from ._library import lib
from .base import Estimator, Kept
from .fit import Fit
from .labels import Labels
from .model import Model
from .options import loss_of, losses, traits

CLASSES = losses(lib.KEEPFIT_LOSS_TWO_CLASSES, lib.KEEPFIT_LOSS_MANY_CLASSES)

FEW = 16  # rows whose labels are looked at one by one


def _has_probabilities(estimator) -> bool:
    if _is_binary_only(estimator):
        raise AttributeError("loss %r has no probabilities" % (estimator.loss,))
    return True


def _is_binary_only(estimator) -> bool:
    """For two classes, and no probabilities: logistic has them, and gives way to softmax when a third class comes."""
    return traits(estimator.loss) == lib.KEEPFIT_LOSS_TWO_CLASSES


class KeepfitClassifier(ClassifierMixin, Estimator):
    """Linear classification that stays within epsilon of the best for all rows so far, while rows keep coming.

    The objective is ``mean(loss) + lam*|coef|^2``, or ``sum(loss) + lam_total*|coef|^2``; with loss "logistic" that is
    scikit-learn's LogisticRegression with ``C = 1/(2*lam_total)``, which is ``1/(2*n*lam)``. Classes may appear at any call.

    Parameters
    ----------
    loss : "logistic" (or "log_loss"), "softmax", "hinge" or "squared-hinge"
        "logistic" is binomial for two classes and multinomial for more, as in scikit-learn; it changes over when the third
        class comes. "softmax" has a set of coefficients a class also for two. "hinge" (with a corner rounded over
        ``delta``) and "squared-hinge" (LinearSVC's; "squared_hinge" will do, too) are for two.
    class_weight : dict or "balanced", optional
        Multiplies the rows' weights. "balanced" needs all rows at once, so it is for ``fit`` only.

    The other parameters and attributes are those of :class:`KeepfitRegressor`; with a free intercept the gap is
    proved once every class has rows, and ``gap_bound_`` is NaN before. ``classes_`` are the classes so far.
    """

    def __init__(self, loss: str = "logistic", *, lam: Optional[float] = None, lam_total: Optional[float] = None,
                 fit_intercept: bool = True, bias: Optional[float] = None, domain: str = "none", epsilon: float = 1e-3,
                 epsilon_kind: str = "absolute", guarantee: str = "proved", method: str = "auto",
                 stage_budget: Optional[int] = None, window: Optional[int] = None, half_life: Optional[int] = None,
                 standardise: bool = False, delta: float = 1.0, class_weight=None,
                 journal=None, options: Optional[Dict[str, Any]] = None, trace: bool = False, random_state=None,
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
        self.class_weight = class_weight
        self.journal = journal
        self.options = options
        self.trace = trace
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _more_tags(self) -> Dict[str, Any]:
        return {"binary_only": _is_binary_only(self)}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not _is_binary_only(self)
        return tags

    # ---- fitting

    def fit(self, X, y, sample_weight=None) -> "KeepfitClassifier":
        """Forgets everything and fits these rows, as one stage."""
        X, y = self._checked(X, y, reset=True)
        check_classification_targets(y)
        weight = self._class_weights(y, self._weights(X, sample_weight))
        self._learn(self._start(y, anew=True), X, y, weight)
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None) -> "KeepfitClassifier":
        """Adds these rows, as one stage: the model is then within epsilon for all rows so far. ``classes``, which may be
        left out, are classes to be known before they come."""
        if self.class_weight == "balanced":
            raise ValueError("class_weight 'balanced' needs all rows at once; give partial_fit a dict or sample_weight")
        first = not self._running() and not self._resumed(X)
        if first or not self._is_ready(X, y):
            X, y = self._checked(X, y, reset=first)
            check_classification_targets(y)
        kept = self._start(y if classes is None else np.asarray(classes), anew=False) if first else self._kept
        if classes is not None:
            kept = self._expect(kept, np.asarray(classes))
        weight = None if sample_weight is None else self._weights(X, sample_weight)
        self._learn(kept, X, y, self._class_weights(y, weight) if self.class_weight else weight)
        return self

    def _class_weights(self, y, weight: Optional[np.ndarray]) -> Optional[np.ndarray]:
        if self.class_weight is None:
            return weight
        by_class = compute_sample_weight(self.class_weight, y)
        return by_class if weight is None else by_class * weight

    def _loss(self) -> str:
        return loss_of(self.loss, CLASSES)

    def _start(self, y: np.ndarray, anew: bool) -> Kept:
        loss = self._loss()
        several = loss == "logistic" and self.journal is None and len(np.unique(y)) > 2
        return self._begin("softmax" if several else loss, Labels(y), anew, None if anew or "_typed" in self.__dict__ else self.n_features_in_)

    def _learn(self, kept: Kept, X, y: np.ndarray, weight: Optional[np.ndarray]) -> None:
        kept, targets = self._prepared(kept, y)
        self._extend(kept, X, targets, weight)

    def _prepared(self, kept: Kept, y: np.ndarray) -> Tuple[Kept, np.ndarray]:
        """What can take these classes, and the numbers that stand for them. It changes nothing before rows have come."""
        targets = kept.labels.encode(y)
        present = targets.tolist() if len(targets) <= FEW else np.unique(targets).tolist()
        kept.new = new = set(present) - kept.known
        if not new:
            return kept, targets
        kept.labels.admit(new, y.dtype)
        if kept.loss != "softmax" and len(kept.known | new) > 2:
            if _is_binary_only(self):
                raise ValueError("Only binary classification is supported. The type of the target is multiclass. "
                                 "(loss %r; OneVsRestClassifier makes it serve more)" % (self.loss,))
            if self.journal is not None:
                raise ValueError("a journal keeps to its loss: use loss 'softmax' where there may be more than two classes")
            kept = self._multinomial(kept)
        return kept, targets

    def _multinomial(self, kept: Kept) -> Kept:
        """The third class has come: the same points under the loss for more than two."""
        fit = Fit(**dict(kept.fit.options, loss="softmax"))
        for label in sorted(kept.known):
            fit.expect(label)
        fit.take_over(kept.fit)
        other = Kept(fit, labels=kept.labels)
        other.known, other.new, other.settings = set(kept.known), kept.new, kept.settings
        return other

    def _expect(self, kept: Kept, classes: np.ndarray) -> Kept:
        kept, _ = self._prepared(kept, classes)
        for label in sorted(kept.new):
            kept.fit.expect(label)
        kept.came()
        kept.changed()
        return kept

    # ---- predicting

    @property
    def classes_(self) -> np.ndarray:
        kept = self.__dict__.get("_kept")
        if kept is None:
            raise AttributeError("the classes are known once the estimator is fitted")
        return kept.cached("classes", lambda: np.sort(self._named(kept.model)))

    def _named(self, model: Model) -> np.ndarray:
        """The model's classes, in its order."""
        return self._kept.labels.decode(model.labels)

    def _arranged(self, weights: np.ndarray, model: Model) -> Tuple[np.ndarray, np.ndarray]:
        """By the order of ``classes_``: a row each, or for two classes one, which is positive for the second."""
        names, classes = self._named(model), self.classes_
        intercepts = model.intercepts
        if len(intercepts) == 1:
            sign = -1 if len(classes) == 2 and names[1] != classes[1] else 1
            return sign * weights, sign * intercepts
        order = np.argsort(names)
        weights, intercepts = weights[order], intercepts[order]
        if len(classes) == 2:
            return weights[1:] - weights[:1], intercepts[1:] - intercepts[:1]
        return weights, intercepts

    def decision_function(self, X) -> np.ndarray:
        """Scores, a column a class; for two classes one number, above 0 for the second."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X) -> np.ndarray:
        scores = self._scores(X)
        if scores.shape[1] == 1:
            chosen = scores[:, 0] > 0 if len(self.classes_) == 2 else np.zeros(len(scores), int)
            return self.classes_[chosen.astype(int)]
        return self.classes_[scores.argmax(axis=1)]

    @available_if(_has_probabilities)
    def predict_proba(self, X) -> np.ndarray:
        """Probabilities, a column a class."""
        scores = self._scores(X)
        if scores.shape[1] > 1:
            return softmax(scores, axis=1)
        if len(self.classes_) < 2:
            return np.ones((len(scores), 1))
        positive = expit(scores[:, 0])
        return np.column_stack([expit(-scores[:, 0]), positive])

    @available_if(_has_probabilities)
    def predict_log_proba(self, X) -> np.ndarray:
        """Their logarithms."""
        return np.log(self.predict_proba(X))

    @property
    def coef_(self) -> np.ndarray:
        return self._linear()[0]

    @property
    def intercept_(self) -> np.ndarray:
        return self._linear()[1]
