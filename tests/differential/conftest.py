"""The differential tests need the reference; in CI its absence is a failure, not a skip."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

try:
    import tiktoken as tiktoken
except ImportError:
    if os.environ.get("CI"):
        raise
    pytest.skip("tiktoken is not installed", allow_module_level=True)

import compat_bpe
from compat_bpe.encodings.openai import PUBLISHED
from tests.differential.reference import Pair, write_cache


@pytest.fixture(scope="session")
def get_pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Pair]]:
    """A shipped encoding by name, ours and tiktoken's, the latter on files that we wrote."""
    folder = tmp_path_factory.mktemp("tiktoken_cache")
    write_cache(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        yield lambda name: Pair(compat_bpe.get_encoding(name), tiktoken.get_encoding(name))


@pytest.fixture(scope="session", params=PUBLISHED)
def shipped(request: pytest.FixtureRequest, get_pair: Callable[[str], Pair]) -> Pair:
    """Each of the shipped encodings in turn."""
    return get_pair(request.param)
