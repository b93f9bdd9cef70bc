"""A fitted model, apart from the fit that made it; what the command's model files hold."""
import os

import numpy as np

from . import schema
from ._library import ffi, lib
from .errors import exception, struct, text


def _numbers(pointer, *shape: int) -> np.ndarray:
    count = int(np.prod(shape))
    return np.frombuffer(ffi.buffer(pointer, 8 * count), np.float64).reshape(shape).copy() if count else np.zeros(shape)


class Model:
    """Scores are ``row @ weights + intercepts``; ``labels`` are the classes in the order of the scores (for two
    classes with one score, the second is the positive one). A network (``hidden`` units, otherwise 0) has
    ``maximum(0, row @ hidden_weights + hidden_intercepts)`` in the row's place. With ``scale`` "rows" each row is divided by
    its norm first.

    ``feature_names``, ``target`` and ``class_numbers`` (names of classes, with the numbers that stand for them in ``labels``)
    are there where the model knows names; ``types`` are those of a table's columns, where they have any; ``n_features`` counts also features that no row has had yet."""

    def __init__(self, handle):
        self.handle = ffi.gc(handle, lib.keepfit_model_free)
        description = struct("description")
        lib.keepfit_model_describe(self.handle, description)
        names = schema.read(lib.keepfit_model_schema, self.handle)
        self.feature_names, self.target, self.class_numbers = names.feature_names, names.target, names.classes
        self.types = names.types
        self.n_features = max(names.features, description.features)
        self.scale = text(description.scale)
        self.loss, self.method = text(description.loss), text(description.method)
        self.lam, self.epsilon = getattr(description, "lambda"), description.epsilon
        self.delta, self.bias = description.delta, description.bias
        self.stages, self.fo = description.stages, description.fo
        self.classification = bool(description.classification)
        self.labels = _numbers(description.labels, description.classes)
        self.intercepts = _numbers(description.intercepts, description.outputs)
        self.hidden = description.hidden
        self.weights = _numbers(description.weights, self.hidden or description.features, description.outputs)
        self.hidden_intercepts = _numbers(description.hidden_intercepts, self.hidden)
        self.hidden_weights = _numbers(description.hidden_weights, description.features if self.hidden else 0, self.hidden)

    def raw_schema(self):
        """The library's own schema, which lives as long as the model."""
        made = struct("schema")
        lib.keepfit_model_schema(self.handle, made)
        return made

    def __reduce__(self):
        return Model.from_bytes, (self.to_bytes(),)

    def to_bytes(self) -> bytes:
        """The content of the model's file."""
        start, size, error = ffi.new("unsigned char **"), ffi.new("size_t *"), struct("error")
        status = lib.keepfit_model_write(self.handle, start, size, error)
        if status != lib.KEEPFIT_OK:
            raise exception(status, error)
        try:
            return bytes(ffi.buffer(start[0], size[0]))
        finally:
            lib.keepfit_python_free(start[0])

    @classmethod
    def from_bytes(cls, content: bytes) -> "Model":
        """The model that a file of this content holds."""
        handle, error = ffi.new("keepfit_model **"), struct("error")
        status = lib.keepfit_model_read(content, len(content), b"the model", handle, error)
        if status != lib.KEEPFIT_OK:
            raise exception(status, error)
        return cls(handle[0])

    def predictor(self):
        """What predicts with it: :class:`keepfit.Predictor`."""
        from .predictor import Predictor
        return Predictor(self)

    def save(self, path) -> None:
        """Writes the file that ``keepfit predict`` and :func:`keepfit.load` read; a whole one, or none."""
        error = struct("error")
        status = lib.keepfit_model_save(self.handle, os.fsencode(path), error)
        if status != lib.KEEPFIT_OK:
            raise exception(status, error)

    @classmethod
    def load(cls, path) -> "Model":
        """From a model file, or from a journal's folder, where nothing is changed."""
        handle, error = ffi.new("keepfit_model **"), struct("error")
        if os.path.isdir(path):
            status = lib.keepfit_journal_model(os.fsencode(path), ffi.NULL, handle, error)
        else:
            status = lib.keepfit_model_load(os.fsencode(path), handle, error)
        if status != lib.KEEPFIT_OK:
            raise exception(status, error)
        return cls(handle[0])
