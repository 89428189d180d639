"""Tokenizers in GGUF files that are refused, and damage to those that are not."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

import compat_bpe
from tests.formats.gguf_files import F32, I32, U32, Items, Typed, strings, write
from tests.formats.small_gguf import (
    SMALL,
    Entries,
    bert,
    gpt2,
    load,
    vocabulary,
)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({}, "tokenizer.ggml.model: the file has no vocabulary"),
        ({"split.no": Typed(U32, 1)}, "the first file of several has the vocabulary"),
        ({"tokenizer.ggml.model": True}, "tokenizer.ggml.model: must be a string"),
        ({"tokenizer.ggml.model": b"\xff"}, "tokenizer.ggml.model: is not UTF-8"),
        (vocabulary("plamo2", {"a": 1}), "'plamo2' is not supported: "),
        (vocabulary("none", {"a": 1}), "'none' is not supported: the file has no vocabulary"),
        (
            vocabulary("new", {"a": 1}),
            "'new' is not supported, only gpt2, gemma4, llama, t5, bert, rwkv",
        ),
        (vocabulary("gpt2", {}), "tokenizer.ggml.tokens: there are no tokens"),
        (gpt2(pre=None), "tokenizer.ggml.pre: as in old files, it is not there"),
        (gpt2(pre="new"), "'new' is not known: load the model's own tokenizer.json, or give the"),
        (gpt2(pre="whitespace"), "'whitespace' is not supported: "),
        (gpt2(add_bos_token="x"), "tokenizer.ggml.add_bos_token: must be true or false"),
        (gpt2(bos_token_id="x"), "tokenizer.ggml.bos_token_id: must be an integer"),
        ({**gpt2(), "tokenizer.ggml.tokens": "x"}, "tokens: must be an array of strings"),
        ({**gpt2(), "tokenizer.ggml.merges": True}, "merges: must be an array of strings"),
        (vocabulary("gpt2", {"a": 1}, pre="gpt-2"), "merges: there are no merges"),
        ({**gpt2(), "tokenizer.ggml.merges": strings("ab")}, "merges[0]: 'ab' has not two parts"),
        ({**gpt2(), "tokenizer.ggml.merges": strings("a b", "a ")}, "merges[1]: 'a ' has not two"),
        ({**gpt2(), "tokenizer.ggml.merges": strings("a xy")}, "merges[0]: 'xy' is no token"),
        ({**gpt2(), "tokenizer.ggml.merges": strings("a b")}, "merges[0]: 'ab' is no token"),
        ({**gpt2(), "tokenizer.ggml.token_type": Items(I32, [1])}, "has 1 items for 262 tokens"),
        ({**gpt2(), "tokenizer.ggml.token_type": Items(I32, [9] * 262)}, "there is no type 9 of"),
        ({**gpt2(), "tokenizer.ggml.token_type": Items(F32, [1])}, "must be an array of numbers"),
        ({**gpt2(), "tokenizer.ggml.tokens": strings(*"ab" * 131)}, "tokens[260]: 'a' is [0], too"),
        (vocabulary("t5", {"a": 1}), "tokenizer.ggml.scores: there are 0 for 1 tokens"),
        (
            vocabulary("llama", {"a": 1}, scores=Items(F32, [])),
            "tokenizer.ggml.scores: there are 0 for 1 tokens",
        ),
        (vocabulary("llama", {"a": 1}), "tokenizer.ggml.token_type: no token is the unknown one"),
        (vocabulary("bert", {"a": 1}), "tokenizer.ggml.tokens: there is no unk_token"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_what_is_refused(tmp_path: Path, entries: Entries, message: str) -> None:
    path = write(tmp_path / "bad.gguf", entries)
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        compat_bpe.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


def test_an_item_is_named_by_its_place(tmp_path: Path) -> None:
    path = tmp_path / "bad.gguf"
    path.write_bytes(write(path, gpt2()).read_bytes().replace(b"he ll", b"he \xff\xff"))
    with pytest.raises(
        ValueError, match=r"byte (\d+): tokenizer\.ggml\.merges\[2\]: is not"
    ) as caught:
        compat_bpe.load(path)
    place = int(str(caught.value).split("byte ")[1].split(":")[0])
    assert path.read_bytes()[place + 8 :].startswith(b"he \xff\xff")


def test_only_bytes_are_given_a_pattern(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"model\.gguf: a tokenizer of the model 'bert' has no pat"
    ):
        load(tmp_path, bert(), "gpt2")
    with pytest.raises(ValueError, match="only a rank file is given special tokens"):
        compat_bpe.load(write(tmp_path / "a.gguf", gpt2()), special_tokens={"a": 1})


def test_a_pointer_of_git_lfs(tmp_path: Path) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    with pytest.raises(ValueError, match=r"a\.gguf: it is a pointer of Git LFS"):
        compat_bpe.load(path)
    path.write_bytes(b"something else")
    with pytest.raises(ValueError, match=r"a\.gguf: byte 0: it is no GGUF file"):
        compat_bpe.load(path)


@pytest.mark.parametrize("every", [7, pytest.param(2, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("kind", SMALL)
def test_any_damage_is_an_error_or_does_no_harm(
    tmp_path: Path, kind: str, order: str, every: int
) -> None:
    path = write(tmp_path / "bad.gguf", SMALL[kind], order=order)
    data = path.read_bytes()
    expected = compat_bpe.load(path).encode("ab <x>", disallowed_special=())
    start = time.process_time()
    with path.open("r+b", buffering=0) as file:
        for place in range(0, len(data), every):
            byte = data[place]
            for change in (1, 0x80):
                file.seek(place)
                file.write(bytes([byte ^ change]))
                try:
                    compat_bpe.load(path).encode("ab <x>", disallowed_special=())
                except ValueError as error:
                    assert str(path) in str(error)  # noqa: PT017
            file.seek(place)
            file.write(bytes([byte]))
    assert compat_bpe.load(path).encode("ab <x>", disallowed_special=()) == expected
    for size in range(len(data) - 1, -1, -every):
        os.truncate(path, size)
        with pytest.raises(ValueError, match=r"bad\.gguf: "):
            compat_bpe.load(path)
    assert time.process_time() - start < 60  # no damage makes it long
