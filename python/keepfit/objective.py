"""Objectives written in Python. Every gradient of every point is a call into the interpreter: microseconds instead of
nanoseconds, so this is for trying things out and for models that the library does not have."""
from typing import Callable, Optional

import numpy as np

from ._library import ffi, lib
from .errors import struct


class Objective:
    """f_j(x) = weight_j * value(x, row_j, target_j) + lam*|x|^2, to be convex and differentiable in x.

    ``value(x, row, target)`` returns a number, ``gradient(x, row, target)`` a vector of ``dimension`` numbers.
    ``curvature(row, target)`` returns an upper bound on the Hessian's largest eigenvalue anywhere; without it the option
    ``smoothness`` must be given to the :class:`Fit`. An exception in one of them ends the fit, and is raised by the call
    that ran it.
    """

    def __init__(self, dimension: int, value: Callable, gradient: Callable, curvature: Optional[Callable] = None):
        self.dimension, self.value, self.gradient, self.curvature = dimension, value, gradient, curvature
        self.features = 0  # of the rows so far: sparse ones are filled up to it
        self.raised: Optional[BaseException] = None
        self._self = ffi.new_handle(self)
        self._name = ffi.new("char[]", b"python")
        self.interface = struct(
            "objective", name=self._name, dimension=dimension, context=self._self, value=lib.keepfit_python_value,
            gradient=lib.keepfit_python_gradient, curvature=lib.keepfit_python_curvature if curvature else ffi.NULL)

    def take_exception(self) -> Optional[BaseException]:
        """What a callback raised since the last time."""
        raised, self.raised = self.raised, None
        return raised

    def attempt(self, function: Callable, *arguments):
        """The function's value, or None if it raised; then it is not called again before the exception is raised. Ctrl-C lets
        the stage end before it counts."""
        if self.raised is not None and not isinstance(self.raised, KeyboardInterrupt):
            return None
        try:
            return function(*arguments)
        except KeyboardInterrupt as interrupt:
            self.stop(interrupt)
            return self.attempt(function, *arguments)
        except BaseException as raised:
            self.raised = raised
            return None

    def stop(self, interrupt: KeyboardInterrupt) -> None:
        lib.keepfit_python_stop()
        self.raised = interrupt


def _vector(pointer, count: int, write: bool = False) -> np.ndarray:
    """The library's own memory as an array."""
    vector = np.frombuffer(ffi.buffer(pointer, 8 * count), np.float64) if count else np.zeros(0)
    vector.setflags(write=write)
    return vector


def _row(point, features: int) -> np.ndarray:
    values = _vector(point.row.value, point.row.count)
    count, index = point.row.count, point.row.index
    if index == ffi.NULL and count >= features:
        return values
    row = np.zeros(features)
    if count:
        row[slice(count) if index == ffi.NULL else np.frombuffer(ffi.buffer(index, 4 * count), np.uint32)] = values
    row.setflags(write=False)
    return row


def _again(kind, raised, traceback):
    """Ctrl-C that came in a callback, but not in the user's function: noted, and the callback called once more."""
    frame = traceback.tb_frame
    code, own = frame.f_code, ffi.from_handle(frame.f_locals["context"])
    if not issubclass(kind, KeyboardInterrupt):
        own.raised = raised
        return None  # a failure
    own.stop(raised)
    return globals()[code.co_name](*(frame.f_locals[name] for name in code.co_varnames[:code.co_argcount]))


def _number(name: str, function: Callable, *arguments) -> float:
    result = function(*arguments)
    try:
        return float(result)
    except (TypeError, ValueError):
        raise TypeError("the objective's %s is %r; it has to be a number" % (name, result)) from None


@ffi.def_extern(error=1, onerror=_again)
def keepfit_python_value(context, x, point, value):
    own = ffi.from_handle(context)
    result = own.attempt(_number, "value", own.value, _vector(x, own.dimension), _row(point, own.features), point.target)
    if result is None:
        return 1
    value[0] = result
    return 0


@ffi.def_extern(error=1, onerror=_again)
def keepfit_python_gradient(context, x, point, gradient):
    own = ffi.from_handle(context)

    def checked():
        found = np.asarray(own.gradient(_vector(x, own.dimension), _row(point, own.features), point.target), np.float64)
        if found.shape != (own.dimension,):
            raise ValueError("the gradient has shape %s; the objective's dimension is %d" % (found.shape, own.dimension))
        return found

    result = own.attempt(checked)
    if result is None:
        return 1
    _vector(gradient, own.dimension, write=True)[:] = result
    return 0


@ffi.def_extern(error=1, onerror=_again)
def keepfit_python_curvature(context, point, curvature):
    own = ffi.from_handle(context)
    result = own.attempt(_number, "curvature", own.curvature, _row(point, own.features), point.target)
    if result is None:
        return 1
    curvature[0] = result
    return 0
