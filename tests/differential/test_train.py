"""Training against ``BpeTrainer`` of Hugging Face tokenizers: the same merges in the same order.

And what is written is read by the real tiktoken and tokenizers, and by this package, and gives the
same ids.
"""

from __future__ import annotations

import json
import sysconfig
from pathlib import Path
from typing import Any, Callable, NamedTuple

import pytest
import tiktoken
import tiktoken.load
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import pre_tokenizers, trainers

from compat_bpe import Encoding, load
from compat_bpe.encodings.load import DEEPSEEK
from compat_bpe.encodings.published import PATTERNS
from compat_bpe.pipeline.byte_level import decode_bytes
from compat_bpe.save import save_tokenizer_json
from compat_bpe.train import Trainer, TrainingSettings, train_bpe
from compat_bpe.train.bpe.beginning import BYTES, make_encoding
from compat_bpe.train.write import write_vocabulary
from tests.differential.corpora import natural_texts
from tests.differential.reference import repaired
from tests.strategies import texts

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
    with Trainer(TrainingSettings(vocab_size, **options)) as trainer:
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
    corpus = [*map(repaired, corpus), "a"]
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


@pytest.mark.parametrize(
    "title",
    [
        pytest.param(title, marks=pytest.mark.sweep) if at else title
        for at, title in enumerate(natural_texts())
    ],
)
@pytest.mark.parametrize("pattern", ["gpt2", pytest.param(DEEPSEEK, marks=pytest.mark.sweep)])
def test_natural_texts(untrained: dict[str, str], title: str, pattern: str) -> None:
    corpus = natural_texts()[title]
    expected = reference_merges(untrained[pattern], corpus, 3000)
    assert len(expected) == 3000 - 256
    assert merges_of(corpus, 3000, pattern=pattern) == expected


class Written(NamedTuple):
    """A vocabulary, the folder it is written into, and what reads it from there."""

    encoding: Encoding
    folder: Path
    readers: dict[str, Callable[[str], list[int]]]


def write(name: str, folder: Path) -> Written:
    """Train with a pattern, write all formats, and have each read by whatever reads it."""
    sources = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[:40]
    corpus = [path.read_text("utf-8") for path in sources]
    corpus += ["naïve 世界你好 12345 \u0301\r\n"] * 40
    specials = ["<|endoftext|>", "<|pad|>"]
    encoding = train_bpe(corpus, 900, pattern=name, special_tokens=specials, name="mine")
    write_vocabulary(folder, encoding, pattern=name)

    def here(read: Encoding) -> Callable[[str], list[int]]:
        return lambda text: read.encode(text, allowed_special="all")

    def there(read: tokenizers.Tokenizer) -> Callable[[str], list[int]]:
        # It takes no surrogates.
        return lambda text: read.encode(repaired(text), add_special_tokens=False).ids

    ids = encoding._special_tokens
    readers = {"folder": here(load(folder)), "file": here(load(folder / "tokenizer.json"))}
    reference = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    readers["tokenizers"] = there(reference)
    reference = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    vocabulary, merges = str(folder / "vocab.json"), str(folder / "merges.txt")
    reference.model = tokenizers.models.BPE.from_file(vocabulary, merges)
    readers["tokenizers, vocab.json"] = there(reference)
    if name != DEEPSEEK:
        path = folder / "mine.tiktoken"
        readers["ranks"] = here(load(path, pattern=name, special_tokens=ids))
        readers["vocab.json"] = here(load(folder / "vocab.json", pattern=name))
        readers["encoder.json"] = here(load(folder / "encoder.json", pattern=name))
        ranks = tiktoken.load.load_tiktoken_bpe(str(path))
        # By tiktoken's own reader, which checks one file against the other.
        encoder = json.loads((folder / "encoder.json").read_bytes())
        without = folder.with_name("without_specials.json")
        without.write_text(json.dumps({k: v for k, v in encoder.items() if k not in ids}))
        merges, encoder = str(folder / "vocab.bpe"), str(without)
        assert tiktoken.load.data_gym_to_mergeable_bpe_ranks(merges, encoder) == ranks
        by_ranks = tiktoken.Encoding(
            "x", pat_str=PATTERNS[name], mergeable_ranks=ranks, special_tokens=ids
        )
        readers["tiktoken"] = lambda text: by_ranks.encode(text, allowed_special="all")
    if name == "gpt2":
        readers["vocab.json as it is"] = here(load(folder / "vocab.json"))
    return Written(encoding, folder, readers)


@pytest.fixture(scope="module", params=NAMES)
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Written:
    return write(request.param, tmp_path_factory.mktemp("written") / "mine")


@given(text=texts)
def test_whatever_reads_it_gives_the_same_ids(written: Written, text: str) -> None:
    expected = written.encoding.encode(text, allowed_special="all")
    for reader, encode in written.readers.items():
        assert encode(text) == expected, reader


@pytest.mark.parametrize("number", [4, pytest.param(20, marks=pytest.mark.sweep)])
def test_unseen_text(written: Written, number: int) -> None:
    sources = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[40 : 40 + number]
    for text in (path.read_text("utf-8") for path in sources):
        expected = written.encoding.encode(text, allowed_special="all")
        for reader, encode in written.readers.items():
            assert encode(text) == expected, reader
