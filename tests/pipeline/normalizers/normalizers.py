"""Normalizers, texts that are hard for them, and a character map made from a dictionary."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, cast

from hypothesis import strategies as st

from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.parts import pattern
from compat_bpe.pipeline.normalizers.accents import StripAccents
from compat_bpe.pipeline.normalizers.base import one_after_the_other
from compat_bpe.pipeline.normalizers.bert import BertNormalizer
from compat_bpe.pipeline.normalizers.byte_level import ByteLevel
from compat_bpe.pipeline.normalizers.case import Lowercase
from compat_bpe.pipeline.normalizers.charsmap import Charsmap
from compat_bpe.pipeline.normalizers.forms import Form, UnicodeForm
from compat_bpe.pipeline.normalizers.nmt import Nmt
from compat_bpe.pipeline.normalizers.precompiled import Precompiled
from compat_bpe.pipeline.normalizers.prepend import Prepend
from compat_bpe.pipeline.normalizers.replace import Replace
from compat_bpe.pipeline.normalizers.sentencepiece import SpaceNormalizer
from compat_bpe.pipeline.normalizers.strip import Strip
from compat_bpe.unicode.surrogates import repair
from tests.strategies import EMOJI, MARKS, OTHER_LETTERS, RECENT, WHITE_SPACE
from tests.strategies import texts as any_texts

FORMS: list[Form] = ["NFC", "NFD", "NFKC", "NFKD"]

#: What is composed, decomposed, ordered, removed, joined and replaced.
hard_characters = st.one_of(
    st.sampled_from("aeiouASDddjkqxl\u0645\u06d2\u1100\u1161\u11a8\uac00\ud7a3`<=>1 "),
    st.sampled_from("\u0300\u0301\u0307\u0323\u0327\u0338\u0345\u05b0\u3099\u0f71\u0f72\u0344"),
    st.sampled_from("ﬁﬀ①Ⅷℌ㍿ｱﾞ\u2126\u212b\u0340\u0344\u0958\ufb1d\U0001d15e\U0002f800İß™…"),
    # Marks that BERT keeps, and puts in order.
    st.sampled_from("\u1b44\u302e\u302f\U0001d165\U0001d16d\U000110b9\u08d4\U0001e000\u1dfb"),
    # Composed, or put in order, only in a later version of Unicode.
    st.sampled_from("\U00011935\U00011930\U00011938\U000105d2\U000105c9\u0898\u1abf\u1dfa"),
    st.sampled_from("\u0600\U000110bd\u0915\u094d\u0937\u0940\u200d\u200c\ufe0f\u20e3\u0e33"),
    st.sampled_from("\x00\x01\t\n\r\x7f\x85\x8f\xa0\xad\u180e\u200b\u2028\u2581\ufeff\ufffd"),
    st.sampled_from("中文㐀字\uf900\U00020000\U0002b820\U0002b920かがカ゛\u3099￥ＡａﾊﾟِAב"),
    st.sampled_from("\u09c7\u09be\u0b47\u0b56\U00011131\U00011127👍🏽👩❤🇩🇪\r\n"),
    st.sampled_from(MARKS + OTHER_LETTERS + RECENT + WHITE_SPACE),
    st.characters(codec="utf-8"),
)

if TYPE_CHECKING:
    from compat_bpe.pipeline.normalizers.base import Normalizer
hard_texts = st.lists(
    st.one_of(hard_characters, st.sampled_from([*EMOJI, "\r\n", "  ", "``", "ａ\u0301"])),
    max_size=12,
).map("".join)
texts = st.one_of(hard_texts, any_texts.map(repair))


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
