"""PyArrow, in a version that is safe with files of strangers."""

from __future__ import annotations

import re
from typing import Any

#: Versions before this one run code that a Parquet file brings along: CVE-2023-47248.
_FIRST_SAFE = (14, 0, 1)


def import_pyarrow(needed_for: str) -> Any:
    """Return the module ``pyarrow``.

    Args:
        needed_for: what it is needed for, and how to install it: the message if it is missing.

    Raises:
        ImportError: it is not installed, or an old version of it is.
    """
    try:
        import pyarrow
    except ImportError:
        raise ImportError(needed_for, name="pyarrow") from None
    version = str(pyarrow.__version__)
    if tuple(map(int, re.findall(r"\d+", version)[:3])) < _FIRST_SAFE:
        least = ".".join(map(str, _FIRST_SAFE))
        raise ImportError(
            f"pyarrow {version} runs code that a Parquet file brings along (CVE-2023-47248): "
            f"pip install 'pyarrow>={least}'",
            name="pyarrow",
        )
    return pyarrow
