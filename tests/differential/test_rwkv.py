"""RWKV's list of tokens, against the program of the package ``rwkv`` and its plain rule.

The program takes half a gigabyte of memory for the list. So most comparisons are with its rule, and
the rule is compared with the program in a sweep. The package needs torch, but this file of it does
not: it is run by itself.
"""

from __future__ import annotations

from ast import literal_eval
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compat_bpe
from compat_bpe.encodings.tokenizer import Rwkv
from compat_bpe.unicode.surrogates import repair
from tests import corpora
from tests.differential.reference import sample
from tests.examples import scaled
from tests.strategies import texts
from tools.reference_files import reference_file


@cache
def ours() -> Rwkv:
    enc = compat_bpe.load(reference_file("rwkv"))
    assert isinstance(enc, Rwkv)
    return enc


@cache
def tokens() -> dict[bytes, int]:
    """The list as Python reads it."""
    found: dict[bytes, int] = {}
    for line in reference_file("rwkv").read_text("utf-8").splitlines():
        token = literal_eval(line[line.index(" ") + 1 : line.rindex(" ")])
        data = token.encode() if isinstance(token, str) else token
        assert len(data) == int(line[line.rindex(" ") :])
        found[data] = int(line[: line.index(" ")])
    return found


def plain(text: str) -> list[int]:
    """The rule: the longest token at each place."""
    data, ids, start = text.encode(), [], 0
    while start < len(data):
        end = next(end for end in range(start + 128, start, -1) if data[start:end] in tokens())
        ids.append(tokens()[data[start:end]])
        start = min(end, len(data))
    return ids


def test_vocabulary() -> None:
    assert ours().ordinary_tokens() == tokens()
    assert max(map(len, tokens())) == 128
    assert ours().n_vocab == 65_530
    assert ours().decode([0]) == "<|endoftext|>"


@given(texts.map(repair))
@settings(max_examples=scaled(500))
def test_hard_texts(text: str) -> None:
    ids = plain(text)
    assert ours().encode(text, disallowed_special=()) == ids
    assert ours().count(text) == len(ids)
    assert ours().decode(ids) == text
    assert ours().encode_with_offsets(text, disallowed_special=()).ids == ids


@given(st.lists(st.integers(1, 65_529), max_size=20))
def test_any_ids(ids: list[int]) -> None:
    names = {id_: token for token, id_ in tokens().items()}
    data = b"".join(map(names.__getitem__, ids))
    assert ours().decode_bytes(ids) == data
    text = data.decode(errors="replace")
    assert ours().encode(text, disallowed_special=()) == plain(text)


def test_classes_of_characters() -> None:
    for text in (sample(), "".join(f"a{char}B{char}{char} \n" for char in sample())):
        assert ours().encode_ordinary(text) == plain(text)


def test_most_places_between_words_are_cut_points() -> None:
    text = "Some words, and more of them.\nA new line:\n\n世界は広い。"
    cuts, cut = [], ours().core.next_cut_point(text)
    while cut is not None:
        cuts.append(cut)
        cut = ours().core.next_cut_point(text, cut)
    assert {4, 11, 15, 20, 23, 30, 31, 35} <= set(cuts)


@pytest.mark.sweep
@pytest.mark.parametrize("path", corpora.TEXTS, ids=lambda path: path.name)
def test_natural_texts(path: Path) -> None:
    text = path.read_text("utf-8")[:20_000]
    assert ours().encode_ordinary(text) == plain(text)


@pytest.fixture(scope="module")
def program() -> Any:
    spec = spec_from_file_location("rwkv_tokenizer", reference_file("rwkv_tokenizer"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.TRIE_TOKENIZER(str(reference_file("rwkv")))


@pytest.mark.sweep
def test_the_program(program: Any) -> None:
    assert program.token2idx == ours().ordinary_tokens()

    @given(texts.map(repair))
    @settings(max_examples=scaled(1000))
    def run(text: str) -> None:
        ids = program.encode(text)
        assert ours().encode(text, disallowed_special=()) == plain(text) == ids
        assert ours().decode(ids) == program.decode(ids)

    run()
    for path in corpora.TEXTS:
        text = path.read_text("utf-8")
        assert ours().encode_ordinary(text) == program.encode(text), path
