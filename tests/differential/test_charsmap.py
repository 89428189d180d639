"""The precompiled character map, against the reference's own normalizer."""

from __future__ import annotations

import random
import struct
from functools import cache
from typing import Any

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.pipeline.normalizers.charsmap import Charsmap
from tests.differential.small_sentencepieces import parsed, trained

NAMES = ["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf"]
HARD = (
    "aeA\u0301\u0300\u0323\u3099\u309aかはﾊﾞ\uff76\u1112\u1161\u11ab①½ﬁ\u2126"
    "\t\r\n\u200b\u3000\ufeff～ﾞ\U0001d400"
)


@cache
def blob(name: str) -> bytes:
    found: bytes = parsed(
        trained(model_type="char", normalization_rule_name=name)
    ).normalizer_spec.precompiled_charsmap
    return found


@cache
def charsmap(name: str) -> Charsmap:
    return Charsmap(blob(name))


def reference(data: bytes) -> Any:
    model = parsed(trained(model_type="char"))
    spec = model.normalizer_spec
    spec.precompiled_charsmap = data
    spec.add_dummy_prefix = spec.remove_extra_whitespaces = spec.escape_whitespaces = False
    return sentencepiece.SentencePieceNormalizer(model_proto=model.SerializeToString())


@cache
def known(name: str) -> Any:
    return reference(blob(name))


@pytest.mark.parametrize("name", NAMES)
@given(text=st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from(HARD))))
def test_longest_is_the_references_rule(name: str, text: str) -> None:
    assert charsmap(name).replace(text) == known(name).normalize(text)


@pytest.mark.sweep
@pytest.mark.parametrize("name", NAMES)
def test_all_code_points(name: str) -> None:
    for point in range(0x110000):
        if not 0xD800 <= point < 0xE000:
            assert charsmap(name).replace(chr(point)) == known(name).normalize(chr(point))


@pytest.mark.parametrize("name", NAMES)
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


@pytest.mark.parametrize("name", NAMES)
def test_maps_that_ship_are_sound_and_followed_without_tables(name: str) -> None:
    found = Charsmap(blob(name))
    assert "_tables" not in vars(found)
    assert found.longest("ﬁ", 0) == (1, "fi")
    for text in ("a\tb", "a ½", "か\u3099" * 99):
        assert found.replace(text) == known(name).normalize(text)
    assert "_tables" not in vars(found)
    assert found.replace("½" * 5000) == known(name).normalize("½" * 5000)
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


def test_a_map_of_the_size_of_one_that_ships_is_checked() -> None:
    data = bytearray(blob("nfkc"))
    data[4:8] = b"\xff\xff\xff\xff"
    with pytest.raises(ValueError, match="the trie of the character map"):
        Charsmap(bytes(data))


def test_shortest_and_longest() -> None:
    text = "xe\u0323\u0301"
    # "e" with a dot below is one character, and so is "e" with an acute, but not with both.
    assert charsmap("nfkc").longest(text, 1) == (2, "ẹ") or charsmap("nfkc").longest(text, 1) == (
        3,
        "ẹ\u0301",
    )
    assert charsmap("nfkc").shortest(text, 1) == (2, "ẹ")
    assert charsmap("nfkc").shortest(text, 0) is None
    assert charsmap("nfkc").longest(text, 4) is None


def leaf(at: int) -> int:
    return 1 << 31 | at


def damaged(units: dict[int, int], text: bytes = b"x\0") -> bytes:
    """Return a map with few units set; the rest point to nothing."""
    # As in real ones, units that are not used are children of a place that no node points to.
    array = [units.get(place, 1 << 10 | (place & 0xFF) ^ 5) for place in range(512)]
    return struct.pack("<I512I", 2048, *array) + text


GOOD = {0: 256 << 10, 256 ^ 97: 97 | 1 << 8 | (97 ^ 1) << 10, 256 ^ 1: leaf(0)}


def test_a_small_map() -> None:
    assert Charsmap(damaged(GOOD)).replace("abab") == "xbxb"
    assert reference(damaged(GOOD)).normalize("abab") == "xbxb"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "shorter"),
        (b"\0\0\0\0", "shorter"),
        (b"\0\4\0\0" + bytes(1024), "shorter"),
        (struct.pack("<I", 1000) + bytes(2000), "1024"),
        (b"\0\0\0\0x\0", "1024"),
        (damaged(GOOD, b"x"), "no end"),
        (damaged({**GOOD, 0: 0}), "outside"),
        (damaged({**GOOD, 0: 600 << 10}), "outside"),
        (damaged({**GOOD, 256 ^ 1: leaf(2)}), "outside"),
        (damaged({**GOOD, 256 ^ 1: 7}), "outside"),
        (damaged(GOOD, b"\xff\0"), "UTF-8"),
        (
            damaged({0: 256 << 10, 256 ^ 0x80: 0x80 | 1 << 8 | (0x80 ^ 1) << 10, 257: leaf(0)}),
            "UTF",
        ),
        (damaged({0: 256 << 10, 256 ^ 97: 97 | 97 << 10}), "loop"),
    ],
)
def test_a_damaged_map_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Charsmap(data)


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
