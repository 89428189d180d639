"""RWKV's list of tokens in a GGUF file, against the list itself."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import load
from compat_bpe.encodings.rwkv import Rwkv
from tests.formats.gguf_files import I32, Items, Written, strings, write

NORMAL, CONTROL, UNUSED = 1, 3, 5
TOKENS = [
    *(bytes([byte]) for byte in range(256)),
    *(b" the", b"the", b"\n\n", b"it's", b'"', b"'\"", "é".encode()[:1] + b"\xff", "漢字".encode()),
]
TOKENS = list(dict.fromkeys(TOKENS))


def entries(tokens: list[bytes], end: str = "<s>") -> dict[str, Written]:
    """Return the entries that llama.cpp's converter writes for a list."""
    written = [end, *(repr(token)[2:-1] for token in tokens), "[PAD1]", "[PAD2]"]
    types = [CONTROL, *([NORMAL] * len(tokens)), UNUSED, UNUSED]
    return {
        "tokenizer.ggml.model": "rwkv",
        "tokenizer.ggml.tokens": strings(*written),
        "tokenizer.ggml.token_type": Items(I32, types),
    }


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Rwkv, Rwkv]:
    folder = tmp_path_factory.mktemp("rwkv")
    lines = [f"{id_} {token!r} {len(token)}\n" for id_, token in enumerate(TOKENS, 1)]
    (folder / "rwkv_vocab_v20230424.txt").write_text("".join(lines))
    in_gguf = load(write(folder / "model.gguf", entries(TOKENS)))
    in_list = load(folder / "rwkv_vocab_v20230424.txt")
    assert isinstance(in_gguf, Rwkv)
    assert isinstance(in_list, Rwkv)
    return in_gguf, in_list


def test_it_has_the_ids_of_the_list(both: tuple[Rwkv, Rwkv]) -> None:
    in_gguf, in_list = both
    assert in_gguf.n_vocab == in_list.n_vocab == len(TOKENS) + 1
    assert dict(in_gguf.special_tokens) == {"<|endoftext|>": 0}

    @given(st.text(" theit's\n\"'é漢字\\x", max_size=30))
    def check(text: str) -> None:
        ids = in_gguf.encode(text)
        assert ids == in_list.encode(text)
        assert in_gguf.decode(ids) == text

    check()


def test_it_can_be_sent_to_another_process(both: tuple[Rwkv, Rwkv]) -> None:
    assert pickle.loads(pickle.dumps(both[0])).encode(" the 漢字") == both[0].encode(" the 漢字")


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (TOKENS[1:], "tokenizer.ggml.tokens: there is no token for the single byte 0x00"),
        ([*TOKENS, b"the"], "b'the' is [258], too"),
        ([*TOKENS, b"a" * 257], "the token must have from 1 to 256 bytes"),
    ],
)
def test_damage(tmp_path: Path, tokens: list[bytes], message: str) -> None:
    path = write(tmp_path / "model.gguf", entries(tokens))
    with pytest.raises(ValueError, match=r"model\.gguf: ") as caught:
        load(path)
    assert message in str(caught.value)


def test_an_escape_that_no_converter_writes(tmp_path: Path) -> None:
    listed = entries(TOKENS)
    listed["tokenizer.ggml.tokens"] = strings("<s>", "\\q")
    listed["tokenizer.ggml.token_type"] = Items(I32, [CONTROL, NORMAL])
    with pytest.raises(ValueError, match=r"byte [0-9]+: tokenizer.ggml.tokens\[1\]: "):
        load(write(tmp_path / "model.gguf", listed))
