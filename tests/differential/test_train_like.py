"""Training a tokenizer anew, against what ``train_new_from_iterator`` of transformers does.

transformers takes a tokenizer's file, empties the model, and trains it with the trainer of its
kind, the marks of BPE and the special tokens. ``trained_there`` does these steps with tokenizers.
"""

from __future__ import annotations

import json
import sysconfig
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from tokenizers import trainers

from compat_bpe import load
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.save import save_tokenizer_json
from compat_bpe.train import (
    train,
)
from compat_bpe.train.kinds import TOKENIZER_KINDS, kind_of
from tests.kinds import kind_path

SOURCES = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
CORPUS = [path.read_text("utf-8")[:9_000] for path in SOURCES[5:9]] + [
    "naïve 世界 🙂 a</w> ##b"
] * 3

#: A token that is not special, which only Unigram keeps.
ADDED = {"content": "<b>", "single_word": False, "lstrip": True, "rstrip": False}

TRAINERS: dict[str, Any] = {
    "BPE": trainers.BpeTrainer,
    "WordPiece": trainers.WordPieceTrainer,
    "WordLevel": trainers.WordLevelTrainer,
    "Unigram": trainers.UnigramTrainer,
}


def file_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(kind_path(name)).read_text("utf-8"))
    # The processors' tokens may be no special ones, which the reference refuses.
    found["post_processor"] = found["padding"] = found["truncation"] = None
    ids = [one["id"] for one in found["added_tokens"]]
    vocab = found["model"]["vocab"]
    found["added_tokens"].append(
        {"id": max([*ids, len(vocab) - 1]) + 1, **ADDED, "normalized": True, "special": False}
    )
    return found


def trained_there(file: dict[str, Any], size: int) -> dict[str, Any]:
    model = {**file["model"]}
    kind = model["type"]
    options: dict[str, Any] = {}
    if kind == "Unigram":
        unknown = model["vocab"][model["unk_id"]][0]
        model.update(unk_id=0, vocab=[[unknown, 0.0]])
        options["unk_token"] = unknown
    else:
        model["vocab"] = {}
    if kind == "BPE":
        model["merges"] = []
        for name in ("continuing_subword_prefix", "end_of_word_suffix"):
            if model.get(name) is not None:
                options[name] = model[name]
    special = [
        tokenizers.AddedToken(
            **{name: value for name, value in one.items() if name not in ("id", "special")}
        )
        for one in file["added_tokens"]
        if one["special"] or kind == "Unigram"
    ]
    there = tokenizers.Tokenizer.from_str(json.dumps({**file, "added_tokens": [], "model": model}))
    trainer = TRAINERS[kind](
        vocab_size=size, special_tokens=special, show_progress=False, **options
    )
    there.train_from_iterator(CORPUS, trainer)
    found: dict[str, Any] = json.loads(there.to_str())
    return found


def trained_here(file: dict[str, Any], size: int, folder: Path) -> dict[str, Any]:
    (folder / "like.json").write_text(json.dumps(file), "utf-8")
    like = load(folder / "like.json")
    assert isinstance(like, Tokenizer)
    enc = train(CORPUS, TOKENIZER_KINDS[kind_of(like)].makes(size, like=like), workers=1)
    save_tokenizer_json(enc, folder / "tokenizer.json")
    read = load(folder / "tokenizer.json")
    assert [enc.encode(text) for text in CORPUS] == [read.encode(text) for text in CORPUS]
    found: dict[str, Any] = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    return found


@pytest.mark.parametrize("no_mark", [None, ""])
@pytest.mark.parametrize("name", ["word_level", "characters_byte_fallback"])
def test_a_tokenizer_anew_is_that_of_the_reference(
    name: str, no_mark: str | None, tmp_path: Path
) -> None:
    file = file_of(name)
    if file["model"]["type"] == "BPE":
        file["model"].update(continuing_subword_prefix=no_mark, end_of_word_suffix=no_mark)
    assert trained_here(file, 500, tmp_path) == trained_there(file, 500)


@pytest.mark.parametrize("name", ["wordpiece", "characters_end_of_word"])
def test_but_for_the_numbers_of_characters_with_a_mark(name: str, tmp_path: Path) -> None:
    file = file_of(name)
    # No merges: those of equally frequent pairs go by the numbers.
    here, there = trained_here(file, 1, tmp_path), trained_there(file, 1)
    vocab, expected = here["model"].pop("vocab"), there["model"].pop("vocab")
    assert here == there
    assert {*vocab} == {*expected}
    plain = [token for token in expected if len(token) == 1]
    assert [vocab[token] for token in plain] == [expected[token] for token in plain]


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["unigram", "unigram_bytes"])
def test_but_for_the_scores_of_characters(name: str, tmp_path: Path) -> None:
    file = file_of(name)
    here, there = trained_here(file, 500, tmp_path), trained_there(file, 500)
    pieces, expected = dict(here["model"].pop("vocab")), dict(there["model"].pop("vocab"))
    assert here == there
    assert pieces.keys() == expected.keys()
    assert pieces == pytest.approx(expected, abs=0.02)
