r"""Git's settings that say what is ignored, and which kind of ids its index has.

``core.excludesFile`` names the user's ignore file. With ``core.ignoreCase``, which git sets for a
repository on a disk that does not tell ``A`` from ``a``, patterns match in upper and lower case.

The configuration files are read as git reads them, without running git. Three things are not read:
conditional includes (``includeIf``), ``config.worktree``, and settings that ``git -c`` hands to its
child processes.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from .whole import read_gits_text

_SYSTEM = "/etc/gitconfig"
#: The largest depth of files that include one another, as in git.
_DEEPEST = 10
#: The most files that may be read: each may include several, so without a limit they could be as
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
        excludes_file: the path of the ignore file that holds for all repositories of the user; None
            if the setting is empty, or if there is no setting and git's default file cannot be
            read.
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
        named = os.path.join(top, _expanded(named)) if named else None
        return Settings(named, ignores_case, hash_size)
    standard = os.path.join(_config_home(), "ignore")
    return Settings(standard if os.access(standard, os.R_OK) else None, ignores_case, hash_size)


def _is_true(value: str | None) -> bool:
    """Return what git reads as a truth value: a key without a value is true."""
    if value is None or value.lower() in ("true", "yes", "on"):
        return True
    return _NUMBER.fullmatch(value) is not None and int(value) != 0


def _files(git_directory: str) -> Iterator[tuple[str, bool]]:
    """Yield each configuration file, with True if it must be readable; the last setting counts."""
    if os.environ.get("GIT_CONFIG_NOSYSTEM", "").lower() in ("", "0", "no", "off", "false"):
        yield os.environ.get("GIT_CONFIG_SYSTEM", _SYSTEM), True
    if "GIT_CONFIG_GLOBAL" in os.environ:
        yield os.environ["GIT_CONFIG_GLOBAL"], False
    else:
        yield os.path.join(_config_home(), "config"), False
        yield _expanded("~/.gitconfig"), False
    yield os.path.join(git_directory, "config"), True


def _from_environment() -> Iterator[tuple[str, str | None]]:
    """Yield the settings of ``GIT_CONFIG_KEY_0`` and its like."""
    with suppress(ValueError):
        for number in range(int(os.environ.get("GIT_CONFIG_COUNT", ""))):
            key = os.environ.get(f"GIT_CONFIG_KEY_{number}", "").lower()
            yield key, os.environ.get(f"GIT_CONFIG_VALUE_{number}")


def _config_home() -> str:
    home = os.environ.get("XDG_CONFIG_HOME")
    return os.path.join(home, "git") if home else _expanded("~/.config/git")


def _expanded(path: str) -> str:
    return os.path.expanduser(path)


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
                    raise OSError(errno.ELOOP, "includes too many files, one in the other", path)
                included = os.path.join(os.path.dirname(path), _expanded(value))
                yield from _settings(included, read, depth + 1)
    except ValueError as error:
        raise OSError(errno.EINVAL, str(error), path) from None


def parse(text: str) -> Iterator[tuple[str, str | None]]:
    r"""Yield the settings in the text of a configuration file, in its order.

    Names of sections and keys come in lower case. A key without a value, which means "true", has
    None.

    Raises:
        ValueError: the text is damaged; the message says in which line.

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
    kept = 0  # the number of parts up to the last that is no space outside quotes
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
            if at == len(text):  # git takes the end of the file as the end of a line
                continue
            if text[at] not in _ESCAPES:
                raise ValueError(f"bad config line {_line(text, at - 1)}")
            if _ESCAPES[text[at]]:
                value.append(_ESCAPES[text[at]])
            at += 1
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
