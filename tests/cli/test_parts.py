"""Large files in parts: the counts are those of the whole."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.cli import counting, parts
from compat_bpe.cli.count_files import _joined
from compat_bpe.cli.counting import FileCounter, Outcome, Part
from tests.examples import shared_fixture
from tests.fit.hard_encodings import encoding_of
from tests.strategies import texts

WHOLE = Encoding(
    "no cuts",
    pat_str=r"[\s\S]+",
    mergeable_ranks={**{bytes([byte]): byte for byte in range(256)}, b"ab": 256},
    special_tokens={},
)
ENCODINGS = {
    **{name: get_encoding(name) for name in ("gpt2", "o200k_base", "deepseek_v3")},
    "no cuts": WHOLE,
    **{name: encoding_of(name) for name in ("llama", "spm bpe", "unigram, first", "word pieces")},
}

# Much of what is around a place where a part might end.
long_texts = st.lists(
    texts
    | st.sampled_from(["\r\n", "\r", " \r\n\r\n", "\U0001f600", "é", "中文字", "a" * 30, " "]),
    min_size=3,
    max_size=30,
).map("".join)


def in_parts(counter: FileCounter, path: Path, size: int) -> tuple[list[Part], Outcome]:
    """The parts of a file, each of about so many bytes, and what they come to."""
    with mock.patch.multiple(parts, _SIZE=size, _WINDOWS=(4, 16)):
        found = parts.parts_of(counter, str(path), path.stat().st_size)
    assert sum(part_size for _, part_size in found) == path.stat().st_size
    some = [part for part, _ in found]
    assert some[0].start == 0
    assert some[-1].end is None
    assert [part.end for part in some[:-1]] == [part.start for part in some[1:]]
    return some, _joined([counter.count(part) for part in some])


@pytest.mark.parametrize("name", ENCODINGS)
@shared_fixture()
@given(text=long_texts, size=st.integers(1, 40), block=st.sampled_from([counting._BLOCK, 7]))
def test_parts_have_the_count_of_the_whole(
    tmp_path: Path, name: str, block: int, text: str, size: int
) -> None:
    path = tmp_path / "text"
    path.write_bytes(text.encode("utf-8", "replace"))
    counter = FileCounter(ENCODINGS[name], allow_nul=True)
    whole = counter.count(Part(str(path)))
    with mock.patch.object(counting, "_BLOCK", block):
        assert in_parts(counter, path, size)[1] == whole


@shared_fixture()
@given(
    data=st.lists(
        st.binary(max_size=8) | texts.map(lambda text: text.encode("utf-8", "replace")), max_size=12
    ).map(b"".join),
    size=st.integers(1, 20),
    replace=st.booleans(),
)
def test_parts_of_any_bytes_have_the_outcome_of_the_whole(
    tmp_path: Path, data: bytes, size: int, replace: bool
) -> None:
    path = tmp_path / "data"
    path.write_bytes(data)
    counter = FileCounter(ENCODINGS["gpt2"], replace=replace)
    assert in_parts(counter, path, size)[1] == counter.count(Part(str(path)))


def test_a_text_is_cut_soon_after_each_place(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(("hello 中文 world\r\n" * 100).encode())
    found, _ = in_parts(
        FileCounter(ENCODINGS["gpt2"]), path, 103
    )  # so that it is within characters
    assert len(found) == 19
    assert all(0 < part.start - 103 * number < 17 for number, part in enumerate(found) if number)


def test_a_text_is_cut_where_it_is_hard_to(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("é1" * 1000)
    found, _ = in_parts(FileCounter(ENCODINGS["gpt2"]), path, 100)
    assert len(found) == 30


@pytest.mark.parametrize("data", [b"a" * 1000, b"\x80" * 1000])
def test_a_text_without_cut_points_stays_whole(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "text"
    path.write_bytes(data)
    assert len(in_parts(FileCounter(ENCODINGS["gpt2"]), path, 100)[0]) == 1


def test_a_binary_file_stays_whole(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"a b\0" + b"a b " * 300)
    assert len(in_parts(FileCounter(ENCODINGS["gpt2"]), path, 100)[0]) == 1
    assert len(in_parts(FileCounter(ENCODINGS["gpt2"], allow_nul=True), path, 100)[0]) > 1


def test_only_the_beginning_of_a_file_says_that_it_is_binary(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"a b " * 2000 + b"\0 \0 " * 100)
    counter = FileCounter(ENCODINGS["gpt2"])
    some, outcome = in_parts(counter, path, 1000)
    assert len(some) == 8
    assert outcome == counter.count(Part(str(path)))
    assert outcome.counts is not None


def test_a_file_that_has_gone_stays_whole(tmp_path: Path) -> None:
    path = str(tmp_path / "gone")
    assert parts.parts_of(FileCounter(WHOLE), path, 10**9) == [(Part(path), 10**9)]


def test_a_file_that_has_grown_is_counted_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"hello world\n" * 100)
    counter = FileCounter(ENCODINGS["gpt2"])
    with mock.patch.object(parts, "_SIZE", 100):
        found = parts.parts_of(counter, str(path), 1200)
    with open(path, "ab") as file:
        file.write(b"hello world\n" * 10)
    counts = _joined([counter.count(part) for part, _ in found]).counts
    assert counts is not None
    assert counts.tokens == (330,)
