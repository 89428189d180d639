"""The documents that a client has open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from ..files.markdown import is_markdown
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
        budget: the number of tokens that it should not pass; None if there is none.
    """

    def __init__(
        self,
        uri: str,
        language: str,
        version: int,
        document: Document,
        choice: Choice,
        budget: int | None,
    ) -> None:
        self.uri = uri
        self.language = language
        self.version = version
        self.document = document
        self.choice = choice
        self.budget = budget
        #: The steps of a change that takes long; None if there is none.
        self.steps: Iterator[None] | None = None
        #: The messages about the document that wait for the end of these steps.
        self.waiting: list[dict[str, Any]] = []
        #: The selection in characters, if the client has told it for this version.
        self.selection: tuple[int, int] = (0, 0)
        #: The diagnostics that the client has.
        self.published: list[dict[str, Any]] = []

    @property
    def is_markdown(self) -> bool:
        """True if the document has headings of Markdown."""
        return self.language in MARKDOWN or is_markdown(self.uri)


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
