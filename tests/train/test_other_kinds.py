"""What is for byte-level BPE alone says so for other kinds."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat_bpe import Encoding, get_encoding
from compat_bpe.report.unreachable import unreachable_tokens
from compat_bpe.save import save_gpt2, save_tiktoken, save_tokenizer_json
from compat_bpe.train.diff import changes
from compat_bpe.train.extend import Extender, extend
from compat_bpe.train.extended_vocabulary import GrowingVocabulary
from compat_bpe.train.write import write_vocabulary
from tests.kinds import KINDS, of_kind

OTHERS = [*KINDS, "words", "characters"]


def encoding_of(name: str) -> Encoding:
    return of_kind(name) if name in KINDS else get_encoding(name)


@pytest.mark.parametrize("name", OTHERS)
def test_nothing_is_extended_or_compared(name: str) -> None:
    encoding = encoding_of(name)
    with pytest.raises(ValueError, match="is no byte-level BPE, so it cannot be extended"):
        extend(encoding, ["hugs"], 1)
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
