"""The type of a part of a ``tokenizer.json``, and what many parts have."""

from __future__ import annotations

from collections.abc import Collection

from ...pattern.ast import Chars, Node, PatternError, Sequence
from ...pattern.oniguruma import parse_oniguruma
from ...pattern.splitter import Splitter
from ...unicode.code_points import CodePoints
from ..checked_json import Json

#: The deepest nesting of sequences, each of which is a recursive call.
_DEEPEST = 50


def kind(part: Json, known: Collection[str]) -> str:
    """Return the type of a part.

    Raises:
        ValueError: the type is not one of ``known``, or the part is nested too deeply.
    """
    if part.place.count("[") > _DEEPEST:
        part.fail("nested too deeply")
    found = part["type"].text()
    if found not in known:
        part.fail(f"{found} is not supported (only {', '.join(known)})")
    return found


def pattern(part: Json) -> tuple[Node, Splitter]:
    """Return a pattern ``{"Regex": …}`` or ``{"String": …}``, parsed and compiled.

    It is compiled even if the steps are joined later, so that the error for a wrong pattern names
    its place.
    """
    members = part.mapping()
    if len(members) != 1 or not members.keys() <= {"Regex", "String"}:
        part.fail('must be {"Regex": "..."} or {"String": "..."}')
    (found,) = members
    text = part[found].text()
    try:
        if found == "Regex":
            tree = parse_oniguruma(text)
        else:
            tree = Sequence(tuple(Chars(CodePoints.of(char)) for char in text))
        return tree, Splitter.of_tree(tree, text)
    except PatternError as error:
        part[found].fail(str(error))
