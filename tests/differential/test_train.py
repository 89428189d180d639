"""Training against ``BpeTrainer`` of Hugging Face tokenizers: the same merges in the same order.

And what is written is read by the real tiktoken and tokenizers, and gives the same ids.
"""

from __future__ import annotations

import json
import sysconfig
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import tiktoken.load
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import pre_tokenizers, trainers

from compat_bpe import Encoding, load, load_gpt2
from compat_bpe.encodings.patterns import PATTERNS
from compat_bpe.engine.byte_alphabet import decode_bytes
from compat_bpe.save import save_tokenizer_json
from compat_bpe.train import train_bpe
from compat_bpe.train.output import write_vocabulary
from compat_bpe.train.trainer import BYTES, DEEPSEEK, Trainer, make_encoding
from tests.strategies import texts

SHARED = Path(__file__).resolve().parents[3] / "shared" / "corpora"
NAMES = ["gpt2", "cl100k_base", "o200k_base", "llama3", DEEPSEEK]


@pytest.fixture(scope="module")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """For each pattern a ``tokenizer.json`` that splits by it and has no merges."""
    folder = tmp_path_factory.mktemp("untrained")
    found = {}
    for name in NAMES:
        save_tokenizer_json(make_encoding(name, name, BYTES, []), folder / "tokenizer.json")
        found[name] = (folder / "tokenizer.json").read_text("utf-8")
    return found


def reference_merges(
    untrained: str, corpus: list[str], vocab_size: int, **options: Any
) -> list[tuple[bytes, ...]]:
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
        **options,
    )
    tokenizer = tokenizers.Tokenizer.from_str(untrained)
    tokenizer.train_from_iterator(corpus, trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [tuple(map(decode_bytes, merge)) for merge in merges]


def merges_of(corpus: list[str], vocab_size: int, **options: Any) -> list[tuple[bytes, ...]]:
    with Trainer(vocab_size, **options) as trainer:
        for text in corpus:
            trainer.feed(text)
        return [(merge.left, merge.right) for merge in trainer.train().merges]


few_letters = st.text("ab \n1'", max_size=60)


@given(
    st.sampled_from(NAMES),
    st.lists(st.one_of(few_letters, st.text("abcde f", max_size=100), texts), max_size=8),
    st.integers(256, 320),
    st.integers(0, 4),
    st.none() | st.integers(2, 9),
)
def test_the_merges_are_those_of_the_reference(
    untrained: dict[str, str],
    pattern: str,
    corpus: list[str],
    vocab_size: int,
    min_frequency: int,
    longest: int | None,
) -> None:
    corpus = [*(text.encode("utf-8", "replace").decode() for text in corpus), "a"]
    # There, a token is shorter than this; here, it is no longer.
    theirs = {} if longest is None else {"max_token_length": longest + 1}
    expected = reference_merges(
        untrained[pattern], corpus, vocab_size, min_frequency=min_frequency, **theirs
    )
    found = merges_of(
        corpus,
        vocab_size,
        pattern=pattern,
        min_frequency=min_frequency,
        max_token_length=longest,
    )
    assert found == expected


def natural_texts() -> dict[str, list[str]]:
    sources = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    found = {"standard library": [path.read_text("utf-8") for path in sources[:60]]}
    for name in ("udhr.txt", "chinese_classical.txt"):
        if (SHARED / name).exists():
            found[name] = (SHARED / name).read_text("utf-8")[:400_000].splitlines(keepends=True)
    return found


@pytest.mark.parametrize("title", natural_texts())
@pytest.mark.parametrize("pattern", ["gpt2", DEEPSEEK])
def test_natural_texts(untrained: dict[str, str], title: str, pattern: str) -> None:
    corpus = natural_texts()[title]
    expected = reference_merges(untrained[pattern], corpus, 3000)
    assert len(expected) == 3000 - 256
    assert merges_of(corpus, 3000, pattern=pattern) == expected


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Encoding, Path]]:
    """A vocabulary of each pattern, trained on source code, and the folder it is written into."""
    sources = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[:40]
    corpus = [path.read_text("utf-8") for path in sources] + [
        "naïve 世界你好 12345 \u0301\r\n"
    ] * 40
    found = {}
    for name in NAMES:
        encoding = train_bpe(
            corpus, 900, pattern=name, special_tokens=["<|endoftext|>", "<|pad|>"], name="mine"
        )
        folder = tmp_path_factory.mktemp("trained") / name
        write_vocabulary(folder, encoding, pattern=name)
        found[name] = encoding, folder
    return found


@given(text=texts)
@settings(max_examples=60)
@pytest.mark.parametrize("name", [name for name in NAMES if name != DEEPSEEK])
def test_tiktoken_reads_what_is_written(
    trained: dict[str, tuple[Encoding, Path]], name: str, text: str
) -> None:
    encoding, folder = trained[name]
    expected = encoding.encode(text, allowed_special="all")
    specials = encoding._special_tokens
    pattern = PATTERNS[name]
    ranks = tiktoken.load.load_tiktoken_bpe(str(folder / "mine.tiktoken"))
    by_ranks = tiktoken.Encoding(
        "x", pat_str=pattern, mergeable_ranks=ranks, special_tokens=specials
    )
    assert by_ranks.encode(text, allowed_special="all") == expected
    # By tiktoken's own reader, which checks one file against the other.
    encoder = json.loads((folder / "encoder.json").read_bytes())
    without = folder / "without_specials.json"
    without.write_text(json.dumps({k: v for k, v in encoder.items() if k not in specials}))
    merges = tiktoken.load.data_gym_to_mergeable_bpe_ranks(str(folder / "vocab.bpe"), str(without))
    assert merges == ranks


@given(text=texts)
@settings(max_examples=60)
@pytest.mark.parametrize("name", NAMES)
def test_tokenizers_reads_what_is_written(
    trained: dict[str, tuple[Encoding, Path]], name: str, text: str
) -> None:
    encoding, folder = trained[name]
    text = text.encode("utf-8", "replace").decode()
    expected = encoding.encode(text, allowed_special="all")
    theirs = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert theirs.encode(text, add_special_tokens=False).ids == expected
    model = tokenizers.models.BPE.from_file(str(folder / "vocab.json"), str(folder / "merges.txt"))
    theirs.model = model
    assert theirs.encode(text, add_special_tokens=False).ids == expected


@given(text=texts)
@settings(max_examples=60)
@pytest.mark.parametrize("name", NAMES)
def test_each_format_reads_back_the_same(
    trained: dict[str, tuple[Encoding, Path]], name: str, text: str
) -> None:
    encoding, folder = trained[name]
    expected = encoding.encode(text, allowed_special="all")
    read = [load(folder), load(folder / "tokenizer.json")]
    if name != DEEPSEEK:
        specials = encoding._special_tokens
        read += [
            load(folder / "mine.tiktoken", pattern=name, special_tokens=specials),
            load(folder / "vocab.json", pattern=name),
            load(folder / "encoder.json", pattern=name),
            load_gpt2(folder / "encoder.json", folder / "vocab.bpe", pattern=PATTERNS[name]),
        ]
    if name == "gpt2":
        read += [load(folder / "vocab.json"), load(folder / "merges.txt")]
    for one in read:
        assert one.encode(text, allowed_special="all") == expected
