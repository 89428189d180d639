"""Safe cuts: the ids of the two sides are those of the whole."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from tests.fit.hard_encodings import NAMES, encoding_of, encodings, hard_texts


def all_cuts(encoding: Encoding, text: str, fine: bool, names: frozenset[str]) -> list[int]:
    cuts = []
    cut = encoding.core.next_cut_point(text, names=names, fine=fine)
    while cut is not None:
        cuts.append(cut)
        cut = encoding.core.next_cut_point(text, cut, names=names, fine=fine)
    return cuts


@given(encodings, hard_texts, st.booleans(), st.data())
def test_the_sides_of_a_cut_are_encoded_alone(
    encoding: Encoding, text: str, fine: bool, data: st.DataObject
) -> None:
    names = sorted(encoding.special_tokens_set)
    allowed = data.draw(st.frozensets(st.sampled_from(names)) if names else st.just(frozenset()))

    def encode(part: str) -> list[int]:
        return encoding.encode(part, allowed_special=allowed, disallowed_special=())

    for cut in all_cuts(encoding, text, fine, allowed):
        assert encode(text[:cut]) + encode(text[cut:]) == encode(text)


@given(encodings, hard_texts, st.booleans(), st.data())
def test_a_cut_depends_on_the_characters_beside_it_alone(
    encoding: Encoding, text: str, fine: bool, data: st.DataObject
) -> None:
    cuts = set(all_cuts(encoding, text, fine, frozenset()))
    for place in range(1, len(text)):
        around = text[place - 1 : place + 1]
        found = encoding.core.next_cut_point(around, fine=fine)
        assert found == (1 if place in cuts else None), (place, around)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    between = [cut for cut in sorted(cuts) if start < cut < end]
    expected = between[0] if between else None
    assert encoding.core.next_cut_point(text, start, end, fine=fine) == expected


@pytest.mark.parametrize("name", NAMES)
def test_there_are_cuts_where_it_is_known_that_they_are_safe(name: str) -> None:
    text = "some words, and\n\tothers <b> they are x<b> the end."
    cuts = all_cuts(encoding_of(name), text, False, frozenset())
    if name in ("looks back", "first word"):
        assert not cuts
    else:
        assert len(cuts) > 3


def test_no_cut_is_within_a_name() -> None:
    core = get_encoding("cl100k_base").core
    text = "a<|endoftext|>b"
    assert core.next_cut_point(text, 3) == 12
    assert core.next_cut_point(text, 3, names={"<|endoftext|>"}) is None


#: ``abc``, or ``<|endoftext|>``, which a tokenizer has in its vocabulary, or 128 spaces.
LONGEST = {
    "looks back": 3,
    "added tokens": 13,
    "prefix space": 13,
    **dict.fromkeys(["leaves text out", "NFC", "metaspace", "bert", "words", "first word"]),
    **dict.fromkeys(["scripts", "metaspace, signs"]),
}


@pytest.mark.parametrize("name", NAMES)
def test_longest_token(name: str) -> None:
    assert encoding_of(name).core.longest_token == LONGEST.get(name, 128)


@pytest.mark.parametrize("name", [name for name in NAMES if LONGEST.get(name, 128)])
def test_a_text_has_as_many_tokens_as_its_length_says(name: str) -> None:
    encoding = encoding_of(name)
    longest = encoding.core.longest_token
    assert longest is not None
    tokens = sorted(encoding.core.encoder, key=len)[-20:]
    long_texts = st.sampled_from([token.decode("utf-8", "ignore") for token in tokens])

    @given(st.lists(long_texts, min_size=1, max_size=9).map("".join) | hard_texts)
    @example(tokens[-1].decode() * 9)
    def check(text: str) -> None:
        size = len(text.encode("utf-8", "replace"))
        assert encoding.count(text) * longest >= size

    check()
