"""The lines, trees and JSON that ``compat-bpe count`` prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..files.walk import Found
from ..unicode.text import can_show
from .context_share import share_as_json
from .counting import Counts
from .sorting import Counted, Rest, more_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..chat.limits import ContextLimit
    from ..encodings.estimates import Estimate

#: What is written before a number that is an estimate, and in its place if the charset lacks it.
_ABOUT, _ASCII_ABOUT = "≈", "~"

#: The columns of a bar, its whole cells and the parts of one, in eighths; and the cells in ASCII.
_BAR = 10
_CELLS = " ▏▎▍▌▋▊▉█"
_ASCII_CELL = "#"

# The width of wc's columns if the sizes are not known beforehand.
_WIDTH_OF_UNKNOWN = 7


class Style(NamedTuple):
    """The form of a line.

    >>> Style(6, separators=True).line(1234, "a.txt")
    ' 1,234 a.txt'
    >>> Style(1, percent_of=40).line(4, "a.txt")
    '4  10.0% a.txt'
    """

    #: The width of the column with the tokens.
    width: int = 1
    #: Write 1,234 for 1234.
    separators: bool = False
    #: The total, if each line has its share; else None.
    percent_of: int | None = None
    #: What is written before each number.
    mark: str = ""
    #: The total, if each line has its share as a bar; else None.
    bar_of: int | None = None

    def number(self, tokens: int) -> str:
        """Return a number without padding."""
        return f"{self.mark}{tokens:,}" if self.separators else f"{self.mark}{tokens}"

    def line(self, tokens: int, name: str) -> str:
        """Return a line; without a name, it is the number alone."""
        if not name:
            return self.number(tokens)
        columns = [self.number(tokens).rjust(self.width)]
        if self.percent_of is not None:
            columns.append(f"{tokens / self.percent_of if self.percent_of else 0:6.1%}")
        if self.bar_of is not None:
            columns.append(bar(tokens, self.bar_of, ascii_only=not can_show(_CELLS)))
        return " ".join([*columns, name])


def bar(tokens: int, total: int, *, ascii_only: bool) -> str:
    """Return a bar of a share; what is there is seen, however small it is.

    >>> bar(10, 40, ascii_only=False), bar(10, 40, ascii_only=True), bar(1, 10_000, ascii_only=True)
    ('██▌       ', '##        ', '#         ')
    """
    share = tokens / total if total else 0.0
    if ascii_only:
        return (_ASCII_CELL * max(round(share * _BAR), tokens > 0)).ljust(_BAR)
    whole, part = divmod(max(round(share * _BAR * 8), tokens > 0), 8)
    return (_CELLS[-1] * whole + _CELLS[part].strip()).ljust(_BAR)


def estimate_mark() -> str:
    """Return what is written before a number that is an estimate."""
    return _ABOUT if can_show(_ABOUT) else _ASCII_ABOUT


def widest(found: Sequence[Found], style: Style, factor: Estimate | None = None) -> int:
    """Return a width that no count exceeds, from the sizes of the files.

    A file has at most as many tokens as bytes, since no token is empty. Knowing the width, a line
    can be printed as soon as its file is counted. wc does the same.

    Args:
        found: the files.
        style: the form of the lines.
        factor: what makes an estimate of each count, which it rounds up.
    """
    size = sum(file.size or 0 for file in found)
    if factor is not None:
        size = max(size, factor.tokens(size) + len(found))
    unknown = any(file.size is None and not file.problem for file in found)
    return max(_WIDTH_OF_UNKNOWN if unknown else 1, len(style.number(size)))


def flat_lines(shown: Sequence[Counted], rest: Rest) -> Iterator[tuple[int, str]]:
    """Yield the tokens and the text of each line of a list."""
    for one in shown:
        yield one.counts.tokens, one.found.path
    if rest.files:
        yield rest.counts.tokens, more_files(rest.files)


def tree(
    arguments: Sequence[str],
    counted: Sequence[Counted],
    shown: Sequence[Counted],
    order: str | None,
    depth: int | None,
) -> Iterator[tuple[int, str]]:
    """Yield the tokens and the text of each line of the trees."""
    from .tree import LINES, tree_lines  # only this form needs it

    return tree_lines(
        arguments,
        counted,
        shown,
        by_tokens=order == "tokens",
        ascii_only=not can_show("".join(LINES)),
        depth=depth,
    )


def as_json(
    counted_by: Mapping[str, str | None],
    listed: Sequence[Counted],
    rest: Rest | None,
    sums: Counts,
    failed: Sequence[tuple[str, str]],
    skipped: Sequence[tuple[str, str]],
    context: ContextLimit | None = None,
) -> str:
    """Return one line of ASCII; bytes of a name that are not UTF-8 are lone surrogates in it.

    ``counted_by`` has the first members of the object: the encoding and the estimate.
    """
    import json  # only this form needs it

    result: dict[str, Any] = {
        **counted_by,
        "files": [{"path": one.found.path or None, **one.counts._asdict()} for one in listed],
        "total": sums._asdict(),
        "errors": [{"path": path, "error": reason} for path, reason in failed],
        "skipped": [{"path": path, "reason": reason} for path, reason in skipped],
    }
    if rest is not None:
        result["more"] = {"files": rest.files, **rest.counts._asdict()}
    if context is not None:
        result["context"] = share_as_json(sums.tokens, context)
    return json.dumps(result)
