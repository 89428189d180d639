"""What is for byte-level BPE alone says so for other kinds."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat_bpe import Encoding, get_encoding
from compat_bpe.report.unreachable import unreachable_tokens
from compat_bpe.save import save_gpt2, save_tiktoken, save_tokenizer_json
from compat_bpe.train import train_character_bpe, train_sentencepiece
from compat_bpe.train.bpe.growing import GrowingVocabulary
from compat_bpe.train.diff import changes
from compat_bpe.train.extend.extend import Extender, extend, make_extender
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
    for call in (extend, make_extender):
        with pytest.raises(ValueError, match=REFUSED[name]):
            call(encoding)


def test_models_of_sentencepiece_are_not_extended() -> None:
    encoding = train_sentencepiece(["hug pug"], 10)
    with pytest.raises(ValueError, match="is a model of SentencePiece, which cannot be extended"):
        extend(encoding, ["hug"], 1)


def test_bytes_with_marks_are_not_extended() -> None:
    encoding = train_character_bpe(["hug pug"], 300, suffix="$", pre_tokenizer="byte-level")
    with pytest.raises(ValueError, match="is BPE over bytes with marks, which cannot be extended"):
        extend(encoding, ["hug"], 1)


@pytest.mark.parametrize("name", OTHERS)
def test_nothing_is_extended_by_bytes_or_compared(name: str) -> None:
    encoding = encoding_of(name)
    with pytest.raises(ValueError, match="is no byte-level BPE, so it cannot be extended"):
        Extender(encoding)
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
