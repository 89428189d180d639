"""Normalizers against tokenizers, and maps of characters against sentencepiece."""

from __future__ import annotations

import json
import random
import struct
from functools import cache
from typing import Any

import pytest
import sentencepiece
import tokenizers
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.tokenizer_parts import read_normalizer
from compat_bpe.pipeline.aligned import Aligned
from compat_bpe.pipeline.normalizers.charsmap import Charsmap
from compat_bpe.unicode.properties import category
from compat_bpe.unicode.surrogates import repair
from tests.differential.any_tokenizer import NORMALIZERS, normalizers, split
from tests.differential.reference import SCALARS
from tests.differential.small_sentencepieces import parsed, trained
from tests.differential.small_tokenizers import PANIC, answer, file
from tests.examples import drawn
from tests.strategies import texts as any_texts
from tests.strategies import texts_to_normalize as hard_texts
from tests.tokenizer_files import tokenizer_file

# The text, and the place of each character in the original

#: Each character is a token.
CHARACTERS = {
    "pre_tokenizer": split(r"(?m:.)"),
    "model": {"type": "WordLevel", "vocab": {"?": 0}, "unk_token": "?"},
}


class Both:
    """One normalizer in both packages."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.ours = read_normalizer(Json(part, "small", "normalizer"))
        content = tokenizer_file(normalizer=part, **CHARACTERS)
        self.theirs: Any = tokenizers.Tokenizer.from_str(json.dumps(content))

    def check(self, text: str) -> None:
        """Compare the text; and the places, unless tokenizers panics."""
        found = text if self.ours is None else self.ours(text)
        aligned = Aligned.of(text) if self.ours is None else self.ours.align(Aligned.of(text))
        expected, kind = answer(lambda: self.theirs.normalizer.normalize_str(text))
        assert kind in ("", PANIC)
        if not kind:
            assert found == aligned.text == expected
            assert aligned.places == self.theirs.encode(text).offsets


@cache
def both(name: str) -> Both:
    return Both(NORMALIZERS[name])


@pytest.mark.parametrize("name", NORMALIZERS)
@given(text=st.one_of(hard_texts, any_texts.map(repair)))
@example(text="")
@example(text="\u0301\u0301")
@example(text="  \u3000 ")
@example(text="a\u033d\u0301 e\u0301\u0323")
@example(text="\U00011935\U00011930 \U000105d2\u0307")  # composed since Unicode 13, and 16
def test_texts(name: str, text: str) -> None:
    both(name).check(text)


#: What clusters are made of, with keys of the map and what begins them.
IN_CLUSTERS = (
    "qxdjkl中가각\u0600\u1100\u1161\u11a8\U0001f1e9\u0915\u094d\u200d©\u0301\u0323\u0940\u0903\u0e33"
    "\r\n\u200c"
)


@drawn(1000, st.text(IN_CLUSTERS, max_size=12))
def test_clusters(text: str) -> None:
    both("own map").check(text)


@drawn(400, st.lists(st.sampled_from([*NORMALIZERS]), max_size=4), st.lists(hard_texts, max_size=4))
def test_sequences(names: list[str], several: list[str]) -> None:
    made = Both(normalizers(*names))
    for text in several:
        made.check(text)


#: ``{}`` is the code point: after a letter, between marks that change places, and before others.
CONTEXTS = [
    *("a{}", "a\u0345{}\u0316", " {} ", "中{}か", "{}q", "①{}", "A{}", "q{}", "{}\u0301"),
    *("\u1100{}\u11a8", "क\u094d{}"),
]
#: For the 98 in 100 that no normalizer tells from the others around them.
FEW = ["A{}\u0345{}\u0316q{}"]
MANY_ALIKE = category("Cn") | category("Co") | category("Lo")


@pytest.mark.parametrize(
    "name",
    [
        *("NFC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel", "strip", "nmt_nfkc"),
        *("nfkc_cf", "own map", "bert True True True True", "bert True True False True"),
    ],
)
def test_every_code_point(name: str, code_points: str) -> None:
    for start in range(0, len(code_points), 1 << 10):
        part = code_points[start : start + (1 << 10)]
        both(name).check(
            "".join(
                context.replace("{}", char)
                for char in part
                for context in (FEW if ord(char) in MANY_ALIKE else CONTEXTS)
            )
        )
        both(name).check(part)


@pytest.mark.parametrize("kind", [None, "Nothing", 5, []])
@pytest.mark.parametrize(
    "name", ["NFC", "bert null", "strip left", "replace two", "prepend", "sequence", "nothing"]
)
def test_normalizers_without_a_type_that_is_known(name: str, kind: Any) -> None:
    part = {**NORMALIZERS, "sequence": normalizers("NFC"), "nothing": {}}[name]
    part = {**part, "type": kind}
    if kind is None:
        del part["type"]
    content = json.dumps(file(normalizer=part))
    theirs, refused = answer(lambda: tokenizers.Tokenizer.from_str(content).normalizer)
    if refused:
        with pytest.raises(ValueError, match="normalizer"):
            read_normalizer(Json(part, "x", "normalizer"))
        return
    ours = read_normalizer(Json(part, "x", "normalizer"))
    assert ours is not None
    for text in ("  Ae\u0301 ``x'' ", "中"):
        assert ours(text) == theirs.normalize_str(text)


# The precompiled map of characters

MAPS = pytest.mark.parametrize("name", ["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf"])
HARD = (
    "aeA\u0301\u0300\u0323\u3099\u309aかはﾊﾞ\uff76\u1112\u1161\u11ab①½ﬁ\u2126"
    "\t\r\n\u200b\u3000\ufeff～ﾞ\U0001d400"
)


@cache
def blob(name: str) -> bytes:
    model = parsed(trained(model_type="char", normalization_rule_name=name))
    found: bytes = model.normalizer_spec.precompiled_charsmap
    return found


@cache
def charsmap(name: str) -> Charsmap:
    return Charsmap(blob(name))


@cache
def reference(data: bytes) -> Any:
    model = parsed(trained(model_type="char"))
    spec = model.normalizer_spec
    spec.precompiled_charsmap = data
    spec.add_dummy_prefix = spec.remove_extra_whitespaces = spec.escape_whitespaces = False
    return sentencepiece.SentencePieceNormalizer(model_proto=model.SerializeToString())


@MAPS
@given(text=st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from(HARD))))
def test_longest_is_the_references_rule(name: str, text: str) -> None:
    assert charsmap(name).replace(text) == reference(blob(name)).normalize(text)


@pytest.mark.sweep
@MAPS
def test_all_code_points(name: str) -> None:
    for char in SCALARS:
        assert charsmap(name).replace(char) == reference(blob(name)).normalize(char)


@MAPS
@given(text=st.text(st.sampled_from(HARD)))
def test_spans_are_the_plain_rule(name: str, text: str) -> None:
    """At each place the longest sequence, or else one character as it is: by a pattern or not."""
    found = []
    at = 0
    while at < len(text):
        one = charsmap(name).longest(text, at)
        if one is not None:
            found.append((at, at + one[0], one[1]))
        at += 1 if one is None else one[0]
    for few_left in (0, len(text)):
        charsmap(name)._few_left = few_left
        assert list(charsmap(name).spans(text)) == found


@MAPS
def test_maps_that_ship_are_sound_and_followed_without_tables(name: str) -> None:
    found, there = Charsmap(blob(name)), reference(blob(name))
    assert "_tables" not in vars(found)
    assert found.longest("ﬁ", 0) == (1, "fi")
    for text in ("a\tb", "a ½", "か\u3099" * 99):
        assert found.replace(text) == there.normalize(text)
    assert "_tables" not in vars(found)
    assert found.replace("½" * 5000) == there.normalize("½" * 5000)
    assert "_tables" in vars(found)
    following, written = found._tables  # raises if the map is damaged
    some = random.Random(1).sample(sorted(following), 200)
    for node in [0, *some]:
        for char in {*following[node], *HARD, "\0", "x", "\ud800"}:
            assert found._follow(node, char) == following[node].get(char)
        ascii_only = {char: after for char, after in following[node].items() if char.isascii()}
        assert found._after_node(node, 0x7F) == ascii_only
        assert found._written(node) == written.get(node)
    for text in ["", "e", "か", "\u1100", "\u1100\u1161", "x", "ﬁ", "\0", *HARD]:
        plain: int | None = 0
        for char in text:
            plain = None if plain is None else following[plain].get(char)
        assert found.goes_on(text) == (plain is not None and bool(following[plain]))


def test_shortest_and_longest() -> None:
    text, found = "xe\u0323\u0301", charsmap("nfkc")
    # "e" with a dot below is one character, and so is "e" with an acute, but not with both.
    assert found.longest(text, 1) in ((2, "ẹ"), (3, "ẹ\u0301"))
    assert found.shortest(text, 1) == (2, "ẹ")
    assert found.shortest(text, 0) is None
    assert found.longest(text, 4) is None


def leaf(at: int) -> int:
    return 1 << 31 | at


def small_map(units: dict[int, int], text: bytes = b"x\0") -> bytes:
    """Return a map with few units set; the rest point to nothing."""
    # As in real ones, units that are not used are children of a place that no node points to.
    array = [units.get(place, 1 << 10 | (place & 0xFF) ^ 5) for place in range(512)]
    return struct.pack("<I512I", 2048, *array) + text


GOOD = {0: 256 << 10, 256 ^ 97: 97 | 1 << 8 | (97 ^ 1) << 10, 256 ^ 1: leaf(0)}
NOT_UTF_8 = {0: 256 << 10, 256 ^ 0x80: 0x80 | 1 << 8 | (0x80 ^ 1) << 10, 257: leaf(0)}


def test_a_small_map() -> None:
    assert Charsmap(small_map(GOOD)).replace("abab") == "xbxb"
    assert reference(small_map(GOOD)).normalize("abab") == "xbxb"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        *((data, "shorter") for data in (b"", b"\0\0\0\0", b"\0\4\0\0" + bytes(1024))),
        *((data, "1024") for data in (struct.pack("<I", 1000) + bytes(2000), b"\0\0\0\0x\0")),
        (small_map(GOOD, b"x"), "no end"),
        *((small_map({**GOOD, **unit}), "outside")
          for unit in ({0: 0}, {0: 600 << 10}, {256 ^ 1: leaf(2)}, {256 ^ 1: 7})),
        (small_map(GOOD, b"\xff\0"), "UTF-8"),
        (small_map(NOT_UTF_8), "UTF"),
        (small_map({0: 256 << 10, 256 ^ 97: 97 | 97 << 10}), "loop"),
    ],
)  # fmt: skip
def test_a_damaged_map_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Charsmap(data)


def test_a_map_of_the_size_of_one_that_ships_is_checked() -> None:
    with pytest.raises(ValueError, match="the trie of the character map"):
        Charsmap(blob("nfkc")[:4] + b"\xff\xff\xff\xff" + blob("nfkc")[8:])


def test_a_mutated_map_is_refused_or_read_as_the_reference_reads_it() -> None:
    draw = random.Random(7)
    data = blob("nfkc")
    refused = 0
    for _ in range(12):
        changed = bytearray(data)
        changed[draw.randrange(4, len(data))] ^= 1 << draw.randrange(8)
        try:
            found = Charsmap(bytes(changed))
        except ValueError:
            refused += 1
            continue
        normalizer = reference(bytes(changed))
        for _ in range(200):
            text = "".join(draw.choices(HARD + "ÀÉ", k=5))
            assert found.replace(text) == normalizer.normalize(text)
    assert refused < 12
