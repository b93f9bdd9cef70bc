"""What the estimators share: parameters in the library's terms, rows on their way in, and what is known afterwards."""
import inspect
import numbers
import warnings
from operator import attrgetter
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Set, Tuple

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_X_y

from . import sayings
from .errors import NotProvedWarning
from .fit import Fit, Measurement, Stage
from .group import Group
from .labels import Labels
from .model import Model
from .predictor import Predictor
from .schema import name_of
from .table import TYPING, Table, has_types, is_frame

FLOAT = np.dtype(np.float64)

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before 1.6 it was a method

    def validate_data(estimator, *arguments, **options):
        return estimator._validate_data(*arguments, **options)


try:
    from tqdm.auto import tqdm
except ImportError:
    tqdm = None


class Kept:
    """What lies behind a fitted estimator: a fit that goes on, or a model that was loaded. It reads the model out of the
    fit only when somebody asks, since that costs more than a point."""

    looked = doubted = False  # whether something can be proved; that nothing is, or that a stage is not, was said

    def __init__(self, fit: Optional[Fit] = None, model: Optional[Model] = None, labels: Optional[Labels] = None):
        self.fit, self._model, self.labels = fit, model, labels
        self.loss = model.loss if model else fit.options["loss"]
        self.settings: Tuple = ()  # the parameters that it began with
        self.known = set() if fit else set(model.labels.tolist())
        self.new: Set[float] = set()  # classes that come with the next rows
        self.named = -1  # classes whose names the fit knows; not even those of the features
        self.cache: Dict[str, Any] = {}
        self.table: Optional[Table] = None  # where rows are frames with types
        self.table_named = 0  # of its features, those that the fit knows

    def __getstate__(self) -> Dict[str, Any]:
        return dict(self.__dict__, cache={}, table=None, table_named=0)  # what the table knows is in the schema

    def known_schema(self):
        """The library's schema of the fit or the model, and whether its columns have types."""
        return self.fit.raw_schema() if self.fit is not None else self._model.raw_schema()

    def came(self) -> None:
        """The rows are in, and so are their classes."""
        self.known |= self.new
        if self.labels is not None:
            self.labels.dtype = self.labels.wider

    def changed(self) -> None:
        self.cache = {}  # another one: who is just computing something puts it into the old one

    def cached(self, name: str, compute: Callable[[], Any]) -> Any:
        cache = self.cache
        if name not in cache:
            cache[name] = compute()
        return cache[name]

    @property
    def model(self) -> Model:
        if self._model is not None:
            return self._model
        return self.cached("model", self.fit.model)


class Estimator(BaseEstimator):
    """The parameters in ``_options`` are the library's options of the same name."""

    _options: Tuple[str, ...] = ("delta", "lam", "lam_total", "fit_intercept", "bias", "domain", "method", "epsilon",
                                 "epsilon_kind", "guarantee", "stage_budget", "window", "half_life",
                                 "standardise", "journal", "n_jobs", "random_state")
    _settings = attrgetter("loss", "options", *_options)

    # ---- parameters

    def __sklearn_tags__(self):  # what _more_tags is from scikit-learn 1.6 on
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _library_options(self, loss: str) -> Dict[str, Any]:
        values = {name: getattr(self, name) for name in self._options}
        values["loss"] = loss
        if self.journal == "":  # which the library takes for none
            raise ValueError("journal is the path of a folder, not an empty text")
        if self.lam is not None and self.lam_total is not None:
            raise ValueError("lam and lam_total exclude each other: one regularises the mean of the losses, the other their sum")
        if self.bias is not None:
            values["fit_intercept"] = None
        if self.n_jobs is not None and self.n_jobs < 0:
            values["n_jobs"] = None
        if self.random_state is not None and not isinstance(self.random_state, numbers.Integral):
            values["random_state"] = check_random_state(self.random_state).randint(2**31)
        for name, value in (self.options or {}).items():
            name = name.replace("-", "_")
            if name in TYPING:
                continue  # for the table
            if name in values or name in self.get_params(deep=False):
                raise ValueError("%s is a parameter of its own, not one of the options" % name)
            values[name] = value
        return values

    # ---- rows on their way in

    def _begin(self, loss: str, labels: Optional[Labels] = None, anew: bool = True, features: Optional[int] = None,
               outputs: Optional[int] = None) -> Kept:
        """A fit with nothing in it, or with what the journal has. ``features``: as many as the rows have that are to come."""
        options = self._library_options(loss)
        fit = Fit.silent(**options) if outputs is None else Group(outputs, options)
        if anew and fit.report.points:
            raise ValueError("the journal %r holds %d points already: partial_fit goes on with them, fit wants an empty one"
                             % (self.journal, fit.report.points))
        if features is not None and features < fit.report.features:
            raise ValueError("X has %d features, but the rows in the journal %r have %d" % (features, self.journal, fit.report.features))
        kept = Kept(fit, labels=self._known_labels(fit, labels))
        kept.settings = self._settings(self)
        if labels is not None and fit.report.points:
            kept.known = set(fit.model().labels.tolist())
        self.trace_: List[Stage] = []
        return kept

    def _known_labels(self, fit: Fit, labels: Optional[Labels]) -> Optional[Labels]:
        """A journal's classes keep their numbers."""
        if labels is None or not fit.report.classes:
            return labels
        classes = fit.schema().classes
        if bool(classes) != (labels.names is not None):
            raise ValueError("the journal %r has classes that are %s" % (self.journal, "texts" if classes else "numbers"))
        return Labels.named(classes) if classes else labels

    def _name(self, kept: Kept) -> None:
        """The fit learns what features and classes are called."""
        names = kept.labels.names if kept.labels is not None else None
        table = self._table_of(kept)
        if table is not None and kept.table_named < table.features:
            kept.fit.name_table(table, self.__dict__.get("_target_name"))
            kept.table_named = table.features
        if kept.named == len(names or ()):
            return
        if table is not None:
            kept.fit.name(classes=names)
            kept.named = len(names or ())
            return
        feature_names = self.__dict__.get("feature_names_in_")
        kept.fit.name(self.n_features_in_, feature_names, self.__dict__.get("_target_name"), names)
        kept.named = len(names or ())

    def _is_ready(self, X, y) -> bool:
        """Whether these arrays can go to the library as they are: it makes the remaining checks itself."""
        if type(X) is np.ndarray:
            good = X.ndim == 2 and X.dtype is FLOAT and X.flags.c_contiguous
        else:
            good = type(X) is scipy.sparse.csr_matrix and X.dtype == FLOAT
        return (good and type(y) is np.ndarray and y.ndim == 1 and len(y) > 0 and X.shape == (len(y), self.n_features_in_)
                and "feature_names_in_" not in self.__dict__)

    # ---- frames with types

    def __getstate__(self) -> Dict[str, Any]:
        state = dict(super().__getstate__())
        for name in ("_fresh_table", "_table_ahead"):
            state.pop(name, None)
        return state

    def _resumed(self, X) -> bool:
        """A journal that knows types reads these rows by them."""
        if self.journal is None or not (has_types(X) or self._typing()) or "_kept" in self.__dict__:
            return False
        self.resume()
        return "_kept" in self.__dict__ and "_typed" in self.__dict__

    def _typing(self) -> Dict[str, Any]:
        """The options that say what a frame's columns hold."""
        given = {name.replace("-", "_"): value for name, value in (self.options or {}).items() if value is not None}
        return {name: value for name, value in given.items() if name in TYPING}

    def _table_of(self, kept: Optional[Kept]) -> Optional[Table]:
        """The table of the rows that are being learnt, or of those that have been."""
        fresh = self.__dict__.get("_fresh_table")
        return fresh if fresh is not None or kept is None else kept.table

    def _tabled(self, X, reset: bool, learning: bool):
        """A frame with types as rows of numbers; None: it has none, and neither have the rows before."""
        kept = None if reset else self.__dict__.get("_kept")
        if kept is None:
            typing, ahead = self._typing(), self.__dict__.get("_table_ahead")
            if typing and not is_frame(X):
                raise ValueError("%s would do nothing: it says what the columns of a frame hold, and the rows are no frame"
                                 % " and ".join(typing))
            table = ahead or (Table(X, typing) if typing or has_types(X) else None)
            if table is not None and not table.typed:
                table = None
        else:
            table = self._known_table(kept, X, learning)
        if table is None:
            return None
        if not learning:
            return table.rows(X, False)
        rows = table.rows(X, True)
        self._fresh_table = table
        return rows

    def _known_table(self, kept: Kept, X, learning: bool) -> Optional[Table]:
        schema = None if kept.table is not None else kept.known_schema()
        if schema is not None and not schema.columns:
            return None
        if not is_frame(X):
            raise ValueError("the rows so far were frames whose columns have types, and these are no frame")
        if kept.table is not None and kept.table.suits(X):
            return kept.table
        table = Table(X, self._typing() if learning else {}, schema if schema is not None else kept.known_schema(), not learning)
        if kept.table is None and len(X.columns) == len(table.names):
            kept.table, kept.table_named = table, table.features
        return table

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """What the coefficients are called, in their order: the columns, or what has become of them ("country=DE")."""
        kept = self._fitted()
        if kept.table is not None or kept.known_schema().columns:
            schema = kept.known_schema()
            return np.array([name_of(schema.feature[k]) for k in range(schema.features)], dtype=object)
        names = self.__dict__.get("feature_names_in_")
        return np.array(["x%d" % k for k in range(self.n_features_in_)], dtype=object) if names is None else names

    @property
    def _width(self) -> int:
        """Features of the model; of a frame with types more than it has columns."""
        kept = self.__dict__.get("_kept")
        if kept is None or "_typed" not in self.__dict__:
            return self.n_features_in_
        return kept.known_schema().features

    # ---- checks

    def _checked(self, X, y, reset: bool) -> Tuple[Any, np.ndarray]:
        """scikit-learn's checks and conversions."""
        self.__dict__.pop("_fresh_table", None)
        if reset:
            name = getattr(y, "name", None)
            self._target_name = name if isinstance(name, str) else None
        rows = self._tabled(X, reset, True)
        if rows is not None:
            if len(X) != len(y):
                raise ValueError("Found input variables with inconsistent numbers of samples: %r" % [len(X), len(y)])
            if reset:
                self.feature_names_in_, self.n_features_in_, self._typed = np.array(X.columns, dtype=object), X.shape[1], True
            return check_X_y(rows, y, accept_sparse="csr", dtype=np.float64, **self._targets())
        if reset:
            self.__dict__.pop("_typed", None)
        return validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, order="C", reset=reset,
                             **self._targets())

    @staticmethod
    def _targets() -> Dict[str, bool]:
        """What the checks are to ask of y."""
        return {}

    def _weights(self, X, sample_weight) -> Optional[np.ndarray]:
        if sample_weight is None:
            return None
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if weight.min() < 0:
            raise ValueError("Negative values in data passed to `sample_weight`")
        return weight

    def _running(self) -> bool:
        """Whether there is something to go on with."""
        kept = self.__dict__.get("_kept")
        if kept is None:
            return False
        self._has_points(kept)
        settings = self._settings(self)
        if settings != kept.settings:
            names = [name for name, now, then in zip(("loss", "options") + self._options, settings, kept.settings) if now != then]
            raise ValueError("%s changed after the first row: partial_fit goes on as it began; fit begins anew" % " and ".join(names))
        return True

    def _has_points(self, kept: Kept) -> None:
        if kept.fit is None:
            raise ValueError("a model that was loaded has no points to go on with: use fit, or keep a journal, or pickle")

    def _extend(self, kept: Kept, X, targets: np.ndarray, weight: Optional[np.ndarray]) -> None:
        """The rows go in; ``kept``, which may be another than before, counts if they did."""
        stage = kept.fit.report.stage
        self._name(kept)
        try:
            kept.fit.extend(X, targets, weight)
        finally:
            kept.changed()
            if kept.fit.report.stage > stage:
                fresh = self.__dict__.pop("_fresh_table", None)
                if fresh is not None:
                    kept.table, kept.table_named = fresh, fresh.features
                self._kept = kept
                kept.came()
        self._look()

    def _look(self) -> None:
        """After a stage: into the trace, and a warning if it fell short."""
        report = self._kept.fit.report
        if self.trace:
            self.trace_.append(self._kept.fit.stage())
        self._doubt(report)
        if report.bound > report.target:
            warnings.warn("the model is proved to be within %g of the best, but %g was asked for: a larger stage_budget, "
                          "a larger epsilon or scaled features would help" % (report.bound, report.target),
                          ConvergenceWarning, stacklevel=3)

    def _doubt(self, report) -> None:
        """Once for a fit: that nothing is proved of it, or that a stage could not be."""
        kept, said = self._kept, ""
        if not kept.looked:
            kept.looked, kept.doubted = True, bool(kept.fit.no_proof())
            said = kept.fit.no_proof(self.epsilon != inspect.signature(type(self)).parameters["epsilon"].default)
            said = said and "nothing is proved: " + said
        if not kept.doubted and report.unproved > report.waiting:
            kept.doubted = True
            said = ("nothing could be proved of a stage, whose model may be far from the best: method 'auto', a larger stage_budget, or a "
                    "bias in place of the free intercept, would help")
        if said:
            warnings.warn(said, NotProvedWarning, stacklevel=4)

    # ---- what only a continual fit has

    def forget(self, indices: Iterable[int]):
        """Takes rows out again, as if they had never come. They are counted from 0, in the order in which they came since
        ``fit`` or the first ``partial_fit``; the numbers of the others do not change."""
        self._fitted()
        self._running()
        indices = list(indices) if isinstance(indices, Iterable) else [indices]
        if indices:
            try:
                self._kept.fit.remove(indices)
            finally:
                self._kept.changed()
            self._look()
        return self

    def stages(self, X, y, sample_weight=None, every: int = 1) -> Iterator[Stage]:
        """Feeds the rows one after the other (or ``every`` so many), and yields what is known after each: the same as
        ``partial_fit`` row by row. Shows a progress bar with ``verbose``, if tqdm is there."""
        if not scipy.sparse.issparse(X) and not hasattr(X, "iloc"):
            X = np.asarray(X)
        X = X.tocsr() if scipy.sparse.issparse(X) else X
        y = np.asarray(y)
        weight = None if sample_weight is None else np.asarray(sample_weight)
        starts = range(0, X.shape[0], every)
        if not self._running() and has_types(X):
            self._table_ahead = Table(X, self._typing())  # one row says little of what its columns hold
        for at in tqdm(starts, unit="stage") if self.verbose and tqdm else starts:
            rows = slice(at, at + every)
            self.partial_fit(X.iloc[rows] if hasattr(X, "iloc") else X[rows], y[rows],
                             sample_weight=None if weight is None else weight[rows])
            self.__dict__.pop("_table_ahead", None)
            yield self._kept.fit.stage()

    def _know_columns(self, model: Model) -> None:
        """What a model from elsewhere says of the columns of its rows."""
        self.__dict__.pop("_typed", None)
        names = model.feature_names
        if model.types:  # those that features come from; crosses have none of their own, and what is left out is not looked at
            names = [name for name, kind in model.types.items() if not kind.startswith(("cross", "ignore"))]
            self._typed = True
        self.n_features_in_ = len(names) if model.types else model.n_features
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)

    def resume(self):
        """Opens the journal and goes on where it was left, without waiting for a ``partial_fit``. With an empty one, the
        estimator is as it was: ``partial_fit`` begins it."""
        if self.journal is None:
            raise ValueError("there is no journal to resume from")
        kept = self._begin(self._loss(), anew=False)
        if kept.fit.report.stage:
            schema = kept.fit.schema()
            if kept.model.classification:
                kept.labels = Labels.named(schema.classes) if schema.classes else Labels.of(kept.model.labels)
                kept.known = set(kept.model.labels.tolist())
            self._kept = kept
            self._know_columns(kept.model)
        return self

    def measure(self, bound: bool = False, optimum: bool = False) -> Measurement:
        """The objective now; if asked for, a bound from a pass over the points, and the true optimum with the gap."""
        kept = self._fitted()
        self._has_points(kept)
        return kept.fit.measure(bound, optimum)

    def save(self, path) -> None:
        """Writes the model to a file that ``keepfit predict`` and ``keepfit.load`` read. The points are not in it."""
        self._fitted().model.save(path)

    def predictor(self) -> Predictor:
        """What predicts as this does and is small: the weights, without the rows."""
        model = self._fitted().model
        if not isinstance(model, Model):
            raise ValueError("a predictor has one output: each of models_ has one")
        return Predictor(model)

    @property
    def models_(self) -> List[Model]:
        """The models as they are saved: one, or one for each output."""
        kept = self._fitted()
        return kept.fit.models() if isinstance(kept.fit, Group) else [kept.model]

    # ---- what is known

    def _fitted(self) -> Kept:
        kept = self.__dict__.get("_kept")
        if kept is None:
            raise NotFittedError("This %s instance is not fitted yet. Call 'fit' or 'partial_fit' before." % type(self).__name__)
        return kept

    def __sklearn_is_fitted__(self) -> bool:
        return "_kept" in self.__dict__

    def _reported(self, name: str):
        kept = self.__dict__.get("_kept")
        if kept is None:
            raise AttributeError("%r is known once the estimator is fitted" % name)
        if kept.fit is None:
            raise AttributeError("%r is not known of a model that was loaded" % name)
        return kept.fit.report

    @property
    def gap_bound_(self) -> float:
        """How far the objective is above its minimum at most, proved (with guarantee "estimate": estimated); NaN where
        nothing is."""
        return self._reported("gap_bound_").bound

    @property
    def gap_target_(self) -> float:
        """What epsilon asks ``gap_bound_`` to be at most."""
        return self._reported("gap_target_").target

    @property
    def n_gradients_(self) -> int:
        """Gradients of single points computed so far."""
        return self._reported("n_gradients_").fo

    @property
    def n_iter_(self) -> int:
        """Steps taken so far."""
        return self._reported("n_iter_").steps

    @property
    def n_points_(self) -> int:
        """Points that the model is fitted to."""
        return self._reported("n_points_").points

    @property
    def report_(self) -> Stage:
        """All of it."""
        self._reported("report_")
        return self._kept.fit.stage()

    def _single(self, name: str) -> Fit:
        self._reported(name)
        if isinstance(self._kept.fit, Group):
            raise AttributeError("%s is of one output: each column of y needs an estimator of its own" % name)
        return self._kept.fit

    @property
    def validation_(self) -> sayings.Validation:
        """How good predictions were, each made before its rows were learnt from: all and the newest, AUC, calibration, drift."""
        return sayings.validation(self._single("validation_"))

    def standard_errors(self, robust: bool = False) -> Tuple[np.ndarray, np.ndarray]:
        """Standard errors of the coefficients [score][feature] and of the intercepts, from the Hessian; ``robust`` ones do not
        assume that the loss says how the targets are distributed. NaN: there are none of that kind."""
        weights, intercepts, model = sayings.standard_errors(self._single("standard_errors"), robust)
        wide = np.full((weights.shape[1], max(self._width, weights.shape[0])), np.nan)
        wide[:, :weights.shape[0]] = weights.T
        errors = self._arranged(wide, sayings.as_model(model, intercepts))
        return np.abs(errors[0]), np.abs(errors[1])

    def influence(self, row: int) -> sayings.Influence:
        """What the model would be without a row, counted from 0 as they came, by one step of Newton's."""
        return sayings.influence(self._single("influence"), row)

    def _linear(self) -> Tuple[np.ndarray, np.ndarray]:
        """Coefficients [score][feature] and intercepts [score], by scikit-learn's conventions."""
        kept = self.__dict__.get("_kept")
        if kept is None:
            raise AttributeError("the model is known once the estimator is fitted")
        return kept.cached("linear", lambda: self._arranged(*self._padded(kept.model)))

    def _padded(self, model: Model) -> Tuple[np.ndarray, Model]:
        weights = np.zeros((model.weights.shape[1], max(self._width, model.weights.shape[0])))
        weights[:, :model.weights.shape[0]] = model.weights.T
        return weights, model

    def _arranged(self, weights: np.ndarray, model: Model) -> Tuple[np.ndarray, np.ndarray]:
        return weights, model.intercepts

    def _scores(self, X) -> np.ndarray:
        """[row][score]"""
        self._fitted()
        coefficients, intercepts = self._linear()
        ready = (type(X) is np.ndarray and X.dtype is FLOAT and X.ndim == 2 and X.shape[1] == self.n_features_in_
                 and X.shape[0] > 0 and "feature_names_in_" not in self.__dict__)
        if ready:
            scores = X @ coefficients.T + intercepts
            if np.isfinite(scores).all():
                return scores
        rows = self._tabled(X, False, False) if "_typed" in self.__dict__ else None
        if rows is None:
            X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        else:
            X = rows[:, :coefficients.shape[1]]  # a row that was refused may have left features behind
        product = X @ coefficients.T
        return np.asarray(product) + intercepts
