"""The library's failures as Python's exceptions."""
from ._library import ffi, lib


class KeepfitError(RuntimeError):
    """The library could not do what was asked, and no exception of Python's own says it better."""


class CorruptFileError(KeepfitError):
    """A file is damaged, or is not of the kind that was expected."""


EXCEPTIONS = {
    lib.KEEPFIT_NO_MEMORY: MemoryError,
    lib.KEEPFIT_USAGE: ValueError,
    lib.KEEPFIT_DATA: ValueError,
    lib.KEEPFIT_IO: OSError,
    lib.KEEPFIT_CORRUPT: CorruptFileError,
    lib.KEEPFIT_DIVERGED: FloatingPointError,
    lib.KEEPFIT_STOPPED: KeyboardInterrupt,
}


def exception(status, error):
    """What a failure is in Python; `error` is a keepfit_error."""
    message = text(error.message) or text(lib.keepfit_status_sentence(status))
    if error.line and status == lib.KEEPFIT_DATA:
        message = "row %d: %s" % (error.line - 1, message)
    return EXCEPTIONS.get(status, KeepfitError)(message)


def text(pointer):
    return ffi.string(pointer).decode("utf-8", "replace")
