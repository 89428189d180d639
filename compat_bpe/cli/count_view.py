"""The order and the layout of the output of ``compat-bpe count``: lines, trees, CSV, JSON."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..files.text import STDIN, parts_of_path
from ..files.walk import Found
from ..unicode.text import can_show
from .counting import Counts
from .output import CommandError, plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from decimal import Decimal

    from ..chat.limits import ContextLimit

#: The sign before a number that is an estimate, and its replacement if the charset lacks it.
_ABOUT, _ASCII_ABOUT = "≈", "~"

#: The columns of a bar, its whole cells and the parts of one, in eighths; and the cells in ASCII.
_BAR = 10
_CELLS = " ▏▎▍▌▋▊▉█"
_ASCII_CELL = "#"

#: The space between the columns of a table with a header; without one it is as in wc.
_GAP = "  "

#: The orders that files can be sorted by.
ORDERS = ("name", "path", "tokens")

#: The lines drawn before an entry and before the last one, and before the entries within these.
LINES = ("├── ", "└── ", "│   ", "    ")
_ASCII_LINES = ("|-- ", "`-- ", "|   ", "    ")


class CountedFile(NamedTuple):
    """A file and its counts."""

    found: Found
    counts: Counts


class Rest(NamedTuple):
    """Files that are not shown."""

    files: int
    counts: Counts


def more_files(number: int) -> str:
    """Return a line for files that are not shown.

    >>> more_files(2)
    '(2 more files)'
    """
    return f"({plural(number, 'more file')})"


def largest(
    counted: Sequence[CountedFile], number: int, columns: int
) -> tuple[list[CountedFile], Rest]:
    """Return the files with the most tokens in the first of some columns, and the sum of the rest.

    The files are in their given order.
    """
    by_size = sorted(range(len(counted)), key=lambda index: -counted[index].counts.tokens[0])
    shown = sorted(by_size[:number])
    hidden = [counted[index].counts for index in by_size[number:]]
    return [counted[index] for index in shown], Rest(len(hidden), Counts.total(hidden, columns))


def in_order(counted: Sequence[CountedFile], order: str | None) -> list[CountedFile]:
    """Return the files sorted by one of ``ORDERS``, or in their given order.

    Sorted by tokens, the file with the most in the first column comes first.
    """
    if order == "tokens":
        return sorted(counted, key=lambda one: -one.counts.tokens[0])
    if order == "name":
        return sorted(counted, key=lambda one: (os.path.basename(one.found.path), one.found.path))
    if order == "path":
        # Sorted by parts, so that the files of a directory stay together.
        return sorted(counted, key=lambda one: parts_of_path(one.found.path))
    return list(counted)


class Column(NamedTuple):
    """A column: the numbers of tokens by one tokenizer, and their cost."""

    title: str = "tokens"
    #: The sign before each number if they are estimates; else empty.
    mark: str = ""
    #: The price of a million tokens; None if no cost is wanted.
    price: Decimal | None = None

    def cost(self, tokens: int) -> str:
        """Return the cost of some tokens: exact, with as many places as any number of them needs.

        >>> from decimal import Decimal
        >>> Column(price=Decimal("2.50")).cost(12), Column(price=Decimal("3")).cost(1)
        ('0.00003000', '0.000003')
        """
        assert self.price is not None
        return f"{tokens * self.price.scaleb(-6):f}"


class Table:
    """The lines of a table: the cells of each column, aligned, and a name.

    >>> table = Table([Column()], separators=True)
    >>> table.align([123456])
    >>> table.line([1234], "a.txt")
    '  1,234 a.txt'
    >>> Table([Column()], percent_of=[40]).line([4], "a.txt")
    '4  10.0% a.txt'

    Args:
        columns: the columns.
        separators: write 1,234 for 1234.
        percent_of: the total of each column, if each number has its share beside it.
        bars_of: the total of the first column, if each line has its share as a bar.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        *,
        separators: bool = False,
        percent_of: Sequence[int] | None = None,
        bars_of: int | None = None,
    ) -> None:
        self._columns = columns
        self._separators = separators
        self._percent_of = percent_of
        self._bars_of = bars_of
        self._widths = [0] * len(self.titles)

    @property
    def titles(self) -> list[str]:
        """The titles of the cells of a line."""
        titles = []
        for column in self._columns:
            titles += [column.title, *[""] * (self._percent_of is not None)]
            titles += ["cost"] * (column.price is not None)
        return titles

    @property
    def has_header(self) -> bool:
        """True if the numbers need titles: there is more than one kind of them."""
        return len(self._columns) > 1 or any(one.price is not None for one in self._columns)

    def cells(self, tokens: Sequence[int]) -> list[str]:
        """Return the cells of a line, without padding."""
        cells = []
        for index, (column, number) in enumerate(zip(self._columns, tokens)):
            cells.append(column.mark + (f"{number:,}" if self._separators else str(number)))
            if self._percent_of is not None:
                whole = self._percent_of[index]
                cells.append(f"{number / whole if whole else 0:6.1%}")
            if column.price is not None:
                cells.append(column.mark + column.cost(number))
        return cells

    def align(self, largest: Sequence[int], least: int = 0) -> None:
        """Make each column as wide as its largest number and its title, and at least ``least``."""
        self._widths = [max(least, len(cell)) for cell in self.cells(largest)]
        if self.has_header:
            self._widths = list(map(max, self._widths, map(len, self.titles)))

    def header(self) -> str:
        """Return the line with the titles."""
        return _GAP.join(map(str.rjust, self.titles, self._widths)).rstrip()

    def line(self, tokens: Sequence[int], name: str) -> str:
        """Return a line."""
        cells = list(map(str.rjust, self.cells(tokens), self._widths))
        if self._bars_of is not None:
            cells.append(bar(tokens[0], self._bars_of, ascii_only=not can_show(_CELLS)))
        gap = _GAP if self.has_header else " "
        return gap.join([*cells, name] if name else cells)


def bar(tokens: int, total: int, *, ascii_only: bool) -> str:
    """Return a bar for a share; every share above 0 is visible.

    >>> bar(10, 40, ascii_only=False), bar(10, 40, ascii_only=True), bar(1, 10_000, ascii_only=True)
    ('██▌       ', '##        ', '#         ')
    """
    share = tokens / total if total else 0.0
    if ascii_only:
        return (_ASCII_CELL * max(round(share * _BAR), tokens > 0)).ljust(_BAR)
    whole, part = divmod(max(round(share * _BAR * 8), tokens > 0), 8)
    return (_CELLS[-1] * whole + _CELLS[part].strip()).ljust(_BAR)


def estimate_mark() -> str:
    """Return the sign before a number that is an estimate."""
    return _ABOUT if can_show(_ABOUT) else _ASCII_ABOUT


def flat_lines(shown: Sequence[CountedFile], rest: Rest) -> Iterator[tuple[Sequence[int], str]]:
    """Yield the tokens and the text of each line of a list."""
    for one in shown:
        yield one.counts.tokens, one.found.path
    if rest.files:
        yield rest.counts.tokens, more_files(rest.files)


class _Node:
    """A directory or a file, shown as ``name``, with the tokens of each column."""

    def __init__(self, name: str, columns: int) -> None:
        self.name = name
        self.tokens = [0] * columns
        # The number of files in it, and of those that are shown; a file counts itself.
        self.files = 0
        self.shown = 0
        self.children: dict[str, _Node] = {}

    def count(self, tokens: Sequence[int], is_shown: bool) -> None:
        for column, number in enumerate(tokens):
            self.tokens[column] += number
        self.files += 1
        self.shown += is_shown

    def child(self, key: str, name: str) -> _Node:
        return self.children.setdefault(key, _Node(name, len(self.tokens)))

    def entries(self, by_tokens: bool) -> list[_Node]:
        """Return the shown entries, also empty directories, and one entry for all others."""
        shown = [child for child in self.children.values() if child.shown or not child.files]
        if by_tokens:
            shown.sort(key=lambda child: -child.tokens[0])
        hidden = [child for child in self.children.values() if child.files and not child.shown]
        if hidden:
            rest = _Node(more_files(sum(child.files for child in hidden)), len(self.tokens))
            rest.tokens = [sum(numbers) for numbers in zip(*(child.tokens for child in hidden))]
            shown.append(rest)
        return shown


def tree_lines(
    paths: Sequence[str],
    counted: Sequence[CountedFile],
    shown: Sequence[CountedFile],
    columns: int = 1,
    *,
    by_tokens: bool,
    ascii_only: bool | None = None,
    depth: int | None = None,
) -> Iterator[tuple[Sequence[int], str]]:
    """Yield the tokens and the text of each line of the trees of some paths.

    Args:
        paths: the paths on the command line.
        counted: the files in them.
        shown: the files that get a line; the others are summed up in their directories.
        columns: the number of columns.
        by_tokens: put the largest first; else entries come in the order of ``counted``.
        ascii_only: draw the tree with ASCII; None to decide by the charset of standard output.
        depth: the number of levels below each path that are shown; None for all.
    """
    if ascii_only is None:
        ascii_only = not can_show("".join(LINES))
    entry, last_entry, within, within_last = _ASCII_LINES if ascii_only else LINES
    top = _top(paths, counted, shown, columns)
    # The nodes still to be written, the next one last, each with the text before it, the text
    # before its entries, and its level. Directories may be nested deeper than calls can be.
    waiting = [(node, "", "", 0) for node in top.entries(by_tokens)[::-1]]
    while waiting:
        node, before, before_entries, level = waiting.pop()
        yield node.tokens, before + node.name
        if level == depth:
            continue
        children = node.entries(by_tokens)
        for child in children[::-1]:
            is_last = child is children[-1]
            before, inside = (last_entry, within_last) if is_last else (entry, within)
            waiting.append((child, before_entries + before, before_entries + inside, level + 1))


def _top(
    paths: Sequence[str], counted: Sequence[CountedFile], shown: Sequence[CountedFile], columns: int
) -> _Node:
    """Return a node with the paths on the command line in it."""
    top = _Node("", columns)
    for argument, path in enumerate(paths):
        if path != STDIN and os.path.isdir(path):
            top.child(str(argument), os.path.join(path, ""))
    shown_ids = set(map(id, shown))
    for one in counted:
        file, is_shown = one.found, id(one) in shown_ids
        node = top.child(str(file.argument), file.root)
        node.count(one.counts.tokens, is_shown)
        below = file.path[len(os.path.join(file.root, "")) :]
        parts = parts_of_path(below) if below else []
        for depth, part in enumerate(parts, 1):
            name = part if depth == len(parts) else os.path.join(part, "")
            node = node.child(part, name)
            node.count(one.counts.tokens, is_shown)
    return top


def limit_of(model: str | None) -> ContextLimit:
    """Return the limits of a model.

    Raises:
        CommandError: no model is given, or its limits are not known.
    """
    if model is None:
        raise CommandError("--context needs --model: an encoding has no context")
    from ..chat.limits import context_limit  # only this option needs it

    try:
        return context_limit(model)
    except KeyError as error:
        raise CommandError(str(error.args[0])) from None


def share(tokens: int, limit: ContextLimit) -> str:
    """Return the words about the share of a model's context that some tokens take.

    >>> share(1280, limit_of("gpt-4o"))
    '1.0% of the context of gpt-4o, 128,000 tokens'
    """
    return f"{tokens / limit.context:.1%} of the context of {limit.model}, {limit.context:,} tokens"


def share_as_json(tokens: int, limit: ContextLimit) -> dict[str, Any]:
    """Return the same as an object."""
    return {"model": limit.model, "tokens": limit.context, "share": tokens / limit.context}


def limit_as_json(tokens: Iterable[int], limit: int | None) -> dict[str, Any]:
    """Return the members of JSON about the limit of some numbers of tokens.

    >>> limit_as_json([9, 11], 10), limit_as_json([10], 10), limit_as_json([10], None)
    ({'limit': 10, 'status': 'over'}, {'limit': 10, 'status': 'ok'}, {})
    """
    if limit is None:
        return {}
    return {"limit": limit, "status": "over" if max(tokens) > limit else "ok"}


def over_limit(
    name: str, columns: Sequence[Column], tokens: Sequence[int], limit: int | None
) -> list[str]:
    """Return a message for each number that is over a limit.

    >>> over_limit("a.txt", [Column()], [11], 10), over_limit("", [Column()], [10], 10)
    (['a.txt: 11 tokens, over the limit of 10'], [])
    """
    messages = []
    for column, number in zip(columns, tokens):
        if limit is not None and number > limit:
            by = " by the estimate" if column.mark else ""
            if len(columns) > 1:
                by += f" for {column.title}" if by else f" by {column.title}"
            lead = f"{name}: " if name else ""
            number_of = f"{column.mark}{plural(number, 'token')}"
            messages.append(f"{lead}{number_of}{by}, over the limit of {limit:,}")
    return messages


def by_title(columns: Sequence[Column], values: Iterable[Any]) -> dict[str, Any]:
    """Return a value of each column by its title."""
    return {column.title: value for column, value in zip(columns, values)}


def numbers_as_json(columns: Sequence[Column], tokens: Sequence[int]) -> dict[str, Any]:
    """Return numbers and their costs as members; with several columns, each is an object."""
    members: dict[str, Any] = {"tokens": by_title(columns, tokens)}
    if columns[0].price is not None:
        members["cost"] = by_title(columns, map(Column.cost, columns, tokens))
    if len(columns) > 1:
        return members
    return {name: next(iter(values.values())) for name, values in members.items()}


def counts_as_json(columns: Sequence[Column], counts: Counts) -> dict[str, Any]:
    """Return counts as members of an object."""
    sizes = {"bytes": counts.bytes, "characters": counts.characters}
    return {**numbers_as_json(columns, counts.tokens), **sizes}


def rows(
    columns: Sequence[Column], counted: Iterable[CountedFile], *, quotes: bool
) -> Iterator[list[str]]:
    """Yield the cells of a table for programs: the titles, and those of each file.

    Args:
        columns: the columns.
        counted: the files.
        quotes: quote cells as in CSV. Otherwise no cell has a separator in it, since control
            characters of a name are escaped later.
    """
    titles = ["path"]
    for column in columns:
        titles.append(column.mark + column.title)
        if column.price is not None:
            titles.append("cost" if len(columns) == 1 else f"{column.title} cost")
    lines = [[*titles, "bytes", "characters"]]
    table = Table([column._replace(mark="") for column in columns])
    for one in counted:
        counts = one.counts
        size, characters = str(counts.bytes), str(counts.characters)
        lines.append([one.found.path, *table.cells(counts.tokens), size, characters])
    for cells in lines:
        yield [_quoted(cell) for cell in cells] if quotes else cells


def _quoted(cell: str) -> str:
    """Return a cell of CSV.

    >>> _quoted('a "b", c'), _quoted("a.txt")
    ('"a ""b"", c"', 'a.txt')
    """
    return '"{}"'.format(cell.replace('"', '""')) if {*cell} & {*',"'} else cell
