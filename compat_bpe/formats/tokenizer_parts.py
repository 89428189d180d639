"""The parts of a ``tokenizer.json`` around its model: normalizers, pre-tokenizers and the like.

Each reader takes a part as in the file and returns the stage of the pipeline that it describes.
A part that is not supported is a ``ValueError`` that names it.  The names and their meaning are
those of Hugging Face tokenizers 0.23.3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from ..pattern.ast import Chars, Node, PatternError, Sequence
from ..pattern.oniguruma import parse_oniguruma
from ..pattern.parser import parse
from ..pattern.splitter import Splitter
from ..pattern.writer import can_be_empty, surely_begins, to_oniguruma
from ..pipeline import normalizers as normalization
from ..pipeline.normalizers import Normalizer
from ..pipeline.pre_tokenizers import (
    BEHAVIORS,
    Behavior,
    ByteAlphabet,
    PrefixSpace,
    Split,
    Step,
    prepared_steps,
)
from ..unicode import tables_tokenizers as unicode_tables_tokenizers
from ..unicode.code_points import ALL, CodePoints
from ..unicode.properties import parse_ranges, white_space
from .checked_json import Json

#: GPT-2's pattern, by which ``ByteLevel`` splits.
BYTE_LEVEL_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

#: The ids before a text, and those after it.
Template = tuple[list[int], list[int]]


#: The deepest nesting of sequences, each of which is a recursive call.
_DEEPEST = 50


def split_part(
    pattern: str, behavior: Behavior = "Isolated", *, invert: bool = False
) -> dict[str, Any]:
    """Return a ``Split`` by a regular expression, as in a file."""
    return {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": behavior,
        "invert": invert,
    }


def pattern_part(pattern: str) -> dict[str, Any]:
    """Return a ``Split`` into the matches of a pattern in tiktoken's syntax, as in a file.

    Raises:
        ValueError: the pattern is wrong (``PatternError``), may match the empty text, or cannot be
            written for Oniguruma.
    """
    tree = parse(pattern)
    if can_be_empty(tree):
        raise ValueError("its pattern may match the empty text, which engines treat differently")
    try:
        is_same = parse_oniguruma(pattern) == tree
    except PatternError:
        is_same = False
    # tiktoken drops text that the pattern does not match.
    keeps_all = surely_begins(tree) == ALL
    return split_part(
        pattern if is_same else to_oniguruma(tree),
        "Isolated" if keeps_all else "Removed",
        invert=not keeps_all,
    )


def byte_level_part(
    *, add_prefix_space: bool = False, trim_offsets: bool = True, use_regex: bool = True
) -> dict[str, Any]:
    """Return a ``ByteLevel`` (a pre-tokenizer, post-processor or decoder), as in a file."""
    return {
        "type": "ByteLevel",
        "add_prefix_space": add_prefix_space,
        "trim_offsets": trim_offsets,
        "use_regex": use_regex,
    }


def pre_tokenizers_part(*parts: dict[str, Any]) -> dict[str, Any]:
    """Return a ``Sequence`` of pre-tokenizers, as in a file."""
    return {"type": "Sequence", "pretokenizers": list(parts)}


def kind(part: Json, *known: str) -> str:
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


def normalizers(part: Json | None) -> list[Normalizer]:
    """Return the steps of a ``normalizer``."""
    if part is None:
        return []
    forms: tuple[normalization.Form, ...] = get_args(normalization.Form)
    found = kind(part, *forms, "Lowercase", "Strip", "Replace", "Prepend", "Sequence")
    for form in forms:
        if found == form:
            return [normalization.unicode_form(form)]
    if found == "Lowercase":
        return [normalization.lowercase]
    if found == "Strip":
        return [normalization.strip(part["strip_left"].truth(), part["strip_right"].truth())]
    if found == "Replace":
        _, splitter = _pattern(part["pattern"])
        return [normalization.replace(splitter, part["content"].text())]
    if found == "Prepend":
        return [normalization.prepend(part["prepend"].text())]
    return [
        normalizer
        for item in part["normalizers"].items(part.place)
        for normalizer in normalizers(item)
    ]


def joined_steps(part: Json | None) -> list[Step]:
    """Return the steps of a ``pre_tokenizer``, joined already if it is one that ships."""
    key = "" if part is None else repr(part.value)
    found = prepared_steps(key, lambda: steps(part))
    return steps(part) if found is None else found


def steps(part: Json | None) -> list[Step]:
    """Return the steps of a ``pre_tokenizer``."""
    if part is None:
        return []
    found = kind(part, *_STEPS, "Sequence")
    if found != "Sequence":
        return _STEPS[found](part)
    return [step for item in part["pretokenizers"].items(part.place) for step in steps(item)]


def _split(part: Json) -> list[Step]:
    tree, _ = _pattern(part["pattern"])
    return [Split(tree, _behavior(part["behavior"]), part["invert"].truth())]


def _byte_level(part: Json) -> list[Step]:
    found: list[Step] = [PrefixSpace()] if part["add_prefix_space"].truth() else []
    use_regex = part.get("use_regex")
    if use_regex is None or use_regex.truth():
        found.append(Split(parse_oniguruma(BYTE_LEVEL_PATTERN)))
    return [*found, ByteAlphabet()]


def _digits(part: Json) -> list[Step]:
    numeric = Chars(parse_ranges(unicode_tables_tokenizers.NUMERIC))
    return [Split(numeric, "Isolated" if part["individual_digits"].truth() else "Contiguous")]


def _punctuation(part: Json) -> list[Step]:
    ascii_signs = CodePoints.of("!/", ":@", "[`", "{~")
    points = ascii_signs | parse_ranges(unicode_tables_tokenizers.PUNCTUATION)
    behavior = part.get("behavior")
    return [Split(Chars(points), "Isolated" if behavior is None else _behavior(behavior))]


def _whitespace(_: Json) -> list[Step]:
    return [Split(parse(r"\w+|[^\w\s]+"), "Removed", invert=True)]


def _whitespace_split(_: Json) -> list[Step]:
    return [Split(Chars(white_space()), "Removed")]


def _delimiter(part: Json) -> list[Step]:
    delimiter = part["delimiter"].text()
    if len(delimiter) != 1:
        part["delimiter"].fail(f"{delimiter!r} is not one character")
    return [Split(Chars(CodePoints.of(delimiter)), "Removed")]


_STEPS: dict[str, Callable[[Json], list[Step]]] = {
    "Split": _split,
    "ByteLevel": _byte_level,
    "Digits": _digits,
    "Punctuation": _punctuation,
    "Whitespace": _whitespace,
    "WhitespaceSplit": _whitespace_split,
    "CharDelimiterSplit": _delimiter,
}


def _behavior(part: Json) -> Behavior:
    for behavior in BEHAVIORS:
        if part.text() == behavior:
            return behavior
    return part.fail(f"must be one of {', '.join(BEHAVIORS)}, not {part.text()!r}")


def _pattern(part: Json) -> tuple[Node, Splitter]:
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


def template(part: Json | None) -> Template:
    """Return the ids that a ``post_processor`` puts before and after a text."""
    if part is None:
        return [], []
    found = kind(
        part,
        "TemplateProcessing",
        "ByteLevel",
        "RobertaProcessing",
        "BertProcessing",
        "Sequence",
    )
    if found == "ByteLevel":
        return [], []  # It changes the tokens' offsets in the text, not the tokens.
    if found == "TemplateProcessing":
        return _template_processing(part)
    if found != "Sequence":
        return [_id_of_pair(part["cls"])], [_id_of_pair(part["sep"])]
    before: list[int] = []
    after: list[int] = []
    for item in part["processors"].items(part.place):
        outer = template(item)
        before, after = outer[0] + before, after + outer[1]
    return before, after


def _template_processing(part: Json) -> Template:
    ids_of = part["special_tokens"]
    halves: list[list[int]] = [[]]
    for item in part["single"].items():
        if "Sequence" in item.mapping():
            halves.append([])
            continue
        name = item["SpecialToken"]["id"].text()
        ids = ids_of[name]["ids"]
        for number in ids.items():
            halves[-1].append(number.number())
    if len(halves) != 2:
        part["single"].fail("a template must have the text exactly once")
    return halves[0], halves[1]


def _id_of_pair(part: Json) -> int:
    items = list(part.items())
    if len(items) != 2:
        part.fail("must be a token and its id")
    return items[1].number()


def unsupported_decoder(part: Json | None) -> str | None:
    """Return the reason why a decoder is not supported, or None for ``ByteLevel``."""
    while part is not None and part["type"].text() == "Sequence":
        items = list(part["decoders"].items(part.place))
        if len(items) != 1:
            return f"{part.source}: {part.place}: a Sequence of decoders is not supported"
        part = items[0]
    if part is None:
        return "the tokenizer has no decoder"
    name = part["type"].text()
    return None if name == "ByteLevel" else f"{part.source}: {part.place}: {name} is not supported"
