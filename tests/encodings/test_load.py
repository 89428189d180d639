"""Encodings read from files are those that ship."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat_bpe import Encoding, get_encoding, load_gpt2, load_tiktoken
from compat_bpe.encodings.openai import PUBLISHED
from compat_bpe.encodings.vocabularies import load_ranks
from compat_bpe.formats.tiktoken import format_ranks

TEXT = "Hello wörld, it's 12345 字 😀\n\n  def f(x): pass<|endoftext|>"


def same(a: Encoding, b: Encoding) -> None:
    assert a._mergeable_ranks == b._mergeable_ranks
    assert a._special_tokens == b._special_tokens
    assert a._pat_str == b._pat_str
    assert a.encode(TEXT, allowed_special="all") == b.encode(TEXT, allowed_special="all")


def test_gpt2_files(gpt2_files: tuple[Path, Path]) -> None:
    loaded = load_gpt2(*gpt2_files)
    assert loaded.name == "encoder"
    same(loaded, get_encoding("gpt2"))


@pytest.mark.parametrize("by_name", [True, False])
def test_rank_file(tmp_path: Path, by_name: bool) -> None:
    path = tmp_path / "mine.tiktoken"
    path.write_bytes(format_ranks(load_ranks("p50k_base")))
    published = PUBLISHED["p50k_edit"]
    loaded = load_tiktoken(
        path,
        pattern="p50k_edit" if by_name else published.pattern,
        special_tokens=published.special_tokens,
    )
    assert loaded.name == "mine"
    same(loaded, get_encoding("p50k_edit"))


def test_small_files_of_the_repository() -> None:
    folder = Path(__file__).parents[2] / "fixtures" / "gpt2_small"
    loaded = load_gpt2(folder / "encoder.json", folder / "vocab.bpe", name="small")
    assert repr(loaded) == "<Encoding 'small'>"
    assert loaded.decode(loaded.encode(TEXT, disallowed_special=())) == TEXT


def test_missing_files_say_which(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load_tiktoken(tmp_path / "nowhere", pattern="gpt2")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load_gpt2(tmp_path / "nowhere", tmp_path / "nowhere")
