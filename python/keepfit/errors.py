"""The library's failures as Python's exceptions."""
import re

from sklearn.exceptions import ConvergenceWarning

from ._library import ffi, lib


class KeepfitError(RuntimeError):
    """The library could not do what was asked, and no exception of Python's own says it better."""


class CorruptFileError(KeepfitError):
    """A file is damaged, or is not of the kind that was expected."""


class NotProvedWarning(ConvergenceWarning):
    """The model may be as good as was asked for, but nothing proves it. Once for each fit."""


# Options that have another name in Python: the one that scikit-learn's users know, or one that is no word of the language.
NAMES = {"lambda": "lam", "lambda-total": "lam_total", "intercept": "fit_intercept", "seed": "random_state",
         "threads": "n_jobs"}

EXCEPTIONS = {
    lib.KEEPFIT_NO_MEMORY: MemoryError,
    lib.KEEPFIT_USAGE: ValueError,
    lib.KEEPFIT_DATA: ValueError,
    lib.KEEPFIT_IO: OSError,
    lib.KEEPFIT_CORRUPT: CorruptFileError,
    lib.KEEPFIT_DIVERGED: FloatingPointError,
    lib.KEEPFIT_STOPPED: KeyboardInterrupt,
}


def _in_python(message):
    """The command's flags as parameters, its lists as tables."""
    message = re.sub(r"--([a-z][a-z-]*)", lambda flag: NAMES.get(flag[1], flag[1].replace("-", "_")), message)
    return re.sub(r"'keepfit list (\w+)'", lambda table: "keepfit." + table[1].upper(), message)


def exception(status, error):
    """What a failure is in Python; `error` is a keepfit_error."""
    message = text(error.message) or text(lib.keepfit_status_sentence(status))
    if error.line and status == lib.KEEPFIT_DATA:
        message = "row %d: %s" % (error.line - 1, message)
    if status == lib.KEEPFIT_USAGE:
        message = _in_python(message)
    return EXCEPTIONS.get(status, KeepfitError)(message)


def text(pointer):
    return ffi.string(pointer).decode("utf-8", "replace")
