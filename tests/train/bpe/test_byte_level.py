"""What training gives; that the merges are the right ones is tested in ``differential``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.pipeline.byte_level import BYTE_TO_UNICODE
from compat_bpe.train import Trained, Trainer, TrainingSettings, train_bpe
from tests.train.hash_seeds import outputs


def train(texts: list[str], *args: Any, **options: Any) -> Trained:
    with Trainer(TrainingSettings(*args, **options)) as trainer:
        for text in texts:
            trainer.feed(text)
        return trainer.train()


def test_ids_are_those_of_bytes_then_merges_then_special_tokens() -> None:
    enc = train_bpe(["hug hug hugs"], 260, special_tokens=["<|a|>", "<|b|>"], name="mine")
    assert (enc.name, enc.n_vocab) == ("mine", 260)
    assert [enc.decode_single_token_bytes(i) for i in range(256)] == [
        bytes([byte]) for byte in BYTE_TO_UNICODE
    ]
    assert [enc.decode([256]), enc.decode([257])] == ["hu", "hug"]
    assert enc.special_tokens == {"<|a|>": 258, "<|b|>": 259}
    assert enc.encode("hug<|b|>", allowed_special="all") == [257, 259]


def test_it_stops_where_it_is_told_to() -> None:
    text = ["hug hug pug pug bun"]
    assert len(train(text, 258).merges) == 2
    assert len(train(text, num_merges=3).merges) == 3
    assert len(train(text, 300, num_merges=1).merges) == 1
    assert train(text, 258).stopped == train(text, num_merges=3).stopped == "size"
    everything = train(text, 300)
    assert everything.stopped == "nothing left"
    assert {merge.left + merge.right for merge in everything.merges} >= {b" pug", b" bun"}
    twice = train(text, 300, min_frequency=2)
    assert twice.stopped == "nothing left"
    assert min(merge.frequency for merge in twice.merges) == 2
    short = train(text, 300, max_token_length=3)
    assert max(len(merge.left + merge.right) for merge in short.merges) == 3
    assert train(text, 256).merges == []


def test_what_it_says_of_the_corpus() -> None:
    trained = train(["hug hug", "naïve"], 259)
    assert (trained.bytes, trained.chunks, trained.distinct_chunks) == (7 + 6, 3, 3)
    expected = sum(map(trained.encoding.count, ["hug hug", "naïve"]))
    assert trained.tokens == expected


@given(st.lists(st.text("ab c", max_size=30), min_size=1), st.integers(256, 280))
def test_the_tokens_that_are_left_are_those_of_encoding(texts: list[str], size: int) -> None:
    texts = [*texts, "a"]
    trained = train(texts, size)
    assert trained.tokens == sum(map(trained.encoding.count, texts))


def test_the_steps_of_deepseek() -> None:
    enc = train_bpe(["abc 12345 世界"] * 3, 270, pattern="deepseek", special_tokens=["<|a|>"])
    assert isinstance(enc, Tokenizer)
    assert enc.encode("<|a|>", allowed_special="all") == [enc.n_vocab - 1]
    assert enc.decode(enc.encode("abc 12345 世界")) == "abc 12345 世界"


def test_a_large_group_does_not_drown_a_small_one() -> None:
    texts = {"large": ["aa "] * 1000, "small": ["bb "] * 10}
    plain = [m.left for m in train_groups(texts).merges]
    assert plain.index(b"a") < plain.index(b"b")
    weighted = train_groups(texts, weights={"small": 2})
    assert weighted.merges[0][:2] == (b"b", b"b")
    # So that the bytes of the small group are twice those of the large one.
    assert weighted.factors == {"large": 1, "small": 200}
    assert (weighted.merges[0].frequency, weighted.bytes) == (2000, 3030)
    # No pair is made rarer by weights.
    assert train_groups(texts, weights={"small": 0.001}).factors == {"large": 10, "small": 1}


def train_groups(texts: dict[str, list[str]], **options: Any) -> Trained:
    with Trainer(TrainingSettings(num_merges=3, **options)) as trainer:
        for group, some in texts.items():
            for text in some:
                trainer.feed(text, group)
        return trainer.train()


def test_texts_by_group() -> None:
    enc = train_bpe({"a": iter(["aa "] * 9), "b": ["bb "]}, 257, weights={"b": 9})
    assert enc.decode([256]) == "bb"


def test_the_same_whatever_the_hash_seed_and_the_workers() -> None:
    script = (
        "import sys\n"
        "from compat_bpe.corpus import chunk_counts as chunks\n"
        "from compat_bpe.train import Trainer, TrainingSettings\n"
        "settings = TrainingSettings(400, weights={'b': 3})\n"
        "chunks._SHARE, chunks._WORTH_WORKERS = 300, 1000\n"
        "with Trainer(settings, workers=int(sys.argv[1])) as trainer:\n"
        "    for i in range(300):\n"
        "        trainer.feed(f'word{i % 50} and number {i * i}\\n', 'ab'[i % 2])\n"
        "    trained = trainer.train()\n"
        "print(trained.merges, trained.factors)\n"
    )
    assert len(outputs(script, workers=(1, 3))) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: train_bpe([], 300), "there is no text to learn from"),
        (lambda: train_bpe(["", ""], 300), "there is no text to learn from"),
        (lambda: train_bpe(["a"], 300, pattern="b"), "there is no text to learn from"),
        (lambda: train_bpe(["a"]), "give vocab_size, num_merges or convergence"),
        (
            lambda: train_bpe(["a"], 255),
            "a vocabulary of 255 is too small: .* it has 256 tokens or more",
        ),
        (lambda: train_bpe(["a"], 257, special_tokens=["<a>", "<b>"]), "it has 258 tokens or more"),
        (lambda: train_bpe(["a"], 1_200_000), "a vocabulary of 1200000 is too large"),
        (lambda: train_bpe(["a"], num_merges=-1), "num_merges is -1"),
        (lambda: train_bpe(["a"], 300, min_frequency=-1), "min_frequency is -1"),
        (lambda: train_bpe(["a"], 300, max_token_length=0), "max_token_length is 0"),
        (lambda: train_bpe(["a"], 300, special_tokens=[""]), "a special token has an empty name"),
        (lambda: train_bpe(["a"], 300, special_tokens=["<a>", "<a>"]), "'<a>' is named twice"),
        (lambda: train_bpe(["a"], 300, special_tokens=["a"]), "written like a single byte's token"),
        (lambda: train_bpe(["a"], 300, special_tokens=["Ġ"]), "written like a single byte's token"),
        (lambda: train_bpe(["a"], 300, special_tokens=["\ud800"]), "has a lone surrogate"),
        (
            lambda: train_bpe(["the the"], 300, special_tokens=["the"]),
            "'the' is also the result of merge 2",
        ),
        (
            lambda: train_bpe([" a a"], 300, special_tokens=["Ġa"]),
            "'Ġa' is also the result of merge 1:",
        ),
        (lambda: train_bpe(["a"], 300, pattern="("), "the pattern cannot be used: "),
        (lambda: train_bpe(["a"], 300, pattern="cl100k"), "unknown pattern 'cl100k' .did you mean"),
        (lambda: train_bpe(["a"], 300, weights={"": 0}), "the weight of '' is 0; it must be pos"),
        (lambda: train_bpe(["a"], 300, weights={"": float("inf")}), "the weight of '' is inf"),
        (lambda: train_bpe(["a"], 300, weights={"": float("nan")}), "the weight of '' is nan"),
        (
            lambda: train_bpe({"x": ["a"]}, 300, weights={"y": 1}),
            "for 'y', but no such text; the groups",
        ),
        (lambda: train_bpe(["a"], 300, workers=0), "workers is 0"),
    ],
)
def test_what_is_wrong_is_said(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_texts_are_several() -> None:
    with pytest.raises(TypeError, match="texts is a str; pass a list"):
        train_bpe("abc", 300)
    with pytest.raises(TypeError, match="text must be a str, not bytes"):
        train_bpe([b"abc"], 300)  # type: ignore[list-item]
    with pytest.raises(TypeError, match="special_tokens is the str"):
        train_bpe(["abc"], 300, special_tokens="<s>")
