"""The library's table of options, and estimators' parameters in its terms.

An option's name in Python is its key with underscores. A few have the name that scikit-learn's users know, or would be
a word of the language.
"""
import math
from typing import Any, Dict, Iterable, Mapping, NamedTuple, Optional, Sequence, Tuple

from ._library import ffi, lib
from .errors import NAMES, exception, struct, text


class Option(NamedTuple):
    """One row of the table. Numbers lie between ``least`` and ``most``, and ``above`` the least where that says so."""

    key: str
    value: str
    initial: str
    group: str
    help: str
    choices: Optional[str]
    type: int
    least: float
    most: float
    above: bool

    @property
    def name(self) -> str:
        """The parameter's name in Python."""
        return NAMES.get(self.key, self.key.replace("-", "_"))


def _read_table() -> Dict[str, Option]:
    table, row, k = {}, struct("option"), 0
    while lib.keepfit_option_entry(k, row):
        choices = text(row.choices) if row.choices else None
        option = Option(text(row.key), text(row.value), text(row.initial), text(row.group), text(row.help), choices, row.type,
                        row.least, row.most, row.above)
        table[option.name] = option
        k += 1
    return table


OPTIONS = _read_table()


# What the command does to the rows of a file before a fit or a model has them: here they come from arrays, and it would do nothing.
READING = {name for name, option in OPTIONS.items() if option.group in ("data", "predict") and option.key != "max-features"}


def hint(word: str, names: Iterable[str]) -> str:
    """'; did you mean ...?', where one of the names is near, or nothing."""
    text_of_word = ffi.new("char[]", str(word).encode())
    guess = struct("guess", word=text_of_word)
    for name in names:
        lib.keepfit_guess_offer(guess, str(name).encode())
    return text(lib.keepfit_guess_hint(guess, b""))


def entries(family: int) -> Dict[str, str]:
    """Names and summaries of a family: methods, losses, domains, ..."""
    found, row, k = {}, struct("entry"), 0
    while lib.keepfit_family_entry(family, k, row):
        found[text(row.name)] = text(row.summary)
        k += 1
    return found


METHODS = entries(lib.KEEPFIT_METHODS)
LOSSES = entries(lib.KEEPFIT_LOSSES)


# What scikit-learn calls them, where it has another word than ours; a _ for a - will always do.
ALIASES = {"log-loss": "logistic", "log": "logistic", "squared-error": "squared", "squared-loss": "squared",
           "multinomial": "softmax", "cross-entropy": "softmax", "log-cosh": "logcosh"}


def losses(*traits: int) -> Tuple[str, ...]:
    """Those of linear models that have one of these traits, in the library's order."""
    return tuple(name for name in LOSSES if ":" not in name and lib.keepfit_loss_traits(name.encode()) & sum(traits))


def traits(loss: Any) -> int:
    """What the loss predicts (lib.KEEPFIT_LOSS_...); 0 for what is no loss."""
    return lib.keepfit_loss_traits(_named(loss).encode()) if isinstance(loss, str) else 0


def _named(loss: str) -> str:
    name = loss.replace("_", "-")
    return ALIASES.get(name, name)


def loss_of(loss: Any, names: Sequence[str]) -> str:
    """The library's name: scikit-learn's words ("log_loss", "squared_error", "squared_hinge") will do, too."""
    name = _named(loss) if isinstance(loss, str) else loss
    if name not in names:
        listed = ", ".join(repr(n) for n in names[:-1]) + " and " + repr(names[-1])
        raise ValueError("loss %r is none of %s" % (loss, listed) + hint(name, names))
    return name


DOMAINS = entries(lib.KEEPFIT_DOMAINS)


def _written(value: Any) -> str:
    """As the library reads it: numbers so that they read back exactly."""
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return "true" if value else "false"
    if hasattr(value, "__float__") and not isinstance(value, str):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    return str(value)


def make(values: Mapping[str, Any]):
    """A keepfit_options with these values, by their names in Python; None leaves the default."""
    options = ffi.gc(lib.keepfit_options_create(), lib.keepfit_options_free)
    error = struct("error")
    if options == ffi.NULL:
        raise MemoryError()
    for name, value in values.items():
        option = OPTIONS.get(name) or OPTIONS.get(name.replace("-", "_"))
        if value is None:
            continue
        if option is None:
            here = NAMES.get(name.replace("_", "-"))
            raise ValueError("there is no option %r (%s)" % (name, "here it is %r" % here if here else "keepfit.OPTIONS has them all")
                             + ("" if here else hint(name, OPTIONS)))
        if option.name in READING:
            raise ValueError("%s would do nothing: it says how the command reads files, and here the rows are arrays already" % name)
        if isinstance(value, float) and math.isnan(value):
            raise ValueError("%s is not a number" % name)
        status = lib.keepfit_options_set(options, option.key.encode(), _written(value).encode(), error)
        if status != lib.KEEPFIT_OK:
            raise exception(status, error)
    return options
