r"""A hook of mkdocs, which mkdocs.yml names: code in tables and in sentences stays readable.

In a table of Markdown, ``\|`` is a bar that does not end the cell, and mkdocs shows the backslash.
Names of options and short code get a class, by which the style sheet keeps them whole.
"""

from __future__ import annotations

import re

#: Code that fits a line of a telephone.
_SHORT = re.compile(r"(?<!<pre>)<code>(?=[^<]{1,24}</code>)")


def on_page_content(html: str, **_: object) -> str:
    r"""Return the HTML of a page with its code changed.

    >>> on_page_content(r"<td><code>--a [b\|c]</code> <code>d\|e</code></td>")
    '<td><code class="option">--a [b|c]</code> <code class="short">d|e</code></td>'
    >>> on_page_content(r"<p><code>f\|g</code></p>")
    '<p><code class="short">f\\|g</code></p>'
    """
    html = re.sub(r"<td.*?</td>", lambda cell: _changed(cell[0]), html, flags=re.DOTALL)
    return _SHORT.sub('<code class="short">', html)


def _changed(cell: str) -> str:
    cell = re.sub(r"<code>.*?</code>", lambda code: code[0].replace("\\|", "|"), cell)
    return cell.replace("<code>-", '<code class="option">-')
