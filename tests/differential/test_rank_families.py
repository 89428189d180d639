"""Published rank files of known families, against tiktoken with what the family's code gives it."""

from __future__ import annotations

import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe import Encoding, load
from compat_bpe.encodings.published import PATTERNS
from compat_bpe.formats.tiktoken import format_ranks, read_ranks
from tests.corpora import TEXTS
from tests.strategies import texts
from tools.reference_files import reference_file

#: The patterns as the code of each family has them, and some special tokens with their ids there.
_WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
FAMILIES: dict[str, tuple[str, dict[str, int]]] = {
    "qwen_ranks": (_WORDS + r"\p{N}" + _REST, {"<|endoftext|>": 151643, "<|extra_204|>": 151850}),
    "llama_3_ranks": (
        _WORDS + r"\p{N}{1,3}" + _REST,
        {"<|begin_of_text|>": 128000, "<|eot_id|>": 128009, "<|python_tag|>": 128010},
    ),
    "llama_4_ranks": (
        PATTERNS["o200k_base"],
        {"<|header_start|>": 200005, "<|image_start|>": 200080, "<|patch|>": 200092},
    ),
    "whisper_ranks": (
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        {"<|startoftranscript|>": 50258, "<|notimestamps|>": 50363, "<|30.00|>": 51864},
    ),
}
#: The number of ids in each.
SIZES = {
    "qwen_ranks": 151851,
    "llama_3_ranks": 128256,
    "llama_4_ranks": 202048,
    "whisper_ranks": 51865,
}


@cache
def both(name: str) -> tuple[Encoding, Any]:
    path = reference_file(name)
    pattern, special = FAMILIES[name]
    ranks = read_ranks(path)
    there = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)
    return load(path), there


def normalized(name: str, text: str) -> str:
    return unicodedata.normalize("NFC", text) if name == "qwen_ranks" else text


@pytest.mark.parametrize("name", FAMILIES)
def test_published_ranks(name: str) -> None:
    here, there = both(name)
    assert here.n_vocab == SIZES[name]
    special = FAMILIES[name][1]
    assert {one: here.special_tokens[one] for one in special} == special

    @given(texts)
    @example("<|endoftext|>\u0338 e\u0301 q\u0307\u0323 123456 I'LL Ünï\r\n\r\n  x")
    def check(text: str) -> None:
        text_there = normalized(name, text)
        assert here.encode_ordinary(text) == there.encode_ordinary(text_there)
        ids = here.encode(text, allowed_special=set(special), disallowed_special=())
        assert ids == there.encode(text_there, allowed_special="all")

    check()


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("path", TEXTS[:4], ids=lambda path: path.name)
def test_files(name: str, path: Path) -> None:
    here, there = both(name)
    text = path.read_text(encoding="utf-8", errors="replace")[:20_000]
    assert here.encode_ordinary(text) == there.encode_ordinary(normalized(name, text))


def test_kimi_splits_as_its_pattern(tmp_path: Path) -> None:
    """Its file is in no registry: the pattern, with ranks that show where chunks end."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    for word in ("漢字", "漢a", "a漢", "aA", "Aa", " a", "'ll", "12", "\n\n", "々〇", "!\n"):
        for stop in range(2, len(word.encode()) + 1):
            ranks.setdefault(word.encode()[:stop], len(ranks))
    not_han = r"&&[^\p{Han}]]"
    upper, lower = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}"
    start, end = r"[^\r\n\p{L}\p{N}]?", r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    pattern = "|".join(
        [
            r"[\p{Han}]+",
            f"{start}{upper}{not_han}*{lower}{not_han}+{end}",
            f"{start}{upper}{not_han}+{lower}{not_han}*{end}",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        ]
    )
    path = tmp_path / "tiktoken.model"
    path.write_bytes(format_ranks(ranks))
    here = load(path, pattern="kimi")
    there = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})

    @given(st.one_of(texts, st.text("漢字々〇aAbÜ 12'lL\n!ー́한", max_size=30)))
    def check(text: str) -> None:
        assert here.encode_ordinary(text) == there.encode_ordinary(text)

    check()
