"""The names of DeepSeek's service that have meant one model after the other.

The days are those of the service's change log; since 2026-07-24 it refuses both names.

https://api-docs.deepseek.com/updates
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from .base import ChatFormat, MessageCount, Request
from .messages import Plain


class Meaning(NamedTuple):
    """The model that a name means from a day on.

    Args:
        since: the day, as ISO 8601 writes it.
        model: the name of the model.
        thinks: True if it thinks unless a request says otherwise.
        note: what recorded requests show beyond its format.
    """

    since: str
    model: str
    thinks: bool
    note: str = ""


def _meanings(first: Meaning, *, thinks: bool) -> tuple[Meaning, ...]:
    later = (
        ("2025-08-21", "deepseek-v3.1"),
        ("2025-09-29", "deepseek-v3.2-exp"),
        ("2025-12-01", "deepseek-v3.2"),
        ("2026-04-24", "deepseek-v4-flash"),
    )
    return (first, *(Meaning(since, model, thinks) for since, model in later))


_R1 = Meaning(
    "2025-01-20",
    "deepseek-r1",
    False,
    "; 2 tokens more were billed for each of 2 recorded requests",
)
ALIASES = {
    "deepseek-chat": _meanings(Meaning("2024-12-26", "deepseek-v3", False), thinks=False),
    "deepseek-reasoner": _meanings(_R1, thinks=True),
}


def meaning_of(name: str, as_of: str | None) -> Meaning | None:
    """Return what a name means on a day; None if it is no alias.

    Args:
        name: the plain name of a model.
        as_of: the day; None for the last meaning.

    Raises:
        ValueError: the day is no date, or before the first meaning.

    >>> meaning_of("deepseek-chat", "2025-10-01").model
    'deepseek-v3.2-exp'
    """
    if as_of is not None:
        try:
            as_of = date.fromisoformat(as_of).isoformat()
        except (TypeError, ValueError):
            raise ValueError(f"as_of: {as_of!r} is no date like 2025-06-30") from None
    meanings = ALIASES.get(name)
    if meanings is None:
        return None
    held = [one for one in meanings if as_of is None or one.since <= as_of]
    if not held:
        raise ValueError(f"as_of: {name!r} meant no model before {meanings[0].since}")
    return held[-1]


class AliasFormat(ChatFormat):
    """The format of the model that an alias means.

    Args:
        chat: the format of that model.
        name: the alias.
        meaning: what it means.
    """

    def __init__(self, chat: ChatFormat, name: str, meaning: Meaning) -> None:
        super().__init__(chat.encoding)
        self._chat = chat
        self._thinks = meaning.thinks
        self._note = (
            f"{name} has meant one model after the other; {meaning.model} is taken, since "
            f"{meaning.since}{meaning.note}"
        )
        self.members = chat.members
        self.service_variables = chat.service_variables

    def count(self, request: Request) -> MessageCount:
        """Return the number of tokens of a request.

        Raises:
            ValueError: as the format of the model does.
        """
        return self.counter(request)(request.messages)

    def counter(self, request: Request) -> Callable[[list[Plain]], MessageCount]:
        """Return a function that counts a request with other messages, again and again."""
        variables = {"thinking": self._thinks, **request.variables}
        count = self._chat.counter(replace(request, variables=variables))

        def noted(messages: list[Plain]) -> MessageCount:
            found = count(messages)
            return MessageCount(found, "; ".join(filter(None, (self._note, found.note))))

        return noted
