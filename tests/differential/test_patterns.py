"""Any pattern splits any text as tiktoken splits it, and each class of characters is the same.

tiktoken does not show its chunks, so they are made visible: the vocabulary holds every chunk
that we find, and every two neighbouring chunks joined. Should tiktoken split elsewhere, its
ids differ from ours. And it leaves out all text that a pattern does not match, so of a text of
every character it encodes just a class: of some by default, and of all code points in a sweep.
tokenizers, whose patterns are Oniguruma's, shows its pieces.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from random import Random

import pytest
import regex
import tiktoken
import tokenizers
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tokenizers import pre_tokenizers

from compat_bpe.encodings.published import PATTERNS as NAMED_PATTERNS
from compat_bpe.pattern.oniguruma import Letter, letter, named, parse_oniguruma, to_oniguruma
from compat_bpe.pattern.parser import parse
from compat_bpe.pattern.splitter import Splitter
from compat_bpe.pattern.tree import Chars, PatternError
from compat_bpe.pipeline.pre_tokenizers.split import Split
from compat_bpe.pipeline.pre_tokenizers.splitter import StepSplitter
from compat_bpe.unicode import tables_properties
from compat_bpe.unicode.properties import CodePoints, category, ignore_case, parse_ranges
from compat_bpe.unicode.tables import CASE_ORBITS, CATEGORIES, SCRIPTS
from compat_bpe.unicode.tables_folds import FULL_FOLDS
from tests.differential.reference import BYTES, KIMI, POSIX, SCALARS, sample
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


# Patterns in Oniguruma's syntax, against tokenizers, which uses it


@cache
def split_of(pattern: str) -> tokenizers.pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")


def split_there(pattern: str, text: str) -> list[str]:
    pieces = split_of(pattern).pre_tokenize_str(text)
    return [text[start:end] for _, (start, end) in pieces]


def split_here(pattern: str, text: str) -> list[str]:
    return StepSplitter([Split(parse_oniguruma(pattern))]).chunks(text)


def check_split(pattern: str, *texts: str) -> None:
    for text in texts:
        assert split_here(pattern, text) == split_there(pattern, text), pattern


@pytest.mark.parametrize(
    "name",
    [
        *(rf"\p{{{name}}}" for name in [*CATEGORIES, "L", "M", "N", "P", "S", "Z", "C", "Letter"]),
        *(rf"\p{{{name}}}" for name in ("Han", "Latin", "Cyrillic", "Hiragana", "Greek", "Thai")),
        *(rf"\{letter}" for letter in "wWdDsShH"),
        *(".", "(?m:.)", r"\p{^L}", r"[^\p{L}\s]", r"[\p{L}&&\p{Lu}]"),
        # In a class, six of the characters of `\w` are none of it.
        *(r"[\w]", r"[^\w\s]", r"[\W]", r"[^\d\W]", r"[\w&&[^a]]", r"[\s]", r"[\D]", r"[^\h]"),
    ],
)
def test_classes_hold_the_same_characters(name: str, code_points: str) -> None:
    # Each character of the class is a piece, and so is what stands between two of them.
    is_whole = len(code_points) < len(SCALARS) or name in (r"\w", r"\p{L}")
    check_split(name, code_points if is_whole else code_points[::7])


def test_all_scripts_are_known_there_too() -> None:
    for name in SCRIPTS:
        check_split(rf"\p{{{name}}}", sample())


@pytest.mark.parametrize(
    "pattern",
    [
        *("^a|b$", r"a\Z|\Ab", r"a\z", "a(?i)b|c", "(a(?i)b|c)d", "a{1,2}+", "a{2}?", "a{1,2}?"),
        *("a{,2}", "a{1,}+b", "(?i:'s|'ll|'re)", "(?i)[a-k]+", "a++a", "(?>a|ab)c", r"\bab\b|\B1"),
        *(r"(?<=a)b|(?<!b)c", "a.b", "(?m:a.b)", "(?<name>a)b", r"\x41|\u0042|\x{43}"),
        *(r"\t|\n|\h", "[a-c&&[^b]]+", "a*?b", "a|ab|b", "x*", "a?", "$", "^"),
    ],
)
@drawn(100, text=st.text("abcABC 's\nlLrRE1\x85K\u212a\u017f", max_size=14))
def test_a_pattern_splits_the_same(pattern: str, text: str) -> None:
    check_split(pattern, text)


atoms = st.sampled_from(["a", "b", ".", r"\w", r"\s", "[ab]", "[^a]", r"\p{L}", "(?i:b)"])
quantifiers = ["", "", "", "?", "*", "+", "{2}", "{1,2}", "+?", "*+", "?+", "{1,2}+", "{2}?"]
conditions = st.sampled_from(["^", "$", r"\b", "(?=a)", "(?!b)", r"\Z", "(?<=a)"])
single = st.one_of(st.builds("{}{}".format, atoms, st.sampled_from(quantifiers)), conditions)
patterns = st.recursive(
    st.lists(single, min_size=1, max_size=3).map("".join),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map("|".join),
        st.builds("{}{})".format, st.sampled_from(["(?:", "(?>"]), inner),
    ),
    max_leaves=4,
)


@drawn(500, patterns, st.lists(st.text("abB \n", max_size=8), max_size=4))
def test_any_pattern_splits_the_same_or_is_refused(pattern: str, several: list[str]) -> None:
    try:
        split_here(pattern, "x")
    except PatternError:
        return
    # Written back from the tree it is the same pattern, too.
    written = to_oniguruma(parse_oniguruma(pattern))
    check_split(pattern, *several)
    for text in several:
        assert split_there(written, text) == split_there(pattern, text)


@pytest.mark.parametrize(
    "pattern",
    [
        *(r"\pL", r"(a)\1", r"\K", "(?s:.)", "(?x:a b)", "(?P<a>b)", "[a--b]", "[a~~b]"),
        *("(?i:s(s))", "(?i:s)(?i:s)", "(?<!(?<!s?))", "(?i:(?:xs)(?:tx?))", "(?i:s{1}s)"),
        *("(?i)f(?:i|j)|f(?:ix)", r"(?i:\p{Lu})", "(?i:[ßﬀ])", "(?i:s[[^x]]t)", r"\p{InCB}"),
        *(r"\p{Nope}", "[[:nope:]]", r"\p{L}|\X", r"\Xa", r"(?=\X)a", r"\X{2}", r"[\X]", r"[\R]"),
        *(r"\xe9", r"\u{41}", "(?~ab)", "a(", "*a"),
    ],
)
def test_what_might_mean_something_else_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        parse_oniguruma(pattern)


def test_the_written_pattern_has_no_surrogates() -> None:
    assert re.search("[\ud800-\udfff]", to_oniguruma(parse(r"[^a]|\P{L}|."))) is None


# Letters whose case is ignored: one may fold to several

#: Characters that fold to two or three, and the letters of these.
MANY = "ßẞﬀﬁﬃﬆŉİΐ"
LETTERS = "sStfilkKnN\u212a\u017f\u02bci\u0307ιΙ\u0308\u0301éÉx"
FOLDED = "ss'lLsTſtßẞﬀﬁﬂﬃﬄﬅﬆfIx'S'Tsxt sssx ßx ffi fﬁ ﬀi ffl ÉSS éß яЯ ŉ ʼN İ i̇ ΐ ΐ σας"

letters = st.one_of(
    *map(
        st.sampled_from,
        (
            ["s", "s", "f", "f", "i", "t", "l", r"\x73", r"\u0066", "[s]", "[ft]"],
            [*MANY, *LETTERS],
            ["(?:s)", "(s)", "[ß]", "[sß]", "[^ß]", "[^x]", "[a-z&&[S]]", r"\w", r"\S", "."],
            [r"[^\p{Lu}]", r"[^\W]", "[é-í]", "[^[^f]]", r"\p{Nd}", r"\p{Han}", "[^[:upper:]]"],
        ),
    )
)
groups = st.sampled_from(
    ["(?:", "(", "(?>", "(?i:", "(?-i:", "(?m:", "(?<a>", "(?=", "(?!", "(?<=", "(?<!"]
)
caseless = st.recursive(
    st.builds("{}{}".format, letters, st.sampled_from(["", "", "", "", "?", "+", "{2}", "*?"])),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=4).map("".join),
        st.builds("{}|{}".format, inner, inner),
        st.builds("{}{}){}".format, groups, inner, st.sampled_from(["", "", "?", "{2}", "{1}"])),
    ),
    max_leaves=5,
)
texts = st.lists(st.sampled_from([*MANY, *LETTERS, "ss", "ffi", "St", "fF", "\u02bcN"]), max_size=8)


@drawn(200, caseless, texts.map("".join))
def test_any_pattern_that_ignores_case_splits_the_same_or_is_refused(
    pattern: str, text: str
) -> None:
    pattern = f"(?i:{pattern})"
    try:
        split_here(pattern, "x")  # an empty text is not looked at
        split_here(pattern, text)
    except PatternError:
        return
    try:
        split_there(pattern, text)
    except Exception:  # a lookbehind that it does not take
        return
    check_split(pattern, text, "xßxẞxﬀxﬁxﬂxﬃxﬄxﬅxﬆxŉxİxΐx")


@pytest.mark.parametrize(
    "pattern",
    [
        *("(?i:'s|'t|'re|'ve|'m|'ll|'d)", "(?i:st?|s{2}|[sf]t|s[st]|sxt)", "ss", "(?i:s)s"),
        *("[fF][iI]", "(?i:ss)", "(?i:ß)", "(?i:sss)", "(?i:ssss)", "(?i:sß)", "(?i:ßs)"),
        *("(?i:ﬀi)", "(?i:fﬁ)", "(?i:ffl?)", "(?i:ffi)", "(?i:xss)", r"(?i:s\x73)", "(?i)ß|ff"),
        *("(?i:[ß]+)", "(?i:[sß]x)", "(?i:(?<=ß)x)", "(?i:(?<=ss)x)", "(?i:éss)", "(?i:[^ß])"),
        *(r"(?i:\w+)", r"(?i:[^\W])", "(?i:[^[^b]])", "(?i:я+)", "(?i:ΐ|ŉ|İ)", "(?i:ΣΑΣ)"),
        *("(?i:(?<=[ß])x)", "(?i:(?<![ß])s)", "(?i:(?<=x[ﬁ]))", "(?i:(?<=[sß]{2}))"),
        *("(?i:[a-c&&[S]])", "(?i:s(?:s))", r"(?i:\u0066l)"),
    ],
)
def test_letters_fold_alike(pattern: str) -> None:
    check_split(pattern, FOLDED)


@pytest.mark.sweep
@pytest.mark.parametrize("many", [chr(point) for point in FULL_FOLDS], ids=ascii)
def test_each_character_that_folds_to_several(many: str) -> None:
    string = FULL_FOLDS[ord(many)]
    text = "|".join((many, string, string.upper(), string[:-1], string[1:], f"x{string}{string}"))
    for pattern in (many, string, f"{string}{string}", f"[{many}]+", f"x?{many}?", string[:2]):
        check_split(f"(?i:{pattern})", text)


@pytest.mark.sweep
def test_each_letter_matches_the_same_letters() -> None:
    for point in map(ord, SCALARS):
        points = ignore_case(CodePoints.of(chr(point)))
        if len(points.bounds) == 2 and point < 0x80:
            continue
        others = "".join(chr(p) for low, high in points.ranges() for p in range(low, high + 1))
        if isinstance(letter(chr(point), False), Letter) and len(others) > 1:
            check_split(f"(?i:{chr(point)})", "|".join(others + "sSkKiIıåÅ"))


# Names of classes, ``\R`` and ``\X``

NAMES = [
    *(*tables_properties.PROPERTIES, *tables_properties.BLOCKS, *tables_properties.SHORT_NAMES),
    *(*CATEGORIES, *SCRIPTS, *POSIX, "Any", "Assigned", "Unknown", "In_No_Block"),
    *("emoji", "in basic-latin", "XID start", "greek", "Punctuation", "Decimal_Number"),
]


@cache
def edges() -> str:
    """Return the characters at both sides of each place where a class begins or ends."""
    found: set[int] = set()
    all_tables = (CATEGORIES, SCRIPTS, tables_properties.PROPERTIES, tables_properties.BLOCKS)
    for table in all_tables:
        for points in map(parse_ranges, table.values()):
            found.update(bound + side for bound in points.bounds for side in (-1, 0))
    scalars = set(SCALARS)
    return "".join(char for char in map(chr, sorted(found - {-1})) if char in scalars)


def check_members(pattern: str, text: str) -> None:
    split = pre_tokenizers.Split(tokenizers.Regex(pattern), "removed")
    left: set[str] = set()
    for start in range(0, len(text), 500):
        left.update(*(piece for piece, _ in split.pre_tokenize_str(text[start : start + 500])))
    node = parse_oniguruma(pattern)
    here = {char for char in text if ord(char) in node.points}  # type: ignore[union-attr]
    assert here == set(text) - left


@pytest.mark.parametrize("name", POSIX)
@pytest.mark.parametrize("pattern", ["[[:{}:]]", "[[:^{}:]]", r"\p{{{}}}", r"[^\P{{{}}}]"])
def test_posix_classes_hold_the_same_characters(pattern: str, name: str) -> None:
    check_members(pattern.format(name), edges()[::11])


@pytest.mark.parametrize(
    "pattern", [r"\p{Emoji}", r"\p{ExtPict}", r"\P{^Alpha}", "[[:alpha:]_&&é]"]
)
def test_some_names_hold_the_same_characters(pattern: str) -> None:
    check_members(pattern, edges()[::5])


@pytest.mark.sweep
@pytest.mark.parametrize("name", NAMES)
def test_each_name_holds_the_same_characters(name: str) -> None:
    check_members(rf"\p{{{name}}}", edges())


@pytest.mark.sweep
def test_all_code_points_of_some() -> None:
    for name in ("Alphabetic", "Lowercase", "Uppercase", "Emoji", "Graph", "Print", "Word"):
        check_members(rf"\p{{{name}}}", SCALARS)


def test_names_are_known() -> None:
    for name in NAMES:
        assert named(name), name


#: One of each class of characters in clusters, twice for emoji and flags.
CLUSTERS = (
    "a é字1\r\n\x01\u0301\u0903\u0600\u200d\ufe0f🏽🇦🇧👍😀©ℹ"
    "\u1100\u1161\u11a8각가\u0915\u094d\u0937\u0e33\u0d4e"
)


@cache
def clusters(pattern: str) -> Split:
    return Split(parse_oniguruma(pattern))


@pytest.mark.parametrize(
    "pattern",
    [
        *(r"\X", r"\X+", r"\X{1,2}", r"\s+|\X", r"[a-z]|\X", r"[é\u0301]+|\X", r"\R|\X", r"\R"),
        r"a\R?b|\R+",
    ],
)
@drawn(150, text=st.text(CLUSTERS, max_size=12))
def test_clusters_and_ends_of_lines_are_the_same(pattern: str, text: str) -> None:
    assert clusters(pattern).pieces([text] if text else []) == split_there(pattern, text)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "around", ["a{}", "{}\u0301", "👍{}👍", "👍\u200d{}", "{}\u1161", "🇦{}🇦", "\u0600{}b"]
)
def test_each_character_is_in_the_same_clusters(around: str) -> None:
    for start in range(0, len(SCALARS), 2000):
        text = "\n".join(around.replace("{}", char) for char in SCALARS[start : start + 2000])
        assert clusters(r"\X").pieces([text]) == split_there(r"\X", text)
