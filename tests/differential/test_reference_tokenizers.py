"""The files that tools/reference_tokenizers.py builds, in the libraries that they are for."""

from __future__ import annotations

import json

import pytest
import tokenizers

from tools.reference_files import FILES, reference_file
from tools.reference_tokenizers import TOKENIZERS, reference_tokenizer

#: Large, or slow to be read.
LARGE = {"j2", "xlm_r", "xlm_r_converted", "xlm_r_metaspace"}

TEXT = "Hello, world! don't  STOP é 東京 2,"
#: The first pieces of the text, and its decoded ids where it is not the text.
FIRST = {
    "bert_uncased": ["[CLS]", "hello", ",", "world", "!", "don", "'", "t", "stop", "e", "東", "京"],
    "clip": ["<|startoftext|>", "hello</w>", ",</w>", "world</w>", "!</w>", "don</w>", "'t</w>"],
    "llama_2": ["<s>", "▁Hello", ",", "▁world", "!", "▁don", "'", "t", "▁", "▁ST", "OP", "▁é"],
    "mistral_v1": ["<s>", "▁Hello", ",", "▁world", "!", "▁don", "'", "t", "▁", "▁ST", "OP"],
    "xlm_r": [
        "<s>",
        "▁Hello",
        ",",
        "▁world",
        "!",
        "▁don",
        "'",
        "t",
        "▁S",
        "TOP",
        "▁é",
        "▁",
        "東京",
    ],
    "j2": ["▁Hello", ",", "▁world", "!", "▁don't", "▁STOP", "▁", "é"],
    "t5_like": ["▁He", "ll", "o", ",", "▁world", "!", "▁don", "'", "t", "▁S"],
    "albert_like": ["[CLS]", "▁he", "ll", "o", ",", "▁world", "!"],
    "xlnet_like": ["▁", "H", "e", "l", "l", "o", ","],
    "kyoto_unigram": ["▁", "H", "e", "l", "l", "o", ","],
}
FIRST["llama_2_first"] = FIRST["llama_2"]
FIRST["mistral_v3"] = FIRST["mistral_v1"]
FIRST["xlm_r_converted"] = FIRST["xlm_r_metaspace"] = FIRST["xlm_r"]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.sweep) if name in LARGE else name
        for name, built in TOKENIZERS.items()
        if built.file == "tokenizer.json"
    ],
)
def test_built_file_is_read(name: str) -> None:
    path = reference_tokenizer(name)
    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    expected = FIRST[name]
    assert tokenizer.encode(TEXT).tokens[: len(expected)] == expected
    # Nothing that the library takes for another id was added.
    for token in json.loads(path.read_bytes())["added_tokens"]:
        assert tokenizer.token_to_id(token["content"]) == token["id"]


def test_building_again_gives_the_same_bytes() -> None:
    for name in ("bert_uncased", "clip", "llama_2", "albert_like"):
        assert TOKENIZERS[name].build() == reference_tokenizer(name).read_bytes()


def test_llama_has_all_its_merges() -> None:
    model = json.loads(reference_tokenizer("llama_2").read_bytes())["model"]
    assert (len(model["vocab"]), len(model["merges"])) == (32_000, 61_249)
    assert model["merges"][:3] == ["▁ t", "e r", "i n"]


def test_clip_has_all_its_merges() -> None:
    model = json.loads(reference_tokenizer("clip").read_bytes())["model"]
    assert (len(model["vocab"]), len(model["merges"])) == (49_408, 48_894)
    assert model["merges"][-1] == "jeky ll</w>"


@pytest.mark.sweep
@pytest.mark.parametrize("name", [name for name in FILES if FILES[name].member.endswith(".json")])
def test_published_files_are_there(name: str) -> None:
    assert json.loads(reference_file(name).read_bytes())
