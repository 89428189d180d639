"""A lock on folders: one process at a time puts several files in place there."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

#: The most seconds to wait: what is done under the lock takes milliseconds.
_PATIENCE = 60.0
#: The seconds between two tries.
_PAUSE = 0.01
#: The name of the lock on Windows, where a folder itself cannot be locked.
_NAME = ".compat_bpe.lock"


@contextmanager
def locked(folders: Iterable[str]) -> Iterator[None]:
    """Hold the locks of some folders; other processes and threads wait meanwhile.

    The lock is the system's, so it ends with its process however that ends, and no file is left.
    Where the system or the disk has none (some network disks, a browser), or the folder cannot be
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
            held.callback(_release, _wait(folder))
        yield


def is_abandoned(folder: str) -> bool:
    """Return True if nobody holds the lock of a folder; False where that is unknown.

    The process that held it has ended then, even if it was killed.
    """
    try:
        lock = _take(folder)
    except BlockingIOError:
        return False
    _release(lock)
    return lock is not None


def _wait(folder: str) -> int | None:
    """Return the open lock of a folder, as soon as it is free; None if there are no locks."""
    ends = time.monotonic() + _PATIENCE
    while True:
        try:
            return _take(folder)
        except BlockingIOError:
            if time.monotonic() > ends:
                reason = f"another program has locked it for {_PATIENCE:.0f} seconds"
                raise OSError(errno.EBUSY, reason, folder) from None
        time.sleep(_PAUSE)


if sys.platform == "win32":

    def _take(folder: str) -> int | None:
        """Return the open lock of a folder; ``BlockingIOError`` if another has it."""
        # Windows removes the file when it is closed, or its process is killed.
        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_TEMPORARY
        try:
            return os.open(os.path.join(folder, _NAME), flags)
        except (FileExistsError, PermissionError):  # it is there, or just being removed
            raise BlockingIOError(errno.EAGAIN, "locked", folder) from None
        except OSError:
            return None

    def _release(lock: int | None) -> None:
        if lock is not None:
            os.close(lock)

else:

    def _take(folder: str) -> int | None:
        """Return the open lock of a folder; ``BlockingIOError`` if another has it."""
        try:
            from fcntl import LOCK_EX, LOCK_NB, flock

            lock = os.open(folder, os.O_RDONLY)
        except (ImportError, OSError):
            return None
        try:
            flock(lock, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise
        except OSError:  # this disk has no locks
            os.close(lock)
            return None
        except BaseException:
            os.close(lock)
            raise
        return lock

    def _release(lock: int | None) -> None:
        if lock is not None:
            from fcntl import LOCK_UN, flock

            try:
                # A process that was forked meanwhile has the lock, too, until it is given back.
                flock(lock, LOCK_UN)
            finally:
                os.close(lock)
