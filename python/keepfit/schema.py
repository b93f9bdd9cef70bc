"""What features and classes are called, to the library and back."""
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ._library import ffi
from .errors import struct


class Schema(NamedTuple):
    """Names beside the numbers; ``classes`` are those that have names, with the numbers that stand for them; ``types`` the columns
    of a table with types, in its order, with these, and ``origin`` has each feature's column there."""

    features: int
    feature_names: Optional[List[str]]
    target: Optional[str]
    classes: Dict[str, float]
    types: Dict[str, str] = {}
    origin: Sequence[int] = ()


def name_of(pointer) -> str:
    """Names may be any bytes in a file, and come back as the same ones."""
    return ffi.string(pointer).decode("utf-8", "surrogateescape")


def _optional(pointer) -> Optional[str]:
    return name_of(pointer) if pointer != ffi.NULL else None


def read(call, handle) -> Schema:
    """What one of the library's functions says of a handle."""
    schema = struct("schema")
    call(handle, schema)
    names = [name_of(schema.feature[k]) for k in range(schema.features)] if schema.feature != ffi.NULL else None
    classes = {name_of(schema.class_name[k]): schema.label[k] for k in range(schema.classes)}
    types = {name_of(schema.column[k]): name_of(schema.type[k]) for k in range(schema.columns)}
    return Schema(schema.features, names, _optional(schema.target), classes, types,
                  [schema.origin[k] for k in range(schema.features)] if types else ())


def _texts(names: Sequence[str]) -> Tuple[Any, Any]:
    texts = []
    for name in names:
        encoded = str(name).encode("utf-8", "surrogateescape")
        if b"\0" in encoded:
            raise ValueError("a name with a NUL in it: %r" % (name,))
        texts.append(ffi.new("char[]", encoded))
    return ffi.new("char *[]", texts) if texts else ffi.NULL, texts


def made(features: int, names: Optional[Sequence[str]] = None, target: Optional[str] = None,
         classes: Optional[Mapping[Any, float]] = None, types: Optional[Mapping[str, str]] = None,
         origin: Sequence[int] = ()) -> Tuple[Any, Any]:
    """A keepfit_schema, and what has to live as long as it."""
    schema = struct("schema")
    classes, types = classes or {}, types or {}
    feature, kept = _texts(names if names is not None else ())
    class_name, also = _texts(list(classes))
    title, last = _texts([] if target is None else [target])
    label = ffi.new("double[]", [float(number) for number in classes.values()])
    schema.features, schema.classes = features, len(classes)
    schema.feature, schema.class_name, schema.label = ffi.cast("char **", feature), ffi.cast("char **", class_name), label
    if target is not None:
        schema.target = last[0]
    columns, theirs = _texts(list(types))
    kinds, others = _texts(list(types.values()))
    origins = ffi.new("uint32_t[]", list(origin)) if types else ffi.NULL
    schema.columns, schema.origin = len(types), origins
    schema.column, schema.type = ffi.cast("char **", columns), ffi.cast("char **", kinds)
    return schema, (feature, kept, class_name, also, title, last, label, columns, theirs, kinds, others, origins)


def classes_of(labels: np.ndarray, names: Mapping[str, float]) -> np.ndarray:
    """The classes, in the order of their numbers ``labels``: their names, or, where they have none, numbers."""
    if not names:
        return labels.astype(np.int64 if np.all(labels == np.round(labels)) else np.float64)
    by_number = {number: name for name, number in names.items()}
    return np.array([by_number.get(number, "%.17g" % number) for number in labels.tolist()])
