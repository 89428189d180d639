"""Patterns in Oniguruma's syntax, against tokenizers, which uses it."""

from __future__ import annotations

import re
from functools import cache

import pytest
import tokenizers
from hypothesis import strategies as st
from tokenizers import pre_tokenizers

from compat_bpe.pattern.oniguruma import Letter, letter, named, parse_oniguruma, to_oniguruma
from compat_bpe.pattern.parser import parse
from compat_bpe.pattern.tree import PatternError
from compat_bpe.pipeline.pre_tokenizers.split import Split
from compat_bpe.pipeline.pre_tokenizers.splitter import StepSplitter
from compat_bpe.unicode import tables_properties
from compat_bpe.unicode.properties import CodePoints, ignore_case, parse_ranges
from compat_bpe.unicode.tables import CATEGORIES, SCRIPTS
from compat_bpe.unicode.tables_folds import FULL_FOLDS
from tests.differential.reference import POSIX, SCALARS, sample
from tests.examples import drawn


@cache
def split_of(pattern: str) -> tokenizers.pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")


def split_there(pattern: str, text: str) -> list[str]:
    pieces = split_of(pattern).pre_tokenize_str(text)
    return [text[start:end] for _, (start, end) in pieces]


def split_here(pattern: str, text: str) -> list[str]:
    return StepSplitter([Split(parse_oniguruma(pattern))]).chunks(text)


def check(pattern: str, *texts: str) -> None:
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
    check(name, code_points if is_whole else code_points[::7])


def test_all_scripts_are_known_there_too() -> None:
    for name in SCRIPTS:
        check(rf"\p{{{name}}}", sample())


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
    check(pattern, text)


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
    check(pattern, *several)
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
    check(pattern, text, "xßxẞxﬀxﬁxﬂxﬃxﬄxﬅxﬆxŉxİxΐx")


@pytest.mark.parametrize(
    "pattern",
    [
        *("(?i:'s|'t|'re|'ve|'m|'ll|'d)", "(?i:st?|s{2}|[sf]t|s[st]|sxt)", "ss", "(?i:s)s"),
        *("[fF][iI]", "(?i:ss)", "(?i:ß)", "(?i:sss)", "(?i:ssss)", "(?i:sß)", "(?i:ßs)"),
        *("(?i:ﬀi)", "(?i:fﬁ)", "(?i:ffl?)", "(?i:ffi)", "(?i:xss)", r"(?i:s\x73)", "(?i)ß|ff"),
        *("(?i:[ß]+)", "(?i:[sß]x)", "(?i:(?<=ß)x)", "(?i:(?<=ss)x)", "(?i:éss)", "(?i:[^ß])"),
        *(r"(?i:\w+)", r"(?i:[^\W])", "(?i:[^[^b]])", "(?i:я+)", "(?i:ΐ|ŉ|İ)", "(?i:ΣΑΣ)"),
        *("(?i:[a-c&&[S]])", "(?i:s(?:s))", r"(?i:\u0066l)"),
    ],
)
def test_letters_fold_alike(pattern: str) -> None:
    check(pattern, FOLDED)


@pytest.mark.sweep
@pytest.mark.parametrize("many", [chr(point) for point in FULL_FOLDS], ids=ascii)
def test_each_character_that_folds_to_several(many: str) -> None:
    string = FULL_FOLDS[ord(many)]
    text = "|".join((many, string, string.upper(), string[:-1], string[1:], f"x{string}{string}"))
    for pattern in (many, string, f"{string}{string}", f"[{many}]+", f"x?{many}?", string[:2]):
        check(f"(?i:{pattern})", text)


@pytest.mark.sweep
def test_each_letter_matches_the_same_letters() -> None:
    for point in map(ord, SCALARS):
        points = ignore_case(CodePoints.of(chr(point)))
        if len(points.bounds) == 2 and point < 0x80:
            continue
        others = "".join(chr(p) for low, high in points.ranges() for p in range(low, high + 1))
        if isinstance(letter(chr(point), False), Letter) and len(others) > 1:
            check(f"(?i:{chr(point)})", "|".join(others + "sSkKiIıåÅ"))


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
        r"\X",
        r"\X+",
        r"\X{1,2}",
        r"\s+|\X",
        r"[a-z]|\X",
        r"[é\u0301]+|\X",
        r"\R|\X",
        r"\R",
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
