"""The documents that a client has open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from ..encodings.resolve import Answer
from ..files.documents import is_markdown
from ..files.text import path_of_uri
from ..fit.document import Document
from .settings import Choice

#: The languages that are Markdown, by the client's names for them.
MARKDOWN = ("markdown", "mdx", "quarto", "rmd")


class OpenDocument:
    """A document that a client has open.

    Args:
        uri: its name.
        language: the client's name for its language.
        version: its version, as the client counts.
        document: the text, with its count.
        choice: the encoding of ``document``, as it was chosen.
        answer: what the choice means; it makes tokens of the counts of ``document``.
        budget: the number of tokens that it should not exceed; None if there is none.
    """

    def __init__(
        self,
        uri: str,
        language: str,
        version: int,
        document: Document,
        choice: Choice,
        answer: Answer,
        budget: int | None,
    ) -> None:
        self.uri = uri
        self.language = language
        self.version = version
        self.document = document
        self.choice = choice
        self.answer = answer
        self.budget = budget
        #: The steps of a change that takes long; None if there is none.
        self.steps: Iterator[None] | None = None
        #: The messages about the document that wait for the end of these steps.
        self.waiting: list[dict[str, Any]] = []
        #: The selection in characters, if the client has told it for this version.
        self.selection: tuple[int, int] = (0, 0)
        #: The diagnostics that the client has.
        self.published: list[dict[str, Any]] = []

    def count(self, start: int = 0, end: int | None = None) -> int:
        """Return the tokens of a range in characters; of the document unless one is given."""
        document = self.document
        is_whole = not start and end is None
        end = len(document) if end is None else end
        number = document.count if is_whole else document.count_range(start, end)
        return self.answer.tokens(number)

    def in_words(self, start: int = 0, end: int | None = None) -> str:
        """Return the tokens of a range in words, with a ``≈`` if they are an estimate."""
        return in_words(self.count(start, end), self.answer)

    def exceeds_at(self) -> int | None:
        """Return the place of the first token that exceeds the budget; None if none does."""
        if self.budget is None or self.count() <= self.budget:
            return None
        return self.document.token(self.answer.limit(self.budget)).start

    @property
    def is_markdown(self) -> bool:
        """True if the document has headings of Markdown."""
        return self.language in MARKDOWN or is_markdown(self.uri)


def in_words(count: int, answer: Answer) -> str:
    """Return a number of tokens in words, with a ``≈`` if it is an estimate.

    >>> from compat_bpe.encodings.resolve import resolve
    >>> in_words(1, resolve("gpt2")), in_words(1200, resolve("claude", "model", estimate=True))
    ('1 token', '≈1,200 tokens')
    """
    mark = "≈" if answer.note else ""
    return f"{mark}{count:,} token{'' if count == 1 else 's'}"


def path_of(uri: str) -> str:
    """Return the path of a file that a URI names; of other URIs, the path in them.

    >>> path_of("file:///home/me/a%20b.py"), path_of("untitled:Untitled-1")
    ('/home/me/a b.py', 'Untitled-1')
    """
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri
    path = unquote(parts.path)
    return path_of_uri(path) if parts.scheme == "file" else path
