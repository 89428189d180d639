"""The parts of a ``tokenizer.json`` around its model; here their types, sizes and patterns.

Each reader takes a part as in the file and returns the stage of the pipeline that it describes; a
kind is imported once a file has it. A part that is not supported is a ``ValueError`` that names it.
The names and their meaning are those of Hugging Face tokenizers 0.23.3.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType

from ..checked_json import Json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from ...pattern.ast import Node
    from ...pattern.splitter import Splitter

    T = TypeVar("T", bound=str)

#: The deepest nesting of sequences, each of which is a recursive call.
_DEEPEST = 50
#: The most objects in a part, each of which may be a step with a pattern of its own.
_MOST_OBJECTS = 1 << 12
_NONE: Mapping[str, Collection[str]] = MappingProxyType({})


def check_size(part: Json) -> None:
    """Refuse a part of thousands of steps, which would take minutes to read.

    Raises:
        ValueError: it has more than ``_MOST_OBJECTS`` objects.
    """
    left, objects = [part.value], 0
    while left:
        value = left.pop()
        if isinstance(value, dict):
            objects += 1
            left += value.values()
        elif isinstance(value, list):
            left += value
    if objects > _MOST_OBJECTS:
        part.fail(f"has {objects} objects, more than {_MOST_OBJECTS}")


def part_type(
    part: Json, known: Collection[str], members_of: Mapping[str, Collection[str]] = _NONE
) -> str:
    """Return the type of a part.

    Args:
        part: the part.
        known: all types.
        members_of: the members by which tokenizers tells some types if a part does not name a type
            that it knows, in its order.

    Raises:
        ValueError: the type is not one of ``known``, or the part is nested too deeply.
    """
    if part.place.count("[") > _DEEPEST:
        part.fail("nested too deeply")
    members = part.mapping()
    type_name = members.get("type")
    if not isinstance(type_name, str) or type_name not in known:
        for name, needed in members_of.items():
            if members.keys() >= set(needed):
                return name
    type_name = part["type"].text()
    if type_name not in known:
        part.fail(f"{type_name} is not supported (only {', '.join(known)})")
    return type_name


def flattened(
    part: Json,
    known: Collection[str],
    key: str,
    members_of: Mapping[str, Collection[str]] = _NONE,
) -> Iterator[tuple[str, Json]]:
    """Yield the parts that a part consists of, sequences in sequences included, with their types.

    Args:
        part: the part.
        known, members_of: as in ``part_type``, ``"Sequence"`` aside.
        key: the member of a sequence that has its parts.
    """
    type_name = part_type(part, [*known, "Sequence"], members_of)
    if type_name != "Sequence":
        yield type_name, part
    else:
        for item in part[key].items(part.place):
            yield from flattened(item, known, key, members_of)


def character(part: Json) -> str:
    """Return a text of one character."""
    if len(part.text()) != 1:
        part.fail(f"must be one character, not {part.text()!r}")
    return part.text()


def one_of(part: Json, names: Collection[T]) -> T:
    """Return the name that a part is."""
    for name in names:
        if part.text() == name:
            return name
    return part.fail(f"must be one of {', '.join(map(str, names))}, not {part.text()!r}")


def pattern(part: Json) -> tuple[Node, Splitter]:
    """Return a pattern ``{"Regex": …}`` or ``{"String": …}``, parsed and compiled.

    It is compiled even if the steps are joined later, so that the error for a wrong pattern names
    its place.
    """
    from ...pattern.ast import Chars, PatternError, Sequence
    from ...pattern.oniguruma import parse_oniguruma
    from ...pattern.parser import check_length, check_limits
    from ...pattern.splitter import Splitter
    from ...unicode.code_points import CodePoints

    members = part.mapping()
    if len(members) != 1 or not members.keys() <= {"Regex", "String"}:
        part.fail('must be {"Regex": "..."} or {"String": "..."}')
    (member,) = members
    text = part[member].text()
    try:
        if member == "Regex":
            tree = parse_oniguruma(text)
        else:
            check_length(text)
            tree = Sequence(tuple(Chars(CodePoints.of(char)) for char in text))
            check_limits(tree, text)
        return tree, Splitter.of_tree(tree, text)
    except PatternError as error:
        part[member].fail(str(error))
