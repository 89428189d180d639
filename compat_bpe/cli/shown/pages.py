"""Tokens and the steps of merging as pages of HTML: no script, no network, light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from functools import lru_cache
from html import escape as escape_html

from ... import Encoding
from ...pipeline.models.explain import Item, Row
from ...unicode.text import Visible, escape
from ..output import CommandError
from .text import chunks, explained, names_of
from .tokens import Look, Unit, data_of, units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...pipeline.models.explain import Explanation

_STYLE = """
:root { color-scheme: light dark; --text: #1b1b1b; --page: #fff; --faint: #5f5f5f; --line: #d4d4d4;
  --one: #cfe8fc; --other: #fdeeb3; --special: #f6b8b8; --unknown: #e0c4f2; }
@media (prefers-color-scheme: dark) {
  :root { --text: #eee; --page: #181818; --faint: #a8a8a8; --line: #444;
    --one: #1d4e74; --other: #66540f; --special: #7d2a2a; --unknown: #5b2f78; }
}
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem;
  color: var(--text); background: var(--page); }
h1, h2 { font-size: 1.2rem; overflow-wrap: anywhere; margin: 0 0 .25rem; }
h2 { font-size: 1rem; }
section { display: flex; flex-direction: column; margin-top: 1.5rem; }
section > h2 { order: -2; }
section > .total { order: -1; }
.total { margin: 0; color: var(--faint); }
pre { font: 15px/1.8 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere;
  direction: ltr; margin: .75rem 0 0; }
span { border-radius: 3px; padding: 2px 0; unicode-bidi: isolate; background: var(--one);
  -webkit-box-decoration-break: clone; box-decoration-break: clone; }
span:nth-of-type(even) { background: var(--other); }
span.special { background: var(--special); font-weight: bold; }
span.unknown { background: var(--unknown); text-decoration: underline wavy; }
span[data-tokens]::after { content: attr(data-tokens); font-size: .65em; vertical-align: super;
  padding-left: 1px; }
small { display: none; unicode-bidi: isolate; white-space: normal; }
#ids:checked ~ section span::after { content: none; }
#ids:checked ~ section small { display: inline; font-size: .7em; padding: 0 .4em;
  color: var(--faint); background: var(--page); }
.gap { color: var(--faint); font-style: normal; text-decoration: underline dotted; }
table { border-collapse: collapse; font: 15px/1.6 ui-monospace, monospace; margin-top: .5rem; }
th { font: inherit; color: var(--faint); font-family: system-ui, sans-serif; }
th, td { text-align: left; vertical-align: top; padding: .2rem 1.5rem .2rem 0;
  border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
td:first-child { width: 40%; }
td span { display: inline-block; max-width: 100%; margin: 0 2px 2px 0; }
@media (max-width: 40rem) {
  th, td { display: block; border: 0; padding: 0; }
  td:first-child { width: auto; }
  tr { display: block; border-bottom: 1px solid var(--line); padding: .4rem 0; }
}
td span, td span:nth-of-type(even) { background: var(--one); padding: 0 1px; }
td span.marked { background: var(--other); }
"""


def page_start(title: str) -> str:
    """Return the beginning of a page, up to its title."""
    title = visible(title)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{title}</h1>\n"
    )


def page_end() -> str:
    """Return the end of a page."""
    return "</main>\n</body>\n</html>\n"


def escaped(data: bytes, table: Visible) -> str:
    """Return bytes as HTML, with escapes for what is invisible."""
    return escape_html(escape(data, table))


def visible(text: str) -> str:
    """Return a name as HTML; a file name need not be UTF-8."""
    return escape_html(text.translate(Visible()))


#: The largest number of tokens whose HTML element is cached.
_CACHED = 1 << 14

#: What lets a reader see the ids; without a script, it is before all sections.
IDS_SWITCH = '<input type="checkbox" id="ids"> <label for="ids">Show ids</label>\n'


def section(name: str, tokens: Iterable[Look], summary: Iterable[str]) -> Iterator[str]:
    """Yield the parts of a section with the tokens of a text.

    Args:
        name: its heading.
        tokens: the looks of the tokens, and of what is between them.
        summary: the lines that are shown above; they are asked for after the last token.

    Raises:
        CommandError: raised by ``tokens``; the elements are closed before.
    """
    ordinary = Visible("\\n\n")
    special = Visible()

    @lru_cache(_CACHED)
    def element(unit: Unit) -> str:
        look = unit[0]
        text = escaped(data_of(unit), special if look.kind == "special" else ordinary)
        if look.id is None:
            return f'<i class="gap" title="no token">{text}</i>'
        kind = f' class="{look.kind}"' if look.kind else ""
        count = f' data-tokens="{len(unit)}"' if len(unit) > 1 else ""
        ids = " ".join(str(one.id) for one in unit)
        written = " ".join(visible(one.token) for one in unit if one.token)
        title = f"{ids} {written}" if written else ids
        # The ids stand before a newline at the end, not on the next line.
        line = text.rstrip("\n")
        end = text[len(line) :]
        return f'<span{kind}{count} title="{title}">{line}<small>{ids}</small>{end}</span>'

    yield f"<section>\n<h2>{visible(name)}</h2>\n<pre>"
    try:
        yield from map(element, units(tokens))
    except CommandError:
        yield "</pre>\n</section>\n"
        raise
    yield "</pre>\n"
    for line in summary:
        yield f'<p class="total">{visible(line)}</p>\n'
    yield "</section>\n"


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
