"""The differential tests need the references; in CI their absence is a failure, not a skip."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

import pytest
from hypothesis import settings

try:
    import sentencepiece as sentencepiece
    import tiktoken as tiktoken
    import tokenizers as tokenizers
except ImportError:
    if os.environ.get("CI"):
        raise
    pytest.skip("tiktoken, tokenizers or sentencepiece is not installed", allow_module_level=True)

# Where tokenizers panics, a trace of the stack would take longer than all the rest.
os.environ["RUST_BACKTRACE"] = "0"

import compat_bpe
from compat_bpe.encodings.published import PUBLISHED
from compat_bpe.pipeline.normalizers import charsmap
from compat_bpe.pipeline.normalizers.charsmap import read_tables
from tests.differential.reference import SCALARS, Pair, sample
from tests.examples import scaled
from tools.tiktoken_files import write_tiktoken_files


@pytest.fixture(scope="session", autouse=True)
def _maps_are_read_once() -> Iterator[None]:
    """Most models of SentencePiece have one of few maps of characters, and each takes long."""

    @lru_cache(16)
    def read(units: bytes, text: bytes) -> Any:
        return read_tables(array("I", units), text)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(charsmap, "read_tables", lambda units, text: read(units.tobytes(), text))
        yield


@pytest.fixture(params=["sample", pytest.param("all", marks=pytest.mark.sweep)])
def code_points(request: pytest.FixtureRequest) -> str:
    """A few code points of each class, and, in a sweep, all there are."""
    return sample() if request.param == "sample" else SCALARS


@pytest.fixture(params=["few", pytest.param("many", marks=pytest.mark.sweep)])
def thorough(request: pytest.FixtureRequest) -> settings:
    """Some examples of a property, and, in a sweep, several times as many."""
    return settings(max_examples=scaled(100 if request.param == "few" else 400))


@pytest.fixture(scope="session")
def get_pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Pair]]:
    """A shipped encoding by name, ours and tiktoken's, the latter on files that we wrote."""
    folder = tmp_path_factory.mktemp("tiktoken_cache")
    write_tiktoken_files(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        # Encodings share files, and each takes long to be read.
        openai_public = import_module("tiktoken_ext.openai_public")
        for name in ("load_tiktoken_bpe", "data_gym_to_mergeable_bpe_ranks"):
            patch.setattr(openai_public, name, cache(getattr(openai_public, name)))
        yield lambda name: Pair(compat_bpe.get_encoding(name), tiktoken.get_encoding(name))


@pytest.fixture(scope="session", params=PUBLISHED)
def shipped(request: pytest.FixtureRequest, get_pair: Callable[[str], Pair]) -> Pair:
    """Each of the shipped encodings in turn."""
    return get_pair(request.param)


#: Of the encodings that differ in nothing but their names and special tokens, one.
DISTINCT = {(one.pack, one.pattern): name for name, one in PUBLISHED.items()}


@pytest.fixture(scope="session", params=DISTINCT.values())
def distinct(request: pytest.FixtureRequest, get_pair: Callable[[str], Pair]) -> Pair:
    """Each vocabulary with its pattern in turn, for plain text."""
    return get_pair(request.param)


@pytest.fixture(scope="session")
def cl100k(get_pair: Callable[[str], Pair]) -> Pair:
    """One encoding, for what is the same in all of them; its ids have a hole."""
    return get_pair("cl100k_base")
