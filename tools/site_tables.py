r"""A hook of mkdocs, which mkdocs.yml names: code in the cells of tables reads as on GitHub.

In a table of Markdown, ``\|`` is a bar that does not end the cell, and mkdocs shows the backslash.
Names of options get a class, by which the style sheet keeps them whole.
"""

from __future__ import annotations

import re


def on_page_content(html: str, **_: object) -> str:
    r"""Return the HTML of a page with the code in its tables changed.

    >>> on_page_content(r"<td><code>--a [b\|c]</code> or <code>d\|e</code></td> <code>f\|g</code>")
    '<td><code class="option">--a [b|c]</code> or <code>d|e</code></td> <code>f\\|g</code>'
    """
    return re.sub(r"<td.*?</td>", lambda cell: _changed(cell[0]), html, flags=re.DOTALL)


def _changed(cell: str) -> str:
    cell = re.sub(r"<code>.*?</code>", lambda code: code[0].replace("\\|", "|"), cell)
    return cell.replace("<code>-", '<code class="option">-')
