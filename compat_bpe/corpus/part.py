"""The parts of documents that a corpus is read in."""

from __future__ import annotations

from typing import NamedTuple

#: The largest number of characters in a part.
PART = 1 << 16


class DocumentPart(NamedTuple):
    r"""A piece of a document.

    The parts of a document follow each other and, joined, are its text. Each has at least one
    character and at most ``PART``. A part that is not the last ends after a ``"\n"`` if it can; if
    not, it ends within a line longer than ``PART``. An empty document has no parts.
    """

    #: The text, without surrogates.
    text: str
    group: str
    #: The place in messages: ``corpus/a.txt``, or with the number of a line ``b.jsonl:17``.
    source: str
    #: True if its document ends with it.
    is_last: bool
