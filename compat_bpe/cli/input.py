"""The input of commands: paths, globs, directories, lists of files, and text byte for byte.

Messages give advice if a path is a directory, a URL, a glob or a text, and if a read waits for
someone to type or write. ``KeptBytes`` and the functions for *escaped* text (decoded with
``errors="surrogateescape"``) keep bytes that are not UTF-8.
"""

from __future__ import annotations

import codecs
import io
import os
import re
import stat
import sys
import warnings
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any, Callable, Literal, NamedTuple, TypeVar

import click

from ..files.text import (
    STDIN,
    check_beginning,
    check_mark,
    may_become_mark,
    not_utf8,
    open_bytes,
    recoded,
)
from ..unicode.surrogates import has_surrogates
from ..unicode.text import StreamDecodeError, Utf8Decoder
from .app import gathered, option
from .output import PROGRAM, CommandError, Screen, complaint, is_terminal, shown_name, write_message
from .progress import FileProgress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..files.walk import Walk

#: The type of an argument that is a path to read, or ``-``.
#:
#: Nothing is checked beforehand: opening the file fails and says why, and other files are read.
INPUT_PATH = click.Path(allow_dash=True, readable=False)

_Function = TypeVar("_Function", bound=Callable[..., Any])

#: The characters of a glob.
_GLOB = frozenset("*?[{")

#: Advice about a directory, by the command that reads a file.
_OF_DIRECTORY = {
    "decode": "decode reads a single file",
    "encode": "encode reads a single file; count accepts a directory",
    "show": "give the files in it, such as {path}/*",
    "split": "--files accepts a directory",
    "truncate": "truncate reads a single file; split --files accepts a directory",
}


def paths_argument(
    name: str, metavar: str, type: click.ParamType[Any] = INPUT_PATH
) -> Callable[[_Function], _Function]:
    """Return an argument of any number of paths, in which globs are expanded."""
    return click.argument(
        name,
        nargs=-1,
        type=type,
        metavar=metavar,
        callback=lambda _context, _parameter, paths: expanded_globs(paths),
    )


def file_argument(function: _Function) -> _Function:
    """Give a command the argument ``file``; the default is standard input."""
    return click.argument(
        "file", default=STDIN, type=INPUT_PATH, metavar="[FILE|-]", callback=_single_file
    )(function)


def _single_file(context: click.Context, _parameter: click.Parameter, path: str) -> str:
    paths = expanded_globs((path,))
    if len(paths) > 1:
        raise click.BadParameter(
            f"{path!r} matches {len(paths):,} files; {context.info_name} reads only one."
        )
    return paths[0]


def expanded_globs(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return paths with each glob replaced by the files that it matches, as in a shell.

    A path that exists is not a glob, and a glob that matches nothing stays. On Windows, where
    shells expand none, click has done it.
    """
    if os.name == "nt" or not any(map(_is_glob, paths)):
        return paths
    from ..files.walk import matches_of_glob  # few commands need it

    found: list[str] = []
    for path in paths:
        found += (matches_of_glob(path) if _is_glob(path) else []) or [path]
    return tuple(found)


def _is_glob(path: str) -> bool:
    return not _GLOB.isdisjoint(path) and not os.path.lexists(path)


def reason_of(error: OSError, path: str) -> str:
    """Return why a path cannot be read, and what to do if it is not the path of a file.

    >>> reason_of(FileNotFoundError(2, "No such file or directory"), "https://example.com/a.txt")
    'No such file or directory; URLs are not fetched: curl -L URL | compat-bpe'
    """
    return "; ".join(filter(None, reason_and_advice(error, path)))


def reason_and_advice(error: OSError, path: str) -> tuple[str, str]:
    """Return why a path cannot be read, and what to do about it; the second may be empty."""
    return error.strerror or str(error), _advice(error, path)


def _advice(error: OSError, path: str) -> str:
    context = click.get_current_context(silent=True)
    command = PROGRAM if context is None else context.command_path
    name = command.rpartition(" ")[2]
    if os.path.isdir(path):
        return _OF_DIRECTORY.get(name, "").format(path=path.rstrip("/"))
    if path == STDIN or isinstance(error, PermissionError) or os.path.lexists(path):
        return ""
    if name == "check":  # it reads no standard input
        return "no file matches this pattern" if not _GLOB.isdisjoint(path) else ""
    if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*://", path):
        return f"URLs are not fetched: curl -L URL | {command}"
    # A sentence has no ending as a file's name has.
    if " " in path.strip() and not re.search(r"\.\w{1,8}$", path):
        return f"for a text, use {'-c TEXT' if name == 'count' else f'echo TEXT | {command}'}"
    return "no file matches this pattern" if not _GLOB.isdisjoint(path) else ""


def _text_encoding(value: str) -> str | None:
    try:
        codec = codecs.lookup(value)
    except (LookupError, ValueError):
        codec = None
    # Python has codecs of bytes to bytes, too.
    if codec is None or not getattr(codec, "_is_text_encoding", True):
        raise click.BadParameter(
            f"unknown text encoding {value!r}; give one of Python's names, such as utf-16, "
            "latin-1, cp1252 or shift_jis."
        )
    return None if codec.name == "utf-8" else codec.name


#: The option for the encoding of the text in files; its value is None for UTF-8.
encoding_of_file = option(
    "--encoding-of-file NAME",
    "Read a file as text in this encoding (utf-16, latin-1, cp1252, …), not as UTF-8.",
    type=_text_encoding,
)


def announce_wait(path: str) -> None:
    """Say on standard error that a read waits for someone: a person, or a pipe's other end.

    Call it just before the path is opened. It says nothing about input that is there already: a
    file, or standard input that is not a terminal.
    """
    if path == STDIN:
        if is_terminal(sys.stdin):
            key = "Ctrl-Z and Enter" if os.name == "nt" else "Ctrl-D"
            write_message(f"reading standard input; {key} on an empty line ends it")
            Screen.is_typed = True
    elif is_terminal(sys.stderr) and _is_pipe(path):
        write_message(f"{path}: a named pipe; waiting for a program that writes to it")


def size_of(path: str) -> int | None:
    """Return the size of a regular file, or of one that is standard input; else None."""
    try:
        status = os.stat(0 if path == STDIN else path)
    except (OSError, ValueError):
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _is_pipe(path: str) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


#: The largest number of bytes that are read at a time.
_BLOCK = 1 << 16


class Reading(NamedTuple):
    """How the bytes of an input are read as text.

    Args:
        errors: the treatment of bytes that are not UTF-8. ``"keep"`` reads them as Python's
            ``"surrogateescape"`` does.
        encoding: the encoding of the input; None for UTF-8.
    """

    errors: Literal["strict", "replace", "keep"] = "strict"
    encoding: str | None = None

    @property
    def handler(self) -> str:
        """The error handler of this treatment."""
        return "surrogateescape" if self.errors == "keep" else self.errors

    def recoded(self, file: Any) -> Any:
        """Return a file of bytes as one in UTF-8."""
        if self.encoding is None:
            return file
        return recoded(file, self.encoding, replace=self.errors == "replace")

    def decoded(self, data: bytes, before: int = 0) -> str:
        """Return bytes as text; ``before`` is the number of those before them in the file.

        Raises:
            ValueError: they are not UTF-8; it says at which byte.
        """
        try:
            return data.decode("utf-8", self.handler)
        except UnicodeDecodeError as error:
            raise not_utf8(error, before) from None


#: UTF-8 and nothing else.
STRICT = Reading()


#: The options for bytes that are not UTF-8, as the parameter ``reading``.
reading_options = gathered(
    "reading",
    lambda errors, encoding_of_file: Reading(errors, encoding_of_file),
    option(
        "--errors",
        "Keep bytes that are not UTF-8 as they are (keep), read them as U+FFFD (replace), or treat "
        "them as an error (strict).",
        type=click.Choice(["keep", "replace", "strict"]),
        default="keep",
    ),
    encoding_of_file,
)


#: The escapes in the value of an option; any other is an error.
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\"}


def unescape(text: str) -> str:
    r"""Replace the escapes ``\n``, ``\t``, ``\r``, ``\0`` and ``\\`` by their characters.

    Raises:
        click.BadParameter: it is not UTF-8, or a backslash begins another escape.

    >>> unescape(r"one\ntwo\\n")
    'one\ntwo\\n'
    """

    def replaced(escape: re.Match[str]) -> str:
        try:
            return _ESCAPES[escape[1]]
        except KeyError:
            raise click.BadParameter(
                f"unknown escape {escape[0]}; the escapes are \\n, \\t, \\r, \\0 and \\\\."
            ) from None

    return re.sub(r"\\(.?)", replaced, check_utf8(text), flags=re.DOTALL)


def check_utf8(argument: str) -> str:
    """Return an argument of the command if it is text.

    Raises:
        click.BadParameter: its bytes are not UTF-8.
    """
    try:
        argument.encode()
    except UnicodeEncodeError:
        raise click.BadParameter("the text is not UTF-8.") from None
    return argument


def read_blocks(path: str, reading: Reading = STRICT) -> Iterator[bytes]:
    """Yield the bytes of a file, or of standard input, as they come.

    Args:
        path: the file, or ``-``.
        reading: the encoding of its text; if it is not UTF-8, the bytes are those of UTF-8.

    Raises:
        CommandError: it cannot be read, or is not in this encoding.
    """
    if path == STDIN and sys.stdin is None:
        raise CommandError("standard input: closed")
    announce_wait(path)
    try:
        with open_bytes(path) as file:
            file = reading.recoded(file)
            # Return the bytes that are there: do not wait until a block is full.
            read = getattr(file, "read1", file.read)
            with FileProgress(1, size_of(path), until_output=True) as progress:
                for block in iter(lambda: read(_BLOCK), b""):
                    yield block
                    progress.advance(len(block))
    except OSError as error:
        raise CommandError(f"{shown_name(path)}: {reason_of(error, path)}") from None
    except ValueError as error:
        raise CommandError(f"{shown_name(path)}: {error}") from None


def read_pieces(path: str, reading: Reading = STRICT) -> Iterator[str]:
    """Yield the text of a file, or of standard input, as it comes.

    Args:
        path: the file, or ``-``.
        reading: how it is read.

    Raises:
        CommandError: it cannot be read, or is not UTF-8; the message gives the byte. Or it
            begins as UTF-16, and bytes that are not UTF-8 are not replaced.
    """
    decoder = Utf8Decoder(reading.handler)
    try:
        for block in _checked(read_blocks(path, reading), reading):
            yield decoder.feed(block)
        yield decoder.finish()
    except StreamDecodeError as error:
        reason = not_utf8(error, error.offset - error.start)
        raise CommandError(f"{shown_name(path)}: {reason}") from None
    except ValueError as error:
        raise CommandError(f"{shown_name(path)}: {error}") from None


def _checked(blocks: Iterator[bytes], reading: Reading) -> Iterator[bytes]:
    """Yield the same blocks, after a check of the beginning.

    Raises:
        ValueError: there is the byte-order mark of another encoding.
    """
    if reading.errors != "replace":
        beginning = b""
        while may_become_mark(beginning):
            block = next(blocks, b"")
            beginning += block
            if not block:
                break
        check_mark(beginning)
        yield beginning
    yield from blocks


def read_all(path: str, reading: Reading = STRICT) -> str:
    """Return the whole text of a file, or of standard input; as in ``read_pieces``."""
    return "".join(read_pieces(path, reading))


#: The number of characters that are searched for surrogates at a time.
_PORTION = 1 << 20

#: The bytes that ``errors="replace"`` makes one U+FFFD, as ``errors="surrogateescape"`` writes
#: them: the longest beginning of a character, or a byte that begins none.
_NOT_UTF8 = (
    "\udce0[\udca0-\udcbf]|[\udce1-\udcec\udcee\udcef][\udc80-\udcbf]|\udced[\udc80-\udc9f]"
    "|\udcf0[\udc90-\udcbf][\udc80-\udcbf]?|[\udcf1-\udcf3][\udc80-\udcbf]{1,2}"
    "|\udcf4[\udc80-\udc8f][\udc80-\udcbf]?|[\udc80-\udcff]"
)


def replace_escaped(text: str) -> str:
    r"""Return escaped text as ``errors="replace"`` would have decoded it.

    >>> replace_escaped(b"caf\xe9 \xe4\xb8".decode("utf-8", "surrogateescape"))
    'caf� �'
    """
    return re.sub(_NOT_UTF8, "\ufffd", text) if _has_escaped(text) else text


def split_escaped(text: str) -> Iterator[tuple[str, bytes]]:
    r"""Yield the parts of escaped text, cut after bytes that are not UTF-8.

    Each part is a text and the bytes after it, for which ``errors="replace"`` puts one U+FFFD.

    >>> list(split_escaped(b"caf\xe9 \xe4\xb8".decode("utf-8", "surrogateescape")))
    [('caf', b'\xe9'), (' ', b'\xe4\xb8'), ('', b'')]
    """
    start = 0
    if _has_escaped(text):
        for match in re.finditer(_NOT_UTF8, text):
            yield text[start : match.start()], match[0].encode("utf-8", "surrogateescape")
            start = match.end()
    yield text[start:], b""


def _has_escaped(text: str) -> bool:
    # In portions, since each portion is encoded to find them.
    return any(
        has_surrogates(text[start : start + _PORTION]) for start in range(0, len(text), _PORTION)
    )


class KeptBytes:
    r"""A text with the bytes that it was decoded from, those that are not UTF-8 included.

    In ``text``, these are U+FFFD, as with ``errors="replace"``.

    Args:
        escaped: text decoded with ``errors="surrogateescape"``.

    >>> kept = KeptBytes(b"caf\xe9 au lait".decode("utf-8", "surrogateescape"))
    >>> kept.text[:6], kept.bytes_of(0, 6)
    ('caf� a', b'caf\xe9 a')
    """

    def __init__(self, escaped: str) -> None:
        self.text = replace_escaped(escaped)
        self._escaped = escaped
        #: The places in ``text`` from which on ``escaped`` is longer, and by how much. They are in
        #: arrays, since a file may consist of such places.
        self._places, self._shifts = array("Q"), array("Q")
        shift = 0
        if len(escaped) != len(self.text):
            for match in re.finditer(_NOT_UTF8, escaped):
                start, end = match.span()
                if end - start > 1:
                    shift += end - start - 1
                    self._places.append(end - shift)
                    self._shifts.append(shift)

    def bytes_of(self, start: int, end: int) -> bytes:
        """Return the bytes of ``text[start:end]``."""
        first, last = self._place(start), self._place(end)
        return self._escaped[first:last].encode("utf-8", "surrogateescape")

    def _place(self, at: int) -> int:
        index = bisect_right(self._places, at)
        return at + self._shifts[index - 1] if index else at


def _checked_globs(
    _ctx: click.Context, param: click.Parameter, globs: tuple[str, ...]
) -> tuple[str, ...]:
    """Return globs; refuse one that nothing matches, warn of one that may be meant as several."""
    if globs:
        from ..files.ignore import InvalidPatternError, alternatives, as_bytes, matcher

        for glob in globs:
            try:
                patterns = alternatives(glob)
                for pattern in patterns:
                    matcher(as_bytes(pattern), is_name=False)
            except InvalidPatternError as error:
                raise click.BadParameter(f"{glob!r} matches nothing: {error}") from None
            if any("," in pattern for pattern in patterns):
                warnings.warn(
                    f"{param.opts[0]} {glob!r} is one glob with a comma in it; for several, write "
                    f"'{{{glob}}}' or repeat the option",
                    stacklevel=1,
                )
    return globs


#: The option that turns ignore files off.
no_ignore_option = option(
    "--no-ignore", "In directories, also include files that git or .ignore files ignore."
)


def _walk(include: Sequence[str], exclude: Sequence[str], hidden: bool, no_ignore: bool) -> Walk:
    from ..files.walk import Walk  # few commands need it

    return Walk(hidden=hidden, ignore=not no_ignore, include=include, exclude=exclude)


#: The options for the search of directories, as the parameter ``walk``.
walk_options = gathered(
    "walk",
    _walk,
    option(
        "--include GLOB",
        "In directories, include only files that match. May be repeated.",
        multiple=True,
        callback=_checked_globs,
    ),
    option(
        "--exclude GLOB",
        "In directories, leave out files and directories that match. May be repeated.",
        multiple=True,
        callback=_checked_globs,
    ),
    option("--hidden", "In directories, also include names that begin with a dot."),
    no_ignore_option,
)

#: The option ``notebooks``: True if only the source of notebooks is read.
notebooks_option = option(
    "--notebooks",
    "Read notebooks (.ipynb) as they are, or only the sources of their cells, without outputs. A "
    "damaged notebook is reported, and read as it is.",
    type=click.Choice(["whole", "source"]),
    default="whole",
    callback=lambda _context, _parameter, value: value == "source",
)


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
        raise CommandError(
            "standard input: it holds the list of files, so it cannot be in that list"
        )
    return paths


def read_terms(path: str) -> list[str]:
    """Return the lines of a file that are not blank.

    Raises:
        CommandError: as in ``read_pieces``.
    """
    # Lines of a file end as Python's text files have it, and within a term may be a form feed.
    lines = io.StringIO(read_all(path).removeprefix("\ufeff"), newline=None)
    return [line for line in (line.removesuffix("\n") for line in lines) if line.strip()]


def _names(data: bytes) -> list[bytes]:
    """Return the name on each line.

    Raises:
        ValueError: the list is not in the charset of names, or a name is ambiguous.
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
        ValueError: both are files.
    """
    if literal == name or not os.path.lexists(literal):
        return name
    if name and os.path.lexists(name):
        raise ValueError(
            f"line {number} of the list may stand for two files that exist, "
            f"{os.fsdecode(literal)!r} and {os.fsdecode(name)!r}: give --null and a list such as "
            "that of git ls-files -z"
        )
    return literal
