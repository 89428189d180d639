"""``fit_messages``: a conversation with its less important parts left out, so that it fits.

For each part that is tried, the whole conversation is counted as it will be sent. So the result
never has more tokens than the limit, in any format.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any, Callable, Literal, NamedTuple, get_args

from ..encodings.encoding import Encoding
from ..fit import Keep, Truncated, truncate
from ..fit.longest_part import check_limit
from .base import ChatFormat, Endpoint, LeftOut, MessageCount, Request
from .choose import chosen_format
from .left_out import countable_message, countable_request, with_left_out
from .messages import Object, Plain, tool_calls
from .template import ChatTemplate


class Unit(NamedTuple):
    """A part of a conversation.

    Args:
        numbers: the indexes of its messages, in order.
        must_stay: True if it may not be left out.
    """

    numbers: tuple[int, ...]
    must_stay: bool


def units_of(messages: list[Plain], *, by_turn: bool, keep_last: int) -> list[Unit]:
    """Return the parts of a conversation, sorted by their last messages.

    The result of a call is in the part of the call. Without an id, or a call of this id, it is in
    the part of the message before it.

    Args:
        messages: the conversation.
        by_turn: True if all messages from one of the user's to the next are one part.
        keep_last: the number of last parts that must stay, beside those of the system and the last
            one of the user's.

    Raises:
        ValueError: the calls of a message are damaged.

    >>> chat = [{"role": role} for role in ("system", "user", "assistant", "user")]
    >>> [unit.numbers for unit in units_of(chat, by_turn=True, keep_last=1)]
    [(0,), (1, 2), (3,)]
    """
    #: For each message, the first message of its part, or an earlier one that leads there.
    parts = list(range(len(messages)))
    callers: dict[str, int] = {}
    turn: int | None = None
    before: int | None = None
    for index, message in enumerate(messages):
        role = message["role"]
        if _is_system(message):
            continue
        if by_turn:
            if role == "user" or turn is None:
                turn = index
            parts[index] = turn
        if role in ("tool", "function"):
            caller = callers.get(str(message.get("tool_call_id")), before)
            if caller is not None:
                _join(parts, caller, index)
        for call in tool_calls(message, f"messages[{index}]"):
            if isinstance(call.get("id"), str):
                callers[call["id"]] = index
        before = index
    members: dict[int, list[int]] = {}
    for index in range(len(messages)):
        members.setdefault(_first(parts, index), []).append(index)
    ordered = sorted(members.values(), key=lambda numbers: numbers[-1])
    said = [numbers for numbers in ordered if not _is_system(messages[numbers[0]])]
    stay = {numbers[0] for numbers in said[-keep_last:]}
    users = [index for index, message in enumerate(messages) if message["role"] == "user"]
    if users:
        stay.add(_first(parts, users[-1]))
    return [
        Unit(tuple(numbers), numbers[0] in stay or _is_system(messages[numbers[0]]))
        for numbers in ordered
    ]


def _is_system(message: Plain) -> bool:
    return message["role"] in ("system", "developer")


def _first(parts: list[int], index: int) -> int:
    """Return the first message of the part that a message is in."""
    while parts[index] != index:
        parts[index] = parts[parts[index]]
        index = parts[index]
    return index


def _join(parts: list[int], one: int, other: int) -> None:
    """Make one part of the parts that two messages are in."""
    low, high = sorted((_first(parts, one), _first(parts, other)))
    parts[high] = low


#: The parts that can be left out of a message that stays.
Dropped = Literal["images", "tool_results"]

#: The types of image parts, each with the type of the text that replaces them; the last is for chat
#: templates.
_TEXT_FOR = {"image_url": "text", "input_image": "input_text", "image": "text"}

_IMAGE, _RESULT = "[image left out]", "[result left out]"


def stripped(message: Plain, what: Dropped) -> Plain | None:
    """Return a message with a short text in place of images or a result; None if it has none.

    A result that is not longer than the short text stays.

    >>> stripped({"role": "tool", "content": "Sunny, with a light wind."}, "tool_results")
    {'role': 'tool', 'content': '[result left out]'}
    >>> stripped({"role": "user", "content": "Hi"}, "images")
    """
    content = message.get("content")
    if what == "tool_results":
        is_long = not isinstance(content, str) or len(content) > len(_RESULT)
        if message["role"] not in ("tool", "function") or not content or not is_long:
            return None
        return {**message, "content": _RESULT}
    if not isinstance(content, (list, tuple)):
        return None
    parts = [_text_for(part) for part in content]
    return None if parts == list(content) else {**message, "content": parts}


def _text_for(part: Any) -> Any:
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(kind, str) or kind not in _TEXT_FOR:
        return part
    return {"type": _TEXT_FOR[kind], "text": _IMAGE}


#: The parts that are left out as a whole.
_Parts = Literal["turn", "message"]


@dataclass(frozen=True)
class FittedMessages:
    """A conversation that fits.

    Args:
        messages: the kept messages, in their order; copies of the given ones, as dicts.
        count: the number of tokens of the request with them, at most the limit.
        kept: the indexes of the kept messages in the given list, from 0 on.
        dropped: the indexes of those that were left out.
        cut: the indexes of the kept ones whose text was cut.
        without_images: the indexes of the kept ones whose images were left out.
        without_results: the indexes of the kept ones, of tools, whose result was left out.
    """

    messages: list[dict[str, Any]]
    count: MessageCount
    kept: tuple[int, ...]
    dropped: tuple[int, ...]
    cut: tuple[int, ...]
    without_images: tuple[int, ...] = ()
    without_results: tuple[int, ...] = ()


def fit_messages(
    messages: Sequence[Object],
    limit: int,
    *,
    model: str | None = None,
    encoding: Encoding | str | os.PathLike[str] | None = None,
    tools: Sequence[Object] | None = None,
    template: ChatTemplate | str | None = None,
    variables: Mapping[str, Any] | None = None,
    response_format: Mapping[str, Any] | None = None,
    tool_choice: str | Mapping[str, Any] | None = None,
    endpoint: Endpoint = "chat_completions",
    as_of: str | None = None,
    estimate: bool = False,
    parts: _Parts = "turn",
    keep_last: int = 1,
    priority: Callable[[Any], float] | None = None,
    cut: Keep | None = None,
    marker: str | None = None,
    drop_first: Sequence[Dropped] = (),
) -> FittedMessages:
    """Return a conversation that fits: its less important parts are left out.

    All system and developer messages stay, and so do the last parts and the last message of the
    user. The other parts are added by priority, those of one priority from the newest to the
    oldest, each if it still fits. If all of them fit, nothing is left out. A call of a tool is
    never separated from its result.

    Args:
        messages: the conversation, as ``count_messages`` takes it. It is not changed.
        limit: the most tokens that the request may have, with the tools and the tokens with which
            the reply begins. ``context_limit(model)`` returns the limits of a model.
        model, encoding, tools, template, variables, response_format, tool_choice, endpoint, as_of,
            estimate: as in ``count_messages``.
        parts: ``"turn"`` to leave out whole turns, each from a message of the user to the next one;
            ``"message"`` to leave out single messages, and a call of a tool with its results. Some
            chat templates refuse messages that do not alternate; with them, use turns.
        keep_last: the number of last parts that stay, 1 or more.
        priority: returns the importance of a message, a number; a part has that of its most
            important message. Unless given, it is 0 for all.
        cut: ``"head"``, ``"tail"`` or ``"ends"`` to cut the longest text of a part that does not
            fit, and keep this end of it; None to leave the part out.
        marker: the text put where something was cut; it counts, too.
        drop_first: ``"images"``, ``"tool_results"``, or both, in the order in which they are left
            out before whole messages are; each from the oldest message on, and no more than needed.
            A short text takes their place. Messages that must stay are left whole.

    Raises:
        ImportError, KeyError, OSError: as in ``count_messages``.
        ValueError: the messages that must stay do not fit; or an argument is out of range; or as in
            ``count_messages``.

    >>> messages = [
    ...     {"role": "system", "content": "Be brief."},
    ...     {"role": "user", "content": "Tell me all about the history of Rome."},
    ...     {"role": "assistant", "content": "It was not built in a day."},
    ...     {"role": "user", "content": "And that of Athens?"},
    ... ]
    >>> fitted = fit_messages(messages, 30, model="gpt-4o")
    >>> fitted.count, fitted.dropped
    (19, (1, 2))
    >>> fitted.messages == [messages[0], messages[3]]
    True
    """
    check_limit(limit)
    if parts not in get_args(_Parts):
        raise ValueError(f"unknown parts {parts!r}; known: {', '.join(get_args(_Parts))}")
    if cut is not None and cut not in get_args(Keep):
        raise ValueError(f"unknown cut {cut!r}; known: {', '.join(get_args(Keep))}")
    if keep_last < 1:
        raise ValueError(f"keep_last is {keep_last}; it must be 1 or more")
    if isinstance(drop_first, str) or any(one not in get_args(Dropped) for one in drop_first):
        known = ", ".join(get_args(Dropped))
        raise ValueError(
            f"drop_first is {drop_first!r}; it must be a list, each item one of {known}"
        )
    request = Request.checked(
        messages,
        tools,
        variables=variables,
        response_format=response_format,
        tool_choice=tool_choice,
        endpoint=endpoint,
    )
    units = units_of(request.messages, by_turn=parts == "turn", keep_last=keep_last)
    importance = [0.0 if priority is None else priority(one) for one in messages]
    chat = chosen_format(model, encoding, template, as_of, estimate=estimate)
    fitting = _Fitting(chat, *countable_request(chat, request), limit)
    how = partial(truncate, chat.encoding, keep=cut, marker=marker) if cut else None
    return fitting.fit(_in_order(units, importance), how, drop_first)


#: Cuts a text to a number of tokens.
_Cut = Callable[[str, int], Truncated]


def _in_order(units: list[Unit], importance: Sequence[float]) -> list[Unit]:
    """Return units in the order in which they are added; those that must stay are first."""
    newest_first = units[::-1]
    return sorted(
        newest_first,
        key=lambda unit: (not unit.must_stay, -max(importance[at] for at in unit.numbers)),
    )


def _after(messages: Mapping[int, Plain], drops: Sequence[tuple[int, Dropped]]) -> dict[int, Plain]:
    """Return messages without the parts dropped from them."""
    left = dict(messages)
    for at, what in drops:
        left[at] = stripped(left[at], what) or left[at]
    return left


class _Fitting:
    """A conversation to which parts are added as long as they fit."""

    def __init__(
        self, chat: ChatFormat, request: Request, left_out: list[LeftOut], limit: int
    ) -> None:
        self._chat = chat
        self._left_out = left_out
        self._counted = chat.counter(request)
        #: The counted parts of messages, by the ids of the messages. The messages are kept, since
        #: an object that is gone may leave its id to another.
        self._countable: dict[int, tuple[Plain, Plain]] = {}
        #: True if all parts of the messages are counted.
        self._is_countable = all(
            self._without(at, one) is one for at, one in enumerate(request.messages)
        )
        self._request = request
        self._limit = limit
        #: The messages of the request, some of them without images or results.
        self._messages = dict(enumerate(request.messages))
        #: The messages that lost images or a result, in the order in which they did.
        self._stripped: dict[tuple[int, Dropped], None] = {}
        #: The indexes of the messages that are in, each with the message.
        self._taken: dict[int, Plain] = {}
        self._cut: list[int] = []
        #: The messages that were counted last, and their count.
        self._last: tuple[list[Plain], MessageCount] = ([], MessageCount(0))

    def fit(
        self, order: list[Unit], how: _Cut | None, drop_first: Sequence[Dropped]
    ) -> FittedMessages:
        """Take in units in this order, and return the conversation.

        Raises:
            ValueError: those that must stay do not fit.
        """
        # If the format refuses the conversation, this raises an error about all of it.
        if self._count(self._messages) > self._limit:
            stay = {at for unit in order if unit.must_stay for at in unit.numbers}
            self._drop([at for at in self._messages if at not in stay], drop_first)
        if self._count(self._messages) <= self._limit:
            self._taken = self._messages
        else:
            self._take_in(order, how)
        self._put_back()
        return self._result()

    def _drop(self, numbers: list[int], drop_first: Sequence[Dropped]) -> None:
        """Leave images and results out of messages: as many as needed, or all.

        Args:
            numbers: the indexes of the messages, the oldest first.
            drop_first: the kinds to leave out, in this order.
        """
        whole = dict(self._messages)
        drops: list[tuple[int, Dropped]] = []
        for what in drop_first:
            for at in numbers:
                without = stripped(self._messages[at], what)
                if without is not None:
                    self._messages[at] = without
                    drops.append((at, what))
        # Bisection finds the fewest that make all messages fit; all of them if none do.
        low, high = 0, len(drops)
        while low < high:
            middle = (low + high) // 2
            if self._fits(_after(whole, drops[:middle])):
                high = middle
            else:
                low = middle + 1
        self._stripped = dict.fromkeys(drops[:low])
        self._messages = _after(whole, drops[:low])

    def _put_back(self) -> None:
        """Put back dropped parts, the newest first, if they fit beside the rest."""
        tokens: float = self._count(self._taken)
        for at, what in reversed([*self._stripped]):
            if at not in self._taken or at in self._cut:
                continue
            without = self._taken[at]
            others = [one for one in get_args(Dropped) if one != what]
            drops = [(at, one) for one in others if (at, one) in self._stripped]
            message = self._taken[at] = _after({at: self._request.messages[at]}, drops)[at]
            if self._chat.adds_up(message):
                with_it = tokens + self._count({at: message}) - self._count({at: without})
            else:
                with_it = self._tokens(self._taken)
            if with_it <= self._limit:
                tokens = with_it
                del self._stripped[at, what]
            else:
                self._taken[at] = without

    def _take_in(self, order: list[Unit], how: _Cut | None) -> None:
        """Take in units in this order.

        Raises:
            ValueError: those that must stay do not fit.
        """
        needed = sum(unit.must_stay for unit in order)
        self._taken = self._with(order[:needed])
        least = self._count(self._taken)
        if least > self._limit:
            raise ValueError(
                f"limit is {self._limit}, but the messages that must stay (the system messages "
                f"and the last ones) have {least} tokens"
            )
        # Bisection finds the most units that fit, taken in this order without a gap.
        known, beyond = needed, len(order)
        while beyond - known > 1:
            middle = (known + beyond) // 2
            if self._fits(self._with(order[needed:middle])):
                known = middle
            else:
                beyond = middle
        self._taken = self._with(order[needed:known])
        for unit in order[known:]:
            with_unit = self._with([unit])
            if self._fits(with_unit):
                self._taken = with_unit
            elif how is not None:
                self._take_in_cut(unit, how)

    def _with(self, units: list[Unit]) -> dict[int, Plain]:
        """Return the messages that are in, and those of some units."""
        more = {at: self._messages[at] for unit in units for at in unit.numbers}
        return {**self._taken, **more}

    def _count(self, taken: Mapping[int, Plain]) -> MessageCount:
        messages = [taken[at] for at in sorted(taken)]
        # A part that does not fit is looked at again, to cut it.
        if messages != self._last[0]:
            countable = messages
            if not self._is_countable:
                countable = [self._without(at, taken[at]) for at in sorted(taken)]
            self._last = (messages, self._counted(countable))
        return self._last[1]

    def _without(self, at: int, message: Plain) -> Plain:
        """Return a message without its uncounted parts."""
        if id(message) not in self._countable:
            kept, _ = countable_message(message, f"messages[{at}]", self._chat)
            self._countable[id(message)] = (message, kept)
        return self._countable[id(message)][1]

    def _fits(self, taken: Mapping[int, Plain]) -> bool:
        return self._tokens(taken) <= self._limit

    def _tokens(self, taken: Mapping[int, Plain]) -> float:
        try:
            return self._count(taken)
        except ValueError:  # a template may refuse the rest, such as two answers in a row
            return inf

    def _take_in_cut(self, unit: Unit, how: _Cut) -> None:
        """Take in a unit with its longest text cut, if any of that text fits."""
        texts = {
            at: message["content"]
            for at, message in self._with([unit]).items()
            if at in unit.numbers and isinstance(message.get("content"), str)
        }
        if not texts:
            return
        at = max(texts, key=lambda index: len(texts[index]))
        message = self._messages[at]
        room = self._chat.limit(self._limit)
        while room > 0:
            cut = how(texts[at], room)
            if not cut.kept:
                return
            taken = {**self._with([unit]), at: {**message, "content": cut.text}}
            try:
                above = self._count(taken) - self._limit
            except ValueError:
                return
            if above <= 0:
                self._taken = taken
                self._cut.append(at)
                return
            # The limit for the text falls each time, so the loop ends. One token too many may be
            # several of the encoding: the limit falls by the fewest that must go.
            room = min(room, cut.count) - self._chat.limit(above - 1) - 1

    def _result(self) -> FittedMessages:
        kept = sorted(self._taken)
        everything = range(len(self._request.messages))
        count = self._count(self._taken)
        left_out = list(self._left_out)
        for at in kept:
            left_out += countable_message(self._taken[at], f"messages[{at}]", self._chat)[1]
        return FittedMessages(
            [self._taken[at] for at in kept],
            with_left_out(count, left_out),
            tuple(kept),
            tuple(at for at in everything if at not in self._taken),
            tuple(sorted(self._cut)),
            *(
                tuple(sorted(at for at, one in self._stripped if one == what and at in self._taken))
                for what in get_args(Dropped)
            ),
        )
