"""Models of SentencePiece with small vocabularies, drawn at random."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hypothesis import strategies as st

from compat_bpe.pipeline.models.sentencepiece.base import SentencePieceBase
from compat_bpe.pipeline.models.sentencepiece.bpe import SentencePieceBPE
from compat_bpe.pipeline.models.sentencepiece.unigram import SentencePieceUnigram, rounded
from compat_bpe.pipeline.models.sentencepiece.vocabulary import (
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    SentencePieceVocabulary,
)
from compat_bpe.pipeline.models.sentencepiece.words import (
    SentencePieceCharacters,
    SentencePieceWords,
)

MODELS: list[Callable[[SentencePieceVocabulary], SentencePieceBase]] = [
    SentencePieceBPE,
    SentencePieceUnigram,
    SentencePieceWords,
    SentencePieceCharacters,
]


def vocabulary(
    texts: Mapping[str, float], kinds: Mapping[str, int] | None = None
) -> SentencePieceVocabulary:
    """Return a vocabulary of some pieces and their scores; the first is the unknown one."""
    types = bytes([UNKNOWN, *((kinds or {}).get(text, NORMAL) for text in texts)])
    scores = [0.0, *map(rounded, texts.values())]
    return SentencePieceVocabulary(["<unk>", *texts], scores, types, byte_fallback=False)


@st.composite
def vocabularies(draw: st.DrawFn) -> SentencePieceVocabulary:
    """Vocabularies with many ties and, now and then, scores that are soon subtracted."""
    letters = draw(st.sampled_from(["ab▁", "ab", "a.▁c"]))
    texts = draw(st.sets(st.text(letters, min_size=1, max_size=4), min_size=1, max_size=15))
    size = draw(st.sampled_from([1.0, 0.001, 20_000.0]))
    score = st.sampled_from([-0.1, -0.2, -0.3, -1.1, -2.0, 0.0, -0.0, 0.1])
    # Unused pieces make BPE take another way, so most vocabularies have none.
    special = draw(st.sampled_from([NORMAL, NORMAL, USER_DEFINED, UNUSED]))
    kind = st.sampled_from([NORMAL] * 6 + [special])
    scores = {text: size * draw(score) for text in sorted(texts)}
    return vocabulary(scores, {text: draw(kind) for text in sorted(texts)})
