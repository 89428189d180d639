"""Counts of dropped files, as ``compat-bpe count`` gives them."""

from __future__ import annotations

from typing import Any

from compat_bpe import Encoding
from compat_bpe.files.text import check_beginning, not_utf8


def count_file(encodings: list[Encoding], data: bytes) -> dict[str, Any]:
    r"""Return the counts of a file as it is: UTF-8, and no line end translated.

    Returns:
        ``bytes``; and either ``counts``, one for each encoding, or ``error``, the reason for which
        it is not counted.

    >>> from compat_bpe import get_encoding
    >>> count_file([get_encoding("gpt2")], b"hello world\r\n")
    {'bytes': 13, 'counts': [4]}
    >>> count_file([get_encoding("gpt2")], b"\0")["error"]
    'binary: NUL byte at offset 0'
    """
    try:
        check_beginning(data)
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise not_utf8(error) from None
        return {"bytes": len(data), "counts": [one.count(text) for one in encodings]}
    except ValueError as error:
        return {"bytes": len(data), "error": str(error)}
