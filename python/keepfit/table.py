"""Frames whose columns have types: their cells to the library, which makes rows of them as it does of a file's.

What a column holds is decided once, by the frame's own types where these say it (category, bool, datetime64), otherwise by the first
rows, or by the options; docs/data.md says what becomes of each cell.
"""
import threading
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np
import scipy.sparse

from ._library import ffi, lib
from .errors import exception, struct
from .schema import name_of

# The library's options that say how a frame's cells are read, as they do for a file's.
TYPING = ("type", "ignore", "columns", "missing", "hash", "cross")


def is_frame(X) -> bool:
    return hasattr(X, "columns") and hasattr(X, "iloc") and hasattr(X, "dtypes")


def _is_number(dtype) -> bool:
    return getattr(dtype, "kind", "O") in "iuf" and getattr(dtype, "name", "") != "category"


def has_types(X) -> bool:
    """Whether some column of a frame holds other things than numbers."""
    return is_frame(X) and not all(_is_number(dtype) for dtype in X.dtypes) and not any(
        hasattr(dtype, "fill_value") for dtype in X.dtypes)  # sparse columns


def written(option: str, value: Any) -> str:
    """The option as the command takes it: lists and mappings become texts with commas."""
    if isinstance(value, Mapping):
        value = ["%s=%s" % pair for pair in value.items()]
    if isinstance(value, (list, tuple)):
        if any("," in str(piece) for piece in value):
            raise ValueError("%s: a name with a comma cannot stand in a list: rename the column" % option)
        return ",".join(map(str, value))
    return str(value)


def _texts_of(series) -> Tuple[np.ndarray, Optional[str]]:
    """The cells as texts, "" where there is none, and the type that the column's own says."""
    missing, kind = series.isna().to_numpy(), getattr(series.dtype, "kind", "O")
    name = getattr(series.dtype, "name", "")
    if name == "category":
        found, codes = np.array([str(c) for c in series.cat.categories] + [""], object), series.cat.codes.to_numpy()
        return found[codes], "category"
    if kind == "b":
        return np.where(missing, "", np.where(series.fillna(False).to_numpy(bool), "True", "False")), "boolean"
    if kind == "M":
        naive = series.dt.tz_convert("UTC").dt.tz_localize(None) if getattr(series.dtype, "tz", None) is not None else series
        return np.where(missing, "", np.datetime_as_string(naive.to_numpy("datetime64[ns]"))), "time"
    cells = series.to_numpy(object)
    return np.array(["" if gone else cell if type(cell) is str else str(cell) for cell, gone in zip(cells, missing)], object), None


class Table:
    """The columns of a frame, as a fit or a model knows them."""

    def __init__(self, frame, options: Mapping[str, Any], known=None, fixed: bool = False):
        """``known``: a keepfit_schema of what is known; None: nothing."""
        self.names = self._names_of(frame)
        made = ffi.gc(lib.keepfit_options_create(), lib.keepfit_options_free)
        error = struct("error")
        for name, value in options.items():
            status = lib.keepfit_options_set(made, name.replace("_", "-").encode(), written(name, value).encode(), error)
            if status != lib.KEEPFIT_OK:
                raise exception(status, error)
        handle, names = ffi.new("keepfit_table **"), [ffi.new("char[]", name) for name in self.names]
        first = frame.iloc[:100]
        cells, kept = self._cells(first)
        status = lib.keepfit_table_open(ffi.new("char *[]", names), cells, len(names), len(first), known or ffi.NULL, fixed, made,
                                        handle, error)
        if status != lib.KEEPFIT_OK:
            raise exception(status, error)
        self.handle, self.lock = ffi.gc(handle[0], lib.keepfit_table_close), threading.Lock()
        del kept

    @staticmethod
    def _names_of(frame) -> List[bytes]:
        names = [name.encode("utf-8", "surrogateescape") if isinstance(name, str) else b"" for name in frame.columns]
        if not all(names) or any(b"\0" in name for name in names):
            raise ValueError("a frame with types needs columns that all have texts as names")
        if len(set(names)) < len(names):
            raise ValueError("a frame with types needs columns of different names")
        return names

    def suits(self, frame) -> bool:
        """Whether the frame has these columns, in any order."""
        return len(frame.columns) == len(self.names) and set(self._names_of(frame)) == set(self.names)

    def _cells(self, frame):
        """An array of keepfit_cells for the columns in our order, and what has to live as long as it."""
        cells, kept = ffi.new("keepfit_cells[]", len(self.names)), []
        for k, name in enumerate(self.names):
            series = frame[name.decode("utf-8", "surrogateescape")]
            if _is_number(series.dtype):
                numbers = np.ascontiguousarray(series.to_numpy(np.float64, na_value=np.nan), np.float64)
                cells[k].number = ffi.from_buffer("double[]", numbers)
                kept.append(numbers)
                continue
            texts, kind = _texts_of(series)
            joined = ("\0".join(texts.tolist()) + "\0").encode("utf-8", "surrogateescape") if len(texts) else b""
            if joined.count(b"\0") != len(texts):
                raise ValueError("column %r has a cell with a NUL in it" % series.name)
            place = ffi.new("char *[]", max(len(texts), 1))
            lib.keepfit_python_split(joined, len(texts), place)
            cells[k].text = ffi.cast("char **", place)
            cells[k].type = ffi.NULL if kind is None else TYPES[kind]
            kept += [joined, place]
        return cells, kept

    def schema(self):
        """The library's own, with the features so far."""
        schema = struct("schema")
        lib.keepfit_table_schema(self.handle, schema)
        return schema

    @property
    def typed(self) -> bool:
        return self.schema().columns > 0

    @property
    def features(self) -> int:
        return self.schema().features

    def feature_names(self) -> List[str]:
        schema = self.schema()
        return [name_of(schema.feature[k]) for k in range(schema.features)]

    def rows(self, frame, grow: bool) -> scipy.sparse.csr_matrix:
        """The rows that the frame's become. ``grow``: categories that are new become features; otherwise they count as 0."""
        cells, kept = self._cells(frame)
        block = struct("block")
        with self.lock:  # the library releases the GIL, and the block lives until the next call
            return self._made(cells, kept, len(frame), grow, block)

    def _made(self, cells, kept, count: int, grow: bool, block) -> scipy.sparse.csr_matrix:
        status = lib.keepfit_table_rows(self.handle, cells, count, grow, block)
        if status != lib.KEEPFIT_OK:
            raise exception(status, lib.keepfit_table_error(self.handle))
        del kept
        start = np.frombuffer(ffi.buffer(block.start, 8 * (count + 1)), np.int64).copy()
        entries = int(start[-1])
        index = np.frombuffer(ffi.buffer(block.index, 4 * entries), np.int32).copy() if entries else np.zeros(0, np.int32)
        value = np.frombuffer(ffi.buffer(block.value, 8 * entries), np.float64).copy() if entries else np.zeros(0)
        X = scipy.sparse.csr_matrix((value, index, start.astype(np.int32) if entries < 2**31 else start),
                                    shape=(count, block.features))
        X.has_sorted_indices = X.has_canonical_format = True
        return X


TYPES: Dict[str, Any] = {kind: ffi.new("char[]", kind.encode()) for kind in ("category", "boolean", "time")}
