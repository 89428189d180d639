"""Ids in pieces: the text of the whole, and no character before it is certain."""

from __future__ import annotations

import asyncio
from array import array
from functools import cache
from itertools import chain
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.fit.stream import StreamDecoder, Tokens, adecode_iter, decode_iter
from compat_bpe.pipeline.decoders.streams import Concatenation
from tests.fit.hard_encodings import encoding_of, encodings, hard_texts
from tests.fit.helpers import arriving, gathered

ERRORS = ["replace", "ignore", "strict", "backslashreplace"]


@cache
def first_ids(encoding: Encoding) -> list[int]:
    return sorted(encoding.core.bytes_by_id() or {0: b""})[:300]


def joins_bytes(encoding: Encoding) -> bool:
    """Return True if the text is that of the tokens' bytes, joined."""
    return isinstance(encoding.core.decoder_of_stream("replace"), Concatenation)


@st.composite
def streams(draw: st.DrawFn) -> tuple[Encoding, list[list[int]]]:
    """An encoding, and ids of it in pieces: those of a text, with some left out and some more."""
    encoding = draw(encodings)
    text = draw(hard_texts)
    special: Any = draw(st.sampled_from([frozenset(), "all"]))
    ids = encoding.encode(text, allowed_special=special, disallowed_special=())
    # What comes first in a vocabulary is mostly single bytes.
    for token in draw(st.lists(st.sampled_from(first_ids(encoding)), max_size=6)):
        ids.insert(draw(st.integers(0, len(ids))), token)
    start, end = sorted(draw(st.tuples(*[st.integers(0, len(ids))] * 2)))
    bounds = [start, *sorted(draw(st.lists(st.integers(start, end), max_size=8))), end]
    return encoding, [ids[first:last] for first, last in zip(bounds, bounds[1:])]


@given(streams(), st.sampled_from(ERRORS))
@example((encoding_of("spm bpe, unused"), [[15, 41, 226]]), "strict")
def test_text_is_that_of_the_whole(stream: tuple[Encoding, list[list[int]]], errors: str) -> None:
    encoding, pieces = stream
    ids = list(chain.from_iterable(pieces))
    cuts: list[list[Tokens]] = [[*pieces], [*ids]]
    try:
        whole = encoding.decode(ids, errors)
    except UnicodeDecodeError as error:
        message = f"at offset {error.start}: "
        if not joins_bytes(encoding):
            message += "|codec"  # parts that are decoded as they come fail as bytes do
        for cut in cuts:
            with pytest.raises(UnicodeDecodeError, match=message):
                list(decode_iter(encoding, cut, errors))
        return
    for cut in cuts:
        texts = list(decode_iter(encoding, cut, errors))
        assert "".join(texts) == whole
        assert "" not in texts
        assert asyncio.run(gathered(adecode_iter(encoding, arriving(cut), errors))) == texts


@given(streams())
# The first two bytes of a surrogate, which Python's own decoder holds back.
@example((encoding_of("deepseek_v3"), [[172, 97]]))
def test_text_that_is_out_stays_and_all_that_is_certain_is_out(
    stream: tuple[Encoding, list[list[int]]],
) -> None:
    encoding, pieces = stream
    ids = list(chain.from_iterable(pieces))
    decoder = StreamDecoder(encoding)
    out = ""
    for end, token in enumerate(ids, 1):
        out += decoder.feed(token)
        now = encoding.decode(ids[:end])
        assert now.startswith(out)
        assert encoding.decode(ids).startswith(out)
        # At most one character that is not complete is missing.
        assert now[len(out) :] in ("", "\ufffd") or not joins_bytes(encoding)
    assert out + decoder.finish() == encoding.decode(ids)
    assert decoder.finish() == encoding.decode([])


@given(streams())
def test_after_an_error_the_state_is_that_before(stream: tuple[Encoding, list[list[int]]]) -> None:
    encoding, pieces = stream
    decoder = StreamDecoder(encoding, "strict")
    good: list[int] = []
    out = ""
    for some in pieces:
        with pytest.raises((KeyError, OverflowError, TypeError)):
            decoder.feed([*some, 1 << 32])
        try:
            out += decoder.feed(some)
        except UnicodeDecodeError:
            continue
        good += some
    try:
        expected = encoding.decode(good, "strict")
    except UnicodeDecodeError:
        with pytest.raises(UnicodeDecodeError):
            decoder.finish()
    else:
        assert out + decoder.finish() == expected


@pytest.mark.parametrize(
    ("name", "tokens", "texts"),
    [
        # Only the first space is dropped, and bytes wait for what is not a byte.
        ("llama", ["▁a", "▁a", "<0xC3>", "<0xA9>", "▁"], ["a", " a", "", "", "é "]),
        ("gemma", ["▁a", "▁", "<0xC3>", "a"], [" a", " ", "", "\ufffda"]),
        ("spm bpe", ["▁a", "<0xC3>", "<0xA9>", "▁a"], ["a", "", "é", " a"]),
        ("spm bpe, removed", ["▁", "▁▁", "▁a"], ["", " ", " a"]),
        ("end of word", ["a</w>", "b</w>", "e"], ["", "a ", "b e"]),
        ("word pieces", ["the", "##b", "ab", "."], ["the", "b", " ab", "."]),
        ("unigram, always", ["▁the", "▁the"], ["the", " the"]),
        ("ctc", ["a", "a", "the", "a", "."], ["a", "", "", "a", " "]),
    ],
)
def test_text_comes_as_soon_as_it_is_certain(
    name: str, tokens: list[str], texts: list[str]
) -> None:
    encoding: Any = encoding_of(name)
    ids = [encoding.token_to_id(token) for token in tokens]
    decoder = StreamDecoder(encoding)
    assert [decoder.feed(number) for number in ids] == texts
    rest = decoder.finish()
    assert "".join(texts) + rest == encoding.decode(ids)


DECODERS: list[list[dict[str, Any]]] = [
    [{"type": "Fuse"}, {"type": "Strip", "content": "a", "start": 1, "stop": 2}],
    [{"type": "Fuse"}, {"type": "Strip", "content": "a", "start": 3, "stop": 0}],
    [{"type": "Fuse"}, {"type": "Fuse"}, {"type": "Metaspace", "replacement": "▁",
                                          "prepend_scheme": "always", "split": True}],
    [{"type": "ByteFallback"}, {"type": "BPEDecoder", "suffix": "a"}, {"type": "Fuse"},
     {"type": "Replace", "pattern": {"String": "ab"}, "content": "-"}],
    [{"type": "WordPiece", "prefix": "e", "cleanup": True}, {"type": "ByteFallback"}],
    [{"type": "ByteLevel"}, {"type": "Strip", "content": "a", "start": 1, "stop": 1}],
    [{"type": "ByteFallback"}, {"type": "ByteLevel"}],
]  # fmt: skip


@given(st.sampled_from(DECODERS), st.data(), st.sampled_from(["replace", "ignore"]))
def test_steps_in_any_order(steps: Any, data: st.DataObject, errors: str) -> None:
    definition = encoding_of("llama").definition  # type: ignore[attr-defined]
    parts = {**definition.parts, "decoder": {"type": "Sequence", "decoders": steps}}
    encoding = Tokenizer("any", definition._replace(parts=parts))
    names = ["a", "ab", "▁a", "e", "en", "<0xC3>", "<0xA9>", "▁", "a", "a"]
    known: list[Any] = [encoding.token_to_id(name) for name in names]
    ids = data.draw(st.lists(st.sampled_from(known), max_size=8))
    texts = decode_iter(encoding, ids, errors)
    assert "".join(texts) == encoding.decode(ids, errors)


def test_errors_leave_the_decoder_as_it_was() -> None:
    encoding = get_encoding("gpt2")
    decoder = StreamDecoder(encoding, "strict")
    assert decoder.feed([31373, 12520, 246]) == "hello "
    for wrong in (50257, [222, 50257], -1, 1 << 32, 2.5, "222", None):
        with pytest.raises((KeyError, OverflowError, TypeError)):
            decoder.feed(wrong)  # type: ignore[arg-type]
    with pytest.raises(UnicodeDecodeError):
        decoder.feed(31373)
    with pytest.raises(UnicodeDecodeError):
        decoder.finish()
    assert decoder.feed(222) == "😀"
    assert decoder.finish() == ""


def test_what_does_not_come_is_replaced_at_the_end() -> None:
    decoder = StreamDecoder(get_encoding("gpt2"))
    for _ in range(2):
        assert decoder.feed([12520, 246]) == " "
        assert decoder.finish() == "\ufffd"
    texts = adecode_iter(get_encoding("gpt2"), arriving([12520, 246]))
    assert asyncio.run(gathered(texts)) == [" ", "\ufffd"]


@pytest.mark.parametrize(
    "tokens", [[31373, 995], (31373, 995), iter([31373, 995]), array("I", [31373, 995])]
)
def test_ids_may_be_in_anything(tokens: Any) -> None:
    assert StreamDecoder(get_encoding("gpt2")).feed(tokens) == "hello world"


def test_an_id_may_be_what_is_no_int_but_works_as_one() -> None:

    class Number:
        """Such as numpy's: no int, but usable as one."""

        def __index__(self) -> int:
            return 995

    token: Any = Number()
    assert StreamDecoder(get_encoding("gpt2")).feed(token) == " world"


def test_text_comes_with_the_id_that_makes_it_certain() -> None:
    asked = []

    def model() -> Any:
        for token in (31373, 12520, 246, 222):
            asked.append(token)
            yield token

    texts = decode_iter(get_encoding("gpt2"), model())
    assert (next(texts), asked) == ("hello", [31373])
    assert (next(texts), asked) == (" ", [31373, 12520])
    assert list(texts) == ["😀"]
