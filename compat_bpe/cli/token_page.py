"""Tokens as a self-contained page of HTML: no script, no network, light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from html import escape as escape_html

from ..unicode.escape import Visible, escape
from .output import CommandError
from .shown_tokens import Look

#: The largest number of tokens whose HTML element is cached.
_CACHED = 1 << 14

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem;
  color: #1b1b1b; background: #fff; }
h1, h2 { font-size: 1.2rem; overflow-wrap: anywhere; }
pre { font: 15px/1.8 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere;
  direction: ltr; }
span { border-radius: 3px; padding: 2px 0; unicode-bidi: isolate; background: #cfe8fc; }
span:nth-of-type(even) { background: #fdeeb3; }
span.special { background: #f6b8b8; font-weight: bold; }
span.unknown { background: #e0c4f2; text-decoration: underline wavy; }
.gap { opacity: 0.5; font-style: normal; }
@media (prefers-color-scheme: dark) {
  body { color: #eee; background: #181818; }
  span { background: #1d4e74; }
  span:nth-of-type(even) { background: #66540f; }
  span.special { background: #7d2a2a; }
  span.unknown { background: #5b2f78; }
}
"""


def page_start(title: str) -> str:
    """Return the beginning of a page, up to its title."""
    title = _visible(title)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    )


def page_end() -> str:
    """Return the end of a page."""
    return "</body>\n</html>\n"


def section(name: str, tokens: Iterable[Look], summary: Iterable[str]) -> Iterator[str]:
    """Yield the parts of a section with the tokens of a text.

    Args:
        name: its heading.
        tokens: the looks of the tokens, and of what is between them.
        summary: the lines below; they are asked for after the last token.

    Raises:
        CommandError: raised by ``tokens``; the elements are closed before.
    """
    ordinary = Visible("\\n\n")
    special = Visible()

    @lru_cache(_CACHED)
    def element(look: Look) -> str:
        text = _escaped(look.data, special if look.kind == "special" else ordinary)
        if look.id is None:
            return f'<i class="gap" title="no token">{text}</i>'
        kind = f' class="{look.kind}"' if look.kind else ""
        title = f"{look.id} {_visible(look.token)}" if look.token else f"{look.id}"
        return f'<span{kind} title="{title}">{text}</span>'

    yield f"<h2>{_visible(name)}</h2>\n<pre>"
    try:
        yield from map(element, tokens)
    except CommandError:
        yield "</pre>\n"
        raise
    yield "</pre>\n"
    for line in summary:
        yield f"<p>{_visible(line)}</p>\n"


def _escaped(data: bytes, visible: Visible) -> str:
    return escape_html(escape(data, visible))


def _visible(text: str) -> str:
    """Return a name as HTML; a file name need not be UTF-8."""
    return escape_html(text.translate(Visible()))
