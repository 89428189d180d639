"""The options by which users of programs give the settings of training.

A setting is a field of a dataclass, and its metadata is an ``Option``: help, group, bounds, and
names on the command line. The command, its help and its manual page, the arguments of Spark's job
and the checks of bounds are made from these. A kind has the options of its fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, field, fields
from typing import Any, NamedTuple

from ..encodings.load import DEEPSEEK
from ..encodings.published import PATTERNS
from ..formats.checked_json import is_unicode

#: The titles of the groups of options, in the order of a help.
SIZE = "Size"
STOP = "Stop"
MODEL = "Model"
BYTE_LEVEL = "Byte-level BPE"
MERGES = "WordPiece and BPE over characters"
PRUNING = "Unigram"
SENTENCES = "SentencePiece"
STEPS = "Steps around the model"
#: The groups that only some kinds have.
OF_KINDS = (BYTE_LEVEL, MERGES, PRUNING, SENTENCES, STEPS)
SPECIAL = "Special tokens"
PREPARATION = "Preparation"

#: The largest weight of a group; its inverse is the smallest. With these, no number overflows.
_MOST_WEIGHT = 1e9


class Option(NamedTuple):
    """The option of a setting.

    Args:
        help: the text for users.
        group: the title of its group.
        flags: its names on the command line; unless given, ``--`` and the name of the field.
        metavar: the placeholder for a value.
        type: the type of a value: ``int``, ``float`` or ``str``; ``bool`` for a switch; ``dict``
            for ``GROUP=NUMBER``; ``open`` for the path of a file.
        choices: the allowed values; empty for any.
        least, most: the bounds of a number.
        is_below: True if the number must be less than ``most``.
        is_many: True if the option may be repeated.
        default: the value that programs take by default; ``MISSING`` for that of the field.
        name: the name of the option, if not that of the field. Fields of several kinds with one
            name are one option.
    """

    help: str
    group: str = MODEL
    flags: tuple[str, ...] = ()
    metavar: str = ""
    type: type | Any = str
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    is_below: bool = False
    is_many: bool = False
    default: Any = MISSING
    name: str = ""

    def check(self, name: str, value: Any) -> None:
        """Raise ``ValueError`` if a value is out of bounds, or must be an integer and is not.

        >>> Option("", type=float, least=0, most=1, is_below=True).check("factor", 1)
        Traceback (most recent call last):
        ValueError: factor is 1; it must be 0 or more and less than 1
        """
        if value is None or (self.least is None and self.type is not int):
            return
        if self.type is int:
            check_integer(name, value)
        least = float("-inf") if self.least is None else self.least
        if self.most is None:
            if not least <= value < float("inf"):
                raise ValueError(f"{name} is {value}; it must be {least} or more")
        elif not least <= value <= self.most or (self.is_below and value == self.most):
            most = f" or more and less than {self.most}" if self.is_below else f" to {self.most}"
            raise ValueError(f"{name} is {value}; it must be {least}{most}")


#: The arguments of an option that takes a number of things, one or more.
COUNT: dict[str, Any] = {"metavar": "N", "type": int, "least": 1}


def setting(default: Any, /, option: Option | str, *rest: Any, **more: Any) -> Any:
    """Return the field of a setting with an option, which may be given by its arguments."""
    if isinstance(option, str):
        option = Option(option, *rest, **more)
    return field(default=default, metadata={"option": option})


class Parameter(NamedTuple):
    """An option of a program, made from the fields that have it.

    Args:
        name: its name.
        flags: its names on the command line, the longest last.
        option: the option, whose bounds allow the values of all kinds.
        default: the value that programs take by default.
    """

    name: str
    flags: tuple[str, ...]
    option: Option
    default: Any

    @property
    def flag(self) -> str:
        """The name for messages."""
        return self.flags[-1]


def fields_with_options(settings: type) -> Iterator[tuple[Field[Any], str, Option]]:
    """Yield the fields of a class that have an option, its name, and the option.

    A field that is a group of settings itself, such as ``convergence``, comes with the options of
    its own fields.
    """
    for own in fields(settings):
        if "parts" in own.metadata:
            yield from fields_with_options(own.metadata["parts"])
        elif "option" in own.metadata:
            option = own.metadata["option"]
            yield own, option.name or own.name, option


def parameters(settings: Iterable[type]) -> dict[str, Parameter]:
    """Return the options of all these classes, each once, by name."""
    found: dict[str, Parameter] = {}
    for one in settings:
        for own, name, option in fields_with_options(one):
            known = found.get(name)
            if known is None:
                default = own.default if option.default is MISSING else option.default
                flags = option.flags or (f"--{name.replace('_', '-')}",)
                found[name] = Parameter(
                    name, flags, option, None if default is MISSING else default
                )
            elif known.option != option:
                found[name] = known._replace(option=_either(known.option, option))
    return found


def _either(one: Option, other: Option) -> Option:
    """Return an option whose bounds allow the values of both."""
    least = None if None in (one.least, other.least) else min(one.least, other.least)  # type: ignore[type-var]
    most = None if None in (one.most, other.most) else max(one.most, other.most)  # type: ignore[type-var]
    return one._replace(least=least, most=most)


def check_bounds(settings: Any) -> None:
    """Raise ``ValueError`` if a field is out of the bounds of its option."""
    for own in fields(settings):
        option = own.metadata.get("option")
        if option is not None:
            option.check(own.name, getattr(settings, own.name))


def check_integer(name: str, value: object) -> None:
    """Raise ``ValueError`` if an argument is given and is not an integer.

    >>> check_integer("vocab_size", float("nan"))
    Traceback (most recent call last):
    ValueError: vocab_size is nan; it must be an integer
    """
    if value is not None and (isinstance(value, bool) or not hasattr(value, "__index__")):
        raise ValueError(f"{name} is {value!r:.60}; it must be an integer")


def check_least(name: str, value: int | None, least: int) -> None:
    """Raise ``ValueError`` if an argument is given and is below ``least`` or not an integer."""
    check_integer(name, value)
    if value is not None and value < least:
        raise ValueError(f"{name} is {value}; it must be {least} or more")


def listed(name: str, given: Iterable[str], items: str = "names") -> tuple[str, ...]:
    """Return a copy of texts: an iterator ends, and the caller may change a list after the check.

    Raises:
        TypeError: it is a single str.

    >>> listed("special_tokens", "<s>")
    Traceback (most recent call last):
    TypeError: special_tokens is the str '<s>'; pass a list of names
    """
    if isinstance(given, str):
        raise TypeError(f"{name} is the str {given!r}; pass a list of {items}")
    return tuple(given)


def check_special_names(names: Iterable[str]) -> None:
    """Raise ``ValueError`` if a name cannot be that of a special token, or comes twice."""
    seen: set[str] = set()
    for name in names:
        if not name:
            raise ValueError("a special token has an empty name")
        if not is_unicode(name):
            raise ValueError(f"the special token {name!r} has a lone surrogate")
        if name in seen:
            raise ValueError(f"the special token {name!r} is named twice")
        seen.add(name)


def check_weights(weights: Mapping[str, float]) -> None:
    """Raise ``ValueError`` if the weight of a group is not positive, or is out of all proportion.

    >>> check_weights({"en": 1e300})
    Traceback (most recent call last):
    ValueError: the weight of 'en' is 1e+300; it must be from 1e-09 to 1e+09
    """
    for group, weight in weights.items():
        if not isinstance(weight, (int, float)) or not 0 < weight < float("inf"):
            raise ValueError(f"the weight of {group!r} is {weight!r:.60}; it must be positive")
        if not 1 / _MOST_WEIGHT <= weight <= _MOST_WEIGHT:
            raise ValueError(
                f"the weight of {group!r} is {weight!r:.60}; it must be from "
                f"{1 / _MOST_WEIGHT:g} to {_MOST_WEIGHT:g}"
            )


def weights_of(given: Iterable[str]) -> dict[str, float]:
    """Return the weights that an option gives, by group.

    Raises:
        ValueError: one is not GROUP=NUMBER, is not positive, or is for a group that has one.

    >>> weights_of(["en=2"])
    {'en': 2.0}
    """
    weights: dict[str, float] = {}
    for one in given:
        group, separator, number = one.rpartition("=")
        try:
            weight = float(number)
        except ValueError:
            weight = 0.0
        if not separator or not 0 < weight < float("inf"):
            raise ValueError(f"{one!r} is not GROUP=NUMBER with a number above 0.")
        if group in weights:
            raise ValueError(f"{group!r} has two weights.")
        weights[group] = weight
    return weights


# The options that several kinds have, each in fields of its own.

VOCAB_SIZE = Option(
    "Learn a vocabulary of N tokens, including the special tokens and the 256 bytes or the "
    "characters.",
    SIZE,
    ("-n", "--vocab-size"),
    **COUNT,
)

NUM_MERGES = Option("Learn at most N merges.", SIZE, ("--merges",), "N", int, least=0)

MIN_FREQUENCY = Option(
    "Merge only pairs that occur at least N times.", STOP, metavar="N", type=int, least=0, default=1
)

MAX_TOKEN_LENGTH = Option(
    "Learn no token of more than N bytes (N characters for models other than bpe).", **COUNT
)

PATTERN = Option(
    "Pattern that splits text into chunks, across which nothing is merged. It is one of "
    f"{', '.join(PATTERNS)}, {DEEPSEEK}, or a regular expression. Default: gpt2.",
    group=BYTE_LEVEL,
    metavar="NAME|REGEX",
)

SPECIAL_TOKENS = Option(
    "Special token. May be repeated.",
    SPECIAL,
    ("--special",),
    "NAME",
    is_many=True,
    name="special_tokens",
)

WEIGHTS = Option(
    "Repeat each group so that group sizes in bytes are in these proportions (default 1). May be "
    "repeated.",
    PREPARATION,
    ("--weight",),
    "GROUP=NUMBER",
    dict,
    is_many=True,
)

INITIAL_ALPHABET = Option(
    "Make all characters of TEXT tokens, even those that do not occur.", metavar="TEXT"
)

LIKE = Option(
    "Train this tokenizer anew, as transformers' train_new_from_iterator does: the same model, "
    "steps and special tokens, but new tokens.",
    metavar="PATH",
    type=open,
    name="like",
)

BYTE_FALLBACK = Option(
    "Add 256 byte pieces, which encode unknown characters. With --like, keep those that "
    "transformers leaves out.",
    type=bool,
)

SHRINKING_FACTOR = Option(
    "Keep this share of the pieces in each round of pruning.",
    group=PRUNING,
    metavar="PART",
    type=float,
    least=0,
    most=1,
    is_below=True,
)

SUB_ITERATIONS = Option(
    "Estimate the scores of pieces N times before each round of pruning.",
    group=PRUNING,
    flags=("--sub-iterations",),
    name="n_sub_iterations",
    **COUNT,
)

MAX_PIECE_LENGTH = Option(
    "Learn no piece of more than N characters.", name="max_piece_length", **COUNT
)

SEED_SIZE = Option("Begin with at most N pieces.", group=PRUNING, name="seed_size", **COUNT)
