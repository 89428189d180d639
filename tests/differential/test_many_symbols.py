"""Models of SentencePiece with many user-defined symbols, against sentencepiece."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.encodings.sentencepiece import SentencePiece
from compat_bpe.formats.sentencepiece import parse_sentencepiece
from compat_bpe.pipeline.special_tokens import FEW
from tests.differential.small_sentencepieces import parsed, processor, trained
from tests.examples import scaled

KINDS = ["bpe", "unigram", "char"]


def both(kind: str, rule: str, symbols: set[str]) -> tuple[SentencePiece, Any]:
    message = parsed(trained(model_type=kind, normalization_rule_name=rule))
    known = {piece.piece for piece in message.pieces}
    for symbol in sorted(symbols - known):
        message.pieces.add(piece=symbol, score=0.0, type=4)
    data = message.SerializeToString()
    return SentencePiece(kind, parse_sentencepiece(data, kind)), processor(data)


def check(kind: str, rule: str, symbols: set[str], text: str) -> None:
    ours, theirs = both(kind, rule, symbols)
    assert ours.encode(text) == theirs.encode(text)
    assert ours.normalize(text) == theirs.normalize(text)
    mapping = theirs.encode(text, out_type="offset_mapping")
    found = ours.encode_as_placed_pieces(text)
    assert [(one.begin, one.end) for one in found] == mapping["offsets"]


PARTS = st.text("abt é▁ﬁ<", min_size=1, max_size=4)


@pytest.mark.sweep
@pytest.mark.parametrize("kind", KINDS)
@given(st.sets(PARTS, max_size=12), st.lists(PARTS, max_size=6), st.booleans())
@settings(max_examples=scaled(15))
def test_random_symbols(kind: str, symbols: set[str], parts: list[str], is_mapped: bool) -> None:
    # So many that no pattern of them all is made.
    symbols = symbols | {f"<{number}>" for number in range(FEW)}
    text = "".join([*parts, *sorted(symbols)[:9], *parts])
    check(kind, "nmt_nfkc" if is_mapped else "identity", symbols, text)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("symbols", "text"),
    [
        ({f"<reserved_{number}>" for number in range(2000)}, "<reserved_" * 50 + "<reserved_77>x"),
        ({"a" * length + "b" for length in range(1, 150)}, "a" * 500 + "b"),
        # Of those that begin at one place, sentencepiece sees the 64 shortest.
        ({"q" * length for length in range(2, 90)}, "q" * 300 + "a" + "q" * 70),
    ],
    ids=["one beginning", "tails", "prefixes"],
)
def test_hostile_symbols(kind: str, symbols: set[str], text: str) -> None:
    check(kind, "nmt_nfkc", symbols, text)
