"""Saving an encoding to a ``.model`` file of SentencePiece."""

from __future__ import annotations

import os

from ..files.write import write_files
from ..formats.sentencepiece_write import sentencepiece_bytes
from .encoding import Encoding
from .sentencepiece import SentencePiece


def save_sentencepiece(encoding: Encoding, path: str | os.PathLike[str]) -> None:
    """Write a ``SentencePiece`` encoding as a ``.model`` file.

    Settings of the trainer that change no ids are not in it.

    Raises:
        OSError: the file cannot be written.
        ValueError: the encoding is of another kind, whose ids a model cannot give.
    """
    if not isinstance(encoding, SentencePiece):
        raise ValueError(
            f"{encoding!r} is no model of SentencePiece: its pieces have no scores by which a "
            "model would give the same ids"
        )
    write_files([(path, sentencepiece_bytes(encoding.definition))])
