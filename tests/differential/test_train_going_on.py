"""Going on from a vocabulary against ``BpeTrainer``, and superwords in what other programs read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import tiktoken.load
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, pre_tokenizers, trainers

from compat_bpe import load
from compat_bpe.encodings.published import PATTERNS
from compat_bpe.pipeline.byte_level import decode_bytes
from compat_bpe.save import save_tokenizer_json
from compat_bpe.train import Trainer, TrainingSettings, train_bpe
from compat_bpe.train.bpe.growing import BYTES, make_encoding
from compat_bpe.train.write import write_vocabulary
from tests.differential.corpora import natural_texts
from tests.differential.reference import repaired
from tests.strategies import texts

#: As in scripts/extend_tokenizer.sh of PythonNut/superbpe.
PUBLISHED = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"

SAMPLE = next(iter(natural_texts().values()))


@given(st.one_of(st.text(" \n\r\tab1.,:é/世", max_size=40), texts))
def test_the_pattern_splits_as_the_published_one(text: str) -> None:
    text = repaired(text)
    split = pre_tokenizers.Split(Regex(PUBLISHED), "isolated")
    expected = [chunk for chunk, _ in split.pre_tokenize_str(text)]
    assert make_encoding("x", "superbpe", BYTES, []).core.splitter.chunks(text) == expected


@pytest.mark.parametrize("pattern", ["gpt2", "o200k_base"])
def test_going_on_from_a_tokenizer_of_the_reference(pattern: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    save_tokenizer_json(make_encoding(pattern, pattern, BYTES, []), path)
    untrained = path.read_text("utf-8")

    def reference(size: int) -> list[tuple[bytes, ...]]:
        tokenizer = tokenizers.Tokenizer.from_str(untrained)
        trainer = trainers.BpeTrainer(
            vocab_size=size,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        tokenizer.train_from_iterator(SAMPLE[:8], trainer)
        tokenizer.save(str(path))
        merges = json.loads(tokenizer.to_str())["model"]["merges"]
        return [tuple(map(decode_bytes, merge)) for merge in merges]

    first = reference(900)
    with Trainer(TrainingSettings(1500, start=load(path))) as trainer:
        for text in SAMPLE[:8]:
            trainer.feed(text)
        found = [(merge.left, merge.right) for merge in trainer.train().merges]
    assert [*first, *found] == reference(1500)


@pytest.fixture(scope="module")
def superwords(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a vocabulary of two stages, in every format."""
    folder = tmp_path_factory.mktemp("superwords") / "super"
    first = train_bpe(SAMPLE[:12], 1000, pattern="o200k_base")
    options: dict[str, Any] = {"max_words": 4, "not_joined": [": "]}
    options["special_tokens"] = ["<|endoftext|>"]
    encoding = train_bpe(
        SAMPLE[:12], 2000, start=first, pattern="superbpe", name="super", **options
    )
    assert sum(b" " in token.strip() for token in encoding.core.encoder) > 50
    write_vocabulary(folder, encoding, pattern="superbpe")
    return folder


@pytest.mark.sweep
def test_all_programs_give_the_same_superwords(superwords: Path) -> None:
    from_json = tokenizers.Tokenizer.from_file(str(superwords / "tokenizer.json"))
    ranks = tiktoken.load.load_tiktoken_bpe(str(superwords / "super.tiktoken"))
    by_ranks = tiktoken.Encoding(
        "super",
        pat_str=PATTERNS["superbpe"],
        mergeable_ranks=ranks,
        special_tokens={"<|endoftext|>": 1999},
    )
    gpt2 = tiktoken.load.data_gym_to_mergeable_bpe_ranks(
        str(superwords / "vocab.bpe"), str(superwords / "encoder.json")
    )
    own = [load(superwords), load(superwords / "super.tiktoken"), load(superwords / "vocab.bpe")]
    assert {encoding.n_vocab for encoding in own} == {2000}
    assert list(gpt2) == sorted(ranks, key=ranks.__getitem__)
    for text in [*SAMPLE[8:20], "<|endoftext|>", *natural_texts().get("udhr.txt", [])[:100]]:
        ids = from_json.encode(text).ids
        assert by_ranks.encode(text, allowed_special="all") == ids
        for encoding in own:
            assert encoding.encode(text, allowed_special="all") == ids
