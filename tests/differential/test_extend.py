"""Extended vocabularies: tiktoken and tokenizers, given them, have the ids that are here."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import tiktoken.load
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding, load
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.save import save_gpt2, save_tiktoken, save_tokenizer_json
from compat_bpe.train import (
    CharacterBpeSettings,
    WordLevelSettings,
    WordPieceSettings,
    train,
)
from compat_bpe.train.extend import extend
from tests.examples import scaled
from tests.train.small_vocabularies import by_list, by_rank, corpora, terms

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed here")

CORPUS = [
    "The ribosome translates messenger RNA; polyribosomes are many ribosomes on one mRNA.\n",
    "Apoptosis is programmed cell death, and kinases phosphorylate; 核糖体翻译信使核糖核酸。\n",
    "def phosphorylate(kinase):\n    return kinase.phosphorylate(ribosome)\n",
] * 3
TERMS = ["phosphorylate", "核糖体", "tRNA"]
OTHER = [
    "A tRNA meets ribosomes<|endoftext|> while 核糖体 phosphorylates.",
    "Nothing of that kind is here, café, 12345, 世界 \u200b😀",
]


def theirs(path: Path) -> Any:
    found = tokenizers.Tokenizer.from_file(str(path))
    found.encode_special_tokens = False
    return found


@settings(max_examples=scaled(40))
@given(
    old=by_rank(tokenizers=False),
    corpus=corpora,
    number=st.integers(0, 5),
    wanted=terms,
    others=corpora,
)
def test_by_rank(
    old: Encoding, corpus: list[str], number: int, wanted: list[str], others: list[str]
) -> None:
    new = extend(old, corpus, number, terms=wanted, min_frequency=1).encoding
    reference = tiktoken.Encoding(
        "new",
        pat_str=new._pat_str,
        mergeable_ranks=dict(new._mergeable_ranks),
        special_tokens=new._special_tokens,
    )
    for text in [*corpus, *others, *wanted]:
        ids = reference.encode(text, allowed_special="all")
        assert new.encode(text, allowed_special="all") == ids


@settings(max_examples=scaled(40))
@given(
    old=st.one_of(by_rank(), by_list()),
    corpus=corpora,
    number=st.integers(0, 5),
    wanted=terms,
    others=corpora,
)
def test_as_tokenizer_json(
    tmp_path_factory: pytest.TempPathFactory,
    old: Encoding,
    corpus: list[str],
    number: int,
    wanted: list[str],
    others: list[str],
) -> None:
    new = extend(old, corpus, number, terms=wanted, min_frequency=1).encoding
    path = tmp_path_factory.getbasetemp() / "extended.json"
    save_tokenizer_json(new, path)
    reference, again = theirs(path), load(path)
    for text in [*corpus, *others, *wanted]:
        ids = reference.encode(text, add_special_tokens=False).ids
        assert new.encode(text, allowed_special="all") == ids
        assert again.encode(text, allowed_special="all") == ids


@pytest.mark.sweep
def test_gpt2_in_every_format(tmp_path: Path) -> None:
    old = get_encoding("gpt2")
    found = extend(old, CORPUS, 15, terms=TERMS)
    new = found.encoding
    assert len(found.merges) > 15
    assert not any(term.reason for term in found.terms)
    save_tokenizer_json(new, tmp_path / "tokenizer.json")
    reference = theirs(tmp_path / "tokenizer.json")
    save_gpt2(new, tmp_path / "encoder.json", tmp_path / "vocab.bpe")
    save_tiktoken(new, tmp_path / "new.tiktoken")
    encodings: list[Any] = [
        new,
        load(tmp_path / "tokenizer.json"),
        load(tmp_path / "vocab.bpe"),
        tiktoken.Encoding(
            "new",
            pat_str=new._pat_str,
            mergeable_ranks=tiktoken.load.load_tiktoken_bpe(str(tmp_path / "new.tiktoken")),
            special_tokens=new._special_tokens,
        ),
    ]
    rng = random.Random(1)
    words = [*" ".join([*CORPUS, *OTHER, *TERMS]).split(" "), "\n", "<|endoftext|>"]
    texts = [*CORPUS, *OTHER, *(" ".join(rng.choices(words, k=20)) for _ in range(50))]
    for text in texts:
        ids = reference.encode(text, add_special_tokens=False).ids
        for encoding in encodings:
            assert encoding.encode(text, allowed_special="all") == ids
    assert old.encode_ordinary(OTHER[1]) == new.encode_ordinary(OTHER[1])


@pytest.mark.parametrize(
    "make",
    [
        lambda: train(CORPUS[:1], WordPieceSettings(60, special_tokens=["[CLS]"])),
        lambda: train(CORPUS[:1], CharacterBpeSettings(60, special_tokens=["<s>"])),
        lambda: train(CORPUS[:1], CharacterBpeSettings(60, prefix="##", suffix="")),
        lambda: train(CORPUS[:1], CharacterBpeSettings(60, suffix="", pre_tokenizer="metaspace")),
        lambda: train(CORPUS[:1], WordLevelSettings(12)),
    ],
)
def test_other_kinds(make: Callable[[], Tokenizer], tmp_path: Path) -> None:
    old = make()
    found = extend(old, CORPUS, 12, terms=["phosphorylate", "tRNA", "mRNA"])
    new = found.encoding
    assert len(found.tokens) > 5
    save_tokenizer_json(new, tmp_path / "tokenizer.json")
    reference = theirs(tmp_path / "tokenizer.json")
    again = load(tmp_path / "tokenizer.json")
    for text in (*CORPUS, *OTHER, *TERMS, "translate the ribosomes"):
        ids = reference.encode(text).ids
        assert new.encode(text, allowed_special="all") == ids
        assert again.encode(text, allowed_special="all") == ids
