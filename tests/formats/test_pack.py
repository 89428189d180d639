"""Packs give back what was packed, are what would be built, and refuse what is damaged."""

from __future__ import annotations

import hashlib
import random
import sys
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import compat_bpe.encodings
from compat_bpe.formats.pack import SIZE_LIMIT, pack, unpack
from compat_bpe.formats.tiktoken import format_ranks
from tests.formats.small_files import refusal
from tests.memory import traced
from tools import build_packs
from tools.build_packs import SHA256
from tools.generated import write_or_check
from tools.reference_files import reference_file

PACKS = Path(compat_bpe.encodings.__file__).parent / "packs"
BYTES = {bytes([byte]): byte for byte in range(256)}
SMALL = {**BYTES, b"ab": 256, b"": 300, b"abab": 301}
PACKED = pack(SMALL)


@pytest.mark.parametrize("name", SHA256)
def test_shipped_pack_gives_the_published_file_back(name: str) -> None:
    ranks = unpack((PACKS / f"{name}.pack").read_bytes(), name)
    assert hashlib.sha256(format_ranks(ranks)).hexdigest() == SHA256[name]


def test_shipped_packs_are_small() -> None:
    packs = sorted(PACKS.glob("*.pack"))
    assert {path.stem for path in packs} >= SHA256.keys()
    assert sum(len((PACKS / f"{name}.pack").read_bytes()) for name in SHA256) < 2_000_000


@given(
    absent=st.integers(0, 255),
    longer=st.sets(st.binary(max_size=6).filter(lambda token: len(token) != 1), max_size=20),
    gaps=st.lists(st.sampled_from([1, 1, 1, 2, 5, 10**6]), min_size=276, max_size=276),
    order=st.integers(0, 2**32),
)
def test_round_trip(absent: int, longer: set[bytes], gaps: list[int], order: int) -> None:
    tokens = sorted({*BYTES, *(token for token in longer if absent not in token)})
    random.Random(order).shuffle(tokens)
    ranks = {}
    rank = -1
    for token, gap in zip(tokens, gaps):
        rank += gap
        ranks[token] = rank
    unpacked = unpack(pack(ranks), "x")
    assert unpacked == ranks
    assert list(unpacked) == tokens  # in the order of the ranks
    random.Random(order + 1).shuffle(tokens)
    assert pack({token: ranks[token] for token in tokens}) == pack(ranks)


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ({}, "no token for the single byte 0x00"),
        ({**BYTES, bytes(range(256)): 256}, "every byte occurs in some longer token"),
        ({**BYTES, b"ab": 97}, "same rank"),
        ({**BYTES, b"ab": -1}, "not from 0 to 4294967294"),
        ({**BYTES, b"ab": 2**32 - 1}, "not from 0 to 4294967294"),
        ({**BYTES, b"a" * (SIZE_LIMIT + 1): 256}, "bytes, more than 16777216"),
    ],
    ids=["empty", "no separator", "rank twice", "negative", "huge", "too large"],
)
def test_vocabulary_that_cannot_be_packed(ranks: dict[bytes, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pack(ranks)


def test_cut_short() -> None:
    for end in range(len(PACKED)):
        with pytest.raises(ValueError, match=r"^x: "):
            unpack(PACKED[:end], "x")


def test_bytes_at_the_end() -> None:
    with pytest.raises(ValueError, match=r"^x: damaged"):
        unpack(PACKED + b"\0", "x")


@given(at=st.integers(0, len(PACKED) - 1), flip=st.integers(1, 255))
def test_altered(at: int, flip: int) -> None:
    """No altered byte gives other ranks (a few, such as the level zlib notes, give the same)."""
    data = bytearray(PACKED)
    data[at] ^= flip
    try:
        ranks = unpack(bytes(data), "x")
    except ValueError as error:
        assert str(error).startswith("x: ")  # noqa: PT017
    else:
        assert ranks == SMALL


def test_altered_number_in_the_header() -> None:
    """Each digit stands under the checksum, the checksum itself included."""
    header, _, _ = PACKED.partition(b"\n")
    for at in range(len(header)):
        if header[at : at + 1].isdigit():
            digit = b"%d" % ((header[at] - ord("0") + 1) % 10)
            with pytest.raises(ValueError, match=r"^x: "):
                unpack(PACKED[:at] + digit + PACKED[at + 1 :], "x")


@given(st.binary(max_size=200))
def test_arbitrary_bytes_in_the_stream(junk: bytes) -> None:
    header, _, _ = PACKED.partition(b"\n")
    for data in (junk, header + b"\n" + junk):
        with pytest.raises(ValueError, match=r"^x: "):
            unpack(data, "x")


def forge(
    body: bytes, ranks: str, at: int = 255, size: int | None = None, separator: int = 255
) -> bytes:
    """A pack whose checksum is right, whatever else is wrong."""
    size = len(body) if size is None else size
    header = (
        f"compat_bpe-pack 1 separator={separator} at={at} size={size} crc32=%08x ranks={ranks}\n"
    )
    checksum = zlib.crc32((header % 0).encode(), zlib.crc32(body))
    return (header % checksum).encode() + zlib.compress(body)


SEPARATED = b"\xff".join([bytes([byte]) for byte in range(255)])


def test_forging_works() -> None:
    assert unpack(forge(SEPARATED, "0-255"), "x") == BYTES
    assert unpack(forge(SEPARATED, "0-9,11-256"), "x")[b"\n"] == 11


@pytest.mark.parametrize(
    "data",
    [
        forge(SEPARATED, "0-254"),
        forge(SEPARATED, "0-256"),
        forge(SEPARATED, "0-4294967295"),
        forge(SEPARATED, "0-99,99-254"),
        forge(SEPARATED, "100-255,0-99"),
        forge(SEPARATED, "255-0"),
        forge(SEPARATED, "4294967040-4294967295"),
        forge(SEPARATED, "0-255", at=256),
        forge(SEPARATED + b"\xffa", "0-256"),
        forge(SEPARATED + b"\xff", "0-256", at=4294967295),
        forge(SEPARATED[:-1] + b"ab", "0-255"),
        forge(b"", "0-255"),
        forge(b"", "0-1"),
        forge(SEPARATED, "0-255", separator=256),
        forge(SEPARATED, "0-255", size=len(SEPARATED) + 1),
        forge(SEPARATED, "0-255", size=len(SEPARATED) - 1),
        forge(SEPARATED, "0-255", size=0),
    ],
)
def test_forged(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"^x: damaged: (the|a) "):
        unpack(data, "x")


def test_a_bomb_does_not_fill_the_memory() -> None:
    zeros = bytes(100_000_000)  # deflates to 97 kB
    small = forge(zeros, "0-255", size=1000)
    large = forge(zeros, "0-255")
    del zeros
    for data in (small, large):
        reason, peak = traced(lambda: refusal("x", lambda: unpack(data, "x")))  # noqa: B023
        assert reason.startswith("damaged")
        assert peak < 1_000_000


SOURCE = format_ranks({**{bytes([byte]): byte for byte in range(256)}, b"ab": 256})


@pytest.mark.sweep
def test_what_ships_is_what_would_be_built() -> None:
    for name in SHA256:
        shipped = (PACKS / f"{name}.pack").read_bytes()
        source = format_ranks(unpack(shipped, name))
        assert build_packs.is_current(shipped, build_packs.of_openai(name, source))
    source = reference_file("deepseek_v4").read_bytes()
    built = build_packs.of_deepseek(source, "tokenizer.json")
    assert build_packs.is_current((PACKS / "deepseek.pack").read_bytes(), built)


def test_write_then_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SHA256, "small", hashlib.sha256(SOURCE).hexdigest())
    path = tmp_path / "small.pack"

    def run(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["build_packs.py", *arguments])
        return write_or_check(
            "", lambda: {path: build_packs.of_openai("small", SOURCE)}, build_packs.is_current
        )

    assert run("--check") == 1
    assert not path.exists()
    assert run() == 0
    built = path.read_bytes()
    assert format_ranks(unpack(built, path.name)) == SOURCE
    assert run("--check") == 0
    # Compressed by another version of zlib.
    header, _, body = built.partition(b"\n")
    path.write_bytes(header + b"\n" + zlib.compress(zlib.decompress(body), 1))
    assert run("--check") == 0
    path.write_bytes(built[:-1])
    assert run("--check") == 1
    assert path.read_bytes() == built[:-1]


def test_another_source_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^r50k_base.tiktoken: sha256 is"):
        build_packs.of_openai("r50k_base", SOURCE)
