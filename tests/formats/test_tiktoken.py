from __future__ import annotations

import base64
import gzip
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import tiktoken.load
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.formats.tiktoken import (
    _parse_by_line,
    _parse_in_bulk,
    format_ranks,
    parse_ranks,
    read_ranks,
)

BYTES = {bytes([byte]): byte for byte in range(256)}
FILE = format_ranks(BYTES)  # 256 lines
LONGER = format_ranks({**BYTES, b"ab": 256, b" the": 257, b"hello": 258, b"\xff\xfe\0": 259})

longer_tokens = st.binary(min_size=2, max_size=12)
ranks_above_bytes = st.integers(256, 2**32 - 2)
# One vocabulary has the empty token in it now and then, as those of Whisper have.
vocabularies = st.dictionaries(
    st.one_of(longer_tokens, st.just(b"")), ranks_above_bytes, max_size=8
).filter(lambda extra: len(set(extra.values())) == len(extra))


@pytest.fixture(scope="module")
def rank_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A path to write to, read by tiktoken without its cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", "")
        yield tmp_path_factory.mktemp("ranks") / "x.tiktoken"


def lines_of(ranks: dict[bytes, int]) -> list[bytes]:
    # base64 of b"" is b"", which would leave no field; tiktoken's files say "=".
    return [(base64.b64encode(token) or b"=") + b" %d" % rank for token, rank in ranks.items()]


@given(
    extra=vocabularies,
    seed=st.randoms(use_true_random=False),
    newline=st.sampled_from([b"\n", b"\r\n", b"\r", b"\n\n"]),
    blank=st.sampled_from([b" ", b"\t", b"  "]),
    last=st.booleans(),
)
def test_equal_to_tiktoken(
    rank_file: Path,
    extra: dict[bytes, int],
    seed: random.Random,
    newline: bytes,
    blank: bytes,
    last: bool,
) -> None:
    lines = lines_of({**BYTES, **extra})
    seed.shuffle(lines)
    data = newline.join(lines).replace(b" ", blank) + newline * last
    rank_file.write_bytes(data)
    expected = tiktoken.load.load_tiktoken_bpe(str(rank_file))
    assert read_ranks(rank_file) == expected == {**BYTES, **extra}
    assert list(read_ranks(rank_file)) == list(expected)


@given(extra=vocabularies.filter(lambda extra: b"" not in extra))
def test_round_trip_by_the_bulk_reader(extra: dict[bytes, int]) -> None:
    data = format_ranks({**BYTES, **extra})
    assert _parse_in_bulk(data) == _parse_by_line(data, "x") == {**BYTES, **extra}


@given(
    at=st.integers(0, len(LONGER)),
    cut=st.integers(0, 3),
    inserted=st.one_of(
        st.binary(max_size=3),
        st.text("=+/-_ \n0159Aa", max_size=4).map(str.encode),
    ),
)
def test_the_bulk_reader_takes_nothing_that_the_careful_one_refuses(
    at: int, cut: int, inserted: bytes
) -> None:
    data = LONGER[:at] + inserted + LONGER[at + cut :]
    ranks = _parse_in_bulk(data)
    if ranks is not None:
        assert _parse_by_line(data, "x") == ranks


def test_empty_token_of_whisper() -> None:
    assert parse_ranks(FILE + b"= 50256\n", "x")[b""] == 50256


def test_hole_in_the_ranks() -> None:
    assert parse_ranks(FILE + b"YWI= 50281\n", "x")[b"ab"] == 50281


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"YWI=", "expected a base64 token and a rank, found 1 field in b'YWI='"),
        (b"YWI= 256 1", "expected a base64 token and a rank, found 3 fields in b'YWI= 256 1'"),
        (b" ", "expected a base64 token and a rank, found 0 fields in b' '"),
        (b"YWI 256", "b'YWI' is not base64"),
        (b"YW*I= 256", "b'YW*I=' is not base64"),
        (b"YWJj= 256", "b'YWJj=' is not base64"),
        (b"YWI=YWI= 256", "b'YWI=YWI=' is not base64"),
        (b"=== 256", "b'===' is not base64"),
        ("YWÎ= 256".encode(), r"b'YW\xc3\x8e=' is not base64"),
        (b"YWI= +256", "rank b'+256' is not a decimal number"),
        (b"YWI= -1", "rank b'-1' is not a decimal number"),
        (b"YWI= 2_5_6", "rank b'2_5_6' is not a decimal number"),
        (b"YWI= 256.0", "rank b'256.0' is not a decimal number"),
        ("YWI= ٢٥٦".encode(), "is not a decimal number"),
        (b"YWI= 4294967295", "rank b'4294967295' is above the highest, 4294967294"),
        (b"YWI= " + b"9" * 9999, "... is above the highest, 4294967294"),
        (b"YQ== 256", "token b'a' is already in line 98"),
        (b"YWI= 97", "rank 97 is already in line 98"),
        (b"YWI= 0097", "rank 97 is already in line 98"),
    ],
)
@pytest.mark.parametrize("newline", [b"\n", b""])
def test_bad_line(line: bytes, reason: str, newline: bytes) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        parse_ranks(FILE + line + newline, "x.tiktoken")
    message = str(caught.value)
    assert message.startswith("x.tiktoken: line 257: ")
    assert message.endswith(reason)


@pytest.mark.parametrize("blank", [b" ", b"\t"])  # for the bulk reader, and for the careful one
def test_leading_zeros(blank: bytes) -> None:
    assert parse_ranks(FILE + b"YWI=" + blank + b"00000000000256\n", "x")[b"ab"] == 256


def test_highest_rank() -> None:
    assert parse_ranks(FILE + b"YWI= 4294967294\n", "x")[b"ab"] == 2**32 - 2


@pytest.mark.parametrize("byte", [0, 65, 255])
def test_missing_byte(byte: int) -> None:
    ranks = {token: rank for token, rank in BYTES.items() if rank != byte}
    with pytest.raises(ValueError, match=rf"^x: line 255: .* single byte 0x{byte:02X};"):
        parse_ranks(format_ranks(ranks), "x")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "^x: line 1: the file ends without any token$"),
        (b"\n\n", "^x: line 2: the file ends without any token$"),
        (gzip.compress(FILE, mtime=0), "^x: line 1: the file is compressed by gzip"),
        (bytes(range(256)) * 20, "^x: line 1: expected a base64 token and a rank"),
        (b"\xef\xbb\xbf" + FILE, "^x: line 1: .* is not base64$"),
    ],
)
def test_not_a_rank_file(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_ranks(data, "x")


def test_cut_inside_a_line() -> None:
    """Any cut that loses part of a line is noticed; only the last line feed may go."""
    ends = {at + extra for at, byte in enumerate(LONGER) if byte == 10 for extra in (0, 1)}
    for end in range(len(FILE) + 1, len(LONGER)):
        if end in ends:
            parse_ranks(LONGER[:end], "x")
        else:
            with pytest.raises(ValueError, match=r"^x: line 2[56][0-9]: "):
                parse_ranks(LONGER[:end], "x")
    for end in range(len(FILE) - 1):
        with pytest.raises(ValueError, match=r"^x: line [0-9]+: "):
            parse_ranks(LONGER[:end], "x")


def test_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_ranks(tmp_path / "missing.tiktoken")


def test_the_error_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "bad.tiktoken"
    path.write_bytes(FILE[:-3])
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        read_ranks(str(path))
    assert str(caught.value).startswith(f"{path}: line 256: ")
