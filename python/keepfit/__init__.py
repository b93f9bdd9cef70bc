"""keepfit: keep a model fitted to all the data seen so far, while the data keeps arriving.

    >>> from keepfit import KeepfitClassifier
    >>> model = KeepfitClassifier(epsilon=1e-3)
    >>> for X, y in blocks:                     # doctest: +SKIP
    ...     model.partial_fit(X, y)             # within epsilon of the best for everything so far
    ...     print(model.gap_bound_)             # and proved
"""
from ._library import lib as _lib
from .classifier import KeepfitClassifier
from .errors import CorruptFileError, KeepfitError, NotProvedWarning
from .errors import text as _text
from .fit import Fit, Measurement, Stage
from .model import Model
from .objective import Objective
from .options import DOMAINS, LOSSES, METHODS, OPTIONS
from .predictor import Predictor
from .regressor import KeepfitRegressor

__version__ = _text(_lib.keepfit_version())
__all__ = ["KeepfitClassifier", "KeepfitRegressor", "Fit", "Objective", "Model", "Predictor", "Stage", "Measurement",
           "KeepfitError", "CorruptFileError", "NotProvedWarning", "load", "OPTIONS", "METHODS", "LOSSES", "DOMAINS"]


def load(path):
    """The estimator for a model file, made by ``save`` or by the command, or for a journal's folder: it predicts, but has no points
    to go on with."""
    from .base import Kept
    from .labels import Labels

    model = Model.load(path)
    if model.hidden:
        raise ValueError("%s holds a network, which has no estimator here; Predictor.load predicts with it" % path)
    if model.scale == "rows":
        raise ValueError("the model in %s scales rows, which no estimator does; Predictor.load predicts with it" % path)
    kind = KeepfitClassifier if model.classification else KeepfitRegressor
    estimator = kind(model.loss, lam=model.lam, epsilon=model.epsilon, delta=model.delta)
    labels = Labels.named(model.class_numbers) if model.class_numbers else Labels.of(model.labels)
    estimator._kept = Kept(model=model, labels=labels)
    estimator._know_columns(model)
    return estimator
