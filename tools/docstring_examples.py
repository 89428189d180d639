"""An extension of griffe for the API reference: examples in docstrings become blocks of code.

Without it, Markdown takes ``>>>`` for a quotation in a quotation. mkdocs.yml names this file.
"""

from __future__ import annotations

import re
from typing import Any

import griffe


def with_code_blocks(text: str) -> str:
    r"""Return a docstring with each example in a block of code.

    >>> with_code_blocks("Double.\n\n>>> 2 * 2\n4\n\nMore text.")
    'Double.\n\n```pycon\n>>> 2 * 2\n4\n```\n\nMore text.'
    """
    return re.sub(r"^>>> .*(?:\n(?!\n).*)*", r"```pycon\n\g<0>\n```", text, flags=re.MULTILINE)


class DocstringExamples(griffe.Extension):
    """Write the examples of every docstring as blocks of code."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = with_code_blocks(obj.docstring.value)
