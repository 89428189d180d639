"""Write docs/llms.txt, which tells language models what the site of the documentation has.

Usage: python tools/build_llms.py [--check]

The form is that of https://llmstxt.org/: a title, a summary, and lists of links. All of it is taken
from docs/index.md. Pages are linked as Markdown, but those that are made from docstrings as HTML.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.generated import write_or_check

DOCS = Path(__file__).parents[1] / "docs"


def llms_txt(index: str) -> str:
    """Return the text for a first page.

    >>> pages = "- [x](x.md): a\\n  b\\n- [y](reference/y.md): c\\n"
    >>> print(llms_txt(f"# T\\n\\nWhat it\\nis.\\n\\n## None\\n\\nText.\\n\\n### A\\n\\n{pages}"))
    # T
    <BLANKLINE>
    > What it is.
    <BLANKLINE>
    ## A
    <BLANKLINE>
    - [x](x.md): a b
    - [y](reference/y.html): c
    <BLANKLINE>
    """
    # The lines that go on with a paragraph or an item are joined to it.
    text = re.sub(r"^```.*?^```\n", "", index, flags=re.MULTILINE | re.DOTALL)
    paragraphs = re.sub(r"\n +|(?<=[^\n])\n(?=[^\n#\-])", " ", text).split("\n")
    return "\n".join(_lines(paragraphs)) + "\n"


def _lines(paragraphs: list[str]) -> Iterator[str]:
    title, summary, *rest = filter(None, paragraphs)
    yield from (title, "", f"> {summary}")
    heading = ""
    for line in rest:
        if line.startswith("##"):
            heading = line.replace("### ", "## ")
        elif line.startswith("- "):
            if heading:  # a section without a list has none
                yield from ("", heading, "")
                heading = ""
            yield re.sub(r"\((reference/\w+)\.md\)", r"(\1.html)", line)


def generate() -> dict[Path, str]:
    """Return the text of the file."""
    return {DOCS / "llms.txt": llms_txt((DOCS / "index.md").read_text("utf-8"))}


if __name__ == "__main__":
    sys.exit(write_or_check(__doc__, generate))
