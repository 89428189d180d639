from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tiktoken.load
from hypothesis import given
from hypothesis import strategies as st

import compat_bpe.encodings
from compat_bpe.formats.gpt2 import format_encoder_json, format_vocab_bpe, read_gpt2
from compat_bpe.formats.pack import unpack
from compat_bpe.pipeline.byte_level import BYTE_TO_UNICODE, encode_bytes
from compat_bpe.pipeline.models.bpe.by_rank import merge

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
def vocabularies(draw: st.DrawFn) -> dict[bytes, int]:
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


@given(ranks=vocabularies())
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


@pytest.mark.parametrize(
    "vocab_bpe",
    [
        MERGES,
        b"a b\nab c\n",
        b"a b\nab c",
        MERGES.replace(b"\n", b"\r\n"),
    ],
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
    paths = write(encoder_json, vocab_bpe)
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        read_gpt2(*paths)
    starts = tuple(f"{paths[0].parent}/{start}" for start in message.split("|"))
    assert str(caught.value).startswith(starts)


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
    paths = write(ENCODER, MERGES)
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        read_gpt2(*paths, names)
    assert str(caught.value).startswith(f"{paths[0].parent}/{message}")


def test_empty_special_token(write: Write) -> None:
    with pytest.raises(ValueError, match=r"encoder.json: a special token cannot be empty"):
        read_gpt2(*write(changed(**{"": 300}), MERGES), ["<s>", ""])


def test_a_single_name_is_not_a_list_of_names(write: Write) -> None:
    with pytest.raises(TypeError, match="pass a list of names"):
        read_gpt2(*write(ENCODER, MERGES), "<s>")


def test_missing_file(write: Write, tmp_path: Path) -> None:
    encoder_json, vocab_bpe = write(ENCODER, MERGES)
    with pytest.raises(FileNotFoundError):
        read_gpt2(encoder_json, tmp_path / "vocab.bpe")
    with pytest.raises(FileNotFoundError):
        read_gpt2(tmp_path / "encoder.json", vocab_bpe)


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
    with pytest.raises(ValueError, match=rf"token {token!r} \(rank 3\) is made by no merge"):
        format_vocab_bpe({b"a": 0, b"b": 1, b"c": 2, token: 3})
