"""Classes as the numbers that the library knows them by."""
from typing import Dict, Optional

import numpy as np

EXACT = 2**53  # integers beyond are not exact as float64


class Labels:
    """Numbers stand for themselves, so that model files mean the same to the command; names are counted as they come."""

    def __init__(self, y: np.ndarray):
        self.dtype = y.dtype
        numbers = y.dtype.kind in "bf" or (y.dtype.kind in "iu" and (y.size == 0 or np.abs(y.astype(float)).max() < EXACT))
        self.names: Optional[Dict] = None if numbers else {}

    @classmethod
    def of(cls, numbers: np.ndarray) -> "Labels":
        """For classes known by number alone: integers, if they all are whole."""
        return cls(np.zeros(0, np.int64 if np.all(numbers == np.round(numbers)) else np.float64))

    def encode(self, y: np.ndarray) -> np.ndarray:
        if y.dtype != self.dtype:
            self._widen(y.dtype)
        if self.names is None:
            return np.ascontiguousarray(y, np.float64)
        found, inverse = np.unique(y, return_inverse=True)
        codes = [self.names.setdefault(name, len(self.names)) for name in found.tolist()]
        return np.array(codes, np.float64)[inverse]

    def decode(self, labels: np.ndarray) -> np.ndarray:
        if self.names is None:
            return labels.astype(self.dtype)
        names = list(self.names)
        return np.array([names[int(label)] for label in labels], self.dtype)

    def _widen(self, dtype: np.dtype) -> None:
        """Room for classes of another type, as long as they are numbers too, or names too."""
        numbers = dtype.kind in "biuf"
        if numbers != (self.names is None) and not (numbers and self.dtype.kind in "iu"):
            raise ValueError("classes of type %s cannot join classes of type %s" % (dtype, self.dtype))
        self.dtype = np.result_type(self.dtype, dtype)
