"""Classes as the numbers that the library knows them by."""
from typing import Dict, Optional, Set

import numpy as np

EXACT = 2**53  # integers beyond are not exact as float64


class Labels:
    """Numbers stand for themselves, so that model files mean the same to the command; names are counted as they come."""

    def __init__(self, y: np.ndarray):
        self.dtype = self.wider = y.dtype  # wider: once what was encoded last has come
        numbers = y.dtype.kind in "bf" or (y.dtype.kind in "iu" and (y.size == 0 or np.abs(y.astype(float)).max() < EXACT))
        self.names: Optional[Dict] = None if numbers else {}

    @classmethod
    def named(cls, classes: Dict[str, float]) -> "Labels":
        """For classes that were given these numbers before."""
        labels = cls(np.array(list(classes)) if classes else np.zeros(0, "<U1"))
        labels.names = {name: int(number) for name, number in classes.items()}
        return labels

    @classmethod
    def of(cls, numbers: np.ndarray) -> "Labels":
        """For classes known by number alone: integers, if they all are whole."""
        return cls(np.zeros(0, np.int64 if np.all(numbers == np.round(numbers)) else np.float64))

    def encode(self, y: np.ndarray) -> np.ndarray:
        self.wider = self.dtype if y.dtype == self.dtype else self._widened(y.dtype)
        if self.names is None:
            return np.ascontiguousarray(y, np.float64)
        found, inverse = np.unique(y, return_inverse=True)
        codes = [self.names.setdefault(name, max(self.names.values(), default=-1) + 1) for name in found.tolist()]
        return np.array(codes, np.float64)[inverse]

    def admit(self, new: Set[float], dtype: np.dtype) -> None:
        """Raises where these numbers, encoded from this type, cannot become classes."""
        if self.names is None and any(label % 1 > 0 for label in new):
            raise ValueError("Unknown label type: 'continuous' (classes that are numbers have to be whole ones)")
        if self.names is None and dtype.kind in "iu" and any(abs(label) >= EXACT for label in new):
            raise ValueError("classes of 2^53 and above can be told apart only if there is one in the first call")

    def decode(self, labels: np.ndarray) -> np.ndarray:
        if self.names is None:
            return labels.astype(self.dtype)
        names = {number: name for name, number in self.names.items()}
        return np.array([names[int(label)] for label in labels], self.dtype)

    def _widened(self, dtype: np.dtype) -> np.dtype:
        """Room for classes of another type, as long as they are numbers too, or names too."""
        numbers = dtype.kind in "biuf"
        if numbers != (self.names is None) and not (numbers and self.dtype.kind in "iu"):
            raise ValueError("classes of type %s cannot join classes of type %s" % (dtype, self.dtype))
        return np.result_type(self.dtype, dtype)
