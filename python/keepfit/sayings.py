"""What a fit says of its predictions, its weights and its points: the numbers of the command's ``train --json``,
``inspect --weights`` and ``inspect --influence``."""
from types import SimpleNamespace
from typing import Any, List, NamedTuple, Tuple

import numpy as np

from ._library import ffi, lib
from .errors import struct
from .fit import OK, Fit
from .model import Model

DRIFT = {lib.KEEPFIT_DRIFT_NONE: "", lib.KEEPFIT_DRIFT_WORSE: "worse", lib.KEEPFIT_DRIFT_BETTER: "better"}
INTERCEPT = 2**64 - 1


class Calibration(NamedTuple):
    """A tenth of the probabilities: how many predictions had one in it, their mean, and the share that came true."""

    count: int
    predicted: float
    happened: float


class Validation(NamedTuple):
    """Each row predicted before it was learnt from, or with its block: all of them, and the newest ``window``. NaN where
    there is no such number."""

    judged: int
    loss: float
    error: float
    window: int
    windowed_loss: float
    windowed_error: float
    auc: float
    auc_off: float
    calibration: List[Calibration]
    drift_level: float
    drift_alarms: int
    drift_last: int
    drift: str
    drift_before: float
    drift_after: float


class Influence(NamedTuple):
    """What a model would be without a row: how its weights [score][feature] and intercepts would change, the row's own
    scores and loss, the share of its score that it decides itself, and how far the model would go, in standard errors."""

    weights: np.ndarray
    intercepts: np.ndarray
    scores: np.ndarray
    scores_without: np.ndarray
    loss: float
    loss_without: float
    leverage: float
    distance: float


def validation(fit: Fit) -> Validation:
    found = struct("validation")
    with fit._turn:
        lib.keepfit_fit_validation(fit.handle, found)
        parts = [Calibration(found.calibration_count[k], found.predicted[k], found.happened[k]) for k in range(found.calibration)]
    values = {name: getattr(found, name) for name in Validation._fields if name not in ("calibration", "drift")}
    return Validation(calibration=parts, drift=DRIFT.get(found.drift, "other"), **values)


def standard_errors(fit: Fit, robust: bool) -> Tuple[np.ndarray, np.ndarray, Any]:
    """Of weights [feature][score] and of intercepts, NaN where there are none, with the model that they are of."""
    model = fit.model()
    with fit._turn:
        status = lib.keepfit_fit_standard_errors(fit.handle, model.handle)
        if status != OK:
            fit._fail(status)
    error, shape = ffi.new("double *"), model.weights.shape

    def one(feature: int, score: int) -> float:
        known = lib.keepfit_model_standard_errors(model.handle, robust, feature, score, error)
        return error[0] if known else np.nan

    weights = np.array([[one(f, k) for k in range(shape[1])] for f in range(shape[0])]).reshape(shape)
    return weights, np.array([one(INTERCEPT, k) for k in range(shape[1])]), model


def influence(fit: Fit, number: int) -> Influence:
    """number: of the row, from 0, as ``forget`` has it."""
    found, index = struct("influence"), ffi.new("uint64_t *")

    def numbers(pointer, *shape: int) -> np.ndarray:
        count = int(np.prod(shape))
        return np.frombuffer(ffi.buffer(pointer, 8 * count), np.float64).reshape(shape).copy() if count else np.zeros(shape)

    with fit._turn:
        if not 0 <= number or not lib.keepfit_fit_find(fit.handle, number + 1, index):
            raise ValueError("row %r is not there" % (number,))
        status = lib.keepfit_fit_influence(fit.handle, index[0], found)
        if status != OK:
            fit._fail(status)
        k, f = found.outputs, found.features
        return Influence(numbers(found.weights, f, k).T, numbers(found.intercepts, k), numbers(found.scores, k),
                         numbers(found.scores_without, k), found.loss, found.loss_without, found.leverage, found.distance)


def as_model(model: Model, intercepts: np.ndarray) -> SimpleNamespace:
    """The model with other numbers in the intercepts' place."""
    return SimpleNamespace(**dict(vars(model), intercepts=intercepts))
