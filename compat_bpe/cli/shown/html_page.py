"""The frame of the pages that ``show`` writes: no script, no network, light and dark."""

from __future__ import annotations

from html import escape as escape_html

from ...unicode.text import Visible, escape

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
