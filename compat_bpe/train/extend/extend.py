"""Extending a vocabulary of any kind that can be: see ``extender`` and ``pieces``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...encodings.encoding import Encoding
from ...fit.boundary import check_encoding
from ...pipeline.chunks import is_byte_level
from .extended import Extended as Extended
from .extended import Term as Term
from .extender import Extender as Extender
from .piece_extender import PieceExtender as PieceExtender


def extend(
    encoding: Encoding,
    texts: Iterable[str] = (),
    number: int = 0,
    *,
    terms: Iterable[str] = (),
    with_space: bool = True,
    min_frequency: int = 2,
    max_token_length: int | None = None,
    workers: int | None = None,
    name: str | None = None,
) -> Extended:
    """Add tokens to a vocabulary: for terms, and learned from texts. No existing id changes.

    Terms come first. A term becomes one token by joining the first two of its tokens until one is
    left. So it takes one id fewer than it has tokens now, or fewer still if another term shares
    its beginning. Then the most frequent pair of neighbouring tokens in the texts becomes a token,
    and so on.

    That is byte-level BPE; for other kinds, see ``train/extend/pieces.py``. In vocabularies of
    words and of WordPiece, a term is a token without any merge. Unigram models, models of
    SentencePiece and baselines are not extended.

    Args:
        encoding: the vocabulary, which is not changed.
        texts: the texts to learn from. Names of special tokens in them are plain text.
        number: the most tokens to learn.
        terms: the words to make one token each. A term that the pattern splits cannot become one.
        with_space: True to make a second token of each term with a space before it, as within a
            sentence, if the pattern does not split the two.
        min_frequency: the lowest frequency of a pair that is merged.
        max_token_length: the length of the longest token that is learned: in bytes, and of other
            kinds than byte-level BPE in characters.
        workers: the most processes that split a large corpus; by default one for each processor.
        name: the name of the new encoding; by default the old name and ``_extended``.

    Returns:
        The new ``encoding``, the added ``merges``, the ``terms`` and the ``changes`` of the texts.

    Raises:
        ValueError: the kind of vocabulary is not extended; a number is out of range; there are no
            free ids; or a text has something for which the vocabulary has no token.
        TypeError: a text is not a str, or ``texts`` or ``terms`` is a single str.
        OSError: a worker process has been killed.

    >>> from compat_bpe import get_encoding
    >>> gpt2 = get_encoding("gpt2")
    >>> found = extend(gpt2, ["ribosomes, polyribosomes, ribosomes"], 2, terms=["qubit"])
    >>> [(merge.left + merge.right, merge.id) for merge in found.merges]
    [(b'qubit', 50257), (b' qubit', 50258), (b'osomes', 50259), (b'ribosomes', 50260)]
    >>> gpt2.encode("a qubit"), found.encoding.encode("a qubit")
    ([64, 627, 2545], [64, 50258])
    """
    if isinstance(texts, str) or isinstance(terms, str):
        raise TypeError("texts or terms is a str; pass a list of str")
    with make_extender(
        encoding,
        number,
        terms=terms,
        with_space=with_space,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        workers=workers,
        name=name,
    ) as extender:
        for text in texts:
            extender.feed(text)
        return extender.extend()


def make_extender(encoding: Encoding, number: int = 0, **options: Any) -> Extender:
    """Return what extends an encoding of its kind; arguments and errors as in ``extend``."""
    check_encoding(encoding)
    make = Extender if is_byte_level(encoding.core) else PieceExtender
    return make(encoding, number, **options)
