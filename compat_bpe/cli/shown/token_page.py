"""Tokens as a section of a page of HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from ...unicode.text import Visible
from ..output import CommandError
from .html_page import escaped, visible
from .shown_tokens import Look
from .token_units import Unit, data_of, units

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
