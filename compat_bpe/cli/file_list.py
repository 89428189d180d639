"""Lists of paths, as ``find`` and ``git ls-files`` print them; few commands need them."""

from __future__ import annotations

import codecs
import os
import re
from typing import Callable

from ..files.text import STDIN, check_beginning, open_bytes
from .output import CommandError, complaint, shown_name

#: A name as git quotes it: one with a quote, a backslash or a control character in it, or unless
#: ``core.quotePath`` is false, with a byte that is not ASCII.
_QUOTED = re.compile(rb'"((?:[^"\\]|\\(?:[abfnrtv"\\]|[0-3][0-7]{2}))+)"')
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPED = dict(zip(b"abfnrtv", b"\a\b\f\n\r\t\v"))


def read_list(path: str, *, is_null: bool, announce: Callable[[str], None]) -> list[str]:
    """Return the paths that a file lists; empty lines are left out.

    Args:
        path: the path of the list, or ``-`` for standard input.
        is_null: a NUL byte ends each path, and nothing is quoted; else a line end does.
        announce: called with the path before it is opened.

    Raises:
        CommandError: the list cannot be read, a line may stand for two files, or the list names
            the standard input that it is read from.
    """
    announce(path)
    try:
        with open_bytes(path) as file:
            data = file.read()
        names = data.split(b"\0") if is_null else _names(data)
    except OSError as error:
        raise CommandError(complaint(path, error.strerror or str(error))) from None
    except ValueError as error:
        raise CommandError(f"{shown_name(path)}: {error}") from None
    paths = [os.fsdecode(name) for name in names if name]
    if path == STDIN and STDIN in paths:
        raise CommandError("standard input: it has the list of files, so it cannot be one of them")
    return paths


def _names(data: bytes) -> list[bytes]:
    """Return the name on each line.

    Raises:
        ValueError: the list is in no charset that names have, or a name is not certain.
    """
    lines = _as_names_are(data).split(b"\n")
    lines[0] = _certain(lines[0], lines[0].removeprefix(codecs.BOM_UTF8), 1)
    return [_name(line, number) for number, line in enumerate(lines, 1)]


def _as_names_are(data: bytes) -> bytes:
    """Return a list in the charset of names: PowerShell writes UTF-16."""
    is_utf32 = data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE))
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and not is_utf32:
        try:
            data = os.fsencode(data.decode("utf-16"))
        except UnicodeError:
            raise ValueError("the list is damaged UTF-16; write it as UTF-8") from None
    elif is_utf32:
        check_beginning(data)
    if b"\0" in data:
        advice = "there is a NUL byte in the list: give --null, too"
        # ASCII in UTF-16, or a line end at least.
        if b"\n\0" in data or b"\0\n" in data or not any(data[::2]) or not any(data[1::2]):
            advice += ", or convert it to UTF-8 if it is UTF-16"
        raise ValueError(advice)
    return data


def _name(line: bytes, number: int) -> bytes:
    """Return the name on a line, which may end in CR LF, and be quoted by git."""
    name = _certain(line, line.removesuffix(b"\r"), number)
    quoted = _QUOTED.fullmatch(name)
    if quoted is None:
        return name
    plain = _ESCAPE.sub(_unescaped, quoted[1])
    return name if b"\0" in plain else _certain(name, plain, number)


def _unescaped(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    return bytes([int(code, 8) if len(code) == 3 else _ESCAPED.get(code[0], code[0])])


def _certain(literal: bytes, name: bytes, number: int) -> bytes:
    """Return the name that a line stands for; the line itself if only that is a file.

    Raises:
        ValueError: both are there.
    """
    if literal == name or not os.path.lexists(literal):
        return name
    if name and os.path.lexists(name):
        raise ValueError(
            f"line {number} of the list: it may stand for two files that are there, "
            f"{os.fsdecode(literal)!r} and {os.fsdecode(name)!r}: give --null and a list such as "
            "that of git ls-files -z"
        )
    return literal
