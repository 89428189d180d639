"""Vocabularies in GGUF files, against the ids that the models' own tokenizers give.

The published ones come with texts and their ids, which llama.cpp had from transformers.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given, settings

import compat_bpe
from compat_bpe.encodings.sentencepiece import SentencePiece
from compat_bpe.formats.gguf.pre import PRE
from compat_bpe.save import save_tokenizer_json
from compat_bpe.unicode.surrogates import repair
from tests import corpora
from tests.examples import scaled
from tests.formats.small_gguf import DISTINCT, gpt2, write
from tests.strategies import texts as any_texts
from tools.reference_files import FILES, reference_file
from tools.reference_tokenizers import reference_tokenizer

texts = any_texts.map(repair)

LARGE = {"command_r", "deepseek_llm", "gemma_4", "llama_3", "qwen_2", "qwen_3_5"}
NAMES = [
    pytest.param(name, marks=pytest.mark.sweep) if name in LARGE else name
    for name in sorted(file[:-9] for file in FILES if file.endswith("_gguf_ids"))
]


@cache
def ours(name: str) -> Any:
    return compat_bpe.load(reference_file(f"{name}_gguf"))


def published(name: str) -> list[tuple[str, list[int]]]:
    """The texts of a vocabulary, and their ids."""
    texts = f"{name}_gguf_texts"
    data = reference_file(texts if texts in FILES else "most_gguf_texts").read_bytes()
    cases = data.decode().split("\n__ggml_vocab_test__\n")
    lines = reference_file(f"{name}_gguf_ids").read_text().split("\n")
    assert len(cases) in (len(lines), len(lines) - 1)
    return [(text, list(map(int, line.split()))) for text, line in zip(cases, lines)]


@pytest.mark.sweep
@pytest.mark.parametrize("name", NAMES)
def test_published_ids(name: str) -> None:
    enc = ours(name)
    compared = 0
    for text, ids in published(name):
        if name == "qwen_3_5" and not unicodedata.is_normalized("NFC", text):
            continue  # These ids are llama.cpp's, which has no normalizer; the model has.
        assert enc.encode(text) == ids
        compared += 1
    assert compared > 40


@cache
def theirs(name: str) -> Any:
    return tokenizers.Tokenizer.from_file(str(name))


#: GGUF files, and the ``tokenizer.json`` of a model with the same tokens.
SAME = {
    "bert": lambda: reference_tokenizer("bert_uncased"),
    "llama_3": lambda: reference_file("llama_3"),
    "command_r": lambda: reference_file("cohere"),
    "qwen_2": lambda: reference_file("qwen_3"),
    "deepseek_llm": lambda: reference_file("deepseek_v2"),
}


@cache
def own_tokens(name: str) -> frozenset[str]:
    """The added tokens that only one of both has: of DeepSeek LLM, some letters."""
    mine = {token.content for token in ours(name).added_tokens}
    added = theirs(str(SAME[name]())).get_added_tokens_decoder().values()
    return frozenset(mine ^ {token.content for token in added})


def has_own_tokens(name: str, text: str) -> bool:
    return any(token in text for token in own_tokens(name))


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.sweep) if name in LARGE else name for name in SAME],
)
@given(text=texts)
@settings(max_examples=scaled(50), deadline=None)
def test_as_the_tokenizer_json(name: str, text: str) -> None:
    if not has_own_tokens(name, text):
        expected = theirs(str(SAME[name]())).encode(text, add_special_tokens=False).ids
        assert ours(name).encode(text, allowed_special="all") == expected


@pytest.mark.sweep
@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("path", corpora.TEXTS, ids=lambda path: path.name)
def test_corpora_as_the_tokenizer_json(name: str, path: Path) -> None:
    other = theirs(str(SAME[name]()))
    for line in path.read_text("utf-8").splitlines(keepends=True):
        if not has_own_tokens(name, line):
            expected = other.encode(line, add_special_tokens=False).ids
            assert ours(name).encode_ordinary(line) == expected


@cache
def llama() -> tuple[Any, Any]:
    from sentencepiece import SentencePieceProcessor

    return ours("llama"), SentencePieceProcessor(model_file=str(reference_file("llama_2")))


@given(texts)
@settings(max_examples=scaled(50), deadline=None)
def test_as_the_model_of_sentencepiece(text: str) -> None:
    enc, sp = llama()
    assert isinstance(enc, SentencePiece)
    mapping = sp.encode(text, out_type="offset_mapping")
    assert enc.encode(text, disallowed_special=()) == mapping["ids"]
    found = enc.encode_as_placed_pieces(text)
    assert [(one.begin, one.end) for one in found] == mapping["offsets"]
    assert enc.decode(mapping["ids"]) == sp.decode(mapping["ids"])


@pytest.mark.sweep
def test_unigram_as_the_tokenizer_json() -> None:
    other = theirs(str(reference_tokenizer("xlm_r_converted")))
    for text, _ in published("llama"):
        expected = other.encode(text, add_special_tokens=False).ids
        assert ours("xlm_r").encode_ordinary(text) == expected
    masked = "one <mask> of</s>"
    expected = other.encode(masked, add_special_tokens=False).ids
    assert ours("xlm_r").encode(masked, allowed_special="all") == expected


@cache
def names_in_text() -> tuple[Any, Any]:
    return ours("llama"), theirs(str(reference_tokenizer("llama_2")))


@given(texts, texts)
@settings(max_examples=scaled(30), deadline=None)
def test_names_as_in_the_tokenizer_json(first: str, second: str) -> None:
    enc, other = names_in_text()
    for text in (f"{first}<s>{second}", f"<s>{first}</s><s>{second}"):
        expected = other.encode(text, add_special_tokens=False)
        assert enc.encode(text, allowed_special="all") == expected.ids
        assert enc.encode_with_offsets(text, allowed_special="all").ids == expected.ids


@cache
def saved(folder: Path, pre: str) -> tuple[Any, Any]:
    enc: Any = compat_bpe.load(write(folder / f"{pre}.gguf", gpt2(pre=pre)))
    save_tokenizer_json(enc, folder / f"{pre}.json")
    return enc, tokenizers.Tokenizer.from_file(str(folder / f"{pre}.json"))


@pytest.mark.parametrize("pre", [name for name in DISTINCT if not PRE[name].is_spelled])
@given(text=texts)
@settings(max_examples=scaled(5), deadline=None)
def test_every_way_to_split(tmp_path_factory: pytest.TempPathFactory, pre: str, text: str) -> None:
    enc, other = saved(tmp_path_factory.getbasetemp(), pre)
    expected = other.encode(text, add_special_tokens=False)
    assert enc.encode(text, allowed_special="all") == expected.ids
    assert list(enc.encode_with_offsets(text, allowed_special="all").word_ids) == expected.word_ids
