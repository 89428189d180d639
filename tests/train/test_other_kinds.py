"""What is for byte-level BPE alone says so for other kinds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compat_bpe import Encoding, get_encoding, load
from compat_bpe.report.unreachable import unreachable_tokens
from compat_bpe.save import save_gpt2, save_tiktoken, save_tokenizer_json
from compat_bpe.train import (
    CharacterBpeSettings,
    SentencePieceSettings,
    Trainer,
    TrainingSettings,
    train,
)
from compat_bpe.train.bpe.growing import GrowingVocabulary
from compat_bpe.train.extend import Extender, changes, extend
from compat_bpe.train.write import write_vocabulary
from tests.kinds import KINDS, of_kind

OTHERS = [*KINDS, "words", "characters"]


def encoding_of(name: str) -> Encoding:
    return of_kind(name) if name in KINDS else get_encoding(name)


REFUSED = {
    "unigram": "is a Unigram model, which cannot be extended: the scores of all pieces would",
    "unigram_bytes": "is a Unigram model, which cannot be extended: the scores of all pieces would",
    "words": "is a baseline, which cannot be extended: it has no vocabulary",
    "characters": "is a baseline, which cannot be extended: it has no vocabulary",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_extended(name: str) -> None:
    encoding = encoding_of(name)
    for call in (extend, Extender):
        with pytest.raises(ValueError, match=REFUSED[name]):
            call(encoding)


def test_models_of_sentencepiece_are_not_extended() -> None:
    encoding = train(["hug pug"], SentencePieceSettings(10))
    with pytest.raises(ValueError, match="is a model of SentencePiece, which cannot be extended"):
        extend(encoding, ["hug"], 1)


def test_bytes_with_marks_are_not_extended() -> None:
    encoding = train(["hug pug"], CharacterBpeSettings(300, suffix="$", pre_tokenizer="byte-level"))
    with pytest.raises(ValueError, match="is BPE over bytes with marks, which cannot be extended"):
        extend(encoding, ["hug"], 1)


@pytest.mark.parametrize("name", OTHERS)
def test_nothing_is_extended_by_bytes_or_compared(name: str) -> None:
    encoding = encoding_of(name)
    with pytest.raises(ValueError, match="is no byte-level BPE, so it cannot be extended"):
        GrowingVocabulary(encoding)
    for pair in ((encoding, get_encoding("gpt2")), (get_encoding("gpt2"), encoding)):
        with pytest.raises(ValueError, match="is no byte-level BPE, so it cannot be compared"):
            changes(*pair, ["hugs"])
    with pytest.raises(ValueError, match="is no byte-level BPE: what no text gives is not known"):
        list(unreachable_tokens(encoding))


@pytest.mark.parametrize("name", OTHERS)
def test_nothing_is_saved_as_ranks(name: str, tmp_path: Path) -> None:
    encoding = encoding_of(name)
    with pytest.raises(ValueError, match="is no byte-level BPE"):
        save_tiktoken(encoding, tmp_path / "a.tiktoken")
    with pytest.raises(ValueError, match="is no byte-level BPE"):
        save_gpt2(encoding, tmp_path / "encoder.json", tmp_path / "vocab.bpe")
    for kind in ("tiktoken", "gpt2", "vocab-merges"):
        with pytest.raises(ValueError, match="is no byte-level BPE"):
            write_vocabulary(tmp_path / "new", encoding, pattern="gpt2", formats=[kind])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["words", "characters"])
def test_a_baseline_is_no_file(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"is no byte-level BPE|cannot hold"):
        save_tokenizer_json(get_encoding(name), tmp_path / "tokenizer.json")


def test_files_of_one_training_give_the_same_ids(tmp_path: Path) -> None:
    """The line of the merge of "#version" and "s" would be skipped as a heading by readers."""
    lines = "#version\n#versions\n#versioned\n"
    settings = TrainingSettings(280, pattern="cl100k_base", special_tokens=["<|end|>", "[PAD]"])
    with Trainer(settings, name="mine") as trainer:
        trainer.feed(lines * 200)
        trained = trainer.train()

    def write(name: str, **options: Any) -> set[str]:
        encoding, merges = trained.encoding, trained.merges
        pattern = "cl100k_base"
        folder = tmp_path / name
        return {*write_vocabulary(folder, encoding, pattern=pattern, merges=merges, **options)}

    with pytest.raises(ValueError, match=r"vocab\.bpe: it cannot hold .*'#version'"):
        write("out")
    assert list(tmp_path.iterdir()) == []
    reasons: dict[str, str] = {}
    written = write("out", left_out=reasons.__setitem__)
    assert reasons.keys() == {"gpt2", "vocab-merges"}
    for name in ("mine.tiktoken", "tokenizer.json"):
        assert load(tmp_path / "out" / name).encode(lines) == trained.encoding.encode(lines)
    assert written == {
        "mine.tiktoken", "tokenizer.json", "tokenizer_config.json", "token_map.tsv", "manifest.json"
    }  # fmt: skip
    formats = ["gpt2", "vocab-merges", "token-map"]
    with pytest.raises(ValueError, match="it cannot hold"):  # nothing would be left
        write("none", formats=formats, left_out=reasons.__setitem__)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(("name", "id_"), [("<s>", 65), ("\ud800", 261)])
def test_what_the_token_map_cannot_hold(tmp_path: Path, name: str, id_: int) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    enc = Encoding("mine", pat_str=".", mergeable_ranks=ranks, special_tokens={name: id_})
    with pytest.raises(ValueError, match=r"the special token .* has (the id|a lone)"):
        write_vocabulary(tmp_path / "out", enc, pattern=".", formats=["token-map"])
