"""Normalizers: the way with places gives the text of the fast way, and cuts are safe.

Where ``across`` gives characters, the sides are normalized by themselves, and end with these. The
right side goes on, so it is normalized without what is done at the beginning of a text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from itertools import groupby, product
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.tokenizer_parts import pattern
from compat_bpe.pipeline.aligned import Aligned
from compat_bpe.pipeline.normalizers.base import Normalizer, one_after_the_other
from compat_bpe.pipeline.normalizers.bert import BertNormalizer
from compat_bpe.pipeline.normalizers.charsmap import Charsmap, Precompiled
from compat_bpe.pipeline.normalizers.forms import Form, UnicodeForm
from compat_bpe.pipeline.normalizers.sentencepiece import SpaceNormalizer
from compat_bpe.pipeline.normalizers.simple import (
    ByteLevel,
    Lowercase,
    Nmt,
    Prepend,
    Replace,
    Strip,
    StripAccents,
)
from compat_bpe.unicode import tables_tokenizers as tables
from compat_bpe.unicode.properties import parse_ranges
from compat_bpe.unicode.surrogates import repair
from tests.examples import scaled
from tests.strategies import characters_to_normalize, texts, texts_to_normalize

FORMS: list[Form] = ["NFC", "NFD", "NFKC", "NFKD"]


class DictMap:
    """A character map from a dictionary, with what ``Precompiled`` asks of ``Charsmap``."""

    def __init__(self, replacements: Mapping[str, str]) -> None:
        self.replacements = replacements

    def __repr__(self) -> str:
        return f"DictMap({self.replacements!a})"

    def shortest(self, text: str, start: int) -> tuple[int, str] | None:
        for end in range(start + 1, len(text) + 1):
            if text[start:end] in self.replacements:
                return end - start, self.replacements[text[start:end]]
        return None

    def goes_on(self, text: str) -> bool:
        return any(key.startswith(text) and key != text for key in self.replacements)


def precompiled(replacements: Mapping[str, str]) -> Precompiled:
    return Precompiled(cast(Charsmap, DictMap(replacements)))


#: A map much like SentencePiece's, with what it has not: keys that are prepended, and begin others.
MAP = {
    "\n": " ", "\t": " ", "\r": " ", "\x01": "", "\u200b": " ", "ﬁ": "fi", "①": "1",
    "e\u0301": "é", "e\u0301\u0323": "ệ", "Ａ": "A", "ａ": "a", "ａ\u0301": "á", "か\u3099": "が",
    "\u1100\u1161": "가", "…": "...", "👍": "+", "\ufe0f": "", "中文": "x", "x": "", "\r\n": "+",
}  # fmt: skip
MAPS = {
    "map": precompiled(MAP),
    "map with a prepended character": precompiled({**MAP, "\u0600a": "0"}),
    "map without CR LF": precompiled({"\r": "", "q": "123"}),
}


def replace(kind: str, old: str, new: str) -> Replace:
    return Replace(pattern(Json({kind: old}, "test"))[1], new)


NORMALIZERS: dict[str, Normalizer] = {
    **{form: UnicodeForm(form) for form in FORMS},
    **{
        "bert " + " ".join(map(str, flags)): BertNormalizer(*flags)
        for flags in product((True, False), repeat=4)
        if sum(flags) != 2
    },
    **MAPS,
    "lowercase": Lowercase(),
    "accents": StripAccents(),
    "nmt": Nmt(),
    "bytes": ByteLevel(),
    "strip": Strip(True, True),
    "strip left": Strip(True, False),
    "strip right": Strip(False, True),
    "prepend": Prepend("▁"),
    "replace": replace("String", "a", "\\1 e\u0301"),
    "replace space": replace("String", " ", "▁"),
    "replace by nothing": replace("String", " ", ""),
    "replace two": replace("String", "``", '"'),
    "replace class": replace("Regex", r"[\s\u0300-\u0310]", "-+"),
    "replace run": replace("Regex", r" +", "▁"),
    "replace lazy run": replace("Regex", r" +?", "▁"),
    "replace pair": replace("Regex", r" {2}", " "),
    "replace either": replace("Regex", r"\s+|ll?", ""),
    "replace condition": replace("Regex", r"a(?=\s)|^e", "-"),
    "replace nothing": replace("Regex", r"x*", "-"),
    "spaces": SpaceNormalizer(),
    "spaces without a prefix": SpaceNormalizer(add_dummy_prefix=False),
    "spaces not removed": SpaceNormalizer(remove_extra_whitespaces=False),
    "spaces kept": SpaceNormalizer(
        add_dummy_prefix=False, remove_extra_whitespaces=False, space=" "
    ),
    "spaces with a suffix": SpaceNormalizer(whitespace_as_suffix=True),
    "spaces and symbols": SpaceNormalizer(symbols=["ab", "a", "e\u0301"]),
    "spaces in symbols": SpaceNormalizer(symbols=[" a", "  "], remove_extra_whitespaces=True),
}

#: One of them, or several in order. SentencePiece's own is the only one that its models have: no
#: other comes after the space that it inserts at a place where nothing was.
normalizers = st.lists(
    st.sampled_from([name for name in sorted(NORMALIZERS) if not name.startswith("spaces")]),
    min_size=1,
    max_size=3,
).map(lambda names: one_after_the_other([NORMALIZERS[name] for name in names]))


def check_places(normalize: Normalizer, text: str) -> None:
    aligned = normalize.align(Aligned.of(text))
    assert aligned.text == normalize(text)
    assert len(aligned.places) == len(aligned.text)
    assert all(0 <= start <= end <= len(text) for start, end in aligned.places)
    # Both ends go forward only; that is what offsets rely on.
    assert aligned.places == sorted(aligned.places)
    assert (aligned.start, aligned.end) == (0, len(text))


def check_cuts(normalize: Normalizer, text: str) -> None:
    whole = normalize(text)
    continued = normalize.continued or str
    for at in range(1, len(text)):
        found = normalize.across(text[at - 1], text[at])
        pairs = normalize.all_across(text[at - 1], text[at])
        assert found is None or list(pairs) == [found]
        if not pairs:
            continue
        assert normalize.is_local
        left, right = normalize(text[:at]), continued(text[at:])
        assert left + right == whole
        assert continued(text[:at]) + right == continued(text)
        assert any(left[-1:] == pair[0] and right[:1] in ("", pair[1]) for pair in pairs)


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", NORMALIZERS)
def test_each(name: str) -> None:
    @given(st.one_of(texts_to_normalize, texts.map(repair)))
    def check(text: str) -> None:
        check_places(NORMALIZERS[name], text)
        check_cuts(NORMALIZERS[name], text)

    check()


@settings(max_examples=scaled(300))
@given(normalizers, texts_to_normalize)
def test_sequences(normalize: Normalizer, text: str) -> None:
    check_places(normalize, text)
    check_cuts(normalize, text)


keys = st.text(characters_to_normalize, min_size=1, max_size=3)


@settings(max_examples=scaled(300))
@given(
    st.dictionaries(st.one_of(keys, st.sampled_from(sorted(MAP))), st.text("ab\u0301", max_size=3)),
    st.data(),
)
def test_any_map(replacements: dict[str, str], data: st.DataObject) -> None:
    near = st.one_of(st.sampled_from(sorted(replacements) or ["a"]), characters_to_normalize)
    normalize = precompiled(replacements)
    for text in data.draw(st.lists(st.lists(near, max_size=10).map("".join), max_size=4)):
        check_cuts(normalize, text)


@pytest.mark.parametrize(
    ("name", "beside", "expected"),
    [
        ("NFC", "中文", "中文"),
        ("NFKC", "あい", "あい"),
        ("NFC", "e中", "e中"),
        ("NFC", "中e", None),  # it may compose with what follows
        ("NFC", "か\u3099", None),
        ("NFC", "aİ", None),  # U+0323 may follow, and come before the dot above
        ("NFC", "a각", "a각"),
        ("NFD", "éa", "\u0301a"),
        ("NFKD", "①ﬁ", "1f"),
        ("NFD", "a\u0301", None),
        ("NFC", "\u1100\u1161", None),
        ("NFC", " \n", " \n"),
        ("bert True True True True", "É中", "e "),
        ("bert True True True True", "a\n", "a "),
        ("bert True True True True", "a\u0301", None),  # it is removed
        ("bert True True True True", "\u302e\u1b44", None),
        ("bert True True False True", "Éa", "éa"),
        ("accents", "éa", "éa"),
        ("accents", "a\u0301", None),
        ("nmt", "a\n", "a "),
        ("nmt", "a\x01", None),
        ("bytes", "é ", "©Ġ"),
        ("map", "ba", "ba"),
        ("map", "ab", "ab"),
        ("map", "be", None),  # é may follow
        ("map", "b\u0301", None),
        ("map", "…①", ".1"),
        ("map", "\r\n", None),
        ("map", "\na", " a"),
        ("map without CR LF", "\na", None),  # after "\r" it is removed
        ("map", "a\t", "a "),
        ("map", "🇩🇪", None),
        ("map with a prepended character", "ab", None),
        ("strip", "ab", "ab"),
        ("strip", "a ", "a "),
        ("strip", " a", None),
        ("replace space", "a ", "a▁"),
        ("replace space", "  ", "▁▁"),
        ("replace by nothing", "a ", None),
        ("replace by nothing", "ab", "ab"),
        ("replace two", "``", None),
        ("replace two", "a`", None),
        ("replace class", "a\t", "a-"),
        ("replace run", "a ", "a▁"),
        ("replace run", " a", "▁a"),
        ("replace run", "  ", None),
        ("replace pair", "a ", None),
        ("replace either", "ab", "ab"),
        ("replace condition", "bc", None),
        ("replace nothing", "bc", None),
        ("prepend", "ab", "ab"),
        ("spaces", "ab", "ab"),
        ("spaces", "a ", "a▁"),
        ("spaces", " a", None),
        ("spaces with a suffix", "ab", None),
        ("spaces not removed", " a", "▁a"),
        ("spaces and symbols", "ab", None),
        ("spaces and symbols", "a ", "a▁"),
    ],
)
def test_some_cuts(name: str, beside: str, expected: str | None) -> None:
    found = NORMALIZERS[name].across(*beside)
    assert found == (None if expected is None else tuple(expected))


def test_a_sequence_is_cut_where_all_of_it_is() -> None:
    both = one_after_the_other([NORMALIZERS["NFKC"], NORMALIZERS["replace space"]])
    assert both is not None
    assert both.across("中", "\u3000") == ("中", "▁")
    assert both.across("中", "e") is None


def test_a_part_of_a_text_is_changed_in_its_place() -> None:
    part = Aligned.of("xxé\u0301 中").part(2, 6)
    changed = NORMALIZERS["bert True True True True"].align(part)
    assert changed.text == "e  中 "
    assert changed.places == [(2, 3), (4, 5), (5, 6), (5, 6), (5, 6)]
    assert (changed.start, changed.end) == (2, 6)


@given(st.text("ab", max_size=5), st.integers(0, 4))
def test_more_characters_than_there_were(text: str, lead: int) -> None:
    """Whatever is asked for, there is a place within the part for each character."""
    places = [(3, 3)] * lead + [(3 + i, 4 + i) for i in range(len(text))]
    part = Aligned("-" * lead + text, places, 3, 3 + len(text))
    changed = part.changed([("x", 0)] * 3 + [("y", 1)])
    assert changed.text.endswith("xxxy")
    assert len(changed.places) == len(changed.text)
    assert all(3 <= start <= end <= 3 + len(text) for start, end in changed.places)


#: Marks, and what is composed with them; of each some that are above U+FFFF, and some that are
#: assigned only later, on both sides of it.
marked = st.text(
    "ae\u0301\u0323가ﬁ\u32ff\U0001d15f\U0001d165\U00011099\U000110ba😀\U0001f929\U0001f970"
    "\U00016d63\U00016d67\u0c3c\u1dfa\ua7ff𝐀"
)


@given(texts | marked, st.sampled_from(FORMS))
def test_what_came_later_divides_a_text(text: str, form: Form) -> None:
    later = parse_ranges(tables.UNASSIGNED)
    expected = ""
    for is_later, group in groupby(text, lambda char: ord(char) in later):
        stretch = "".join(group)
        expected += stretch if is_later else unicodedata.normalize(form, stretch)
    assert UnicodeForm(form)(text) == expected


@given(st.text("ae\u0301\u0323\u0344\u302e\U0001d165가", max_size=8), st.sampled_from(FORMS))
def test_long_runs_of_marks(text: str, form: Form) -> None:
    """They are put in order the plain way, which takes no square of their length."""
    expected = unicodedata.normalize(form, text * 30)
    assert UnicodeForm(form)(text * 30) == expected


def test_a_very_long_run_of_marks() -> None:
    text = "a" + "\u0301\u0323" * 200_000
    assert UnicodeForm("NFC")(text) == "ạ" + "\u0323" * 199_999 + "\u0301" * 200_000
