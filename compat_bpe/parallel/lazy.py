"""Objects whose parts are built when they are first asked for, by whichever thread asks first."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from functools import cached_property as cached_property  # the types are the same
    from typing import Any, TypeVar

    T = TypeVar("T")
else:

    class cached_property:
        """A property that is computed when it is first asked for, and kept, without a lock.

        That of ``functools`` takes a lock before Python 3.12, one for all objects of a class; where
        a process forks meanwhile, it is never released in the child. Threads that ask together
        each compute the value here, and all get the one that is kept.

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
    """Return a copy of an object with some parts replaced; it shares the others.

    Lazy parts that are built already are shared, too. Each object builds the others for itself.

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
