"""Any pattern splits any text as tiktoken splits it, and each class of characters is the same.

tiktoken does not show its chunks, so they are made visible: the vocabulary holds every chunk
that we find, and every two neighbouring chunks joined. Should tiktoken split elsewhere, its
ids differ from ours. And it leaves out all text that a pattern does not match, so of a text of
every character it encodes just a class: of some by default, and of all code points in a sweep.
"""

from __future__ import annotations

import re
from functools import lru_cache
from random import Random

import pytest
import regex
import tiktoken
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from compat_bpe.encodings.published import PATTERNS as NAMED_PATTERNS
from compat_bpe.pattern.parser import parse
from compat_bpe.pattern.splitter import Splitter
from compat_bpe.pattern.tree import Chars, PatternError
from compat_bpe.unicode.properties import CodePoints, category, ignore_case
from compat_bpe.unicode.tables import CASE_ORBITS, CATEGORIES, SCRIPTS
from tests.differential.reference import BYTES, KIMI, POSIX, SCALARS
from tests.examples import drawn, scaled
from tools.attack.patterns import random_pattern

#: Patterns of other vocabularies, as published.
OTHER_PATTERNS = {
    "GPT-2": r"""'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""",
    "Kimi K2": KIMI,
    "DeepSeek": (
        r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
        r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
}
PATTERNS = {**OTHER_PATTERNS, **NAMED_PATTERNS}


splitter = lru_cache(maxsize=None)(Splitter)


def check(pattern: str, text: str) -> None:
    """Fail unless tiktoken splits the text as we do."""
    chunks = splitter(pattern).chunks(text)
    ranks = dict(BYTES)
    for chunk in (*chunks, *map("".join, zip(chunks, chunks[1:]))):
        ranks.setdefault(chunk.encode(), len(ranks))
    try:
        there = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        reference = there.encode_ordinary(text)
    except BaseException as error:
        # It refuses some patterns that we take, and panics on a few that it takes.
        if isinstance(error, ValueError) or type(error).__name__ == "PanicException":
            assume(False)
        raise
    assert [ranks[chunk.encode()] for chunk in chunks] == reference


characters = st.sampled_from("aab bAB1 \n\r\tsſſkK-'éα\u0301字𐐀𐐨😀\x1c\x85")


@settings(max_examples=scaled(400), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False), st.integers(1, 6), st.text(characters, max_size=12))
def test_random_patterns(random: Random, size: int, text: str) -> None:
    pattern = random_pattern(random, size)
    try:
        ours = splitter(pattern)
    except PatternError:
        assume(False)
    assume(ours.tree is not None)  # else `regex` was asked, which has rules of its own
    check(pattern, text)
    cut = [chunk for part in ours.segments(text, 0, 0) for chunk in ours.chunks(part)]
    assert cut == ours.chunks(text)


@pytest.mark.parametrize("name", PATTERNS)
@drawn(100, text=st.text(characters, max_size=40))
def test_published_patterns(name: str, text: str) -> None:
    check(PATTERNS[name], text)


@drawn(500, st.sampled_from(sorted(PATTERNS)), st.text(characters, max_size=60))
def test_regex_splits_alike(name: str, text: str) -> None:
    # Its Unicode version is another; the letters above are in all versions. In its version 1 of
    # the syntax, "&&" is the intersection of classes.
    pattern = PATTERNS[name]
    version = regex.V1 if "&&" in pattern else regex.V0
    assert regex.findall(pattern, text, version) == splitter(pattern).chunks(text)


RARE = "ab a{2} aa{2} aaaa a{1,2} aaa{1,2}b a+ a-b [--] ^- -- aa{2}{3} a{2}? aa{"


@pytest.mark.parametrize(
    ("patterns", "text"),
    [
        # `(?i)` leaks out of its group, in fancy-regex.
        ([r"((?i))\p{Lu}|[-a](?=\u0041)"], "a\r字B字"),
        # No alternative matches in the middle, and the search goes on after an empty match.
        (["[a-z]+"], "ab1cd"),
        ([r"\s+$"], "a \n"),
        ([r"a$"], "a\n"),
        # A brace after a repeat is a character, and a lazy repeat may be possessive, too.
        (["a+{2}", "a{2}{3}", "a{2}?{2}", "a+?{2}", "a{1,2}{2}", "(?:a){2}{2}+", "a+?+"], RARE),
        # Hyphens at the start of a class are characters, and so is a bracket.
        (["a{2}{", "[--]", "[^--]", "[--a]", "[---]", "[^--{-}]", "[a[--]]", "[--[a]]"], RARE),
        ([r"[--\d]", "[]-a]", "[-a]", "[a-]", "[a--b]", "[+--]", "[a---]", "[-]]"], RARE),
        (["[a-z&&[^b]--[a]]"], RARE),
    ],
)
def test_rare_signs_and_what_once_differed(patterns: list[str], text: str) -> None:
    for pattern in patterns:
        check(pattern, text)


# Classes of characters

CLASSES = [
    *(rf"\{sign}" for sign in "sSdDwWhH"),
    *(".", r"(?s:.)", r"\PL", r"\P{Lu}", r"\p{^Nd}", r"\p{Any}", r"\p{Assigned}", r"\p{ASCII}"),
    *(r"\p{White_Space}", r"\p{Uppercase_Letter}", r"\p{gc=Nd}", r"\p{Script=Greek}"),
    *(r"[^\s\p{L}\p{N}]", r"[^\r\n\p{L}\p{N}]", r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"),
    *(r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", r"[^\r\n\p{L}\p{P}\p{S}]", r"[\p{P}\p{S}]"),
    *(r"[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]", r"[\p{Han}&&[^\u4E00-\u9FA5]]"),
    *(r"[\w--\p{L}]", r"[\p{L}~~\w]", r"[^\x00-\x{10ffff}]"),
    *(f"[[:{name}:]]" for name in (*POSIX, "^word", "^xdigit")),
    *(rf"(?i:\p{{{name}}})" for name in ("Lu", "Ll", "Lt", "M", "N", "S", "Greek", "Cherokee")),
    *(r"(?i:\P{Lu})", r"(?i:\P{Ll})", r"(?i:\w)", "(?i:[^a-z])", r"(?i:[^\p{Lu}])", "(?i:[a-z])"),
    *("(?i:[sdmt])", r"(?i:[K-\u0130])", "(?i:[[:lower:]])", "(?i:[[:^upper:]])"),
    *(r"(?i:[\p{Lu}&&[a-z]])", r"(?i:[\p{L}--[a-z]])"),
    *(rf"\p{{{name}}}" for name in ("L", "LC", "M", "N", "P", "S", "Z", "C", "Cn")),
    *(rf"\p{{{name}}}" for name in (*CATEGORIES, *SCRIPTS)),
]


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


@pytest.mark.parametrize("pattern", CLASSES)
def test_class(pattern: str, code_points: str) -> None:
    node = parse(pattern)
    assert isinstance(node, Chars)
    text = code_points
    if len(text) < len(SCALARS):
        # And where each range of it begins and ends, with what is beside these places.
        edges = {edge + step for edge in node.points.bounds for step in (-1, 0)}
        edges -= {-1, 0x110000, *range(0xD800, 0xE000)}
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
