r"""Git's settings and index: ignored and tracked files. Imported for the first repository.

``core.excludesFile`` names the user's ignore file. With ``core.ignoreCase``, which git sets for a
repository on a disk that does not tell ``A`` from ``a``, patterns match in upper and lower case.

The configuration files are read as git reads them, without running git. Three things are not read:
conditional includes (``includeIf``), ``config.worktree``, and settings that ``git -c`` hands to its
child processes.

The index is read as git writes it: versions 2 to 4, SHA-1 and SHA-256, and split in two files. In a
sparse index, a folder that is to be absent from the working tree has no tracked files.
"""

from __future__ import annotations

import errno
import os
import re
import struct
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from .whole import SIZE_LIMIT, read_gits, read_gits_text

_SYSTEM = "/etc/gitconfig"
#: The largest depth of files that include one another, as in git.
_DEEPEST = 10
#: The most files that may be read. Each may include several, so without a limit there could be as
#: many as the branches of a tree of that depth.
_MOST_FILES = 100

_SPACE = re.compile(r"(?:[ \t\n\r]|[#;][^\n]*)*")
_SECTION = re.compile(
    r"""\[ (?P<name> [A-Za-z0-9.-]+ ) (?P<sub> [ \t]+ " (?: [^"\\\n] | \\[^\n] )* " )? [ \t]* \]""",
    re.VERBOSE,
)
_KEY = re.compile(r"(?P<key>[A-Za-z][A-Za-z0-9-]*)[ \t]*(?P<rest>=[ \t]*|(?=\n)|\Z)")
_NUMBER = re.compile("[+-]?[0-9]{1,18}")
_BLANKS = " \t\r"
_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "\\": "\\", '"': '"', "\n": ""}


class Settings(NamedTuple):
    """The settings of git that ignore files depend on.

    Args:
        excludes_file: the path of the user's ignore file for all repositories; None if the setting
            is empty, or if there is no setting and git's default file cannot be read.
        ignores_case: True if patterns match in upper and lower case.
        hash_size: the bytes of an object's id, of SHA-1 or SHA-256.
    """

    excludes_file: str | None
    ignores_case: bool
    hash_size: int


def read_settings(git_directory: str, top: str) -> Settings:
    """Return the settings for a repository.

    Args:
        git_directory: the directory of the repository, with its ``config``.
        top: the top of the working tree; a relative path begins there.

    Raises:
        OSError: a configuration file is damaged, or the repository's own cannot be read.
    """
    found: dict[str, str | None] = {}
    for path, is_required in _files(git_directory):
        try:
            found.update(_settings(path, []))
        except PermissionError:
            # As in git: HOME may be that of another user.
            if is_required:
                raise
    found.update(_from_environment())
    ignores_case = _is_true(found.get("core.ignorecase", "false"))
    hash_size = 32 if found.get("extensions.objectformat") == "sha256" else 20
    named = found.get("core.excludesfile")
    if named is not None:
        excludes_file = os.path.join(top, os.path.expanduser(named)) if named else None
        return Settings(excludes_file, ignores_case, hash_size)
    standard = os.path.join(_config_home(), "ignore")
    return Settings(standard if os.access(standard, os.R_OK) else None, ignores_case, hash_size)


def _is_true(value: str | None) -> bool:
    """Return the truth value that git reads; a key without a value is true."""
    if value is None or value.lower() in ("true", "yes", "on"):
        return True
    return _NUMBER.fullmatch(value) is not None and int(value) != 0


def _files(git_directory: str) -> Iterator[tuple[str, bool]]:
    """Yield each configuration file, and True if it must be readable; later settings win."""
    if os.environ.get("GIT_CONFIG_NOSYSTEM", "").lower() in ("", "0", "no", "off", "false"):
        yield os.environ.get("GIT_CONFIG_SYSTEM", _SYSTEM), True
    if "GIT_CONFIG_GLOBAL" in os.environ:
        yield os.environ["GIT_CONFIG_GLOBAL"], False
    else:
        yield os.path.join(_config_home(), "config"), False
        yield os.path.expanduser("~/.gitconfig"), False
    yield os.path.join(git_directory, "config"), True


def _from_environment() -> Iterator[tuple[str, str | None]]:
    """Yield the settings of ``GIT_CONFIG_KEY_0`` and its like."""
    with suppress(ValueError):
        for number in range(int(os.environ.get("GIT_CONFIG_COUNT", ""))):
            key = os.environ.get(f"GIT_CONFIG_KEY_{number}", "").lower()
            yield key, os.environ.get(f"GIT_CONFIG_VALUE_{number}")


def _config_home() -> str:
    home = os.environ.get("XDG_CONFIG_HOME")
    return os.path.join(home, "git") if home else os.path.expanduser("~/.config/git")


def _settings(path: str, read: list[str], depth: int = 0) -> Iterator[tuple[str, str | None]]:
    """Yield the settings of a file, with those of each included file where it is included.

    Args:
        path: the file.
        read: the files that have been read, to which it is added.
        depth: the number of files around it.
    """
    read.append(path)
    if len(read) > _MOST_FILES:
        raise OSError(errno.ELOOP, f"Includes more than {_MOST_FILES} files", read[0])
    text = read_gits_text(path).replace("\r\n", "\n")
    try:
        for key, value in parse(text):
            yield key, value
            if key == "include.path" and value is not None:
                if depth == _DEEPEST:
                    raise OSError(errno.ELOOP, "Includes are nested too deeply", path)
                included = os.path.join(os.path.dirname(path), os.path.expanduser(value))
                yield from _settings(included, read, depth + 1)
    except ValueError as error:
        raise OSError(errno.EINVAL, str(error), path) from None


def parse(text: str) -> Iterator[tuple[str, str | None]]:
    r"""Yield the settings in the text of a configuration file, in its order.

    Names of sections and keys come in lower case. A key without a value, which means "true", has
    None.

    Raises:
        ValueError: the text is damaged; the message gives the line.

    >>> list(parse('[Core]\n excludesFile = "~/my ignore" # mine\n[include] path=x\n'))
    [('core.excludesfile', '~/my ignore'), ('include.path', 'x')]
    """
    section = ""
    at = _end(_SPACE, text, 0)
    while at < len(text):
        header, key = _SECTION.match(text, at), _KEY.match(text, at)
        if header is not None:
            section = header["name"].lower() + (header["sub"] or "").lstrip()
            at = header.end()
        elif key is not None:
            name = f"{section}.{key['key'].lower()}" if section else key["key"].lower()
            at = key.end()
            value = None
            if key["rest"]:
                value, at = _value(text, at)
            yield name, value
        else:
            raise ValueError(f"bad config line {_line(text, at)}")
        at = _end(_SPACE, text, at)


def _value(text: str, at: int) -> tuple[str, int]:
    """Return the value that begins at a place, and the place where its line ends."""
    value: list[str] = []
    kept = 0  # the number of parts up to the last one that is not a space outside quotes
    is_quoted = False
    while at < len(text):
        char = text[at]
        at += 1
        if char == "\n":
            if is_quoted:
                raise ValueError(f"bad config line {_line(text, at - 1)}")
            break
        if char == '"':
            is_quoted = not is_quoted
            kept = len(value)
        elif not is_quoted and char in "#;":
            at = _end(_SPACE, text, at - 1)
            break
        elif not is_quoted and char in _BLANKS:
            if kept:
                value.append(char)
        elif char == "\\":
            escaped = text[at : at + 1] or "\n"  # git takes the end of the file for that of a line
            if escaped not in _ESCAPES:
                raise ValueError(f"bad config line {_line(text, at - 1)}")
            if _ESCAPES[escaped]:
                value.append(_ESCAPES[escaped])
            at = min(at + 1, len(text))
            kept = len(value)
        else:
            value.append(char)
            kept = len(value)
    else:
        if is_quoted:
            raise ValueError(f"bad config line {_line(text, at)}")
    return "".join(value[:kept]), at


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return at if match is None else match.end()


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


#: The largest index, and the largest sum of the names in it, in bytes.
LARGEST = SIZE_LIMIT

#: The number of bytes of an entry before the id of its content, and the place of the byte among
#: them that shows a submodule.
_STATUS = 40
_MODE = 26
#: The high byte of a submodule's mode. Its name gets a slash, so that it is found as a folder.
_SUBMODULE = 0xE0


class TrackedFiles:
    """The files that git tracks in a working tree; the index is read when it is first needed.

    Args:
        top: the absolute path of the top of the working tree.
        git_directory: the directory with its index.
        settings: the settings of its repository.
    """

    def __init__(self, top: str, git_directory: str, settings: Settings) -> None:
        self.ignores_case = settings.ignores_case
        self._skip = len(top.rstrip(os.sep)) + 1
        self._git_directory = git_directory
        self._hash_size = settings.hash_size
        self._names: list[bytes] | None = None

    def has(self, path: str, is_directory: bool) -> bool:
        """Return True if git tracks a file, or a file in a directory.

        Raises:
            OSError: the index cannot be read. It is raised once; after that, no file is tracked.
        """
        if self._names is None:
            self._names = []
            names = read_index(self._git_directory, self._hash_size)
            self._names = sorted(map(bytes.lower, names)) if self.ignores_case else names
        name = os.fsencode(path[self._skip :].replace(os.sep, "/"))
        if self.ignores_case:
            name = name.lower()
        if is_directory:
            name += b"/"
        at = bisect_left(self._names, name)
        following = self._names[at : at + 1]
        if is_directory:
            return any(other.startswith(name) for other in following)
        return following == [name]


def read_index(git_directory: str, hash_size: int) -> list[bytes]:
    """Return the sorted names in an index; those of submodules end in a slash.

    Args:
        git_directory: the directory of the index. If there is none, nothing is tracked.
        hash_size: the bytes of an object's id.

    Raises:
        OSError: the index cannot be read, is damaged, or is larger than ``LARGEST``.
    """
    path = os.path.join(git_directory, "index")
    try:
        data = read_gits(path, LARGEST)
        if data is None:
            return []
        names, at = _entries(data, hash_size)
        link = _link(data, at, hash_size)
        if any(link[:hash_size]):
            shared = os.path.join(git_directory, f"sharedindex.{link[:hash_size].hex()}")
            base, _ = _entries(read_gits(shared, LARGEST) or b"", hash_size)
            names = _joined(base, names, link[hash_size:])
    except (ValueError, IndexError, struct.error):
        reason = "Damaged, or of a kind unknown here; run git status for details"
        raise OSError(errno.EINVAL, reason, path) from None
    return sorted(set(names))


def _entries(data: bytes, hash_size: int) -> tuple[list[bytes], int]:
    """Return the names of an index's entries, and the place behind these."""
    signature, version, number = struct.unpack_from(">4sLL", data)
    if signature != b"DIRC" or not 2 <= version <= 4:
        raise ValueError("not an index")
    names: list[bytes] = []
    at = 12
    name = b""
    size = 0
    for _ in range(number):
        start = at + _STATUS + hash_size
        # Extended flags are behind the usual ones.
        start += 4 if version > 2 and data[start] & 0x40 else 2
        kept = 0
        if version == 4:  # a name begins like the name before it
            removed, start = _varint(data, start)
            kept = len(name) - removed
            if kept < 0:
                raise ValueError("too much is removed")
        end = data.index(b"\0", start)
        name = name[:kept] + data[start:end]
        size += len(name)
        if size > LARGEST:
            raise ValueError("the names are too long")
        names.append(name + b"/" if data[at + _MODE] == _SUBMODULE else name)
        at = end + 1 if version == 4 else at + (end - at + 8) // 8 * 8
    return names, at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of the variable length that git writes, and the place behind it."""
    number = -1
    while True:
        byte = data[at]
        at += 1
        number = (number + 1) << 7 | byte & 0x7F
        if byte < 0x80:
            return number, at
        if number > LARGEST:
            raise ValueError("the number is too large")


def _link(data: bytes, at: int, hash_size: int) -> bytes:
    """Return the extension of a split index: the id of the shared one, bitmaps; or nothing."""
    link = b""
    while at < len(data) - hash_size:
        signature, size = struct.unpack_from(">4sL", data, at)
        at += 8 + size
        if at > len(data) - hash_size:
            raise ValueError("an extension is cut")
        if signature == b"link" and size >= hash_size:
            link = data[at - size : at]
        elif not b"A" <= signature[:1] <= b"Z" and signature != b"sdir":
            raise ValueError("an unknown extension that must be understood")
    return link


def _joined(base: list[bytes], names: list[bytes], bitmaps: bytes) -> list[bytes]:
    """Return the names of a split index.

    Args:
        base: the names in the shared index.
        names: the names in the other index. A name that replaces another is empty, except for a
            slash.
        bitmaps: the deleted and the replaced names of ``base``; or nothing.
    """
    if bitmaps:
        deleted, at = _bitmap(bitmaps, 0, len(base))
        replaced, _ = _bitmap(bitmaps, at, len(base))
        for place, ending in zip(replaced, (name for name in names if name in (b"", b"/"))):
            base[place] = base[place].rstrip(b"/") + ending
        for place in deleted:
            base[place] = b""
    return [name for name in (*base, *names) if name.strip(b"/")]


def _bitmap(data: bytes, at: int, most: int) -> tuple[list[int], int]:
    """Return the places of ones in a bitmap compressed as EWAH, and the place behind it.

    A marker has the number of words of equal bits that follow, and the number of literal words.
    """
    _, words = struct.unpack_from(">LL", data, at)
    at += 8
    end = at + 8 * words
    places: list[int] = []
    place = 0
    while at < end:
        (marker,) = struct.unpack_from(">Q", data, at)
        at += 8
        equal = 64 * (marker >> 1 & 0xFFFFFFFF)
        if marker & 1:
            if place + equal > most:
                raise ValueError("a bit is beyond the end")
            places += range(place, place + equal)
        place += equal
        for _ in range(marker >> 33):
            (word,) = struct.unpack_from(">Q", data, at)
            at += 8
            places += [place + bit for bit in range(64) if word >> bit & 1]
            place += 64
    if at > end or (places and places[-1] >= most):
        raise ValueError("a bit is beyond the end")
    return places, end + 4
