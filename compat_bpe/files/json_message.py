"""The messages of ``json`` about damaged text."""

from __future__ import annotations


def json_message(message: str) -> str:
    r"""Return a message of ``json``, mended where PyPy spoils it.

    PyPy puts a single byte of a character that is not ASCII into the message, as if that were
    ASCII. To print such a string, or to put it into another one, raises ``SystemError``. To
    encode it does not.

    >>> json_message("Unexpected 'é'")
    "Unexpected 'é'"
    """
    return message.encode("utf-8", "backslashreplace").decode("utf-8", "backslashreplace")
