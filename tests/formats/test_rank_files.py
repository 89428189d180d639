"""Vocabularies by ranks: ``.tiktoken`` files, GPT-2's pair and RWKV's list."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import pickle
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tiktoken.load
from hypothesis import given, settings
from hypothesis import strategies as st

import compat_bpe
import compat_bpe.encodings
from compat_bpe.encodings.local_stores import recognise
from compat_bpe.encodings.tokenizer import Rwkv
from compat_bpe.formats.gpt2 import format_encoder_json, format_vocab_bpe, read_gpt2
from compat_bpe.formats.pack import unpack
from compat_bpe.formats.rwkv import parse_rwkv
from compat_bpe.formats.tiktoken import (
    _parse_by_line,
    _parse_in_bulk,
    format_ranks,
    parse_ranks,
    read_ranks,
)
from compat_bpe.pipeline.byte_level import BYTE_TO_UNICODE, encode_bytes
from compat_bpe.pipeline.models.bpe.by_rank import merge
from compat_bpe.save import save_tiktoken, save_tokenizer_json
from compat_bpe.train.extend_pieces import growing_tokens
from tests.examples import scaled
from tests.formats.small_files import BYTES as SINGLE_BYTES
from tests.formats.small_files import NAME, WHOLE, listed, refusal

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
        st.binary(max_size=3), st.text("=+/-_ \n0159Aa", max_size=4).map(str.encode)
    ),
)
def test_the_bulk_reader_takes_nothing_that_the_careful_one_refuses(
    at: int, cut: int, inserted: bytes
) -> None:
    data = LONGER[:at] + inserted + LONGER[at + cut :]
    ranks = _parse_in_bulk(data)
    if ranks is not None:
        assert _parse_by_line(data, "x") == ranks


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
    message = refusal("x.tiktoken", lambda: parse_ranks(FILE + line + newline, "x.tiktoken"))
    assert message.startswith("line 257: ")
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


# OpenAI's files, as tiktoken_ext/openai_public.py pins them.
ENCODER_JSON_SHA256 = "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783"
VOCAB_BPE_SHA256 = "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5"

FIXTURE = Path(__file__).parents[2] / "fixtures" / "gpt2_small"
END_OF_TEXT = "<|endoftext|>"

Write = Callable[[bytes, bytes], tuple[Path, Path]]


@pytest.fixture(scope="module")
def write(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Write]:
    """Write the two files, for tiktoken to read without its cache."""
    folder = tmp_path_factory.mktemp("gpt2")

    def write_files(encoder_json: bytes, vocab_bpe: bytes) -> tuple[Path, Path]:
        paths = folder / "encoder.json", folder / "vocab.bpe"
        paths[0].write_bytes(encoder_json)
        paths[1].write_bytes(vocab_bpe)
        return paths

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", "")
        yield write_files


@pytest.fixture(scope="module")
def r50k() -> dict[bytes, int]:
    pack = Path(compat_bpe.encodings.__file__).parent / "packs" / "r50k_base.pack"
    return unpack(pack.read_bytes(), pack.name)


def test_openai_s_files(write: Write, r50k: dict[bytes, int]) -> None:
    """The shipped r50k_base gives GPT-2's own two files; reading those gives it back."""
    encoder_json = format_encoder_json(r50k, {END_OF_TEXT: 50256})
    vocab_bpe = format_vocab_bpe(r50k)
    assert hashlib.sha256(encoder_json).hexdigest() == ENCODER_JSON_SHA256
    assert hashlib.sha256(vocab_bpe).hexdigest() == VOCAB_BPE_SHA256
    paths = write(encoder_json, vocab_bpe)
    ranks, special_tokens = read_gpt2(*paths)
    assert special_tokens == {END_OF_TEXT: 50256}
    assert ranks == r50k
    assert ranks == tiktoken.load.data_gym_to_mergeable_bpe_ranks(
        str(paths[1]), str(paths[0]), VOCAB_BPE_SHA256, ENCODER_JSON_SHA256
    )


def test_fixture_is_the_beginning_of_gpt2(r50k: dict[bytes, int]) -> None:
    ranks = {token: rank for token, rank in r50k.items() if rank < 384}
    special_tokens = {END_OF_TEXT: 384}
    assert (FIXTURE / "encoder.json").read_bytes() == format_encoder_json(ranks, special_tokens)
    assert (FIXTURE / "vocab.bpe").read_bytes() == format_vocab_bpe(ranks)
    assert read_gpt2(FIXTURE / "encoder.json", FIXTURE / "vocab.bpe") == (ranks, special_tokens)


@st.composite
def gpt2_vocabularies(draw: st.DrawFn) -> dict[bytes, int]:
    """Vocabularies as training makes them: each token merges from two by the ranks below."""
    bytes_ = [bytes([byte]) for byte in BYTE_TO_UNICODE]  # GPT-2's order, which tiktoken expects
    ranks = {token: rank for rank, token in enumerate(bytes_)}
    alphabet = [b"a", b"b", b" ", b"\xff"]
    for _ in range(draw(st.integers(0, 30))):
        token = draw(st.sampled_from(alphabet)) + draw(st.sampled_from(alphabet))
        if token not in ranks and len(merge(token, ranks)) == 2:
            ranks[token] = len(ranks)
            alphabet.append(token)
    return ranks


@given(ranks=gpt2_vocabularies())
def test_round_trip_and_equal_to_tiktoken(write: Write, ranks: dict[bytes, int]) -> None:
    special_tokens = {END_OF_TEXT: len(ranks)}
    paths = write(format_encoder_json(ranks, special_tokens), format_vocab_bpe(ranks))
    assert read_gpt2(*paths) == (ranks, special_tokens)
    assert read_gpt2(*paths, [END_OF_TEXT]) == (ranks, special_tokens)
    assert tiktoken.load.data_gym_to_mergeable_bpe_ranks(str(paths[1]), str(paths[0])) == ranks


# A small vocabulary to damage: 256 bytes, then ab = 256, abc = 257, and a special token.
IDS: dict[str, Any] = {char: n for n, char in enumerate(BYTE_TO_UNICODE.values())}
IDS.update({"ab": 256, "abc": 257, "<s>": 258})
ENCODER = json.dumps(IDS).encode()
MERGES = b"#version: 0.2\na b\nab c\n"


def changed(**changes: Any) -> bytes:
    return json.dumps({**IDS, **changes}).encode()


def without(name: str) -> bytes:
    return json.dumps({key: value for key, value in IDS.items() if key != name}).encode()


def check_refusal(paths: tuple[Path, Path], message: str, *names: list[str]) -> None:
    """Check that the files are refused, with one of the beginnings of the message."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        read_gpt2(*paths, *names)
    starts = tuple(f"{paths[0].parent}/{start}" for start in message.split("|"))
    assert str(caught.value).startswith(starts)


@pytest.mark.parametrize(
    "vocab_bpe",
    [MERGES, b"a b\nab c\n", b"a b\nab c", MERGES.replace(b"\n", b"\r\n")],
    ids=["as written", "no version", "no last line feed", "CR LF"],
)
def test_small_vocabulary(write: Write, vocab_bpe: bytes) -> None:
    ranks, special_tokens = read_gpt2(*write(ENCODER, vocab_bpe))
    assert {encode_bytes(token): rank for token, rank in ranks.items()} == {
        name: rank for name, rank in IDS.items() if name != "<s>"
    }
    assert special_tokens == {"<s>": 258}


@pytest.mark.parametrize(
    ("encoder_json", "vocab_bpe", "message"),
    [
        (b"", MERGES, "encoder.json: line 1: not JSON: "),
        (b"{\n}}", MERGES, "encoder.json: line 2: not JSON: "),
        (b"[" * 100_000, MERGES, "encoder.json: nested too deeply"),
        (b'{"a":' * 100_000, MERGES, "encoder.json: nested too deeply"),
        (b"{\n\xff}", MERGES, "encoder.json: line 2: not UTF-8: "),
        (b"[]", MERGES, "encoder.json: expected a JSON object"),
        (b'[["a", 1]]', MERGES, "encoder.json: expected a JSON object"),
        (b"7", MERGES, "encoder.json: expected a JSON object"),
        (ENCODER[:-1] + b', "ab": 300}', MERGES, "encoder.json: 'ab' comes twice"),
        (changed(ab=True), MERGES, "encoder.json: the id of 'ab' is not an integer"),
        (changed(ab=256.0), MERGES, "encoder.json: the id of 'ab' is not an integer"),
        (changed(ab=None), MERGES, "encoder.json: the id of 'ab' is not an integer"),
        (changed(ab={"a": 1}), MERGES, "encoder.json: the id of 'ab' is not an integer"),
        (changed(ab=-1), MERGES, "encoder.json: the id of 'ab' is not from 0 to 4294967294"),
        (changed(ab=2**32 - 1), MERGES, "encoder.json: the id of 'ab' is not from 0 to"),
        (changed(ab=3), MERGES, "encoder.json: '$' and 'ab' have the same id, 3"),
        (without("Ġ"), MERGES, "encoder.json: no token for the single byte 0x20, written 'Ġ'"),
        (changed(zz=300), MERGES, "encoder.json: 'zz' (id 300) is not a byte, and no merge makes"),
        (changed(**{"z z": 300}), MERGES, "encoder.json: 'z z' (id 300) is not a token: character"),
        (changed(**{"": 300}), MERGES, "encoder.json: '' (id 300) is not a byte"),
        (changed(**{"<>": 300}), MERGES, "encoder.json: '<>' (id 300) is not a byte"),
        (
            changed(**{"<\ud800>": 300}),
            MERGES,
            r"encoder.json: special token '<\ud800>' has a lone surrogate",
        ),
        (ENCODER, b"a b\n", "encoder.json: 'abc' (id 257) is not a byte, and no merge makes it"),
        (ENCODER, b"", "encoder.json: 'ab' (id 256) is not a byte, and no merge makes it"),
        (ENCODER, b"a b\n\xff\n", "vocab.bpe: line 2: not UTF-8: "),
        (ENCODER, b"a b\nabc\n", "vocab.bpe: line 2: expected the two parts of a merge, found 1"),
        (ENCODER, b"a b c\n", "vocab.bpe: line 1: expected the two parts of a merge, found 3"),
        (ENCODER, b"a b\n\nab c\n", "vocab.bpe: line 2: expected the two parts of a merge, fou"),
        (ENCODER, MERGES + MERGES, "vocab.bpe: line 4: '#version:0.2' is not in "),
        (ENCODER, MERGES + b"b c\n", "vocab.bpe: line 4: 'bc' is not in "),
        (ENCODER, MERGES + b"< s>\n", "vocab.bpe: line 4: 's>' is not a byte, and no merge makes"),
        (ENCODER, MERGES + b"ab c\n", "vocab.bpe: line 4: an earlier merge makes 'abc'"),
        (ENCODER, MERGES + b"a bc\n", "vocab.bpe: line 4: an earlier merge makes 'abc'"),
        (ENCODER, "a 中\n".encode(), "vocab.bpe: line 1: character 0, '\\u4e2d' (U+4E2D), stands"),
        (ENCODER, b"a bc\n", "encoder.json: 'ab' (id 256) is not a byte|vocab.bpe: line 1: 'bc'"),
        (
            ENCODER,
            b"ab c\na b\n",
            "vocab.bpe: line 2: 'ab' has the id 256, the merge before it 257",
        ),
    ],
)
def test_bad_file(write: Write, encoder_json: bytes, vocab_bpe: bytes, message: str) -> None:
    check_refusal(write(encoder_json, vocab_bpe), message)


def test_cut_short(write: Write) -> None:
    """Wherever either file is cut, reading fails; only the last line feed may go."""
    paths = write(ENCODER, MERGES)
    for end in [*range(0, len(ENCODER), 101), *range(len(ENCODER) - 20, len(ENCODER))]:
        paths[0].write_bytes(ENCODER[:end])
        with pytest.raises(ValueError, match=r"encoder.json: line 1: not JSON"):
            read_gpt2(*paths)
    vocab_bpe = (FIXTURE / "vocab.bpe").read_bytes()
    paths = write((FIXTURE / "encoder.json").read_bytes(), vocab_bpe)
    for end in [*range(0, len(vocab_bpe), 7), *range(len(vocab_bpe) - 20, len(vocab_bpe) - 1)]:
        paths[1].write_bytes(vocab_bpe[:end])
        with pytest.raises(ValueError, match=r"(encoder.json|vocab.bpe): "):
            read_gpt2(*paths)


def test_named_special_tokens(write: Write) -> None:
    paths = write(changed(**{"[SEP]": 300, "end of text": 301}), MERGES)
    names = ["<s>", "[SEP]", "end of text"]
    assert read_gpt2(*paths, iter(names))[1] == {"<s>": 258, "[SEP]": 300, "end of text": 301}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "encoder.json: '<s>' (id 258) is not a byte, and no merge makes it"),
        (["<s>", "[X]"], "encoder.json: special token '[X]' is not in the file"),
        (["<s>", "ab"], "encoder.json: special token 'ab' is a byte or made by a merge"),
        (["<s>", ""], "encoder.json: special token '' is not in the file"),
    ],
)
def test_wrong_special_tokens(write: Write, names: list[str], message: str) -> None:
    check_refusal(write(ENCODER, MERGES), message, names)


def test_empty_special_token(write: Write) -> None:
    with pytest.raises(ValueError, match=r"encoder.json: a special token cannot be empty"):
        read_gpt2(*write(changed(**{"": 300}), MERGES), ["<s>", ""])


def test_a_single_name_is_not_a_list_of_names(write: Write) -> None:
    with pytest.raises(TypeError, match="pass a list of names"):
        read_gpt2(*write(ENCODER, MERGES), "<s>")


@pytest.mark.parametrize(
    ("ranks", "special_tokens", "message"),
    [
        ({b"a": 0, b"b": 0}, {}, "'a' and 'b' have the same id, 0"),
        ({b"a": 0}, {"<s>": 0}, "'a' and '<s>' have the same id, 0"),
        ({b"a": 0}, {"a": 1}, "written the same"),
        ({b"a": 0}, {"a": 0}, "written the same"),
    ],
)
def test_encoder_json_that_cannot_be_written(
    ranks: dict[bytes, int], special_tokens: dict[str, int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        format_encoder_json(ranks, special_tokens)


@pytest.mark.parametrize("token", [b"abc", b""])
def test_token_that_no_merge_makes(token: bytes) -> None:
    with pytest.raises(ValueError, match=rf"no merge makes the token {token!r} \(rank 3\)"):
        format_vocab_bpe({b"a": 0, b"b": 1, b"c": 2, token: 3})


def load(folder: Path, data: bytes = WHOLE) -> compat_bpe.Encoding:
    path = folder / NAME
    path.write_bytes(data)
    return compat_bpe.load(path)


def test_longest_tokens(tmp_path: Path) -> None:
    enc = load(tmp_path)
    assert isinstance(enc, Rwkv)
    assert (enc.name, enc.n_vocab, enc.eot_token) == (tmp_path.name, 264, 0)
    assert enc.encode("so he said 中文") == [116, 112, 257, 33, 258, 33, 260]
    assert enc.encode("a<|endoftext|>", allowed_special="all") == [98, 0]
    assert enc.encode("<|endoftext|>", disallowed_special=())[0] == 1 + ord("<")
    assert enc.decode([257, 0, 262]) == " he<|endoftext|>\x80😀"
    assert enc.decode([257, 0], skip_special_tokens=True) == " he"
    assert enc.decode_single_token_bytes(261) == b"\xe4\xb8"
    assert (enc.id_to_token(257), enc.token_to_id("Ġhe")) == ("Ġhe", 257)
    found = enc.encode_with_offsets("so he中")
    assert found.ids == [116, 112, 257, 261, 174]
    assert found.offsets == [(0, 1), (1, 2), (2, 5), (5, 6), (5, 6)]


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_ends_of_lines(tmp_path: Path, ending: bytes, last: bool) -> None:
    data = WHOLE.replace(b"\n", ending)
    enc = load(tmp_path, data if last else data[: -len(ending)])
    assert enc.encode("said  ") == [258, 263]


def test_in_a_folder(tmp_path: Path) -> None:
    load(tmp_path)
    (tmp_path / "vocab.txt").write_text("damaged, but not looked at")
    assert compat_bpe.load(tmp_path).encode("said") == [258]


def test_it_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_bytes(WHOLE)
    assert compat_bpe.load(path).encode("said") == [258]
    assert recognise(NAME, b"") == "rwkv"
    assert recognise("vocab.txt", b"1 b'\\x00' 1\r\n2") == "rwkv"
    assert recognise("vocab.txt", b"1 a 1\n[UNK]\n[CLS]\n") == "vocab.txt"


def test_copies_and_batches(tmp_path: Path) -> None:
    enc = load(tmp_path)
    twin = pickle.loads(pickle.dumps(enc))
    assert isinstance(twin, Rwkv)
    make, arguments = enc.recipe()
    texts = ["so he said", "中文", ""]
    ids = [enc.encode(text) for text in texts]
    for one in (twin, make(**arguments), enc.with_special({"x"})):
        assert one.encode_batch(texts) == ids
    assert enc.count("so he said") == 5


def test_what_cannot_be_done_is_refused(tmp_path: Path) -> None:
    enc = load(tmp_path)
    with pytest.raises(ValueError, match=r"cannot be extended"):
        enc.extended("x", {b"ab": 300}, [(b"a", b"b")])
    with pytest.raises(ValueError, match=r"is a list of RWKV's, which cannot be extended"):
        growing_tokens(enc)
    with pytest.raises(ValueError, match=r"a tokenizer.json cannot hold an RWKV list"):
        save_tokenizer_json(enc, tmp_path / "tokenizer.json")
    with pytest.raises(ValueError, match=r"is not byte-level BPE"):
        save_tiktoken(enc, tmp_path / "x.tiktoken")
    with pytest.raises(ValueError, match=r"the file defines how text is split"):
        compat_bpe.load(tmp_path / NAME, pattern="gpt2")


@given(st.text(min_size=1, max_size=20) | st.binary(min_size=1, max_size=20))
@settings(max_examples=scaled(500))
def test_every_literal_of_python(token: str | bytes) -> None:
    value = token.encode("utf-8", "replace") if isinstance(token, str) else token
    if value in SINGLE_BYTES:
        return
    for written in (repr(token), ascii(token)):
        line = f"257 {written} {len(value)}\n".encode("utf-8", "replace")
        if isinstance(token, str) and any("\ud800" <= char < "\ue000" for char in token):
            with pytest.raises(ValueError, match=r"line 257: "):
                parse_rwkv(listed(SINGLE_BYTES) + line, NAME)
        else:
            assert parse_rwkv(listed(SINGLE_BYTES) + line, NAME).tokens[value] == 257


#: What is no line of the list.
NO_LINES = [
    *("", "257", "257 ab 2", "257 'ab 2", "257 'ab'", "257 'ab' ", "257  'ab' 2"),
    *("257 'ab' 2 ", "257 'a''b' 2", "257 'a'+'b' 2", "257 r'ab' 2", "257 '''ab''' 2"),
    *("257 ('ab') 2", "257 'ab\\' 2", "257 __import__('os') 2", "٢٥٧ 'ab' 2"),
    "99999999999 'ab' 2",
]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        *((line, "expected an id, a literal of Python's and its length") for line in NO_LINES),
        ("258 'ab' 2", "the id is 258, not 257"),
        ("256 'ab' 2", "the id is 256, not 257"),
        ("0257 'ab' 2", "the id is 0257, not 257"),
        ("257 'ab' 3", "the token has 2 bytes, not 3"),
        ("257 'é' 1", "the token has 2 bytes, not 1"),
        ("257 'a' 1", r"the token b'a' is already in line 98"),
        ("257 b'a' 1", r"the token b'a' is already in line 98"),
        ("257 '' 0", "the token must have from 1 to 256 bytes"),
        (f"257 '{'a' * 257}' 257", "the token must have from 1 to 256 bytes"),
        ("257 b'é' 2", "a literal of bytes must be ASCII"),
        ("257 '\\ud800' 3", "the literal has a lone surrogate"),
        ("257 '\\q' 2", r"'\\\\q' is not a known escape"),
        ("257 '\\7' 1", r"'\\\\7' is not a known escape"),
        ("257 '\\N{DIGIT ONE}' 1", r"'\\\\N' is not a known escape"),
        ("257 '\\x1' 1", r"'\\\\x' is not a known escape"),
        ("257 '\\U00110000' 4", r"'\\\\U00110000' is not a known escape"),
        ("257 b'\\u0041a' 2", r"'\\\\u0041' is not a known escape"),
    ],
)
def test_bad_lines_are_refused(tmp_path: Path, line: str, reason: str) -> None:
    data = listed(SINGLE_BYTES) + line.encode() + b"\n258 'x' 1\n"
    assert re.search(
        f"^line 257: .*{reason}", refusal(tmp_path / NAME, lambda: load(tmp_path, data))
    )


def test_damaged_text_and_missing_bytes(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"txt: line 257: not UTF-8: "):
        load(tmp_path, listed(SINGLE_BYTES) + b"257 '\xff' 1\n")
    with pytest.raises(ValueError, match=r"txt: line 255: the file ends without .* 0xFF"):
        load(tmp_path, listed(SINGLE_BYTES[:-1]))
    with pytest.raises(ValueError, match=r"txt: line 1: the file ends without .* 0x00"):
        load(tmp_path, b"")
