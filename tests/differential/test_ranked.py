"""JSON with ranks and a pattern, against tiktoken with the same ranks and pattern.

The programs that such files are for use tiktoken, or do what it does.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given, settings

import compat_bpe
from compat_bpe.unicode.surrogates import repair
from tests import corpora
from tests.differential.reference import Pair, sample
from tests.examples import scaled
from tests.strategies import texts
from tools.reference_files import reference_file

#: The files of npm's packages, and the shipped encodings that they are.
RANKS = {
    "cl100k_base_npm": "cl100k_base",
    "o200k_base_npm": "o200k_base",
    "gpt2_npm": "gpt2",
    "p50k_base_npm": "p50k_base",
    "p50k_edit_npm": "p50k_edit",
    "cl100k_base_js": "cl100k_base",
    "o200k_base_js": "o200k_base",
}
#: What a file of Grok 2 has, with the first tokens of another vocabulary.
GROK_SIZE = 20_000
GROK_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
GROK_SPECIAL = {
    "<|pad|>": 20_000,
    "<|separator|>": 20_001,
    "<|eos|>": 20_002,
    "<|control1|>": 20003,
}
KINDS = [*RANKS, "grok"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ranked")


@cache
def both(name: str, folder: Path) -> Pair:
    if name == "grok":
        path = folder / "tokenizer.tok.json"
        listed = compat_bpe.get_encoding("cl100k_base")._mergeable_ranks.items()
        ranks = {token: rank for token, rank in listed if rank < GROK_SIZE}
        pattern, special = GROK_PATTERN, GROK_SPECIAL
        named = [(name.encode(), id_) for name, id_ in special.items()]
        file = {
            "regular_tokens": [{"bytes": [*data], "token": id_} for data, id_ in ranks.items()],
            "special_tokens": [{"bytes": [*data], "token": id_} for data, id_ in named],
            "word_split": "V1",
            "vocab_size": GROK_SIZE + len(special),
        }
        path.write_text(json.dumps(file))
    else:
        path = reference_file(name)
        data = path.read_text("utf-8")
        if path.suffix == ".js":
            data = data[len("export default ") : -len(";")]
            path = folder / f"{name}.json"
            path.write_text(data, "utf-8")
        pattern = json.loads(data)["pat_str"]
        shipped = compat_bpe.get_encoding(RANKS[name])
        ranks, special = shipped._mergeable_ranks, shipped._special_tokens
    theirs = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)
    return Pair(compat_bpe.load(path), theirs)


@pytest.mark.sweep
@pytest.mark.parametrize("name", KINDS)
def test_vocabularies(name: str, folder: Path) -> None:
    ours, theirs = both(name, folder)
    assert ours._mergeable_ranks == theirs._mergeable_ranks
    assert ours._special_tokens == theirs._special_tokens
    assert ours._pat_str == theirs._pat_str
    assert ours.n_vocab == theirs.n_vocab


@pytest.mark.parametrize("name", KINDS)
@given(text=texts.map(repair))
@settings(max_examples=scaled(300))
def test_hard_texts(name: str, folder: Path, text: str) -> None:
    ours, theirs = both(name, folder)
    ids = theirs.encode(text, allowed_special="all")
    assert ours.encode(text, allowed_special="all") == ids
    assert ours.decode_bytes(ids) == theirs.decode_bytes(ids)
    assert ours.encode_ordinary(text) == theirs.encode_ordinary(text)


@pytest.mark.parametrize("name", KINDS)
def test_classes_of_characters(name: str, folder: Path) -> None:
    ours, theirs = both(name, folder)
    for text in (sample(), "".join(f"a{char}B{char}{char} \n" for char in sample())):
        assert ours.encode_ordinary(text) == theirs.encode_ordinary(text)


@pytest.mark.sweep
@pytest.mark.parametrize("name", RANKS)
def test_natural_texts_have_the_ids_of_the_shipped_encoding(name: str, folder: Path) -> None:
    """The patterns are older ones than those of today's tiktoken, and nearly the same."""
    shipped = compat_bpe.get_encoding(RANKS[name])
    for path in corpora.TEXTS:
        text = path.read_text("utf-8")[:100_000]
        assert both(name, folder).ours.encode_ordinary(text) == shipped.encode_ordinary(text), path
