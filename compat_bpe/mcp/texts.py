"""Texts of a call: in its arguments, or in files in the roots."""

from __future__ import annotations

from ..files.text import check_beginning, not_utf8
from ..files.whole import read_at_most
from .bounds import LONGEST, CallError
from .tool import Call, Json, list_of, named, one_of, said

#: The arguments that give one text.
ONE_TEXT: dict[str, Json] = {
    "text": said("string", "The text."),
    "file": named("The path of a text file in the roots, in place of the text."),
}

FILES: Json = list_of(
    {"type": "string", "maxLength": LONGEST},
    "The paths of text files in the roots; a relative path is in a root.",
)


def text_of(arguments: Json, call: Call) -> str:
    """Return the text of a call, given by ``ONE_TEXT``.

    Raises:
        CallError: both or none are given, or the file cannot be read.
    """
    if one_of(arguments, "text", "file") == "text":
        return str(arguments["text"])
    return read_text(arguments["file"], call)


def read_text(path: str, call: Call) -> str:
    """Return the text of a file in the roots.

    Raises:
        CallError: it is outside of them, cannot be read, is too large, or is not UTF-8.
    """
    limit = call.bounds.file
    call.clock.check()
    with call.roots.open(path) as file:
        try:
            data = read_at_most(file.read, limit + 1)
        except OSError as error:
            raise CallError(f"{path}: {error.strerror or error}") from None
    if len(data) > limit:
        raise CallError(f"{path}: larger than {limit:,} bytes; compat-bpe count takes it")
    try:
        check_beginning(data)
        return data.decode()
    except UnicodeDecodeError as error:
        raise CallError(f"{path}: {not_utf8(error)}") from None
    except ValueError as error:
        raise CallError(f"{path}: {error}") from None
