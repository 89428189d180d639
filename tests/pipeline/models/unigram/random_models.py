"""Models and chunks drawn at random, with many ways that are as good."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from compat_bpe.pipeline.models.unigram.model import Unigram
from compat_bpe.pipeline.models.unigram.table import LONGEST_SHORT
from tests.strategies import texts as any_texts

ALPHABET = "ab中😀"

#: Few, so that many ways are as good; and some whose sums are rounded, or infinite.
SCORES = st.one_of(
    st.sampled_from([-1.0, -2.0, -3.0, 0.0, 1.0]),
    st.sampled_from([-0.1, -0.2, -0.3, -0.7, -1e16, 1e16, 3e-17, -1e308, 1e308, 5e-324]),
    st.floats(allow_nan=False, allow_infinity=False),
)
PIECES = st.one_of(
    st.text(ALPHABET, max_size=5),
    st.sampled_from(["<unk>", "<0x61>", "<0xE4>", "<0xB8>", "<0xAD>", "<", "", "aaaaaaaa"]),
    st.integers(LONGEST_SHORT - 1, LONGEST_SHORT + 3).map(lambda length: "a" * length),
    st.integers(LONGEST_SHORT - 1, LONGEST_SHORT + 3).map(lambda length: "ab" * length),
)
CHUNKS = st.one_of(
    st.text(ALPHABET, max_size=12),
    st.lists(st.sampled_from(["a", "b", "<unk>", "<0x61>", "中", "x", "é", "ab"]), max_size=8).map(
        "".join
    ),
    st.integers(30, 80).map(lambda length: "a" * length),
    st.integers(30, 80).map(lambda length: "ab" * length + "b"),
    any_texts.map(lambda text: text.encode("utf-8", "replace").decode()),
)


@st.composite
def models(draw: Callable[..., object]) -> Unigram:
    listed = draw(st.lists(st.tuples(PIECES, SCORES), max_size=16))
    assert isinstance(listed, list)
    unknown = draw(st.none() | st.integers(0, max(0, len(listed) - 1)))
    if not listed:
        unknown = None
    assert unknown is None or isinstance(unknown, int)
    pieces = [piece for piece, _ in listed]
    return Unigram(pieces, [score for _, score in listed], unknown, bool(draw(st.booleans())))


def result(function: Callable[[], object]) -> object:
    try:
        return function()
    except ValueError as error:
        return str(error)
