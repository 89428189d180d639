"""Files: natural texts, and the standard library's own source.

By default there is a part of each corpus and of the library, and in a sweep there is all.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from compat_bpe.encodings.published import PUBLISHED
from compat_bpe.pattern.splitter import Splitter
from tests.corpora import TEXTS
from tests.differential.corpora import PARTS, read, standard_library
from tests.differential.reference import Pair

SOURCES = [10, pytest.param(150, marks=pytest.mark.sweep)]


def assert_same(pair: Pair, text: str, source: object) -> None:
    """Compare without a report of a million ids: what is around the first that differs."""
    ours, theirs = pair.ours.encode_ordinary(text), pair.theirs.encode_ordinary(text)
    if ours != theirs:
        steps = itertools.zip_longest(ours, theirs)
        at = next(i for i, (our, their) in enumerate(steps) if our != their)
        before = len(pair.theirs.decode_bytes(theirs[:at]))
        near = slice(max(0, at - 3), at + 5)
        pytest.fail(
            f"{source}, byte {before}: {pair.ours.decode_tokens_bytes(ours[near])}, "
            f"tiktoken: {pair.theirs.decode_tokens_bytes(theirs[near])}"
        )
    assert pair.ours.count(text) == len(ours)
    assert pair.ours.decode(ours) == text


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_corpus(distinct: Pair, path: Path, part: int | None) -> None:
    assert_same(distinct, read(path)[-part:] if part else read(path), path)
    distinct.ours.clear_cache()


@pytest.mark.parametrize("number", SOURCES)
def test_standard_library(distinct: Pair, number: int) -> None:
    texts = standard_library(number)
    assert len(texts) > number // 2
    for text in texts:
        assert_same(distinct, text, ascii(text[:60]))
    # All of them as one text, which is cut into passages elsewhere.
    assert_same(distinct, "".join(texts), "all sources")
    distinct.ours.clear_cache()


PATTERNS = {published.pattern: name for name, published in PUBLISHED.items()}


@pytest.mark.sweep
@pytest.mark.parametrize("pattern", PATTERNS, ids=PATTERNS.values())
def test_passages_of_any_size_split_as_the_whole(pattern: str) -> None:
    splitter = Splitter(pattern)
    texts = [
        text[start : start + 3000]
        for text in map(read, TEXTS)
        for start in range(0, len(text), 499_000)
    ]
    texts += [text[-2000:] for text in standard_library(15)]
    texts.append(
        "a \n\n  b\U0001d400 c\U0001d41a\u0301's  \r\n\r\n 12345 x/\n\n!\n 中文，中文。 \u3000\n"
        * 20
    )
    for text in texts:
        whole = splitter.chunks(text)
        for size in range(50):
            parts = list(splitter.segments(text, size, 2 * size))
            assert "".join(parts) == text
            assert list(itertools.chain.from_iterable(map(splitter.chunks, parts))) == whole, size


@pytest.mark.parametrize("pattern", PATTERNS, ids=PATTERNS.values())
def test_passages_are_short(pattern: str) -> None:
    """Else the test above would compare nothing: ordinary text is cut about where it should be."""
    text = "".join(standard_library(30))[:100_000]
    parts = list(Splitter(pattern).segments(text, 50, 50))
    assert len(parts) > len(text) / 200
