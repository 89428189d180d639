"""Training in one call: ``train`` for any kind, and ``train_bpe``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Callable, TypeVar

from ..corpus.counted import Counted, rows_of
from ..encodings.encoding import Encoding
from .bpe.byte_level import TrainingSettings
from .kind import Settings
from .kinds import check_settings
from .sentencepiece.settings import SentencePieceSettings
from .sentencepiece.trainer import SentencePieceTrainer
from .trainer import AnyTrainer, Trainer

_Encoding = TypeVar("_Encoding", bound=Encoding)

#: The kinds that have a trainer of their own, since they are learned from lines.
_TRAINERS: dict[type[Settings[Any]], Callable[..., AnyTrainer]] = {
    SentencePieceSettings: SentencePieceTrainer
}


def trainer_of(
    settings: Settings[Any], *, workers: int | None = None, name: str = "trained"
) -> AnyTrainer:
    """Return the trainer of a kind; arguments and errors as of ``Trainer``."""
    return _TRAINERS.get(type(settings), Trainer)(settings, workers=workers, name=name)


def train(
    texts: Iterable[str] | Mapping[str, Iterable[str]],
    settings: Settings[_Encoding],
    *,
    counts: Counted | Mapping[str, Counted] = (),
    validation: Iterable[str] = (),
    workers: int | None = None,
    name: str = "trained",
) -> _Encoding:
    """Train a vocabulary on texts. It does not depend on their order or the number of workers.

    Args:
        texts: the corpus, read once; or the texts of each group.
        settings: the settings of one of the kinds: ``TrainingSettings`` for byte-level BPE,
            ``WordPieceSettings``, ``CharacterBpeSettings``, ``UnigramSettings``,
            ``WordLevelSettings``, ``CharacterSettings``, ``ByteSettings`` or
            ``SentencePieceSettings``.
        counts: what is learned from with its counts, beside texts or instead of them: chunks of the
            pattern; words as the model gets them, normalized, and split off by the pre-tokenizer;
            for SentencePiece texts. They are a mapping; pairs, in any order, of which those of the
            same chunk are added up; or either for each group. The result is that of the texts that
            were counted. A Unigram model of SentencePiece takes none.
        validation: held-out texts for ``convergence``, from which nothing is learned.
        workers: the most processes that split a large corpus; by default one for each processor.
        name: the name of the encoding.

    Returns:
        The encoding: a ``Tokenizer`` or a ``SentencePiece`` where the kind is one.
        ``compat_bpe.save`` writes it.

    Raises:
        ValueError: there is no text; a group with a weight has no text; the pattern or a part is
            wrong, or needs a token that is not there; a special token is also made by merging;
            a count is negative or no integer; a counted text is empty, has a surrogate, or is more
            than one chunk; nothing can be learned with these settings.
        TypeError: a text is not a str, ``texts`` is a single str, or ``settings`` are none.
        OSError: a worker process has been killed, or the disk is full.

    >>> from compat_bpe.train import WordPieceSettings
    >>> enc = train(["hug " * 10 + "pug " * 5 + "pun " * 12], WordPieceSettings(14))
    >>> enc.encode("a pug"), enc.decode([13])
    ([0, 13], 'pug')
    """
    check_settings(settings)
    if isinstance(texts, str):
        raise TypeError("texts is a str; pass a list of texts")
    as_given = settings.kind.as_given
    with trainer_of(settings, workers=workers, name=name) as trainer:
        for group, some in (texts if isinstance(texts, Mapping) else {"": texts}).items():
            for text in some:
                trainer.feed(as_given(text), group)
        for text in validation:
            trainer.hold_out(text)
        for group, own in _by_group(counts):
            rows = ((as_given(text), count, at) for text, count, at in rows_of(own, group))
            trainer.feed_counts(own if settings.kind.counts_words else rows, group)
        encoding: Any = trainer.train().encoding
    result: _Encoding = encoding
    return result


def _by_group(
    counts: Counted | Mapping[str, Counted],
) -> Iterable[tuple[str, Counted]]:
    """Return counts by group; counts that are not by group are of the group ""."""
    if isinstance(counts, Mapping):
        first = next(iter(counts.values()), None)
        # The counts of a group are a mapping or rows; a count is a number.
        if isinstance(first, Iterable) and not isinstance(first, (str, bytes)):
            return counts.items()  # type: ignore[return-value]
    return [("", counts)]  # type: ignore[list-item]


def train_bpe(
    texts: Iterable[str] | Mapping[str, Iterable[str]] = (),
    vocab_size: int | None = None,
    *,
    pattern: str | None = None,
    special_tokens: Iterable[str] = (),
    counts: Counted | Mapping[str, Counted] = (),
    validation: Iterable[str] = (),
    workers: int | None = None,
    name: str = "trained",
    **settings: Any,
) -> Encoding:
    r"""Train a byte-level BPE vocabulary on texts: ``train`` with ``TrainingSettings``.

    The merges are those of Hugging Face tokenizers 0.23.3: of its ``BpeTrainer`` with the
    byte-level alphabet, after a pre-tokenizer that splits by the same pattern. The ids of the 256
    bytes come first, in GPT-2's order, then those of the merges, then those of the special tokens.

    Args:
        texts, counts, validation, workers, name: as in ``train``.
        vocab_size, pattern, special_tokens: as in ``TrainingSettings``.
        settings: its other settings, by name, such as ``num_merges`` or ``min_frequency``.

    Returns:
        The encoding; a ``Tokenizer`` with the pattern ``"deepseek"``.

    Raises:
        ValueError, TypeError, OSError: as in ``train``; TypeError if there is no such setting.

    >>> enc = train_bpe(["hug " * 10 + "pug " * 5 + "pun " * 12], 259, pattern=r" ?\w+")
    >>> [enc.decode([token]) for token in (256, 257, 258)]
    ['pu', ' pu', ' pun']
    >>> counts = {"hug": 1, " hug": 9, " pug": 5, " pun": 12}
    >>> enc = train_bpe(counts=counts, num_merges=3, pattern=r" ?\w+")
    >>> [enc.decode([token]) for token in (256, 257, 258)]
    ['pu', ' pu', ' pun']
    """
    own = TrainingSettings(vocab_size, pattern=pattern, special_tokens=special_tokens, **settings)
    return train(texts, own, counts=counts, validation=validation, workers=workers, name=name)
