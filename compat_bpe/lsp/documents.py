"""The documents that a client has open: places in them, changes, and the notices that follow.

A position is a line and a column in the unit that client and server have agreed on. A line beyond
the last one is the end of the document, and a column beyond the end of a line is that end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Callable, NamedTuple
from urllib.parse import unquote, urlsplit

from ..encodings.resolve import Answer
from ..files.documents import is_markdown
from ..files.text import path_of_uri
from ..fit.edited_document import Document, Unit
from ..unicode.text import plural
from .rpc import Params
from .settings import Choice

#: The languages that are Markdown, by the client's names for them.
MARKDOWN = ("markdown", "mdx", "quarto", "rmd")


@dataclass(eq=False)
class OpenDocument:
    """A document that a client has open.

    Args:
        uri: its name.
        language: the client's name for its language.
        version: its version, as the client counts.
        document: the text, with its count.
        choice: the encoding of ``document``, as it was chosen.
        answer: the answer to the choice; it converts counts of ``document`` to tokens.
        budget: the number of tokens that it should not exceed; None if there is none.
    """

    uri: str
    language: str
    version: int
    document: Document
    choice: Choice
    answer: Answer
    budget: int | None
    #: The steps of a change that takes long; None if there is none.
    steps: Iterator[None] | None = None
    #: The messages about the document that wait for the end of these steps.
    waiting: list[dict[str, Any]] = field(default_factory=list)
    #: The selection in characters; empty unless the client has sent one for this version.
    selection: tuple[int, int] = (0, 0)
    #: Why it is counted by another encoding than the chosen one; empty if it is not.
    problem: str = ""
    #: The diagnostics that the client has.
    published: list[dict[str, Any]] = field(default_factory=list)

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
    return mark + plural(count, "token")


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


class Change(NamedTuple):
    """A change as a client sends it: the range from one line and column to another, and the text.

    The range is None if the text is that of the whole document.
    """

    range: tuple[tuple[int, int], tuple[int, int]] | None
    text: str


def read_position(params: Params) -> tuple[int, int]:
    """Return the line and the column of a position."""
    return params.number("line"), params.number("character")


def read_range(params: Params) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the two positions of a range, the first one first."""
    start, end = read_position(params.inner("start")), read_position(params.inner("end"))
    return (start, end) if start <= end else (end, start)


def read_change(params: Params) -> Change:
    """Return a change of a document."""
    text = params.text("text")
    return Change(read_range(params.inner("range")) if "range" in params else None, text)


def offset_of(document: Document, position: tuple[int, int], unit: Unit) -> tuple[int, int]:
    """Return the offset of a position in characters, and the units left over.

    Units are left over if the position is within a character, whose offset is returned then.
    """
    line, column = position
    if line >= document.lines:
        return len(document), 0
    start, end = document.line_range(line)
    before = document.units(start, unit)
    if column >= document.units(end, unit) - before:
        return end, 0
    return document.offset_of_units(before + column, unit)


def offsets_of(
    document: Document, range_: tuple[tuple[int, int], tuple[int, int]], unit: Unit
) -> tuple[int, int]:
    """Return the offsets of a range, widened to whole characters."""
    start, _ = offset_of(document, range_[0], unit)
    end, rest = offset_of(document, range_[1], unit)
    return start, end + (rest > 0)


def position_at(document: Document, offset: int, unit: Unit) -> dict[str, int]:
    """Return the position of an offset in characters, as the protocol writes it."""
    line, column = document.position(offset, unit)
    return {"line": line, "character": column}


def range_at(document: Document, start: int, end: int, unit: Unit) -> dict[str, Any]:
    """Return the range of two offsets in characters, as the protocol writes it."""
    return {"start": position_at(document, start, unit), "end": position_at(document, end, unit)}


def edit_of(document: Document, change: Change, unit: Unit) -> tuple[int, int, str]:
    r"""Return a change as the arguments of ``Document.replace``.

    The result is the text of the client, unit by unit. In UTF-16 a change may remove half of a
    character. Two halves side by side stay two units, and count as their character.

    >>> from compat_bpe import get_encoding
    >>> document = Document(get_encoding("gpt2"), "a\U0001f600")
    >>> ascii(edit_of(document, Change(((0, 2), (0, 3)), "b"), "utf-16"))
    "(1, 2, '\\ud83db')"
    """
    new = change.text
    if change.range is None:
        return 0, len(document), new
    start, left = offset_of(document, change.range[0], unit)
    end, right = offset_of(document, change.range[1], unit)
    if unit == "utf-16":
        if right:
            new += _halves(document.slice(end, end + 1))[1]
            end += 1
        if left:
            new = _halves(document.slice(start, start + 1))[0] + new
    return start, end, new


def changing(document: Document, changes: Iterable[Change], unit: Unit) -> Iterator[None]:
    """Make changes of a document, in short steps."""
    for change in changes:
        yield from document.replacing(*edit_of(document, change, unit))


def _halves(char: str) -> tuple[str, str]:
    """Return the two surrogates of a character above U+FFFF."""
    data = char.encode("utf-16-le")
    first, last = (data[at : at + 2].decode("utf-16-le", "surrogatepass") for at in (0, 2))
    return first, last


#: The least time between two counts of a document, in seconds.
INTERVAL = 0.05
#: The name of the server in diagnostics.
SOURCE = "compat-bpe"
#: The number of characters that are searched for a visible one, to underline it.
_NEAR = 1000


class Notices:
    """The times at which a client is notified of changed documents, each once in an interval.

    The client is notified of a change after a pause at once, and of others when the interval ends.

    Args:
        tell: called with the URI of a document that is due.
        clock: returns the time in seconds.
    """

    def __init__(self, tell: Callable[[str], None], clock: Callable[[], float] = monotonic) -> None:
        self._tell = tell
        self._clock = clock
        self._due: dict[str, float] = {}
        self._told: dict[str, float] = {}

    def changed(self, *uris: str) -> None:
        """Note that the counts of documents may have changed."""
        for uri in uris:
            if uri not in self._due:
                now = self._clock()
                self._due[uri] = max(now, self._told.get(uri, now - INTERVAL) + INTERVAL)

    def forget(self, uri: str) -> None:
        """Forget a document that is closed."""
        self._due.pop(uri, None)
        self._told.pop(uri, None)

    def seconds_left(self) -> float | None:
        """Return the time until a message is due; None if there is none."""
        return max(0.0, min(self._due.values()) - self._clock()) if self._due else None

    def send(self) -> None:
        """Send all notices that are due."""
        if not self._due:
            return
        now = self._clock()
        for uri in [uri for uri, due in self._due.items() if due <= now]:
            del self._due[uri]
            self._told[uri] = now
            self._tell(uri)


def diagnostics(opened: OpenDocument, unit: Unit) -> list[dict[str, Any]]:
    """Return the diagnostics of a document: one if it exceeds its budget.

    It begins at the first visible character above the budget, and ends with that line.
    """
    document, budget, start = opened.document, opened.budget, opened.exceeds_at()
    if budget is None or start is None:
        return []
    near = document.slice(start, min(start + _NEAR, len(document)))
    if near.strip():
        start += len(near) - len(near.lstrip())
    end = document.line_range(document.position(start).line)[1]
    return [
        {
            "range": range_at(document, start, max(start, end), unit),
            "severity": 2,
            "source": SOURCE,
            "code": "budget",
            "message": f"{opened.in_words()}, {opened.count() - budget:,} over the budget of "
            f"{budget:,}; the limit is here",
        }
    ]
