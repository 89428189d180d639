"""Files that are written whole or not at all: one, several at once, or one that is streamed.

A file is written beside its target under another name, brought to the disk, and renamed. Locks of
folders keep two writers of the same files apart.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, BinaryIO, Callable, cast


def write_files(
    files: Iterable[tuple[str | os.PathLike[str], bytes]], *, is_new: bool = False
) -> None:
    """Write files, or replace them, once all of them are on the disk under other names.

    After an error or an interrupt, all files are as before, and no other files remain. If two
    processes write at once, the files are those of one of them. ``put_in_place`` describes the
    files during the change, their modes and links, and the files after a process is killed. A
    device or a pipe is written to, not replaced.

    Args:
        files: the path and the content of each.
        is_new: True if an existing file is an error.

    Raises:
        OSError: a file cannot be written, or is a directory or write-protected. The ``filename``
            of the error is the path.
    """
    parts: list[tuple[str, str]] = []
    streams: list[tuple[str, bytes]] = []
    try:
        for name, data in files:
            path = os.fspath(name)
            with errors_named(path):
                if is_special(path):
                    streams.append((path, data))
                    continue
                parts.append((beside(path, "tmp"), path))
                with open_part(*parts[-1]) as file:
                    file.write(data)
        for path, data in streams:
            with errors_named(path), open(path, "wb") as stream:
                stream.write(data)
        with ExitStack() as held:
            if len(parts) > 1:
                held.enter_context(locked(os.path.dirname(path) or "." for _, path in parts))
            put_in_place(parts, is_new=is_new)
    finally:
        for part, _ in parts:
            with suppress(OSError):  # mostly it is in place, and gone from here
                os.remove(part)


#: The level of compression. A higher level takes several times as long for a few percent.
_LEVEL = 6

_GZIP = ".gz"


@contextmanager
def written_whole(path: str) -> Iterator[BinaryIO]:
    """Open a file for writing; it is put in place at the end of the ``with`` block.

    After an error no partial file remains, and an earlier file stays as it was. Its mode is kept. A
    pipe or a device is written to directly. If the name ends in ``.gz``, the content is
    compressed, without a name or a time, so the same content gives the same bytes.

    Args:
        path: the path of the file; a link is followed.

    Raises:
        OSError: the file cannot be written; its ``filename`` is the path.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_whole(os.path.join(folder, "a")) as file:
    ...         _ = file.write(b"abc")
    ...     os.listdir(folder)
    ['a']
    """
    target = os.path.realpath(path)
    if is_special(path):
        with open(path, "wb") as stream, _packed(stream, path) as file:
            yield file
        return
    part = beside(target, "tmp")
    try:
        try:
            with open_part(part, target) as whole, _packed(whole, path) as file:
                yield file
        except OSError as error:
            if error.filename is None or error.filename == part:
                error.filename = path
            raise
        with errors_named(path):
            put_in_place([(part, target)])
    finally:
        with suppress(OSError):  # mostly it is in place, and gone from here
            os.remove(part)


@contextmanager
def _packed(file: BinaryIO, path: str) -> Iterator[BinaryIO]:
    """Compress the output to a file if its name ends in ``.gz``."""
    if not path.lower().endswith(_GZIP):
        yield file
    else:
        import gzip  # few files are compressed

        # The time 0 means none.
        with gzip.GzipFile("", "wb", _LEVEL, file, 0) as packed:
            yield cast(BinaryIO, packed)


#: The most characters of a target's name in the names of temporary files beside it, since systems
#: allow names of at most 255 bytes.
_SHOWN = 48

#: From this many files on, the whole disk is synced, since each file takes some milliseconds.
_MANY = 100

#: Windows' numbers for a file that another program has open, usually for a moment, such as an
#: indexer or a virus scanner.
_IN_USE = (5, 32, 33)
#: The most seconds to wait for such a program, and the seconds between two tries.
_PATIENCE = 1.0
_PAUSE = 0.02

#: The errors of disks that have no owners or modes, or where they are not ours to change.
_NO_MODES = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL)

#: The errors of systems that cannot bring a folder to the disk.
_NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EISDIR, errno.EBADF, errno.EPERM)


def put_in_place(
    parts: Sequence[tuple[str, str]], removed: Sequence[str] = (), *, is_new: bool = False
) -> None:
    """Rename files to their targets, and remove others: all of them, or none.

    First all paths are checked. Then the files are synced to the disk, and the old files get a
    second name, ``NAME.<eight digits>.old``, which they keep until the change is complete. After an
    error or an interrupt, the old files are put back.

    A reader sees each file whole, the old or the new one. While several are renamed, which takes
    milliseconds, it may see some of both. Two writers at the same time may leave some of both,
    unless each holds the lock of the folder (``locked``). If the process is killed in these
    milliseconds, or the old files cannot be put back, they remain under their second names.

    The mode of a regular file is kept, and its owner and group where the system allows it; a link
    is replaced, not followed. Another name of the old file (a hard link) keeps the old content.

    Args:
        parts: each file, and its target on the same disk.
        removed: files to be removed.
        is_new: True to replace no file.

    Raises:
        OSError: a target is a directory, write-protected, or exists although ``is_new``; or the
            system reports an error. ``filename`` is the target.
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
        # The system call is atomic.
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
    """Undo the change. Old files that cannot be put back are removed from ``kept``, and stay."""
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
        OSError: the change fails, also after that second.
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
    except OSError:  # there is no such file, or renaming will raise the error
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
    """Give a file a second name, or copy it if the disk has no second names."""
    try:
        os.link(target, old, follow_symlinks=False)
    except (OSError, NotImplementedError, AttributeError):
        shutil.copy2(target, old, follow_symlinks=False)


def _regular(path: str) -> os.stat_result | None:
    """Return the status of a regular file; None if there is none at the path."""
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
            except OSError:  # another group gets the permissions of all others
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
    """Sync the content of a file to the disk."""
    file = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    try:
        os.fsync(file)
    finally:
        os.close(file)


def sync_folder(path: str) -> None:
    """Sync the names in a folder to the disk, if the system supports it.

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

    Until then only its owner may read a file that replaces a regular file, which may be private.
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
    # /dev/stdout and /dev/fd/1 are links to a file that the shell has opened.
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


#: The most seconds to wait. Work under the lock takes milliseconds.
_LOCK_PATIENCE = 60.0
#: The seconds between two tries.
_LOCK_PAUSE = 0.01
#: The name of the lock on Windows, where a folder itself cannot be locked.
_LOCK_NAME = ".compat_bpe.lock"


@contextmanager
def locked(folders: Iterable[str]) -> Iterator[None]:
    """Hold the locks of some folders; other processes and threads wait until they are free.

    The lock is the system's, so it ends with its process, even a killed one, and no file remains.
    If the system or the disk has no locks (some network disks, a browser), or the folder cannot be
    read, nothing is locked.

    Args:
        folders: the folders, which exist.

    Raises:
        OSError: another process has held a lock for a minute; ``filename`` is the folder.
    """
    # A folder has several paths, such as A and a where the disk does not tell them apart.
    paths = {}
    for folder in folders:
        status = os.stat(folder)
        paths[status.st_dev, status.st_ino] = os.path.realpath(folder)
    with ExitStack() as held:
        # In one order, so that no two wait for each other.
        for _, folder in sorted(paths.items()):
            held.callback(_release_lock, _wait_for_lock(folder))
        yield


def is_abandoned(folder: str) -> bool:
    """Return True if no process holds the lock of a folder; False if that is unknown.

    True means that the process that held it has ended, even if it was killed.
    """
    try:
        lock = _take_lock(folder)
    except BlockingIOError:
        return False
    _release_lock(lock)
    return lock is not None


def _wait_for_lock(folder: str) -> int | None:
    """Return the open lock of a folder, as soon as it is free; None if there are no locks."""
    ends = time.monotonic() + _LOCK_PATIENCE
    while True:
        try:
            return _take_lock(folder)
        except BlockingIOError:
            if time.monotonic() > ends:
                reason = f"another program has locked it for {_LOCK_PATIENCE:.0f} seconds"
                raise OSError(errno.EBUSY, reason, folder) from None
        time.sleep(_LOCK_PAUSE)


if sys.platform == "win32":

    def _take_lock(folder: str) -> int | None:
        """Return the open lock of a folder; ``BlockingIOError`` if another has it."""
        # Windows removes the file when it is closed, or its process is killed.
        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_TEMPORARY
        try:
            return os.open(os.path.join(folder, _LOCK_NAME), flags)
        except (FileExistsError, PermissionError):  # it exists, or is being removed
            raise BlockingIOError(errno.EAGAIN, "locked", folder) from None
        except OSError:
            return None

    def _release_lock(lock: int | None) -> None:
        if lock is not None:
            os.close(lock)

else:

    def _take_lock(folder: str) -> int | None:
        """Return the open lock of a folder; ``BlockingIOError`` if another has it."""
        try:
            from fcntl import LOCK_EX, LOCK_NB, flock

            lock = os.open(folder, os.O_RDONLY)
        except (ImportError, OSError):
            return None
        try:
            flock(lock, LOCK_EX | LOCK_NB)
        except BaseException as error:
            os.close(lock)
            if isinstance(error, OSError) and not isinstance(error, BlockingIOError):
                return None  # this disk has no locks
            raise
        return lock

    def _release_lock(lock: int | None) -> None:
        if lock is not None:
            from fcntl import LOCK_UN, flock

            try:
                # A process that was forked meanwhile also holds the lock until it is released.
                flock(lock, LOCK_UN)
            finally:
                os.close(lock)
