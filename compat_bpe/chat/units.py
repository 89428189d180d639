"""The parts of a conversation that are kept or left out as a whole."""

from __future__ import annotations

from typing import NamedTuple

from .messages import Plain, tool_calls


class Unit(NamedTuple):
    """A part of a conversation.

    Args:
        numbers: the indexes of its messages, in order.
        must_stay: True if it may not be left out.
    """

    numbers: tuple[int, ...]
    must_stay: bool


def units_of(messages: list[Plain], *, by_turn: bool, keep_last: int) -> list[Unit]:
    """Return the parts of a conversation, by the index of their last message.

    The result of a call is in the part of the call; without an id, or without a call of this id, in
    that of the message before it.

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
    #: For each message, the first message of its part, or one before it that leads to that.
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
