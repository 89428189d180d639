"""Going on from a vocabulary: as if its training had not stopped; superwords with limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding, load
from compat_bpe.encodings.load import DEEPSEEK
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.pipeline.core import chunks_of
from compat_bpe.save import save_gpt2, save_tiktoken, save_tokenizer_json
from compat_bpe.train import Convergence, Trainer, TrainingSettings, train_bpe
from compat_bpe.train.bpe.byte_level import SUPERBPE_NOT_JOINED, SUPERBPE_WORDS, Limits
from compat_bpe.train.bpe.growing import BYTES, make_encoding
from tests.train.bpe.plain_bpe import Merge, learned, merged

LINES = r"[^\n]*\n|[^\n]+"
PATTERNS = ["gpt2", "cl100k_base", "superbpe", LINES, DEEPSEEK]

corpora = st.lists(
    st.one_of(
        st.text("ab \n1:'", max_size=60),
        st.text("abcd e", max_size=100),
        st.text("aé世 :.", max_size=30),
    ),
    max_size=6,
).map(lambda texts: [*texts, "a"])


def trained(corpus: list[str], **settings: Any) -> tuple[Encoding, list[Merge]]:
    with Trainer(TrainingSettings(**settings)) as trainer:
        for text in corpus:
            trainer.feed(text)
        result = trainer.train()
    return result.encoding, [(merge.left, merge.right) for merge in result.merges]


def ordinary_chunks(encoding: Encoding, corpus: list[str]) -> list[bytes]:
    return [
        chunk
        for text in corpus
        for chunk in chunks_of(encoding.core, text)
        if isinstance(chunk, bytes)
    ]


@given(corpora, st.sampled_from(PATTERNS), st.integers(0, 12), st.integers(0, 12))
def test_two_trainings_are_one(corpus: list[str], pattern: str, first: int, more: int) -> None:
    start, _ = trained(corpus, num_merges=first, pattern=pattern)
    found, _ = trained(corpus, vocab_size=start.n_vocab + more, start=start)
    at_once, _ = trained(corpus, num_merges=start.n_vocab - 256 + more, pattern=pattern)
    assert found.core.encoder == at_once.core.encoder
    assert type(found) is type(at_once)
    assert all(found.encode_ordinary(text) == at_once.encode_ordinary(text) for text in corpus)


@given(
    corpora,
    corpora,
    st.sampled_from(PATTERNS),
    st.sampled_from(PATTERNS),
    st.integers(0, 12),
    st.integers(0, 12),
    st.none() | st.integers(1, 3),
    st.sets(st.sampled_from([": ", "\n", "a", " "])),
)
def test_two_stages_are_those_of_the_plain_rule(
    corpus: list[str],
    other: list[str],
    pattern: str,
    then: str,
    first: int,
    more: int,
    max_words: int | None,
    not_joined: set[str],
) -> None:
    start, merges = trained(corpus, num_merges=first, pattern=pattern)
    limits: dict[str, Any] = {"max_words": max_words, "not_joined": sorted(not_joined)}
    found, new = trained(other, num_merges=more, start=start, pattern=then, **limits)
    chunks = ordinary_chunks(found, other)
    expected = learned(chunks, more, merges, Limits(**limits).allow)
    assert [*merges, *new] == expected
    for chunk in {*chunks, *ordinary_chunks(found, corpus)}:
        tokens = [
            found.decode_single_token_bytes(one) for one in found.core.byte_level.ids_of(chunk)
        ]
        assert tokens == merged(chunk, expected)


def test_limits_are_those_of_superbpe() -> None:
    corpus = ["by the way of the old world: by the way of the old world: "] * 9
    start, _ = trained(corpus, num_merges=60)
    found, _ = trained(
        corpus,
        num_merges=60,
        start=start,
        pattern="superbpe",
        max_words=SUPERBPE_WORDS,
        not_joined=SUPERBPE_NOT_JOINED,
    )
    new = sorted(found.core.encoder, key=found.core.encoder.__getitem__)[start.n_vocab :]
    words = [len(token.split()) for token in new]
    assert max(words) == SUPERBPE_WORDS
    assert not any(b": " in token for token in new)
    assert found.count(corpus[0]) < start.count(corpus[0])


@pytest.mark.parametrize("form", ["ranks", "json", "gpt2"])
def test_any_file_is_gone_on_from(form: str, tmp_path: Path) -> None:
    corpus = ["a low lower lowest newer newest wide wider"] * 4
    start = train_bpe(corpus, 270, special_tokens=["<|end|>"])
    save_tiktoken(start, tmp_path / "v.tiktoken")
    save_tokenizer_json(start, tmp_path / "tokenizer.json")
    save_gpt2(start, tmp_path / "encoder.json", tmp_path / "vocab.bpe")
    read = {
        "ranks": lambda: load(
            tmp_path / "v.tiktoken", pattern="gpt2", special_tokens={"<|end|>": 269}
        ),
        "json": lambda: load(tmp_path / "tokenizer.json"),
        "gpt2": lambda: load(tmp_path / "vocab.bpe"),
    }[form]()
    found = train_bpe(corpus, 275, start=read)
    expected = train_bpe(corpus, 274)
    # The special token keeps its id; what follows is what training at once gives.
    assert found.special_tokens == {"<|end|>": 269}
    assert found.n_vocab == 275
    tokens = sorted(found.core.encoder, key=found.core.encoder.__getitem__)
    assert tokens == sorted(expected.core.encoder, key=expected.core.encoder.__getitem__)
    assert found.encode("<|end|>", allowed_special="all") == [269]


def test_special_tokens() -> None:
    start = train_bpe(["low lower"] * 3, 262, special_tokens=["<|end|>"])
    found = train_bpe(["low lower"] * 3, 266, start=start, special_tokens=["<|end|>", "<|pad|>"])
    assert found.special_tokens["<|end|>"] == 261
    assert found.special_tokens["<|pad|>"] == found.n_vocab - 1
    with pytest.raises(ValueError, match="'low' is written like a token of 'trained'"):
        TrainingSettings(266, start=start, special_tokens=["low"])
    # A name that merging would make stays a special token, and no token is made of it.
    start = train_bpe(["xy"], 257, special_tokens=["lo"], num_merges=0)
    assert b"lo" not in train_bpe(["low low"], 262, start=start).core.encoder


def test_a_tokenizer_with_steps_of_its_own_keeps_them() -> None:
    corpus = ["by the way, 1234 ribosomes"] * 5
    start = train_bpe(corpus, 262, pattern=DEEPSEEK, special_tokens=["<|end|>"])
    assert isinstance(start, Tokenizer)
    found = train_bpe(corpus, 265, start=start)
    assert isinstance(found, Tokenizer)
    assert found.definition.parts == start.definition.parts
    assert TrainingSettings(265, start=start).kind.pattern_name == DEEPSEEK
    other = train_bpe(corpus, 280, start=start, pattern="superbpe")
    assert other.decode([other.n_vocab - 1]) == "by the way, "
    assert TrainingSettings(280, start=start, pattern="gpt2").kind.pattern_name == (
        "that of tokenizer.json"
    )


def test_what_can_not_be_gone_on_from() -> None:
    with pytest.raises(ValueError, match="'words' is no byte-level BPE, so it cannot be gone on"):
        TrainingSettings(num_merges=1, start=get_encoding("words"))
    with pytest.raises(ValueError, match="'gpt2' has 50257 tokens, and the size counts in all"):
        TrainingSettings(50256, start=get_encoding("gpt2"))
    with pytest.raises(ValueError, match="max_words is 0"):
        TrainingSettings(300, max_words=0)
    with pytest.raises(ValueError, match="is empty: every token contains that"):
        TrainingSettings(300, not_joined=[""])
    with pytest.raises(TypeError, match="pass a list"):
        TrainingSettings(300, not_joined="ab")


def test_weights_counts_and_convergence_as_at_once() -> None:
    texts = {"a": ["low lower lowest"] * 9, "b": ["new newer newest"] * 4}
    options: dict[str, Any] = {"weights": {"b": 5.0}}
    start = train_bpe(texts, 264, **options)
    assert (
        train_bpe(texts, 272, start=start, **options).core.encoder
        == train_bpe(texts, 272, **options).core.encoder
    )
    counts = {"low": 3, " lower": 3, " lowest": 3, " new": 3, " newer": 3}
    start = train_bpe(counts=counts, vocab_size=258)
    assert (
        train_bpe(counts=counts, vocab_size=263, start=start).core.encoder
        == train_bpe(counts=counts, vocab_size=263).core.encoder
    )
    with Trainer(
        TrainingSettings(262, start=start, convergence=Convergence(None, 0, 1))
    ) as trainer:
        trainer.feed("low lower lowest")
        trainer.hold_out("low lower lowest")
        found = trainer.train()
    assert [point.tokens for point in found.curve] == [258, 259, 260, 261, 262]
    assert found.curve[-1].bytes_per_token == pytest.approx(
        16 / found.encoding.count("low lower lowest")
    )
    assert found.curve[0].bytes_per_token == pytest.approx(16 / start.count("low lower lowest"))


@given(st.lists(st.text("abcd ", max_size=40), max_size=6), st.integers(0, 6))
def test_tokens_that_merging_never_made_are_made_later(corpus: list[str], more: int) -> None:
    corpus = [*corpus, "abcd abc bcd"]
    tokens = [*BYTES, b"abcd", b"bcd", b" abc"]
    start = make_encoding("unmade", LINES, tokens, [])
    with Trainer(TrainingSettings(num_merges=more, start=start)) as trainer:
        for text in corpus:
            trainer.feed(text)
        found = trainer.train()
    assert found.tokens == sum(map(found.encoding.count, corpus))
