"""The source of Jupyter notebooks: the texts of their cells, without outputs and metadata."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any

from .whole import json_message

#: The largest notebook whose source is looked for, in bytes: values of JSON may take 25 times as
#: much memory.
LARGEST_NOTEBOOK = 1 << 26


class NotebookError(ValueError):
    """The error for a text that is not a notebook; its message says why."""


def is_notebook(path: str) -> bool:
    """Return True if the name of a file is one of a notebook.

    >>> is_notebook("a/b.ipynb"), is_notebook("a.json")
    (True, False)
    """
    return os.path.splitext(path)[1].lower() == ".ipynb"


def notebook_source(text: str) -> str:
    r"""Return the sources of the cells of a notebook, with an empty line between two.

    Args:
        text: the JSON of a notebook, of any version of its format.

    Raises:
        NotebookError: it is not one.

    >>> notebook_source('{"cells": [{"source": ["# A\\n", "text"]}, {"source": "x = 1"}]}')
    '# A\ntext\n\nx = 1'
    """
    if len(text) > LARGEST_NOTEBOOK:
        raise NotebookError(f"larger than {LARGEST_NOTEBOOK:,} bytes")
    try:
        notebook = json.loads(text.lstrip("\ufeff"))
    except RecursionError:
        raise NotebookError("not JSON that can be read: nested too deeply") from None
    except ValueError as error:
        raise NotebookError(f"not JSON: {json_message(str(error))}") from None
    source = "\n\n".join(filter(None, _sources(notebook)))
    return re.sub("[\ud800-\udfff]", "\ufffd", source)  # JSON may have them, and UTF-8 not


def _sources(notebook: Any) -> Iterator[str]:
    for place, cell in _cells(notebook):
        # Before version 4, cells of code had an input.
        source = cell.get("source", cell.get("input")) if isinstance(cell, dict) else None
        lines = [source] if isinstance(source, str) else source
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise NotebookError(f"{place}: no source")
        yield "".join(lines)


def _cells(notebook: Any) -> Iterator[tuple[str, Any]]:
    """Yield the place of each cell, and the cell."""
    sheets = [("", notebook)]
    if isinstance(notebook, dict) and "cells" not in notebook:
        # Before version 4, there were sheets of cells.
        listed = notebook.get("worksheets")
        if isinstance(listed, list) and listed:
            sheets = [(f"worksheets[{number}].", sheet) for number, sheet in enumerate(listed)]
    for place, sheet in sheets:
        cells = sheet.get("cells") if isinstance(sheet, dict) else None
        if not isinstance(cells, list):
            raise NotebookError(f"{place}cells: no list")
        yield from ((f"{place}cells[{number}]", cell) for number, cell in enumerate(cells))
