"""Special tokens in text: finding them, and refusing disallowed ones.

A special token is a name such as ``<|endoftext|>``, with an id of its own that merging never
gives.  In a text from a user, the name must not become the token unless the caller says so.
Callers say so with ``allowed_special`` and ``disallowed_special``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Set
from functools import lru_cache
from typing import Literal, NoReturn, Union

#: The names that become their token: a set, or ``"all"``.
AllowedSpecial = Union[Literal["all"], Set[str]]
#: The names that a text must not contain: a collection, or ``"all"``.
DisallowedSpecial = Union[Literal["all"], Collection[str]]


@lru_cache(maxsize=128)
def _any_of(names: frozenset[str]) -> re.Pattern[str]:
    # The longest name first, so that of two names at one position the longer is found.
    return re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))))


def find_special(text: str, names: Set[str]) -> str | None:
    """Return the first special token of ``names`` in a text, or None.

    >>> find_special("one<|end|>two", {"<|end|>", "<|start|>"})
    '<|end|>'
    """
    if not names:
        return None
    found = _any_of(frozenset(names)).search(text)
    return found.group() if found else None


def split_special(text: str, names: Set[str]) -> Iterator[tuple[str, str | None]]:
    """Yield the spans of plain text, each with the special token that ends it.

    The last span has None.  Of two names at one position the longer wins; tiktoken defines no
    order there.

    >>> list(split_special("one<|end|>two", {"<|end|>"}))
    [('one', '<|end|>'), ('two', None)]
    """
    start = 0
    if names:
        for match in _any_of(frozenset(names)).finditer(text):
            yield text[start : match.start()], match.group()
            start = match.end()
    yield text[start:] if start else text, None


def raise_disallowed(name: str) -> NoReturn:
    """Refuse a text that contains the name of a disallowed special token.

    Raises:
        ValueError: always; the message names the token and the options to pass.
    """
    raise ValueError(
        # The first line is tiktoken's, since programs look for it.
        f"Encountered text corresponding to disallowed special token {name!r}.\n"
        f"To encode it as that token, pass allowed_special={{{name!r}}}; to encode it as plain "
        "text, pass disallowed_special=() or use encode_ordinary."
    )
