"""Values that are kept: properties computed once, bounded caches, dictionaries for threads.

Text repeats itself. Most chunks of a long text have occurred before, and finding the ids of such a
chunk takes one look-up in a dictionary. Whole texts repeat, too, for instance when an editor
counts a file after each change. Then one look-up finds a segment of some hundred characters, which
is not even split.

In free-threaded CPython 3.13, ``dict.get`` takes 20 µs for a key that another thread has made, and
``key in table`` with ``table[key]`` 0.15 µs, since ``get`` locks the dictionary twice. Elsewhere
``get`` is the fastest.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from functools import cached_property as cached_property  # the types are the same
    from typing import Any, TypeVar

    T = TypeVar("T")
    K = TypeVar("K")
    V = TypeVar("V")
else:
    K = V = object

    class cached_property:
        """A property that is computed on first use, and kept, without a lock.

        Before Python 3.12, ``functools.cached_property`` holds one lock for all objects of a class.
        If the process forks meanwhile, the lock is never released in the child. Here, threads that
        ask at the same time each compute the value, and all get the one that is kept.

        >>> class Squares:
        ...     @cached_property
        ...     def all(self):
        ...         return [number * number for number in range(3)]
        >>> squares = Squares()
        >>> squares.all, squares.all is squares.all
        ([0, 1, 4], True)
        """

        def __init__(self, compute):
            self._compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner, name):
            self._name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            return instance.__dict__.setdefault(self._name, self._compute(instance))


def changed(whole: T, **parts: Any) -> T:
    """Return a copy of an object with some attributes replaced; it shares the others.

    Cached properties that have been computed are shared, too. Each object computes the others.

    >>> class Pair:
    ...     def __init__(self, left, right):
    ...         self.left, self.right = left, right
    >>> pair = Pair([1], [2])
    >>> other = changed(pair, right=[3])
    >>> other.left is pair.left, pair.right, other.right
    (True, [2], [3])
    """
    copy = type(whole).__new__(type(whole))
    copy.__dict__.update(whole.__dict__, **parts)
    return copy


class Cache(dict[str, V]):
    """A cache of ``find(text)`` that drops the least recently used texts.

    It keeps two *generations*. The younger one is this dictionary itself. When it holds half of
    ``limit`` texts, it becomes the older one, and the previous older one is dropped. A text that
    is looked up in the older generation moves to the younger.

    Threads may share it: each operation on a dictionary is atomic, and two threads that look up
    the same text store equal values.

    Args:
        find: returns the value for any text; never None.
        limit: the largest number of texts held.
        longest: the length in characters above which a text is never held.

    >>> lengths = Cache(len, limit=4, longest=10)
    >>> [lengths[text] for text in ("ab", "c", "def", "ab")]
    [2, 1, 3, 2]
    >>> list(lengths), list(lengths.older)
    (['def', 'ab'], ['c'])
    """

    __slots__ = ("_find", "_half", "_longest", "limit", "older")

    def __init__(self, find: Callable[[str], V], limit: int, longest: int) -> None:
        super().__init__()
        self._find = find
        self._longest = longest
        self.older: dict[str, V] = {}
        self.set_limit(limit)

    def __missing__(self, text: str) -> V:
        value = self.older.pop(text, None)
        if value is None:
            value = self._find(text)
        if len(text) <= self._longest and self._half:
            if len(self) >= self._half:
                # With a limit of 1 there is no room for an older generation.
                self.older = dict(self) if self.limit > 1 else {}
                super().clear()
            self[text] = value
        return value

    def set_limit(self, limit: int) -> None:
        """Set the largest number of texts held, and clear the cache."""
        self.clear()
        self.limit = limit
        self._half = limit // 2 or limit

    def clear(self) -> None:
        """Remove all texts."""
        super().clear()
        self.older = {}


class Memo(dict[K, V]):
    """A dictionary of ``find(key)`` that is emptied when it is full.

    It is for facts with few different keys in a text, such as its characters. A look-up of a known
    key records nothing, so it takes no longer than in any dictionary.

    Args:
        find: returns the value for a key.
        limit: the largest number of keys held.

    >>> squares = Memo(lambda number: number * number, limit=2)
    >>> [squares[number] for number in (2, 3, 2, 4)], squares
    ([4, 9, 4, 16], {4: 16})
    """

    __slots__ = ("_find", "_limit")

    def __init__(self, find: Callable[[K], V], limit: int) -> None:
        super().__init__()
        self._find = find
        self._limit = limit

    def __missing__(self, key: K) -> V:
        value = self._find(key)
        if len(self) >= self._limit:
            self.clear()
        self[key] = value
        return value


def has_gil() -> bool:
    """Return True if a global lock keeps threads from running Python code in parallel."""
    return bool(getattr(sys, "_is_gil_enabled", lambda: True)())


def getter(table: Mapping[K, V]) -> Callable[..., Any]:
    """Return the ``get`` of a table, or a function that does the same and is quick in any thread.

    >>> get = getter({"a": 1})
    >>> get("a"), get("b"), get("b", 0)
    (1, None, 0)
    """
    return table.get if has_gil() else _Shared.get.__get__(table)


def shareable(items: Mapping[K, V] | Iterable[tuple[K, V]] = ()) -> dict[K, V]:
    """Return a dictionary whose ``get`` is quick in any thread.

    Args:
        items: its content; a dictionary that is quick already is returned itself.
    """
    if not has_gil():
        return _Shared(items)
    return items if type(items) is dict else dict(items)


class _Shared(dict[K, V]):
    """A dictionary whose ``get`` does not call that of ``dict``."""

    __slots__ = ()

    def get(self, key: Any, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401
