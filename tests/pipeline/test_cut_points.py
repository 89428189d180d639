"""Safe cuts: the ids of the two sides are those of the whole."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from tests.fit.hard_encodings import NAMES, encoding_of, encodings, hard_texts
from tests.fit.small_kinds import KINDS, UNCUT


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

    def encode(encoder: Encoding, part: str) -> list[int]:
        return encoder.encode(part, allowed_special=allowed, disallowed_special=())

    continued = encoding.continued
    for cut in all_cuts(encoding, text, fine, allowed):
        right = encode(continued, text[cut:])
        assert len(right) == continued.count(text[cut:]) or allowed
        for encoder in (encoding, continued):
            assert encode(encoder, text[:cut]) + right == encode(encoder, text)


@given(encodings, hard_texts)
def test_what_goes_on_goes_on_in_the_same_way(encoding: Encoding, text: str) -> None:
    continued = encoding.continued
    assert continued.continued is continued
    assert (continued is encoding) == (continued.core is encoding.core)
    assert all_cuts(continued, text, True, frozenset()) == all_cuts(
        encoding, text, True, frozenset()
    )
    assert continued.count(text) == len(continued.encode_ordinary(text))


@pytest.mark.parametrize(
    ("name", "text"),
    [("llama", "the"), ("llama, first", "the"), ("llama, always", "the"), ("spm bpe", "the"),
     ("unigram, first", "the"), ("stripped", "  the")],
)  # fmt: skip
def test_what_goes_on_has_no_prefix(name: str, text: str) -> None:
    encoding = encoding_of(name)
    assert encoding.continued.encode_ordinary(text) != encoding.encode_ordinary(text)
    after_a_name = "<b>" + text
    assert encoding.encode_ordinary(after_a_name) == encoding.continued.encode_ordinary(
        after_a_name
    ) or name not in ("llama", "llama, always")


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
    text = "some words, and\n\tothers <b> they are x<b> a b a 中 b a the end."
    cuts = all_cuts(encoding_of(name), text, False, frozenset())
    if name in ("looks back", *UNCUT):
        assert not cuts
    else:
        assert len(cuts) > 3


@pytest.mark.parametrize("name", ["llama", "llama, always", "unigram, always", "word pieces"])
@pytest.mark.parametrize("text", ["a<b>the<b> the", "<b>a  <b>  a", " x x. xa<b>oftext \n  oftext"])
def test_spans_after_added_tokens_begin_anew(name: str, text: str) -> None:
    encoding = encoding_of(name)
    continued = encoding.continued
    for cut in all_cuts(encoding, text, True, frozenset()):
        left, right = encoding.encode_ordinary(text[:cut]), continued.encode_ordinary(text[cut:])
        assert left + right == encoding.encode_ordinary(text), (cut, text[cut - 1 : cut + 1])


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
    "longest tokens": 13,
    **dict.fromkeys(["leaves text out", "NFC", "metaspace", "bert", "words", "first word"]),
    **dict.fromkeys(["scripts", "metaspace, signs", "characters", "words_and_punctuation", *KINDS]),
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
