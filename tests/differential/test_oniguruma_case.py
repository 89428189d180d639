"""Letters whose case is ignored, against tokenizers, whose Oniguruma folds one to several."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.pattern.ast import PatternError
from compat_bpe.pattern.oniguruma import Letter, letter
from compat_bpe.unicode.properties import CodePoints, ignore_case
from compat_bpe.unicode.tables_folds import FULL_FOLDS
from tests.differential.oniguruma import split_here, split_there
from tests.differential.reference import SCALARS
from tests.examples import scaled

#: Characters that fold to two or three, and the letters of these.
MANY = "ßẞﬀﬁﬃﬆŉİΐ"
LETTERS = "sStfilkKnN\u212a\u017f\u02bci\u0307ιΙ\u0308\u0301éÉx"

letters = st.one_of(
    st.sampled_from(["s", "s", "f", "f", "i", "t", "l", r"\x73", r"\u0066", "[s]", "[ft]"]),
    st.sampled_from([*MANY, *LETTERS]),
    st.sampled_from(
        ["(?:s)", "(s)", "[ß]", "[sß]", "[^ß]", "[^x]", "[a-z&&[S]]", r"\w", r"\S", "."]
    ),
    st.sampled_from(
        [r"[^\p{Lu}]", r"[^\W]", "[é-í]", "[^[^f]]", r"\p{Nd}", r"\p{Han}", "[^[:upper:]]"]
    ),
)
caseless = st.recursive(
    st.builds("{}{}".format, letters, st.sampled_from(["", "", "", "", "?", "+", "{2}", "*?"])),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=4).map("".join),
        st.builds("{}|{}".format, inner, inner),
        st.builds(
            "{}{}){}".format,
            st.sampled_from(
                ["(?:", "(", "(?>", "(?i:", "(?-i:", "(?m:", "(?<a>", "(?=", "(?!", "(?<=", "(?<!"]
            ),
            inner,
            st.sampled_from(["", "", "?", "{2}", "{1}"]),
        ),
    ),
    max_leaves=5,
)
texts = st.lists(st.sampled_from([*MANY, *LETTERS, "ss", "ffi", "St", "fF", "\u02bcN"]), max_size=8)


@settings(max_examples=scaled(200))
@given(caseless, texts.map("".join))
def test_any_pattern_that_ignores_case_splits_the_same_or_is_refused(
    pattern: str, text: str
) -> None:
    pattern = f"(?i:{pattern})"
    try:
        split_here(pattern, "x")  # an empty text is not looked at
        expected = split_here(pattern, text)
    except PatternError:
        return
    try:
        there = split_there(pattern, text)
    except Exception:  # a lookbehind that it does not take
        return
    assert expected == there
    folded = "xßxẞxﬀxﬁxﬂxﬃxﬄxﬅxﬆxŉxİxΐx"
    assert split_here(pattern, folded) == split_there(pattern, folded)


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
    text = "ss'lLsTſtßẞﬀﬁﬂﬃﬄﬅﬆfIx'S'Tsxt sssx ßx ffi fﬁ ﬀi ffl ÉSS éß яЯ ŉ ʼN İ i̇ ΐ ΐ σας"
    assert split_here(pattern, text) == split_there(pattern, text)


@pytest.mark.sweep
@pytest.mark.parametrize("many", [chr(point) for point in FULL_FOLDS], ids=ascii)
def test_each_character_that_folds_to_several(many: str) -> None:
    string = FULL_FOLDS[ord(many)]
    text = "|".join((many, string, string.upper(), string[:-1], string[1:], f"x{string}{string}"))
    for pattern in (many, string, f"{string}{string}", f"[{many}]+", f"x?{many}?", string[:2]):
        pattern = f"(?i:{pattern})"
        assert split_here(pattern, text) == split_there(pattern, text), pattern


@pytest.mark.sweep
def test_each_letter_matches_the_same_letters() -> None:
    for point in map(ord, SCALARS):
        points = ignore_case(CodePoints.of(chr(point)))
        if len(points.bounds) == 2 and point < 0x80:
            continue
        others = "".join(chr(p) for low, high in points.ranges() for p in range(low, high + 1))
        if isinstance(letter(chr(point), False), Letter) and len(others) > 1:
            text = "|".join(others + "sSkKiIıåÅ")
            pattern = f"(?i:{chr(point)})"
            assert split_here(pattern, text) == split_there(pattern, text), pattern
