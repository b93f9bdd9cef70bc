"""A model at work, and nothing else: no rows, no fit."""
from typing import List, Optional

import numpy as np
import scipy.sparse
from scipy.special import expit, softmax

from .model import Model
from .schema import classes_of
from .table import Table, is_frame


def _listed(names: List[str]) -> str:
    return ", ".join(repr(name) for name in names[:8]) + (", ..." if len(names) > 8 else "")


class Predictor:
    """Predicts with a model: from a file that the command or ``save`` wrote (:meth:`load`), or from an estimator
    (``estimator.predictor()``). It holds the weights only, and can be pickled.

    Rows are an array, a sparse matrix or a pandas frame. A frame's columns find their features by name, in any order; one that
    lacks features, or has others, is a ``ValueError``. A model of a table with types reads a frame's cells as it read those.

    Attributes
    ----------
    classes_ : array
        The classes, sorted: texts or numbers. Of a classification only.
    n_features_in_, feature_names_in_
        As usual; names only if the model knows them.
    loss, model
        The loss, and the :class:`Model` with the weights.
    """

    def __init__(self, model: Model):
        self.model, self.loss = model, model.loss
        self.n_features_in_ = model.n_features
        if model.feature_names is not None:
            self.feature_names_in_ = np.array(model.feature_names, dtype=object)
        if model.classification:
            self._names = classes_of(model.labels, model.class_numbers)
            self._order = np.argsort(self._names, kind="stable")
            self.classes_ = self._names[self._order]

    @classmethod
    def load(cls, path) -> "Predictor":
        """Of a model file, or of a journal's folder."""
        return cls(Model.load(path))

    @classmethod
    def from_bytes(cls, content: bytes) -> "Predictor":
        """Of a model file's content."""
        return cls(Model.from_bytes(content))

    def to_bytes(self) -> bytes:
        """The content of the model file."""
        return self.model.to_bytes()

    def save(self, path) -> None:
        """Writes the model file; a whole one, or none."""
        self.model.save(path)

    def __reduce__(self):
        return Predictor.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        return "Predictor(loss=%r, n_features=%d%s)" % (
            self.loss, self.n_features_in_, ", classes=%s" % self.classes_.tolist() if self.model.classification else "")

    # ---- rows

    def _ordered(self, X):
        """A frame's columns in the model's order."""
        names: Optional[List[str]] = self.model.feature_names
        if names is None or not hasattr(X, "columns") or not all(isinstance(name, str) for name in X.columns):
            return X
        missing = [name for name in names if name not in X.columns]
        extra = [name for name in X.columns if name not in names]
        if missing or extra:
            raise ValueError("the columns are not those of the model: %s" % "; ".join(
                word + " " + _listed(found) for word, found in (("missing", missing), ("not known", extra)) if found))
        return X if list(X.columns) == names else X[names]

    def _tabled(self, X):
        """A frame's cells as the model's features; unknown categories count as 0."""
        table = self.__dict__.get("_table")
        if table is None or not table.suits(X):
            self._table = table = Table(X, {}, self.model.raw_schema(), True)
        return table.rows(X, False)

    def _rows(self, X):
        types = self.model.types and is_frame(X) and list(X.columns) != self.model.feature_names
        X = self._tabled(X) if types else self._ordered(X)
        if scipy.sparse.issparse(X):
            X = X.tocsr().astype(np.float64)
            values = X.data
        else:
            X = values = np.asarray(X, np.float64)
        if X.ndim != 2 or X.shape[1] != self.n_features_in_:
            raise ValueError("X has shape %s, but the model has %d features" % (X.shape, self.n_features_in_))
        if not np.isfinite(values).all():
            raise ValueError("X has values that are not finite")
        return X

    def _scores(self, X) -> np.ndarray:
        """[row][score], in the model's order."""
        X, model = self._rows(X), self.model
        if model.scale == "rows":
            norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel() if scipy.sparse.issparse(X) else (X * X).sum(axis=1))
            factors = 1 / np.where(norms > 0, norms, 1)
            X = scipy.sparse.diags(factors) @ X if scipy.sparse.issparse(X) else X * factors[:, None]
        weights, intercepts = (model.hidden_weights, model.hidden_intercepts) if model.hidden else (model.weights, model.intercepts)
        scores = np.asarray(X[:, :weights.shape[0]] @ weights) + intercepts
        return np.maximum(scores, 0) @ model.weights + model.intercepts if model.hidden else scores

    def _by_class(self, X) -> np.ndarray:
        """Scores in the order of ``classes_``; one number for two classes."""
        if not self.model.classification:
            raise ValueError("a model with loss %r has no classes" % self.loss)
        scores = self._scores(X)
        if scores.shape[1] == 1:
            swapped = len(self.classes_) == 2 and self._order[0] == 1
            return -scores[:, 0] if swapped else scores[:, 0]
        scores = scores[:, self._order]
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    # ---- predicting

    def predict(self, X) -> np.ndarray:
        """Classes, or numbers."""
        if not self.model.classification:
            return self._scores(X)[:, 0]
        scores = self._by_class(X)
        if scores.ndim == 1:
            return self.classes_[(scores > 0).astype(int) if len(self.classes_) == 2 else np.zeros(len(scores), int)]
        return self.classes_[scores.argmax(axis=1)]

    def decision_function(self, X) -> np.ndarray:
        """Scores, a column a class; for two classes one number, above 0 for the second."""
        return self._by_class(X)

    def predict_proba(self, X) -> np.ndarray:
        """Probabilities, a column a class."""
        if self.loss == "hinge":
            raise ValueError("loss 'hinge' has no probabilities")
        scores = self._by_class(X)
        if scores.ndim > 1:
            return softmax(scores, axis=1)
        if len(self.classes_) < 2:
            return np.ones((len(scores), 1))
        return np.column_stack([expit(-scores), expit(scores)])
