"""The library's failures as Python's exceptions."""
import ast

from sklearn.exceptions import ConvergenceWarning

from ._library import ffi, lib


def struct(kind, /, **fields):
    """A keepfit_KIND of the package's own, which says how large it is."""
    return ffi.new("keepfit_%s *" % kind, {"struct_size": ffi.sizeof("keepfit_" + kind), **fields})


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


def _value(written):
    """An option's value as one would write it in Python."""
    try:
        return str(ast.literal_eval(written.capitalize() if written in ("true", "false") else written))
    except (ValueError, SyntaxError):
        return repr(written)


def _in_python(error):
    """The message of a keepfit_error, its options as parameters."""
    message, pieces, end = ffi.string(error.message), [], 0
    for k in range(error.options):
        option = error.option[k]
        key, _, value = message[option.at:option.at + option.length].decode().partition("=")
        name = NAMES.get(key, key.replace("-", "_"))
        pieces += [message[end:option.at], (name + "=" + _value(value) if value else name).encode()]
        end = option.at + option.length
    return b"".join(pieces + [message[end:]]).decode("utf-8", "replace")


def exception(status, error):
    """What a failure is in Python; `error` is a keepfit_error."""
    message = _in_python(error) or text(lib.keepfit_status_sentence(status))
    if error.line and status == lib.KEEPFIT_DATA:
        message = "row %d: %s" % (error.line - 1, message)
    return EXCEPTIONS.get(status, KeepfitError)(message)


def text(pointer):
    return ffi.string(pointer).decode("utf-8", "replace")
