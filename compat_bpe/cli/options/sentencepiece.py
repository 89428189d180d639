"""The training of models of SentencePiece that the options of ``compat-bpe train`` describe."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from itertools import count
from typing import Any, NamedTuple

import click

from ...encodings.sentencepiece import SentencePiece
from ...formats.sentencepiece import BPE, UNIGRAM
from ...train.sentencepiece.settings import SentencePieceSettings
from ...train.sentencepiece.trainer import (
    SentencePieceTrainer,
    TrainedSentencePiece,
    options_like,
)
from ...train.write import SENTENCEPIECE
from ..output import CommandError, plural

#: The fields that options give, and the settings that they are.
_FIELDS = {
    "vocab_size": "vocab_size",
    "special_tokens": "control_symbols",
    "user_symbols": "user_defined_symbols",
    "character_coverage": "character_coverage",
    "byte_fallback": "byte_fallback",
    "split_digits": "split_digits",
    "max_sentence_length": "max_sentence_length",
    "input_sentence_size": "input_sentence_size",
    "max_piece_length": "max_sentencepiece_length",
}
_UNIGRAM_FIELDS = {
    **_FIELDS,
    "shrinking_factor": "shrinking_factor",
    "n_sub_iterations": "num_sub_iterations",
    "seed_size": "seed_sentencepiece_size",
}

#: The kinds of models: the name there, and the settings by the fields that options give.
SENTENCEPIECE_KINDS = {
    "sentencepiece-bpe": ("bpe", _FIELDS),
    "sentencepiece-unigram": ("unigram", _UNIGRAM_FIELDS),
}

_BY_KIND = {BPE: "sentencepiece-bpe", UNIGRAM: "sentencepiece-unigram"}

#: The ids of special pieces without a model to be like; there is no padding unless it is named.
_IDS = {"unk_id": 0, "bos_id": 1, "eos_id": 2, "pad_id": -1}


class SentencePieceTraining(NamedTuple):
    """A training of a model of SentencePiece, used as a ``Training``."""

    settings: SentencePieceSettings
    like: str | None
    roles: Mapping[str, str] = {}  # They are in the model itself.
    pattern: str = "that of the model"
    formats: tuple[str, ...] = (SENTENCEPIECE,)
    most_steps: None = None
    steps: str = "lines"
    needs_held_out: bool = False

    def note(self, trained: TrainedSentencePiece) -> str:
        """Return what the user should know of the result; "" if there is nothing."""
        size, wanted = trained.encoding.n_vocab, self.settings.vocab_size
        notes = []
        if size != wanted:
            notes.append(f"{size:,} tokens, not {wanted:,}: there are no more")
        if trained.skipped:
            longest = self.settings.max_sentence_length
            notes.append(
                f"{plural(trained.skipped, 'line')} of more than {longest:,} bytes left out; "
                "--max-sentence-length takes longer ones"
            )
        return "; ".join(notes)

    def trainer(self, workers: int | None, name: str) -> SentencePieceTrainer:
        """Return the trainer, which works in one process."""
        return SentencePieceTrainer(self.settings, name=name)

    def described(self) -> dict[str, Any]:
        """Return the settings for the manifest."""
        found = asdict(self.settings)
        del found["charsmap"]
        return {"model": f"sentencepiece-{self.settings.model_type}", **found, "like": self.like}


def sentencepiece_training(
    kind: str, given: Mapping[str, Any], roles: Mapping[str, str], like: Any, path: str | None
) -> SentencePieceTraining:
    """Return the training that options describe.

    Args:
        kind: one of ``SENTENCEPIECE_KINDS``.
        given: the values of the options that the user gave, by their fields.
        roles: the names of special pieces, by role.
        like: a model to be trained anew; None if there is none.
        path: its path.

    Raises:
        CommandError: a setting is impossible, or ``like`` is no model of SentencePiece.
    """
    model_type, names = SENTENCEPIECE_KINDS[kind]
    settings: dict[str, Any] = dict(_IDS)
    if like is not None:
        if not isinstance(like, SentencePiece):
            raise CommandError(f"--like: {path} is no model of SentencePiece, as {kind} needs")
        settings = options_like(like.definition)
    own = {names[name]: value for name, value in given.items()}
    for name in ("control_symbols", "user_defined_symbols"):
        inherited = settings.get(name, [])
        own[name] = [*inherited, *(one for one in own.get(name, ()) if one not in inherited)]
    for role, piece in roles.items():
        own[f"{role}_piece"] = piece
        if settings[f"{role}_id"] < 0:
            taken = {settings[name] for name in _IDS}
            settings[f"{role}_id"] = next(number for number in count() if number not in taken)
    try:
        made = SentencePieceSettings(
            **{"model_type": model_type, "hard_vocab_limit": False, **settings, **own}
        )
    except ValueError as error:
        raise CommandError(str(error)) from None
    return SentencePieceTraining(made, path)


def kind_of_sentencepiece(like: SentencePiece) -> str:
    """Return the kind of a model that is to be trained anew.

    Raises:
        ValueError: it is a model of words or characters.
    """
    kind = _BY_KIND.get(like.definition.kind)
    if kind is None:
        raise ValueError(
            f"{like!r}: models of words and characters are trained in Python alone; name a kind"
        )
    return kind


SENTENCEPIECE_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--character-coverage",
        metavar="PART",
        type=click.FloatRange(0.98, 1),
        default=0.9995,
        show_default=True,
        help="Make characters pieces until they cover this part of the text; rarer ones are "
        "unknown.",
    ),
    click.option(
        "--byte-fallback",
        is_flag=True,
        help="Add 256 pieces for bytes, with which unknown characters are written. For --like, "
        "too, where transformers leaves them out.",
    ),
    click.option("--split-digits", is_flag=True, help="Make each digit a piece."),
    click.option(
        "--user-symbols",
        metavar="TEXT",
        multiple=True,
        help="Piece that is always found whole in a text. May be repeated.",
    ),
    click.option(
        "--max-sentence-length",
        metavar="BYTES",
        type=click.IntRange(10, 1 << 30),
        default=4192,
        show_default=True,
        help="Leave out lines that are longer.",
    ),
    click.option(
        "--input-sentence-size",
        metavar="LINES",
        type=click.IntRange(0),
        default=0,
        help="Learn from a sample of so many lines.  [default: all]",
    ),
)
