"""Examples of docstrings in the API reference: an extension of griffe, which mkdocs.yml names.

Markdown would take ``>>>`` for a quotation in a quotation.
"""

from __future__ import annotations

import re
from typing import Any

import griffe


def with_code_blocks(text: str) -> str:
    r"""Return a docstring with each example in a block of code.

    >>> print(with_code_blocks("Double.\n\n>>> 2 * 2\n4\n\nMore text."))
    Double.
    <BLANKLINE>
    ```pycon
    >>> 2 * 2
    4
    ```
    <BLANKLINE>
    More text.
    """
    return re.sub(r"^>>> .*(?:\n(?!\n).*)*", r"```pycon\n\g<0>\n```", text, flags=re.MULTILINE)


class DocstringExamples(griffe.Extension):
    """Write the examples of every docstring as blocks of code."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = with_code_blocks(obj.docstring.value)
