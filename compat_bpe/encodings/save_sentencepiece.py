"""Saving an encoding to a ``.model`` file of SentencePiece."""

from __future__ import annotations

import os

from ..files.write import write_files
from ..fit.boundary import check_encoding
from ..formats.sentencepiece import parse_sentencepiece, sentencepiece_bytes
from .encoding import Encoding
from .save import check_same_ids
from .sentencepiece import SentencePiece


def save_sentencepiece(encoding: Encoding, path: str | os.PathLike[str]) -> None:
    """Write a ``SentencePiece`` encoding as a ``.model`` file.

    Settings of the trainer that change no ids are not in it.

    Raises:
        OSError: the file cannot be written.
        ValueError: the encoding is of another kind, whose ids a model cannot give.
    """
    check_encoding(encoding)
    if not isinstance(encoding, SentencePiece):
        raise ValueError(
            f"{encoding!r} is no model of SentencePiece: its pieces have no scores by which a "
            "model would give the same ids"
        )
    write_files([(path, checked_bytes(encoding, path))])


def checked_bytes(encoding: SentencePiece, path: str | os.PathLike[str]) -> bytes:
    """Return the ``.model`` file of an encoding, once it was read and gave the same ids.

    Raises:
        ValueError: it gives other ids; the message says that of the file ``path``.
    """
    data = sentencepiece_bytes(encoding.definition)
    read = SentencePiece(encoding.name, parse_sentencepiece(data, os.fspath(path)))
    check_same_ids(encoding, read, path)
    return data
