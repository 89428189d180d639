r"""Each class of characters is the one that tiktoken means, over all code points in a sweep.

tiktoken leaves out all text that a pattern does not match, so of a text of every character it
encodes just the class.
"""

from __future__ import annotations

import re

import pytest
import tiktoken

from compat_bpe.pattern.ast import Chars
from compat_bpe.pattern.parser import parse
from compat_bpe.pattern.splitter import Splitter
from compat_bpe.unicode.properties import CodePoints, category, ignore_case
from compat_bpe.unicode.tables import CASE_ORBITS, CATEGORIES, SCRIPTS
from tests.differential.reference import BYTES, SCALARS

POSIX = [
    *("alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct"),
    *("space", "upper", "word", "xdigit"),
]
GROUPS = ["L", "LC", "M", "N", "P", "S", "Z", "C", "Cn"]
CLASSES = [
    *(rf"\{sign}" for sign in "sSdDwWhH"),
    ".",
    r"(?s:.)",
    r"\PL",
    r"\P{Lu}",
    r"\p{^Nd}",
    r"\p{Any}",
    r"\p{Assigned}",
    r"\p{ASCII}",
    r"\p{White_Space}",
    r"\p{Uppercase_Letter}",
    r"\p{gc=Nd}",
    r"\p{Script=Greek}",
    r"[^\s\p{L}\p{N}]",
    r"[^\r\n\p{L}\p{N}]",
    r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]",
    r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]",
    r"[^\r\n\p{L}\p{P}\p{S}]",
    r"[\p{P}\p{S}]",
    r"[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]",
    r"[\p{Han}&&[^\u4E00-\u9FA5]]",
    r"[\w--\p{L}]",
    r"[\p{L}~~\w]",
    r"[^\x00-\x{10ffff}]",
    *(f"[[:{name}:]]" for name in POSIX),
    *(f"[[:^{name}:]]" for name in ("word", "xdigit")),
    *(rf"(?i:\p{{{name}}})" for name in ("Lu", "Ll", "Lt", "M", "N", "S", "Greek", "Cherokee")),
    *(r"(?i:\P{Lu})", r"(?i:\P{Ll})", r"(?i:\w)", "(?i:[^a-z])", r"(?i:[^\p{Lu}])", "(?i:[a-z])"),
    *("(?i:[sdmt])", r"(?i:[K-\u0130])", "(?i:[[:lower:]])", "(?i:[[:^upper:]])"),
    *(r"(?i:[\p{Lu}&&[a-z]])", r"(?i:[\p{L}--[a-z]])"),
]  # fmt: skip


def reference_matches(pattern: str, text: str) -> str:
    encoding = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=BYTES, special_tokens={})
    return bytes(encoding.encode_ordinary(text)).decode()


def written(points: CodePoints, chars: str = SCALARS) -> str:
    """Write all of some characters that are in a set, ascending."""
    if len(chars) < len(SCALARS):
        return "".join(char for char in chars if ord(char) in points)
    scalars = points - CodePoints((0xD800, 0xE000))
    return "".join("".join(map(chr, range(low, high + 1))) for low, high in scalars.ranges())


def assert_same(ours: str, theirs: str) -> None:
    """Compare without a report of a million characters."""
    if ours != theirs:
        differing = sorted(set(ours) ^ set(theirs))
        shown = ", ".join(
            f"U+{ord(char):04X} ({'only ours' if char in ours else 'not ours'})"
            for char in differing[:10]
        )
        pytest.fail(f"{len(differing)} code points differ: {shown}")


@pytest.mark.parametrize(
    "pattern", [*CLASSES, *(rf"\p{{{name}}}" for name in (*GROUPS, *CATEGORIES, *SCRIPTS))]
)
def test_class(pattern: str, code_points: str) -> None:
    node = parse(pattern)
    assert isinstance(node, Chars)
    # And where each range of it begins and ends, with what is beside these places.
    edges = {edge + step for edge in node.points.bounds for step in (-1, 0)}
    edges = {edge for edge in edges if 0 <= edge <= 0x10FFFF and not 0xD800 <= edge <= 0xDFFF}
    text = code_points
    if len(text) < len(SCALARS):
        text = "".join(sorted({*text, *map(chr, edges)}))
    assert_same(written(node.points, text), reference_matches(pattern, text))


@pytest.mark.parametrize("pattern", [r"\s", r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[^\s\p{L}\p{N}]"])
def test_class_in_a_splitter(pattern: str, code_points: str) -> None:
    chunks = Splitter(pattern).chunks(code_points)
    assert max(map(len, chunks)) == 1
    assert_same("".join(chunks), reference_matches(pattern, code_points))


@pytest.mark.sweep
def test_each_letter_without_case() -> None:
    """``(?i:x)`` for every x that has a case: by its category, our tables, or this Python."""
    cased = set("".join(written(category(name)) for name in ("Lu", "Ll", "Lt", "Nl")))
    cased |= {c for c in SCALARS if not c == c.upper() == c.lower() == c.casefold() == c.title()}
    cased |= {chr(int(member, 16)) for member in re.findall("[0-9a-f]+", CASE_ORBITS)}
    others = set("".join(written(category(name)) for name in ("Lm", "Mn", "So")))
    text = "".join(sorted(cased | others))
    for char in sorted(cased):
        theirs = reference_matches(rf"(?i:\U{ord(char):08X})", text)
        ours = written(ignore_case(CodePoints.of(char)))
        assert ours == theirs, f"U+{ord(char):04X}: {ours!a}, tiktoken: {theirs!a}"
