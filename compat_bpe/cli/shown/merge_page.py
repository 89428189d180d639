"""The steps of ``show --merges`` as a page of HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from ... import Encoding
from ...pipeline.models.explain import Item, Row
from ...unicode.text import Visible
from .html_page import escaped, page_end, page_start, visible
from .merge_steps import chunks, explained, names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...pipeline.models.explain import Explanation

#: The most ways to go on that are listed for a state.
_LISTED = 8

_VISIBLE = Visible()


def merge_page(texts: Iterable[str], encoding: Encoding, allowed: Set[str]) -> Iterator[str]:
    """Yield the parts of a page with the steps of each chunk of some texts.

    Raises:
        CommandError: the vocabulary has no token for a part of a text.

    >>> from compat_bpe import get_encoding
    >>> page = "".join(merge_page(["hugs"], get_encoding("gpt2"), frozenset()))
    >>> "<b>u|g 1018</b>" in page, "<p>Ids: 71 10339</p>" in page
    (True, True)
    """
    names = names_of(encoding)
    yield page_start(f"Merges of {encoding.name}")
    for chunk in chunks(texts, encoding, allowed):
        if isinstance(chunk, int):
            yield f"<section>\n<h2>{escaped(names[chunk], _VISIBLE)}</h2>\n"
            yield '<p class="total">a special or added token</p>\n'
            yield f"<p>Ids: {chunk}</p>\n</section>\n"
        else:
            yield from _section(explained(encoding, chunk))
    yield page_end()


def _section(found: Explanation) -> Iterator[str]:
    yield f"<section>\n<h2>{escaped(found.chunk, _VISIBLE)}</h2>\n"
    if found.note:
        yield f'<p class="total">{visible(found.note)}</p>\n'
    rows = list(found.rows())
    if rows:
        yield '<table>\n<thead><tr><th scope="col">parts</th><th scope="col">ways to go on, '
        yield "the one taken in bold</th></tr></thead>\n<tbody>\n"
        for row in rows:
            yield f"<tr><td>{_parts(row)}</td><td>{_items(row)}</td></tr>\n"
        yield "</tbody>\n</table>\n"
    yield f"<p>Ids: {' '.join(map(str, found.ids))}</p>\n</section>\n"


def _parts(row: Row) -> str:
    first, end = row.marked
    spans = []
    for number, part in enumerate(row.parts):
        mark = ' class="marked"' if first <= number < end else ""
        spans.append(f"<span{mark}>{escaped(part, _VISIBLE)}</span>")
    return "".join(spans)


def _items(row: Row) -> str:
    """Return the ways to go on; of very many, the first ones, and the one that is taken."""
    written = ""
    left_out = 0
    for number, item in enumerate(row.items):
        is_taken = number == row.taken
        if number >= _LISTED and not is_taken:
            left_out += 1
            continue
        text = _item(item)
        written += visible(item.lead) if number else ""
        written += f"<b>{text}</b>" if is_taken else text
    return f"{written} … {left_out:,} more" if left_out else written


def _item(item: Item) -> str:
    text = "|".join(escaped(part, _VISIBLE) for part in item.parts)
    figure = visible(item.figure)
    return f"{text} {figure}" if text and figure else text + figure
