"""Parts of documents, in which a corpus comes."""

from __future__ import annotations

from typing import NamedTuple

#: Characters that a part has at most.
PART = 1 << 16


class Part(NamedTuple):
    r"""A piece of a document.

    The parts of a document follow each other and, joined, are its text.  Each has at least one
    character and at most ``PART``.  It ends after a ``"\n"`` if there is one in so many characters,
    and elsewhere only within a line that is longer.  What is empty has no parts.
    """

    #: Without surrogates.
    text: str
    group: str
    #: For messages: ``corpus/a.txt``, or with the number of a line ``b.jsonl:17``.
    source: str
    #: Whether its document ends with it.
    is_last: bool
