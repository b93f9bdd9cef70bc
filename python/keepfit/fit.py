"""The library's fit as a Python object: blocks of NumPy or SciPy rows in, reports and models out.

Estimators are built on it; use it directly for an objective of your own, or where scikit-learn's conventions are in the way.
"""
import threading
import warnings
from typing import Any, Dict, Iterable, NamedTuple, Optional

import numpy as np
import scipy.sparse

from . import options as option_table
from . import schema as schemas
from ._library import ffi, lib
from .errors import NotProvedWarning, exception, struct, text
from .model import Model
from .objective import Objective

OK, CUT_SHORT = lib.KEEPFIT_OK, lib.KEEPFIT_STAGE_STOPPED
NULL = ffi.NULL
FLOAT, INT32 = np.dtype(np.float64), np.dtype(np.int32)
FEATURES_MOST = 2**31 - 1
UNORDERED, MISFITS = 1, 2
extend, wrong, from_buffer = lib.keepfit_python_extend, lib.keepfit_python_wrong, ffi.from_buffer
get_ident, MAIN = threading.get_ident, threading.main_thread().ident


class Stage(NamedTuple):
    """What is known of a fit at no cost; NaN where there is no such number."""

    method: str
    reason: str
    stage: int
    points: int
    features: int
    classes: int
    fo: int
    steps: int
    lambda_: float
    bound: float
    worst_bound: float
    target: float
    proved: int
    missed: int
    unproved: int
    waiting: int
    given_up: int
    smoothness: float
    seconds: float
    validated: int
    validation_loss: float
    validation_error: float
    outcome: str
    improvements: int
    products: int


# What came of the stage; "" for none, or one that promised nothing.
OUTCOMES = {lib.KEEPFIT_STAGE_NONE: "", lib.KEEPFIT_STAGE_PROVED: "proved", lib.KEEPFIT_STAGE_MISSED: "missed",
            lib.KEEPFIT_STAGE_UNPROVED: "unproved", lib.KEEPFIT_STAGE_WAITING: "waiting",
            lib.KEEPFIT_STAGE_GIVEN_UP: "given up", lib.KEEPFIT_STAGE_STOPPED: "stopped"}
REPORT_FIELDS = [name.rstrip("_") for name in Stage._fields]


class Measurement(NamedTuple):
    """What a pass over the points measures; NaN where it was not asked for, or is not to be had."""

    objective: float
    bound: float
    optimum: float
    gap: float


def _arrays(X):
    """(values, indices, starts) of compressed rows, and what is wrong with them."""
    value, index, start = np.ascontiguousarray(X.data, FLOAT), X.indices, X.indptr
    rows, features = X.shape
    if index.dtype != INT32:
        if features > FEATURES_MOST:
            raise ValueError("X has %d features: %d are the most" % (features, FEATURES_MOST))
        index = index.astype(INT32)
    arrays = value, index, start
    if len(start) != rows + 1 or not (index is X.indices or np.array_equal(index, X.indices)):
        return arrays, MISFITS
    return arrays, wrong(rows, features, from_buffer(start), start.itemsize == 8, from_buffer("int32_t[]", index),
                         min(len(value), len(index)))


def compressed(X):
    """(values, indices, starts) of a sparse matrix as the library wants them; copied only where they are of other types or
    not in order."""
    X = X.tocsr()
    arrays, state = _arrays(X)
    if state == UNORDERED:
        X = X.copy()
        X.has_sorted_indices = X.has_canonical_format = False  # whatever was thought of them
        X.sum_duplicates()
        arrays, state = _arrays(X)
    if state:
        raise ValueError("the compressed rows do not fit together: check_format says why")
    return arrays


class Turn:
    """One thread at a time. The others wait, since the library releases the GIL."""

    def __init__(self):
        self.lock, self.owner = threading.Lock(), None

    def __enter__(self):
        if self.owner == get_ident():
            raise RuntimeError("an objective cannot use the fit that is calling it")
        self.lock.acquire()
        self.owner = get_ident()

    def __exit__(self, *unused):
        self.owner = None
        self.lock.release()


class Fit:
    """A model kept within epsilon of the best for all points so far.

    Parameters are options of the library, by their names in Python (``keepfit.OPTIONS``); ``objective`` is an
    :class:`Objective` of your own instead of a loss.
    """

    def __init__(self, objective: Optional[Objective] = None, **options: Any):
        self._create(objective, options)
        if self.no_proof(options.get("epsilon") is not None):
            warnings.warn("nothing is proved: " + self.no_proof(True), NotProvedWarning, stacklevel=2)

    @classmethod
    def silent(cls, **options: Any) -> "Fit":
        """The same without a warning, for those who have their own."""
        fit = cls.__new__(cls)
        fit._create(None, options)
        return fit

    def _create(self, objective: Optional[Objective], options: Dict[str, Any]) -> None:
        self.objective = objective
        self.options = options
        made = option_table.make(options)
        handle, error = ffi.new("keepfit_fit **"), struct("error")
        if objective is None:
            status = lib.keepfit_fit_create(made, handle, error)
        else:
            status = lib.keepfit_fit_create_custom(made, objective.interface, handle, error)
        if status != OK:
            raise exception(status, error)
        self.handle = ffi.gc(handle[0], lib.keepfit_fit_free)
        if options.get("journal") is not None:
            self._refuse_scaled(options["journal"])
        self._turn = Turn()
        self._carried, self._earlier = np.zeros(0, np.int64), 0  # points taken over, by their numbers; how many had come
        self.report = struct("report")
        lib.keepfit_fit_report(self.handle, self.report)
        if objective is not None:
            objective.features = max(objective.features, self.report.features)

    def no_proof(self, asked: bool = True) -> str:
        """Why nothing is proved of this fit, whatever rows come; "" where its stages are. A method that promises nothing is worth a
        word where an epsilon was ``asked`` for."""
        reason = ffi.new("const char **")
        why = lib.keepfit_fit_no_proof(self.handle, reason)
        return "" if why == lib.KEEPFIT_NO_PROMISE and not asked else text(reason[0])

    def _refuse_scaled(self, journal) -> None:
        """The command scales rows before they reach the journal; nobody would scale these."""
        scale = text(lib.keepfit_options_get(lib.keepfit_fit_options(self.handle), b"scale"))
        if scale != "none":
            raise ValueError("the rows in the journal %r were scaled by the command (--scale %s), and rows from here would not be: "
                             "go on with the command" % (journal, scale))

    def extend(self, X, y, weight=None) -> "Fit":
        """All rows as one stage: afterwards the model is within epsilon for everything so far. X: an array with a point in
        each row, or a sparse matrix; arrays of float64 that are C-contiguous, and CSR matrices, are taken as they are."""
        wide = False
        if scipy.sparse.issparse(X):
            value, index, start = compressed(X)
            wide = start.itemsize == 8
            start, index = from_buffer(start), from_buffer("int32_t[]", index)
        else:
            X = value = np.asarray(X, FLOAT, order="C")
            index = start = NULL
            if X.ndim != 2:
                raise ValueError("rows have two dimensions: X has %d" % X.ndim)
        count, features = X.shape
        y = np.ascontiguousarray(y, FLOAT)
        weight = None if weight is None else np.ascontiguousarray(weight, FLOAT)
        if y.shape != (count,) or (weight is not None and weight.shape != (count,)):
            raise ValueError("%d rows need as many targets and weights" % count)
        if self.objective:
            self.objective.features = max(self.objective.features, features)
        with self._turn:
            status = extend(self.handle, count, features, start, wide, index, from_buffer("double[]", value), from_buffer("double[]", y),
                            NULL if weight is None else from_buffer("double[]", weight), get_ident() == MAIN, self.report)
            self._ended(status)
        return self

    def remove(self, arrivals: Iterable[int]) -> "Fit":
        """Takes points out again, by the order in which they came, from 0; as one stage."""
        arrivals = np.atleast_1d(list(arrivals) if isinstance(arrivals, Iterable) else arrivals)
        if arrivals.size and (arrivals.ndim > 1 or arrivals.dtype.kind not in "iu"):
            raise TypeError("points are named by whole numbers, in the order in which they came, from 0")
        found, indices = ffi.new("uint64_t *"), []
        with self._turn:
            for arrival in np.unique(arrivals).tolist():
                if not lib.keepfit_fit_find(self.handle, self._place(arrival), found):
                    raise IndexError("point %d is not present" % arrival)
                indices.append(found[0])
            self._ended(lib.keepfit_python_remove(self.handle, indices, len(indices), get_ident() == MAIN, self.report))
        return self

    def take_over(self, other: "Fit") -> None:
        """All points of another fit, as the first ones of this. They keep their numbers, and later ones are counted on."""
        found, come = ffi.new("uint64_t *"), other.report.stage
        carried = np.arange(come)
        if other.report.points < come:
            with other._turn:
                carried = np.array([k for k in range(come) if lib.keepfit_fit_find(other.handle, other._place(k), found)], np.int64)
        if len(carried):
            self.extend(*other.points())
        self._carried, self._earlier = carried, come

    def _place(self, arrival: int) -> int:
        """The library's number of a point, from 1; 0 for one that it never had."""
        if arrival >= self._earlier:
            return arrival - self._earlier + len(self._carried) + 1
        place = int(np.searchsorted(self._carried, arrival))
        return place + 1 if place < len(self._carried) and self._carried[place] == arrival else 0

    def name(self, features: int = 0, feature_names=None, target: Optional[str] = None, classes=None, types=None, origin=()) -> None:
        """What features and classes (a mapping from names to the numbers that stand for them) are called: models know it, and a
        journal remembers it. What contradicts what was said before is a ValueError."""
        schema, kept = schemas.made(features, feature_names, target, classes, types, origin)
        with self._turn:
            status = lib.keepfit_fit_name(self.handle, schema)
            if status != OK:
                self._fail(status)
        del kept

    def name_table(self, table, target: Optional[str] = None) -> None:
        """The same for a :class:`keepfit.table.Table`: its columns, their types, and its features so far."""
        schema, title = table.schema(), None if target is None else ffi.new("char[]", target.encode("utf-8", "surrogateescape"))
        schema.target = ffi.NULL if title is None else title
        with self._turn:
            status = lib.keepfit_fit_name(self.handle, schema)
            if status != OK:
                self._fail(status)

    def raw_schema(self):
        """The library's own schema, which lives until the next call."""
        schema = struct("schema")
        lib.keepfit_fit_schema(self.handle, schema)
        return schema

    def schema(self) -> schemas.Schema:
        """What they are called."""
        with self._turn:
            return schemas.read(lib.keepfit_fit_schema, self.handle)

    def expect(self, label: float) -> None:
        """A class that may come later has its place in the model from now on."""
        with self._turn:
            status = lib.keepfit_fit_expect(self.handle, label)
            lib.keepfit_fit_report(self.handle, self.report)
            if status != OK:
                self._fail(status)

    def stage(self) -> Stage:
        """The report as it is now."""
        report = self.report
        values = [getattr(report, name) for name in REPORT_FIELDS]
        return Stage(text(values[0]), text(values[1]), *values[2:-1], OUTCOMES.get(values[-1], "other"))

    def measure(self, bound: bool = False, optimum: bool = False) -> Measurement:
        """The objective; if asked for, a bound from a pass of gradients, and the true optimum from a solve."""
        result = struct("measurement")
        what = lib.KEEPFIT_MEASURE_OBJECTIVE | (bound and lib.KEEPFIT_MEASURE_BOUND) | (optimum and lib.KEEPFIT_MEASURE_OPTIMUM)
        with self._turn:
            status = lib.keepfit_fit_measure(self.handle, what, result)
            if status != OK or (self.objective and self.objective.raised):
                self._fail(status)
        return Measurement(result.objective, result.bound, result.optimum, result.gap)

    def iterate(self) -> np.ndarray:
        """x itself; for built-in losses the intercepts come first, then the weights, feature by feature."""
        size = ffi.new("size_t *")
        with self._turn:
            x = lib.keepfit_fit_iterate(self.handle, size)
            return np.frombuffer(ffi.buffer(x, 8 * size[0]), np.float64).copy() if size[0] else np.zeros(0)

    def model(self) -> Model:
        """The model as it is now, a copy."""
        if self.objective:
            raise ValueError("an objective of your own has no model: iterate() is x")
        handle = ffi.new("keepfit_model **")
        with self._turn:
            status = lib.keepfit_fit_model(self.handle, handle)
            if status != OK:
                self._fail(status)
        return Model(handle[0])

    def points(self):
        """The points that are present: rows (CSR), targets, weights."""
        with self._turn:
            return self._points()

    def _points(self):
        count, features = self.report.points, self.report.features
        entries = lib.keepfit_python_entries(self.handle, count)
        start, index, value = np.zeros(count + 1, np.int64), np.zeros(entries, np.int32), np.zeros(entries)
        target, weight = np.zeros(count), np.zeros(count)
        status = lib.keepfit_python_points(self.handle, count, from_buffer("int64_t[]", start), from_buffer("int32_t[]", index),
                                           from_buffer("double[]", value), from_buffer("double[]", target),
                                           from_buffer("double[]", weight))
        if status != OK:
            self._fail(status)
        return scipy.sparse.csr_matrix((value, index, start), shape=(count, features)), target, weight

    def __getstate__(self):
        """Options, points, and the library's snapshot, from which it goes on bit for bit."""
        if self.objective or self.options.get("journal"):
            raise TypeError("a fit with %s cannot be copied or pickled" % ("an objective of its own" if self.objective else "a journal"))
        start, size = ffi.new("const unsigned char **"), ffi.new("size_t *")
        with self._turn:
            status = lib.keepfit_fit_snapshot(self.handle, start, size)
            if status != OK:
                self._fail(status)
            snapshot = bytes(ffi.buffer(start[0], size[0]))
            return {"version": text(lib.keepfit_version()), "options": self.options, "snapshot": snapshot, "points": self._points(),
                    "carried": self._carried, "earlier": self._earlier, "schema": schemas.read(lib.keepfit_fit_schema, self.handle)}

    def __setstate__(self, state) -> None:
        self._create(None, state["options"])
        self._carried, self._earlier = state["carried"], state["earlier"]
        if "schema" in state:  # pickles of 0.1.0 as it began had none
            self.name(*state["schema"])
        rows, targets, weights = state["points"]
        value, index, start = compressed(rows)
        status = lib.keepfit_python_restore(
            self.handle, len(targets), from_buffer(start), start.itemsize == 8, from_buffer("int32_t[]", index),
            from_buffer("double[]", value), from_buffer("double[]", targets), from_buffer("double[]", weights),
            state["snapshot"], len(state["snapshot"]), self.report)
        if status != OK:
            self._fail(status)

    def _ended(self, status: int) -> None:
        """A stage that Ctrl-C has cut short is none that failed, but who pressed it wants to hear of it."""
        if status == OK and (self.report.outcome == CUT_SHORT or (self.objective and self.objective.raised)):
            status = lib.KEEPFIT_STOPPED
        if status != OK:
            self._fail(status)

    def _fail(self, status: int) -> None:
        pending = self.objective.take_exception() if self.objective else None
        raise pending or exception(status, lib.keepfit_fit_error(self.handle))
