"""``Budget``: the steps and the memory that are left to the rendering of a chat template.

A template is a program from outside. Its costs are counted before they arise. A step is a call, a
turn of a loop, an item that is looked at, or ``PER_STEP`` characters that are searched; texts and
lists are counted in bytes. So time and memory are bounded for every template, though nothing can
interrupt a running operation of Python's.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable
from time import monotonic
from typing import Any, NamedTuple

import jinja2

resource: Any = None
with contextlib.suppress(ImportError):  # there is none on Windows and in a browser
    import resource

#: The steps that a rendering may take, and more of them for each item that it is given.
STEPS = 2_000_000
STEPS_PER_ITEM = 64

#: The bytes of texts and lists that it may make, and more for each byte that it is given. It may
#: make more if the system shows that the memory of the process did not grow by so much.
MADE = 1 << 28
MADE_PER_BYTE = 16

#: The steps of a single operation of Python's, which cannot be interrupted: well below a second.
STEPS_AT_ONCE = 400_000

#: The seconds of a rendering, for machines on which the steps take too long.
SECONDS = 30

#: The longest text in characters.
LONGEST = 1 << 25

#: The deepest nesting of values, and of calls of macros. A message has a nesting of at most 100.
DEEPEST = 200

#: The size of the largest number, in bits.
LARGEST = 1 << 12

#: The characters that are searched, compared or hashed in a step.
PER_STEP = 1 << 10

#: The unit, in bytes, in which the system gives the memory of a process.
_PEAK_UNIT = 1 if sys.platform == "darwin" else 1 << 10

#: The steps after which the clock is looked at.
_STEPS_PER_LOOK = 256

_IS_LINEAR = sys.implementation.name == "cpython" and sys.version_info >= (3, 10)

#: The kinds of the parts of a dict.
_VIEWS: tuple[Any, ...] = (type({}.keys()), type({}.values()), type({}.items()))

#: The kinds of values that have others in them, and those whose items can be looked at twice.
_NESTED: tuple[Any, ...] = (list, tuple, dict, *_VIEWS)
_SIZED: tuple[Any, ...] = (str, range, *_NESTED)


class TooMuch(jinja2.TemplateError):
    """The template takes too long, or makes too much."""


class Size(NamedTuple):
    """The size of a value with all values in it; a value that occurs twice counts twice.

    Args:
        items: the number of values in it, itself included.
        length: the characters of the texts and numbers in it.
        depth: its nesting.
        is_wide: True if not all of the characters are ASCII.
    """

    items: int
    length: int
    depth: int
    is_wide: bool

    @property
    def shown(self) -> int:
        """An upper bound of the bytes of its ``str`` or its JSON without an indentation."""
        # A character within a value is written as up to ten, which in wide texts have up to four
        # bytes each; an item has quotes, a comma and the like around it.
        return (40 if self.is_wide else 10) * self.length + 32 * self.items


class Budget:
    """The steps and the bytes that are left to a rendering.

    Args:
        variables: the variables of the template, plain data.
    """

    __slots__ = ("_at_once", "_ends", "_look", "_peak", "calls", "made", "steps")

    def __init__(self, variables: Any = None) -> None:
        #: The calls of macros that are running.
        self.calls = 0
        self._look = self._ends = float("-inf")
        self.steps = self.made = self._at_once = 1 << 62
        size = self.size(variables)
        self._at_once = STEPS_AT_ONCE
        self.steps = STEPS + STEPS_PER_ITEM * size.items
        self.made = MADE + MADE_PER_BYTE * (4 if size.is_wide else 1) * size.length
        self._look = self.steps
        self._peak = _peak()
        self._ends = monotonic() + SECONDS

    def spend(self, steps: int = 1, made: int = 0) -> None:
        """Count steps, and bytes that are made by them.

        Raises:
            TooMuch: they exceed the rest of the budget.
        """
        self.steps -= steps
        self.made -= made
        if self.steps < self._look:
            self._check(steps)
        if self.made < 0:
            self._check_memory()

    def _check(self, steps: int) -> None:
        if self.steps < 0:
            raise TooMuch("it exceeds the step limit")
        if steps > self._at_once:
            raise TooMuch("one operation exceeds the work limit")
        self._look = self.steps - _STEPS_PER_LOOK
        if monotonic() > self._ends:
            raise TooMuch(f"it takes more than {SECONDS} seconds")

    def _check_memory(self) -> None:
        # Most texts are not kept: "x = x + y" in a loop needs only the last one.
        if self._peak is None or (_peak() or 0) - self._peak > MADE:
            raise TooMuch("its texts and lists exceed the size limit")
        self.made += MADE

    def text(self, length: int, *sources: str) -> None:
        """Count a text that is made of others.

        Raises:
            TooMuch: it is too long, or the texts together are too much.
        """
        if length > LONGEST:
            raise TooMuch(f"it makes a text of more than {LONGEST:,} characters")
        wide = not all(map(str.isascii, sources))
        self.spend(1 + (length >> 13), 64 + (length << 2 if wide else length))

    def search(self, text: str, wanted: str, backwards: bool = False) -> None:
        """Count a search of a text for another, or for any character of it."""
        length, tried = len(text), len(wanted)
        # Each place may have to be compared with all of the wanted text. From CPython 3.10 on, a
        # forward search of a long text for a long one is linear.
        if _IS_LINEAR and length > 2_500 and not backwards:
            tried = min(tried, 128)
        self.spend(1 + tried * length // PER_STEP)

    def items(self, value: Any) -> Any:
        """Return a value whose items can be looked at all at once; they are counted.

        Raises:
            TooMuch: they are too many.
            TypeError: it has no items.
        """
        if isinstance(value, _SIZED):
            self.spend(1 + len(value), 16 * len(value))
            return value
        counted = []
        for one in iter(value):
            self.spend(1, 16)
            counted.append(one)
        return counted

    def size(self, value: Any) -> Size:
        """Return the size of a value, which is looked at as a whole; its items are counted.

        A value may be in a list many times, and each time counts, since an operation sees it as
        often.

        Raises:
            TooMuch: it has too many items, or is nested too deeply.
        """
        if isinstance(value, str):
            self.spend(1 + len(value) // PER_STEP)
            return Size(1, len(value), 0, not value.isascii())
        items, length, depth, is_wide = 1, 0, 0, False
        level: list[Any] = [value]
        # Level by level, since the stack of Python is not deep enough for every value.
        while level:
            if depth > DEEPEST:
                raise TooMuch(f"it makes a value nested more than {DEEPEST} levels deep")
            inner: list[Any] = []
            before = length
            for one in level:
                if isinstance(one, str):
                    length += len(one)
                    is_wide = is_wide or not one.isascii()
                elif isinstance(one, _NESTED):
                    more = len(one) << isinstance(one, dict)
                    items += more
                    # The items are counted before they are looked at.
                    self.spend(min(items, more + 1))
                    if items > self._at_once:
                        raise TooMuch("it uses a value of too many items")
                    inner.extend(one)
                    if isinstance(one, dict):
                        inner.extend(one.values())
                elif isinstance(one, int):
                    length += 2 + number_of_bits(one) // 3
                else:
                    length += 64  # a float, or an object that is shown by its kind
            self.spend((length - before) // PER_STEP)
            level = inner
            depth += 1
        return Size(items, length, depth - 1, is_wide)

    def shown(self, *values: Any) -> None:
        """Count values that are written as one text."""
        made = 0
        for one in values:
            if isinstance(one, str):
                made += len(one) if one.isascii() else len(one) << 2
                self.spend(1)
            else:
                made += self.size(one).shown
        self.spend(1 + (made >> 13), 64 + made)

    def sizes(self, values: Iterable[Any]) -> None:
        """Count values that are looked at as a whole, once each."""
        for one in values:
            self.size(one)


def _peak() -> int | None:
    """Return the most bytes of memory that this process had so far; None if it is not known."""
    if resource is None:
        return None
    # On Linux, ``ru_maxrss`` also covers the program that this process was before ``exec``.
    with contextlib.suppress(OSError), open("/proc/self/status", "rb") as status:
        for line in status:
            if line.startswith(b"VmHWM:"):
                return int(line.split()[1]) << 10
    most: int = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most * _PEAK_UNIT


def number_of_bits(value: int) -> int:
    """Return the size of a number.

    Raises:
        TooMuch: it is too large.
    """
    bits = value.bit_length()
    if bits > LARGEST:
        raise TooMuch("it makes a number of thousands of digits")
    return bits


def is_number(value: Any) -> bool:
    """Return True for a number that is not too large.

    Raises:
        TooMuch: it is too large.
    """
    if isinstance(value, int):
        return number_of_bits(value) >= 0
    return isinstance(value, float)
