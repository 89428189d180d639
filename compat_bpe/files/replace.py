"""Putting files in place of others: all of them, or none."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, Callable

#: The most characters of a target's name in the names of the temporary files beside it: systems
#: take names of at most 255 bytes.
_SHOWN = 48

#: The number of files from which on the whole disk is synced, since each file takes some ms.
_MANY = 100

#: Windows' numbers for a file that another program has open, mostly for moments: one that indexes
#: files, or looks for viruses in them.
_IN_USE = (5, 32, 33)
#: The most seconds to wait for such a program, and those between two tries.
_PATIENCE = 1.0
_PAUSE = 0.02

#: The errors of disks that have no owners or modes, or where they are not ours to change.
_NO_MODES = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL)

#: The errors of systems that cannot bring a folder to the disk.
_NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EISDIR, errno.EBADF, errno.EPERM)


def put_in_place(
    parts: Sequence[tuple[str, str]], removed: Sequence[str] = (), *, is_new: bool = False
) -> None:
    """Rename files to their targets, and remove others: all of it is done, or nothing.

    First all is checked; then the files are brought to the disk, and the old ones get a second
    name, ``NAME.<eight digits>.old``, under which they stay until all is done. On an error or an
    interrupt the old files are put back.

    A reader sees each file whole, the old or the new one. While several are renamed, which takes
    milliseconds, it may see some of both. Two writers at the same time may leave some of both,
    unless each holds the lock of the folder (``lock.locked``). If the process is killed in these
    milliseconds, or the old files cannot be put back, they remain under their second names.

    The mode of a regular file is kept, and its owner and group where the system allows it; a link
    is replaced, not followed. Another name of the old file (a hard link) keeps the old content.

    Args:
        parts: each file, and its target on the same disk.
        removed: files to be removed.
        is_new: True to replace no file.

    Raises:
        OSError: a target is a directory, write-protected, or there although ``is_new``; or
            something fails; ``filename`` is the target.
    """
    for _, target in parts:
        _check(target, is_new=is_new)
    for part, target in parts:
        with errors_named(target):
            if len(parts) < _MANY:
                sync_file(part)
            _take_mode(part, target)
    if len(parts) >= _MANY and hasattr(os, "sync"):
        os.sync()
    folders = sorted({os.path.dirname(target) or os.curdir for _, target in parts})
    if len(parts) == 1 and not removed:
        # The system itself does this wholly or not at all.
        ((part, target),) = parts
        with errors_named(target):
            _patiently(os.replace, part, target)
            sync_folder(folders[0])
        return
    kept: list[tuple[str, str]] = []
    try:
        for target in dict.fromkeys([*(target for _, target in parts), *removed]):
            if os.path.lexists(target):
                kept.append((beside(target, "old"), target))
                with errors_named(target):
                    _keep(target, kept[-1][0])
        try:
            for part, target in parts:
                with errors_named(target):
                    _patiently(os.replace, part, target)
            for target in removed:
                with errors_named(target):
                    _patiently(os.remove, target)
            for folder in folders:
                sync_folder(folder)
        except BaseException:
            _put_back(parts, kept)
            raise
    finally:
        for old, _ in kept:
            with suppress(OSError):
                os.remove(old)


def _put_back(parts: Sequence[tuple[str, str]], kept: list[tuple[str, str]]) -> None:
    """Undo what was done; old files that cannot be put back are taken off ``kept``, and stay."""
    had_old = {target for _, target in kept}
    for part, target in parts:
        if target not in had_old and not os.path.lexists(part):
            with suppress(OSError):
                os.remove(target)
    for old, target in list(kept):
        try:
            _patiently(os.replace, old, target)
        except OSError:
            kept.remove((old, target))


def _patiently(change: Callable[..., Any], *paths: str) -> None:
    """Rename or remove a file; on Windows wait a second for another program that has it open.

    Raises:
        OSError: it cannot be done, or still not.
    """
    ends = time.monotonic() + _PATIENCE
    while True:
        try:
            change(*paths)
        except PermissionError as error:
            # Only Windows' errors have a number of Windows.
            if getattr(error, "winerror", None) not in _IN_USE or time.monotonic() > ends:
                raise
        else:
            return
        time.sleep(_PAUSE)


def _check(target: str, *, is_new: bool) -> None:
    """Raise ``OSError`` if a file cannot be replaced, or must not be."""
    try:
        mode = os.lstat(target).st_mode
    except OSError:  # there is none, or renaming will say what is wrong
        return
    code = 0
    if stat.S_ISDIR(mode):
        code = errno.EISDIR
    elif is_new:
        code = errno.EEXIST
    elif stat.S_ISREG(mode) and not os.access(target, os.W_OK):
        code = errno.EACCES
    if code:
        raise OSError(code, os.strerror(code), target)


def _keep(target: str, old: str) -> None:
    """Give a file a second name, or copy it where the disk knows no second names."""
    try:
        os.link(target, old, follow_symlinks=False)
    except (OSError, NotImplementedError, AttributeError):
        shutil.copy2(target, old, follow_symlinks=False)


def _regular(path: str) -> os.stat_result | None:
    """Return the status of a regular file; None if the path is none."""
    with suppress(OSError):
        status = os.lstat(path)
        if stat.S_ISREG(status.st_mode):
            return status
    return None


def _take_mode(part: str, target: str) -> None:
    """Give a file the mode, the owner and the group of the regular file that it will replace."""
    old = _regular(target)
    if old is None:
        return
    own = os.stat(part)
    mode = stat.S_IMODE(old.st_mode) & 0o777
    if (own.st_uid, own.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.chown(part, old.st_uid, old.st_gid)
        except OSError:
            try:
                os.chown(part, -1, old.st_gid)
            except OSError:  # another group gets what all others may do
                mode = mode & 0o707 | (mode & 0o007) << 3
    new = stat.S_IMODE(own.st_mode)
    if new != mode:
        try:
            os.chmod(part, mode)
        except OSError as error:
            # A file that only its owner might read must not become readable for others.
            if error.errno not in _NO_MODES or new & ~mode & 0o077:
                raise


def sync_file(path: str) -> None:
    """Bring the content of a file to the disk."""
    file = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    try:
        os.fsync(file)
    finally:
        os.close(file)


def sync_folder(path: str) -> None:
    """Bring the names in a folder to the disk, where the system can do it.

    Raises:
        OSError: the disk is broken or full.
    """
    try:
        folder = os.open(path, os.O_RDONLY)
    except OSError:  # Windows opens no folders
        return
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
    finally:
        os.close(folder)


def beside(path: str, kind: str) -> str:
    """Return a new name beside a file, which ends in ``.kind``."""
    folder, name = os.path.split(path)
    # Several processes and threads may write the same file.
    return os.path.join(folder, f"{name[:_SHOWN]}.{os.urandom(4).hex()}.{kind}")


def open_part(part: str, target: str) -> BinaryIO:
    """Create the file ``part`` for writing, which will be renamed to ``target``.

    Meanwhile only its owner may read what replaces a regular file: that may be private.
    """
    mode = 0o600 if _regular(target) else 0o666
    return open(part, "xb", opener=lambda path, flags: os.open(path, flags, mode))


def is_special(path: str) -> bool:
    """Return True if a path is written to, not replaced: a device, a pipe, or a numbered open file.

    >>> is_special(os.devnull)
    True
    """
    if os.path.exists(path) and not os.path.isfile(path):
        return not os.path.isdir(path)
    # /dev/stdout and /dev/fd/1 are links to whatever file the shell has opened.
    absolute = os.path.abspath(path)
    return os.name != "nt" and absolute.startswith(("/dev/fd/", "/dev/std", "/proc/"))


@contextmanager
def errors_named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let errors name this path, not the temporary file that is written first."""
    try:
        yield
    except OSError as error:
        if error.filename2 is not None:
            # PyPy cannot delete the second name.
            raise OSError(error.errno, error.strerror, os.fspath(path)) from None
        error.filename = os.fspath(path)
        raise
