"""Text that arrives in pieces, encoded and counted; ids that arrive in pieces, decoded."""

from __future__ import annotations

import asyncio
import io
import json
import os
import threading
from array import array
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, AnyStr

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding, load
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.pipeline.cutter import Cutter
from compat_bpe.pipeline.decoders.streams import Concatenation
from compat_bpe.pipeline.stream import (
    StreamCounter,
    StreamDecoder,
    StreamEncoder,
    Tokens,
    acount_stream,
    adecode_iter,
    aencode_iter,
    count_stream,
    decode_iter,
    encode_iter,
)
from compat_bpe.save import save_tokenizer_json
from compat_bpe.unicode.text import StreamDecodeError
from tests.fit.hard_encodings import NAMES, encoding_of, encodings, hard_texts
from tests.fit.helpers import arriving, gathered
from tests.fit.small_kinds import small_kind
from tests.memory import traced
from tests.strategies import SPECIAL_PARTS, WORDS

NO_NAMES: frozenset[str] = frozenset()


def test_an_empty_piece_changes_nothing() -> None:
    cutter = Cutter(get_encoding("gpt2"), NO_NAMES)
    pieces = ["", "a", "", "b c", ""]
    assert list(map(cutter.feed, pieces)) == ["", "", "", "ab", ""]
    assert cutter.finish() == " c"


def test_chunks_are_cut_unless_they_are_to_stay_whole() -> None:
    encoding = small_kind("llama")
    assert Cutter(encoding, NO_NAMES).feed("the ab the") == "the ab"
    assert Cutter(encoding, NO_NAMES, whole_chunks=True).feed("the ab the") == ""


@pytest.mark.parametrize(
    ("pieces", "cut", "rest"),
    [
        (["x" * 5, "don't"], ["", ""], "xxxxxdon't"),
        (["x" * 6, "don't"], ["", "xxxxxxdon"], "'t"),
        # What is held back is not longer than this after the cut.
        (["x" * 9, "don't", "don't", "n't"], ["", "x" * 9 + "don", "", ""], "'tdon'tn't"),
    ],
)
def test_finer_cut_points_are_looked_for_in_long_text_only(
    pieces: list[str], cut: list[str], rest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compat_bpe.pipeline.cutter.LONG", 10)
    cutter = Cutter(get_encoding("gpt2"), NO_NAMES)
    for _ in range(2):  # a finished one is as new
        assert list(map(cutter.feed, pieces)) == cut
        assert cutter.finish() == rest


PROSE = "The quick brown fox, 42 times; don't ask why.\n\n" * 40

#: Where a text is cut; beyond its end, and twice at a place, too.
places = st.lists(st.integers(0, 80), max_size=12)
names = st.frozensets(
    st.sampled_from([*SPECIAL_PARTS, "<|end", " the end.", "x<b>", "e", "o w"]), max_size=4
)
allowances = st.one_of(st.just("all"), names)


def cut(text: AnyStr, at: Sequence[int]) -> list[AnyStr]:
    bounds = [0, *sorted(at), len(text)]
    return [text[start:end] for start, end in zip(bounds, bounds[1:])]


def outcome(ids: Any) -> Any:
    """Ids, or why there are none."""
    try:
        return list(ids())
    except ValueError as error:
        return str(error)


# Encoding


@given(encodings, hard_texts, places, allowances, allowances)
def test_ids_are_those_of_the_whole(
    encoding: Encoding, text: str, at: list[int], allowed: Any, disallowed: Any
) -> None:
    special = {"allowed_special": allowed, "disallowed_special": disallowed}
    whole = outcome(lambda: encoding.encode(text, **special))
    assert outcome(lambda: encode_iter(encoding, cut(text, at), **special)) == whole
    assert outcome(lambda: encode_iter(encoding, text, **special)) == whole


@given(encodings, hard_texts, places)
def test_ids_are_those_of_the_whole_where_all_is_plain_text(
    encoding: Encoding, text: str, at: list[int]
) -> None:
    pieces = cut(text, at)
    whole = encoding.encode_ordinary(text)
    assert list(encode_iter(encoding, pieces, disallowed_special=())) == whole
    arrived = aencode_iter(encoding, arriving(pieces), disallowed_special=())
    assert asyncio.run(gathered(arrived)) == whole


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("name", NAMES)
def test_every_cut_in_two(name: str, step: int) -> None:
    encoding = encoding_of(name)
    text = "a<|endoftext|> the end. x<b> e \n\n \ud83d\ude00\u0301 é中文, don't1234"
    text += "".join(WORDS)
    for allowed in ({"<|endoftext|>", " the end."}, {"<b>"}, "all"):
        special: Any = {"allowed_special": allowed, "disallowed_special": ()}
        whole = encoding.encode(text, **special)
        for place in range(0, len(text), step):
            pieces = [text[:place], text[place:]]
            assert list(encode_iter(encoding, pieces, **special)) == whole


@pytest.mark.parametrize("times", [0, 2])
def test_a_post_processor_has_the_whole_text(times: int, tmp_path: Path) -> None:
    """Some leave a text out or have it twice, which is not each of its parts twice."""
    plain = encoding_of("llama")
    path = tmp_path / "tokenizer.json"
    save_tokenizer_json(plain, path)
    content = json.loads(path.read_text("utf-8"))
    single = [{"Sequence": {"id": "A", "type_id": 0}}] * times
    template = {"type": "TemplateProcessing", "single": single, "special_tokens": {}}
    content["post_processor"] = {**template, "pair": [{"Sequence": {"id": "B", "type_id": 0}}]}
    path.write_text(json.dumps(content), "utf-8")
    encoding, pieces = load(path), ["a the", " ab x ", "e"]
    whole = plain.encode("".join(pieces)) * times
    assert list(encode_iter(encoding, pieces)) == encoding.encode("".join(pieces)) == whole
    assert count_stream(encoding, pieces) == plain.count("".join(pieces))


@given(encodings, hard_texts)
def test_ids_that_are_out_stay(encoding: Encoding, text: str) -> None:
    encoder = StreamEncoder(encoding, disallowed_special=())
    out: list[int] = []
    for end, char in enumerate(text, 1):
        out += encoder.feed(char)
        assert encoding.encode_ordinary(text[:end])[: len(out)] == out
        assert encoding.encode_ordinary(text)[: len(out)] == out


@pytest.mark.parametrize("name", ["gpt2", "o200k_base", "deepseek_v3"])
def test_ids_come_after_some_words(name: str) -> None:
    encoding = encoding_of(name)
    encoder = StreamEncoder(encoding)
    out: list[int] = []
    for end, char in enumerate(PROSE, 1):
        out += encoder.feed(char)
        assert end - len(encoding.decode(out)) <= 12


def test_a_large_piece_is_encoded_portion_by_portion() -> None:
    encoding = get_encoding("gpt2")
    text = PROSE * 600
    whole = encoding.encode(text)
    ids = encode_iter(encoding, [text])
    first, peak = traced(lambda: next(ids))
    assert [first, *ids] == whole
    # A list of all ids takes eight bytes for each.
    assert peak < 4 * len(whole)


@pytest.mark.parametrize("name", ["gpt2", "looks back"])
def test_tiny_pieces_without_a_cut_are_looked_at_once(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoding = encoding_of(name)
    next_cut_point = encoding.core.next_cut_point
    searched = 0

    def counted(text: str, start: int, end: int, **kind: Any) -> int | None:
        nonlocal searched
        searched += len(text)
        return next_cut_point(text, start, end, **kind)

    monkeypatch.setattr(encoding.core, "next_cut_point", counted)
    text = "ab" * 20_000
    assert list(encode_iter(encoding, text)) == encoding.encode(text)
    assert 0 < searched <= 4 * len(text)


def test_more_kinds_of_cuts_are_looked_for_where_there_is_none_for_long() -> None:
    encoding = get_encoding("cl100k_base")
    text = "a1b2c3d4" * 1000
    encoder = StreamEncoder(encoding)
    out = []
    for start in range(0, len(text), 100):
        out += encoder.feed(text[start : start + 100])
        assert start + 100 - len(encoding.decode(out)) <= 1024
    assert [*out, *encoder.finish()] == encoding.encode(text)


def test_a_disallowed_name_is_met_in_pieces() -> None:
    encoding = get_encoding("gpt2")
    encoder = StreamEncoder(encoding)
    assert encoder.feed("fine <|endof") == encoding.encode("fine")
    with pytest.raises(ValueError, match=r"disallowed special token '<\|endoftext\|>'"):
        encoder.feed("text|> and more")


def test_an_allowed_name_is_a_token_in_pieces() -> None:
    ids = encode_iter(get_encoding("gpt2"), ["<|endof", "text|", ">"], allowed_special="all")
    assert list(ids) == [50256]


def test_halves_of_a_surrogate_pair_are_joined() -> None:
    encoding = get_encoding("gpt2")
    assert list(encode_iter(encoding, ["a\ud83d", "\ude00b"])) == encoding.encode("a😀b")


@pytest.mark.parametrize("iterator", [encode_iter, aencode_iter])
def test_what_is_no_set_is_refused_at_once(iterator: Any) -> None:
    with pytest.raises(TypeError, match="must be a set"):
        iterator(get_encoding("gpt2"), [], allowed_special=["<|endoftext|>"], disallowed_special=())


def test_bytes_are_no_text() -> None:
    pieces: Any = [b"bytes"]
    with pytest.raises(TypeError, match="text must be a str, not bytes"):
        list(encode_iter(get_encoding("gpt2"), pieces))


def test_a_finished_encoder_is_as_new() -> None:
    encoder = StreamEncoder(get_encoding("gpt2"))
    for _ in range(2):
        assert [*encoder.feed("hello wor"), *encoder.feed("ld"), *encoder.finish()] == [31373, 995]
    assert encoder.finish() == []


# Counting


@given(encodings, hard_texts, places)
def test_count_is_that_of_the_whole(encoding: Encoding, text: str, at: list[int]) -> None:
    whole = encoding.count(text)
    data = text.encode("utf-8", "replace")
    # A surrogate encoded becomes a question mark.
    whole_data = encoding.count(data.decode())
    assert count_stream(encoding, cut(text, at)) == whole
    assert count_stream(encoding, io.StringIO(text, newline="")) == whole
    assert count_stream(encoding, cut(data, at)) == whole_data
    assert count_stream(encoding, io.BytesIO(data)) == whole_data
    assert asyncio.run(acount_stream(encoding, arriving(cut(data, at)))) == whole_data


@given(st.binary(max_size=60), places, st.sampled_from(["replace", "ignore", "surrogateescape"]))
def test_what_is_not_utf_8_is_treated_as_in_the_whole(
    data: bytes, at: list[int], errors: str
) -> None:
    encoding = get_encoding("gpt2")
    whole = encoding.count(data.decode("utf-8", errors))
    assert count_stream(encoding, cut(data, at), errors=errors) == whole


# Blocks of bytes end within characters then.
@pytest.mark.parametrize(
    "lead", ["x", *(pytest.param(x, marks=pytest.mark.sweep) for x in ("", "xy"))]
)
@pytest.mark.parametrize("name", NAMES)
def test_count_over_several_blocks(name: str, lead: str) -> None:
    encoding = encoding_of(name)
    text = "".join(f"{word} 中文é\r\n" * 700 for word in ("one", "don't", "<|endoftext|>", "x<b>"))
    assert len(text) > 1 << 15
    data = (lead + text).encode()
    assert count_stream(encoding, io.BytesIO(data)) == encoding.count(lead + text)
    assert count_stream(encoding, [data]) == encoding.count(lead + text)


class Endless:
    """A file of so many lines, and what was asked of it."""

    def __init__(self, lines: int) -> None:
        self.block = b"a line of some words, and so on\n" * 512
        self.blocks = lines // 512
        self.sizes: set[int] = set()

    def read(self, size: int) -> bytes:
        self.sizes.add(size)
        self.blocks -= 1
        return self.block if self.blocks >= 0 else b""


def test_memory_does_not_grow_with_the_file() -> None:
    encoding = get_encoding("gpt2")
    a_line = encoding.count("a line of some words, and so on\n")

    def peak(lines: int) -> int:
        file = Endless(lines)
        count, most = traced(lambda: count_stream(encoding, file))
        assert (count, file.sizes) == (lines * a_line, {1 << 16})
        return most

    peak(1 << 13)
    assert peak(1 << 17) < peak(1 << 13) + 100_000


@pytest.mark.parametrize("before", [0, 1, (1 << 16) - 1, (1 << 16) + 1, 200_000])
@pytest.mark.parametrize("wrong", [b"\xff", b"\xe4\xb8", b"\xed\xa0\x80"])
def test_an_error_says_where(before: int, wrong: bytes) -> None:
    data = b"x " * (before // 2) + b"y" * (before % 2) + wrong
    for file in (io.BytesIO(data), cut(data, range(0, before, 70_001))):
        message = f"not UTF-8: byte 0x{wrong[0]:02x} at offset {before}: "
        with pytest.raises(StreamDecodeError, match=message) as found:
            count_stream(get_encoding("gpt2"), file)
        assert found.value.offset == before
        assert found.value.object[found.value.start] == wrong[0]


def test_newlines_are_not_translated(tmp_path: Path) -> None:
    encoding = get_encoding("gpt2")
    path = tmp_path / "dos.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree\n\x1a")
    whole = encoding.count("\ufeffone\r\ntwo\rthree\n\x1a")
    with path.open("rb") as binary, path.open(encoding="utf-8", newline="") as text:
        assert count_stream(encoding, binary) == count_stream(encoding, text) == whole


def test_a_pipe_is_read_as_it_comes() -> None:
    encoding = get_encoding("gpt2")
    out, into = os.pipe()

    def write() -> None:
        with open(into, "wb", buffering=0) as file:
            for byte in "café au lait".encode():
                file.write(bytes([byte]))

    writer = threading.Thread(target=write)
    writer.start()
    with open(out, "rb", buffering=0) as file:
        assert count_stream(encoding, file) == encoding.count("café au lait")
    writer.join()


def test_a_file_that_has_nothing_yet_is_not_at_its_end() -> None:
    out, into = os.pipe()
    os.set_blocking(out, False)
    with open(into, "wb"), open(out, "rb", buffering=0) as file, pytest.raises(BlockingIOError):
        count_stream(get_encoding("gpt2"), file)


@pytest.mark.parametrize("path", ["notes.txt", b"notes.txt", Path("notes.txt"), 7])
def test_a_path_is_no_file(path: Any) -> None:
    with pytest.raises(TypeError):
        count_stream(get_encoding("gpt2"), path)


def test_asynchronous_readers_are_read_by_blocks() -> None:
    class Reader:
        """A file that is read, but not iterated over."""

        def __init__(self, data: bytes) -> None:
            self._file = io.BytesIO(data)

        async def read(self, size: int, /) -> bytes:
            return self._file.read(size)

    async def count(data: bytes) -> int:
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        return await acount_stream(get_encoding("gpt2"), reader)

    assert asyncio.run(count(PROSE.encode())) == get_encoding("gpt2").count(PROSE)
    counted = acount_stream(get_encoding("gpt2"), Reader(PROSE.encode()))
    assert asyncio.run(counted) == get_encoding("gpt2").count(PROSE)
    with pytest.raises(StreamDecodeError, match="byte 0xff at offset 1881: "):
        asyncio.run(count(PROSE.encode() + b"x\xff"))


def test_a_finished_counter_is_as_new() -> None:
    counter = StreamCounter(get_encoding("gpt2"))
    pieces: Iterator[Any] = iter(["caf", "é au ", b"lait", "caf", b"\xc3", b"\xa9 au lait"])
    for _ in range(2):
        for _ in range(3):
            counter.feed(next(pieces))
        assert counter.finish() == get_encoding("gpt2").count("café au lait")
    assert counter.finish() == 0


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
