"""The libraries that only this room needs, imported when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..corpus.tables import import_pyarrow

_MISSING = "compat_bpe.spark needs PySpark 4 and PyArrow: pip install 'compat-bpe[spark]'"


def needed(name: str) -> Any:
    """Return a module of PySpark or PyArrow.

    Raises:
        ImportError: it is not installed, or not in a version that is safe; the message says how to
            install it.

    >>> needed("pyspark.no_such_module")
    Traceback (most recent call last):
    ImportError: compat_bpe.spark needs PySpark 4 and PyArrow: pip install 'compat-bpe[spark]'
    """
    if name == "pyarrow":
        return import_pyarrow(_MISSING)
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(_MISSING) from error
