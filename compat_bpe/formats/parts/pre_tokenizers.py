"""The pre-tokenizers of a ``tokenizer.json``; a kind is imported once a file has it."""

from __future__ import annotations

from collections.abc import Callable

from ..checked_json import Json
from .kind import kind, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...pattern.ast import Chars, Node
    from ...pipeline.pre_tokenizers.base import PreTokenizerStep
    from ...pipeline.pre_tokenizers.split import Behavior, Split
    from ...pipeline.pre_tokenizers.steps import Scheme

#: GPT-2's pattern, by which ``ByteLevel`` splits.
BYTE_LEVEL_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


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


def pattern_part(published: str) -> dict[str, Any]:
    """Return a ``Split`` into the matches of a pattern in tiktoken's syntax, as in a file.

    Raises:
        ValueError: the pattern is wrong (``PatternError``), may match the empty text, or cannot be
            written for Oniguruma.
    """
    from ...pattern.ast import PatternError
    from ...pattern.oniguruma import parse_oniguruma
    from ...pattern.parser import parse
    from ...pattern.writer import can_be_empty, surely_begins, to_oniguruma
    from ...unicode.code_points import ALL

    tree = parse(published)
    if can_be_empty(tree):
        raise ValueError("its pattern may match the empty text, which engines treat differently")
    try:
        is_same = parse_oniguruma(published) == tree
    except PatternError:
        is_same = False
    # tiktoken drops text that the pattern does not match.
    keeps_all = surely_begins(tree) == ALL
    return split_part(
        published if is_same else to_oniguruma(tree),
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


def joined_steps(part: Json | None) -> list[PreTokenizerStep]:
    """Return the steps of a ``pre_tokenizer``, joined already if it is one that ships."""
    if part is None:
        return []
    from ...pipeline.pre_tokenizers.splitter import prepared_steps

    try:
        written = repr(part.value)
    except RecursionError:  # PyPy reads JSON that is nested more deeply than it can be written
        part.fail("it is nested too deeply")
    prepared = prepared_steps(written, lambda: steps(part))
    return steps(part) if prepared is None else prepared


def steps(part: Json | None) -> list[PreTokenizerStep]:
    """Return the steps of a ``pre_tokenizer``."""
    if part is None:
        return []
    type_name = kind(part, [*_STEPS, "Sequence"])
    if type_name != "Sequence":
        return _STEPS[type_name](part)
    return [step for item in part["pretokenizers"].items(part.place) for step in steps(item)]


def _split_by(tree: Node, behavior: Behavior = "Isolated", *, invert: bool = False) -> Split:
    from ...pipeline.pre_tokenizers.split import Split

    return Split(tree, behavior, invert)


def _split(part: Json) -> list[PreTokenizerStep]:
    tree, _ = pattern(part["pattern"])
    return [_split_by(tree, _behavior(part["behavior"]), invert=part["invert"].truth())]


def _byte_level(part: Json) -> list[PreTokenizerStep]:
    from ...pipeline.pre_tokenizers.steps import ByteAlphabet

    byte_level_steps: list[PreTokenizerStep] = []
    if part["add_prefix_space"].truth():
        from ...pipeline.pre_tokenizers.steps import PrefixSpace

        byte_level_steps.append(PrefixSpace())
    part["trim_offsets"].truth()
    use_regex = _given(part, "use_regex")
    if use_regex is None or use_regex.truth():
        from ...pattern.oniguruma import parse_oniguruma

        byte_level_steps.append(_split_by(parse_oniguruma(BYTE_LEVEL_PATTERN)))
    return [*byte_level_steps, ByteAlphabet()]


def _digits(part: Json) -> list[PreTokenizerStep]:
    from ...pattern.ast import Chars
    from ...unicode import tables_tokenizers
    from ...unicode.properties import parse_ranges

    numeric = Chars(parse_ranges(tables_tokenizers.NUMERIC))
    return [_split_by(numeric, "Isolated" if part["individual_digits"].truth() else "Contiguous")]


def _punctuation(part: Json) -> list[PreTokenizerStep]:
    behavior = _given(part, "behavior")
    return [_split_by(_signs(), "Isolated" if behavior is None else _behavior(behavior))]


def _signs() -> Chars:
    from ...pattern.ast import Chars
    from ...unicode import tables_tokenizers
    from ...unicode.code_points import CodePoints
    from ...unicode.properties import parse_ranges

    ascii_signs = CodePoints.of("!/", ":@", "[`", "{~")
    return Chars(ascii_signs | parse_ranges(tables_tokenizers.PUNCTUATION))


def _bert(part: Json) -> list[PreTokenizerStep]:
    return [*_whitespace_split(part), _split_by(_signs())]


def _whitespace(_: Json) -> list[PreTokenizerStep]:
    from ...pattern.parser import parse

    return [_split_by(parse(r"\w+|[^\w\s]+"), "Removed", invert=True)]


def _whitespace_split(_: Json) -> list[PreTokenizerStep]:
    from ...pattern.ast import Chars
    from ...unicode.properties import white_space

    return [_split_by(Chars(white_space()), "Removed")]


def _delimiter(part: Json) -> list[PreTokenizerStep]:
    from ...pattern.ast import Chars
    from ...unicode.code_points import CodePoints

    return [_split_by(Chars(CodePoints.of(_character(part["delimiter"]))), "Removed")]


def _metaspace(part: Json) -> list[PreTokenizerStep]:
    from ...pipeline.pre_tokenizers.steps import Metaspace

    replacement = _character(part["replacement"])
    written = _given(part, "prepend_scheme")
    scheme = "always" if written is None else _scheme(written)
    adds = part.get("add_prefix_space")
    if adds is not None and not adds.truth() and scheme != "never":
        adds.fail('is false, so "prepend_scheme" must be "never"')
    split = part.get("split")
    return [Metaspace(replacement, scheme, split is None or split.truth())]


def _scripts(_: Json) -> list[PreTokenizerStep]:
    from ...pipeline.pre_tokenizers.steps import UnicodeScripts

    return [UnicodeScripts()]


def _fixed_length(part: Json) -> list[PreTokenizerStep]:
    from ...pipeline.pre_tokenizers.steps import FixedLength

    length = _given(part, "length")
    if length is None:
        return [FixedLength(5)]
    if length.number() < 1:
        length.fail(f"must be at least 1, not {length.number()}")
    return [FixedLength(length.number())]


_STEPS: dict[str, Callable[[Json], list[PreTokenizerStep]]] = {
    "Split": _split,
    "ByteLevel": _byte_level,
    "Digits": _digits,
    "Punctuation": _punctuation,
    "BertPreTokenizer": _bert,
    "Whitespace": _whitespace,
    "WhitespaceSplit": _whitespace_split,
    "CharDelimiterSplit": _delimiter,
    "Metaspace": _metaspace,
    "UnicodeScripts": _scripts,
    "FixedLength": _fixed_length,
}


def _given(part: Json, key: str) -> Json | None:
    """Return a member that may be missing, but not null."""
    return part[key] if key in part.mapping() else None


def _character(part: Json) -> str:
    if len(part.text()) != 1:
        part.fail(f"{part.text()!r} is not one character")
    return part.text()


def _scheme(part: Json) -> Scheme:
    from ...pipeline.pre_tokenizers.steps import SCHEMES

    for scheme in SCHEMES:
        if part.text() == scheme:
            return scheme
    return part.fail(f"must be one of {', '.join(SCHEMES)}, not {part.text()!r}")


def _behavior(part: Json) -> Behavior:
    from ...pipeline.pre_tokenizers.split import BEHAVIORS

    for behavior in BEHAVIORS:
        if part.text() == behavior:
            return behavior
    return part.fail(f"must be one of {', '.join(BEHAVIORS)}, not {part.text()!r}")
