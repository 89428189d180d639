"""Any pattern splits any text as tiktoken splits it.

tiktoken does not show its chunks, so they are made visible: the vocabulary holds every chunk
that we find, and every two neighbouring chunks joined. Should tiktoken split elsewhere, its
ids differ from ours.
"""

from __future__ import annotations

from functools import lru_cache

import pytest
import regex
import tiktoken
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from compat_bpe.encodings.published import PATTERNS as NAMED_PATTERNS
from compat_bpe.pattern.ast import PatternError
from compat_bpe.pattern.splitter import Splitter
from tests.examples import scaled

BYTES = {bytes([i]): i for i in range(256)}

#: Patterns of other vocabularies, as published.
OTHER_PATTERNS = {
    "GPT-2": r"""'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""",
    "Kimi K2": (
        r"[\p{Han}]+"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
        r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
        r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
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
        reference = tiktoken.Encoding(
            "x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
        ).encode_ordinary(text)
    except BaseException as error:
        # It refuses some patterns that we take, and panics on a few that it takes.
        if isinstance(error, ValueError) or type(error).__name__ == "PanicException":
            assume(False)
        raise
    assert [ranks[chunk.encode()] for chunk in chunks] == reference


characters = st.sampled_from("aab bAB1 \n\r\tsſſkK-'éα\u0301字𐐀𐐨😀\x1c\x85")
texts = st.text(characters, max_size=12)

classes = st.sampled_from(
    [
        r"a",
        r"b",
        r"c",
        r"[ab]",
        r"[^a]",
        r"\s",
        r"\S",
        r"\d",
        r"\w",
        r"\W",
        r"\p{L}",
        r"\p{Lu}",
        r"\p{Ll}",
        r"\P{L}",
        r"\pN",
        r".",
        r"[\s\p{N}]",
        r"[^\s\p{L}]",
        r"\n",
        r"𐐀",
        r"字",
        r"[\p{L}&&[^a]]",
        r"[a-zA-Z--b]",
        r"[\w--\d]",
        r"[a~~b]",
        r"[^[^a]]",
        r"(?i:k)",
        r"(?i:[s\d])",
        r"(?i:\P{Lu})",
        r"\p{^L}",
        r"[^\r\n\p{L}\p{N}]",
        r"[a\]-]",
        r"[]a]",
        r"[^]a]",
        r"[-a]",
        r"[[:alpha:]b]",
        r"\x41",
        r"\x{1F600}",
        r"\u0041",
        r"[\x61-c]",
        r"\h",
        r"\p{Greek}",
        r"a{",
        r"]",
        r"}",
    ]
)
quantifiers = st.sampled_from(["*", "+", "?", "{1,2}", "{2}", "{1,}", "{,2}"])
modes = st.sampled_from(["", "", "?", "+"])
atoms = st.one_of(
    classes,
    st.builds("{}{}{}".format, classes, quantifiers, modes),
    st.sampled_from(["$", r"\z", "^", r"\b", r"\B", r"\s+(?!\S)", "(?m:$)", "(?m:^)", " "]),
)


def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    openings = st.sampled_from(
        ["(?:", "(", "(?>", "(?=", "(?!", "(?i:", "(?s:", "((?i)", "(?<=", "(?<!", "(?P<n>"]
    )
    return st.one_of(
        st.builds("{}{})".format, openings, inner),
        st.builds("{}|{}".format, inner, inner),
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}){}{}".format, inner, quantifiers, modes),
    )


patterns = st.recursive(atoms, larger, max_leaves=6)


@settings(max_examples=scaled(400), deadline=None, suppress_health_check=list(HealthCheck))
@given(patterns, texts)
def test_random_patterns(pattern: str, text: str) -> None:
    try:
        ours = splitter(pattern)
    except PatternError:
        assume(False)
    assume(ours.tree is not None)  # else `regex` was asked, which has rules of its own
    check(pattern, text)
    cut = [chunk for part in ours.segments(text, 0, 0) for chunk in ours.chunks(part)]
    assert cut == ours.chunks(text)


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", PATTERNS)
def test_published_patterns(name: str) -> None:
    @settings(max_examples=scaled(100), deadline=None)
    @given(st.text(characters, max_size=40))
    def run(text: str) -> None:
        check(PATTERNS[name], text)

    run()


@settings(max_examples=scaled(500), deadline=None)
@given(st.sampled_from(sorted(PATTERNS)), st.text(characters, max_size=60))
def test_regex_splits_alike(name: str, text: str) -> None:
    # Its Unicode version is another; the letters above are in all versions. In its version 1 of
    # the syntax, "&&" is the intersection of classes.
    pattern = PATTERNS[name]
    version = regex.V1 if "&&" in pattern else regex.V0
    assert regex.findall(pattern, text, version) == splitter(pattern).chunks(text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        # `(?i)` leaks out of its group, in fancy-regex.
        (r"((?i))\p{Lu}|[-a](?=\u0041)", "a\r字B字"),
        # No alternative matches in the middle, and the search goes on after an empty match.
        ("[a-z]+", "ab1cd"),
        (r"\s+$", "a \n"),
        (r"a$", "a\n"),
    ],
)
def test_what_once_differed(pattern: str, text: str) -> None:
    check(pattern, text)


@pytest.mark.parametrize(
    "pattern",
    [
        # A brace after a repeat is a character, and a lazy repeat may be possessive, too.
        *("a+{2}", "a{2}{3}", "a{2}?{2}", "a+?{2}", "a{1,2}{2}", "(?:a){2}{2}+", "a+?+", "a{2}{"),
        # Hyphens at the start of a class are characters, and so is a bracket.
        *("[--]", "[^--]", "[--a]", "[---]", "[^--{-}]", "[a[--]]", "[--[a]]", r"[--\d]", "[]-a]"),
        *("[-a]", "[a-]", "[a--b]", "[+--]", "[a---]", "[-]]", "[a-z&&[^b]--[a]]"),
    ],
)
def test_rare_signs(pattern: str) -> None:
    check(pattern, "ab a{2} aa{2} aaaa a{1,2} aaa{1,2}b a+ a-b [--] ^- -- aa{2}{3} a{2}? aa{")
