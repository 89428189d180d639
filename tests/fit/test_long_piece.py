"""Long pieces, merged again only around an edit, against merging all of each."""

from __future__ import annotations

import pickle
import random
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.fit import Document, long_piece
from compat_bpe.fit.long_piece import LONG, LongPieces
from compat_bpe.pipeline.offsets import locate


def of_letters(tokens: list[str]) -> Encoding:
    """An encoding of any bytes and of these tokens, whose pattern takes all letters for a chunk."""
    ranks = {bytes([byte]): 1000 + byte for byte in range(256)}
    for token in tokens:
        ranks.setdefault(token.encode(), len(ranks))
    return Encoding("letters", pat_str=r"\p{L}+|[^\p{L}]", mergeable_ranks=ranks, special_tokens={})


letters = st.text("abé語", max_size=30)
edits = st.tuples(st.integers(0, 60), st.integers(0, 4), st.text("abé語", max_size=4))


@given(
    st.lists(st.text("abé語", min_size=2, max_size=5), max_size=12),
    letters,
    st.lists(edits, max_size=6),
    st.sampled_from([(0,), (1,), (0, 1, 2), (4, 32)]),
)
# Tokens of a run of one letter are shifted by what is put before them.
@example(["aa", "aaaa"], "a" * 30, [(0, 0, "a"), (7, 1, "")], (0, 1, 2))
# A token that the edit makes reaches over the tokens beside it.
@example(["ab", "abab", "babab"], "ababababab", [(4, 1, "")], (0,))
def test_edits_of_a_word(
    tokens: list[str],
    text: str,
    changes: list[tuple[int, int, str]],
    beside: tuple[int, ...],
) -> None:
    encoding = of_letters(tokens)
    with patch.object(long_piece, "LONG", 3), patch.object(long_piece, "_BESIDE", beside):
        document = Document(encoding, text)
        for at, length, new in changes:
            at = min(at, len(text))
            text = text[:at] + new + text[at + length :]
            document.replace(at, min(at + length, len(document)), new)
            assert document.count == encoding.count(text)
            expected = locate(encoding.core.definition, text, frozenset())
            placed = document.tokens(0, len(text))
            assert [(one.id, one.start, one.end) for one in placed] == [
                (one.id, one.start, one.end) for one in expected
            ]
            for start in range(len(text)):
                for end in (start + 1, start + 2):
                    if end <= len(text):
                        assert document.tokens(start, end) == [
                            one for one in placed if one.start < end and one.end > start
                        ]
            assert [document.token(number) for number in range(document.count)] == placed


@pytest.mark.parametrize("name", ["o200k_base", "deepseek_v3", "gpt2"])
def test_a_keystroke_in_a_long_word_merges_what_is_beside_it(name: str) -> None:
    encoding = get_encoding(name)
    text = "".join(random.Random(1).choices("abcdefghij", k=20_000))
    document = Document(encoding, text)
    merged = []
    merge = encoding.core.model.merge

    def counted(data: bytes) -> list[int]:
        merged.append(len(data))
        return merge(data)

    with patch.object(encoding.core.model, "merge", counted):
        for at in (0, 5_000, 19_000):
            document.replace(at, at, "x")
            text = text[:at] + "x" + text[at:]
        document.tokens(100, 200)
        document.token(1000)
    assert sum(merged) < 1_000
    assert document.count == encoding.count(text)
    ids = [one.id for one in document.tokens(0, len(text))]
    assert ids == encoding.encode(text)


def test_other_texts_are_left_to_the_encoding() -> None:
    pieces = LongPieces(get_encoding("gpt2"))
    assert pieces.merged("a" * (LONG - 1)) is None  # short
    assert pieces.merged("a b" * LONG) is None  # several chunks
    assert pieces.merged("a" * LONG + "\ud800") is None
    assert pieces.merged("a" * LONG) is not None
    # A text may be a token that no merging makes.
    whole = of_letters(["b" * LONG])
    assert LongPieces(whole).merged("b" * LONG) is None
    assert Document(whole, "b" * LONG).count == 1


def test_no_more_pieces_are_kept_than_are_edited() -> None:
    pieces = LongPieces(get_encoding("gpt2"))
    for letter in "abcdefgh":
        pieces.merged(letter * LONG)
    assert len(pieces._kept) == long_piece._KEPT
    assert len(pickle.dumps(pieces)) < LONG
