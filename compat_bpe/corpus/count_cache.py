"""Counts that are kept between runs, in a file of SQLite in the user's cache folder.

A count is looked up by a hash of the counted bytes and of everything that determines the number:
the vocabulary, the options, and the code. Names and times are not used, so a count cannot be stale.
The file has hashes and numbers, and no part of a text or of a name.

A cache may fail at any time without a change of a result. Each row has a checksum, since SQLite
does not notice damage in a row. A damaged file is replaced; a file that is locked or cannot be
written is left alone. Only programs open a cache: no function of the library does.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from functools import lru_cache
from itertools import islice
from zlib import crc32

from ..caches import changed
from ..version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from hashlib import _Hash as Hash
    from typing import Any, Callable

    from typing_extensions import Self

    from ..encodings.encoding import Encoding

#: The name of the file; the number is that of its table's layout.
_NAME = "counts-1.sqlite3"
#: The files beside it that SQLite makes.
_ENDINGS = ("", "-journal")

#: The size in bytes above which the counts not used for the longest time are removed. It is enough
#: for some 400,000.
LIMIT = 1 << 25
#: The bytes of a key, and those that a row takes, about.
_KEY, _ROW = 20, 80

#: Seconds to wait for another process.
_PATIENCE = 0.3
#: Rows that are asked for at a time: some builds of SQLite take no more than 999 values.
_BATCH = 500

_TABLE = """
    CREATE TABLE IF NOT EXISTS counts (
        key BLOB PRIMARY KEY, numbers BLOB NOT NULL, checksum INTEGER NOT NULL, day INTEGER NOT NULL
    ) WITHOUT ROWID
"""

#: The folders of the package whose code and tables decide how files are read, split and counted.
_DECIDING = ("unicode", "pattern", "pipeline", "fit", "formats", "encodings", "files", "cli")


def cache_folder() -> str | None:
    """Return the folder of the cache: ``COMPAT_BPE_CACHE_DIR``, or where the system has caches.

    It is None where there is no such place, as in a browser.
    """
    if sys.platform in ("emscripten", "wasi"):
        return None
    named = os.environ.get("COMPAT_BPE_CACHE_DIR")
    if named:
        return named
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return os.path.join(local, "compat-bpe", "Cache") if local else None
    folder = os.environ.get("XDG_CACHE_HOME", "").strip()
    if not folder:
        home = "~/Library/Caches" if sys.platform == "darwin" else "~/.cache"
        folder = os.path.expanduser(home)
    return os.path.join(folder, "compat-bpe") if os.path.isabs(folder) else None


def new_hash(continues: bool = False) -> Hash:
    """Return a hash for the bytes of a text, or for those of one that goes on after a cut point."""
    from hashlib import sha256  # imported here: most counts of single files need none

    return sha256(b"\1" if continues else b"\0")


def identity(encoding: Encoding) -> bytes:
    """Return a hash of everything that determines the numbers of an encoding, not of its name."""
    state = encoding.__getstate__()
    hashed = new_hash()
    hashed.update(_code())
    hashed.update(type(encoding).__name__.encode())
    if isinstance(state, dict):
        hashed.update(_pickled({name: value for name, value in state.items() if name != "name"}))
    else:  # the name of an encoding whose vocabulary is hashed with the code
        hashed.update(repr(state).encode())
    return hashed.digest()


def _pickled(state: dict[str, Any]) -> memoryview:
    """Return the state of an encoding, with equal bytes for equal states."""
    import pickle  # imported here: built-in encodings do not need it
    from io import BytesIO

    definition = state.get("definition")
    if definition is not None:  # without the name of the file
        replace = getattr(definition, "_replace", None)
        state["definition"] = replace(source="") if replace else changed(definition, source="")
    file = BytesIO()
    pickler = pickle.Pickler(file, 4)
    pickler.fast = True  # an object that occurs twice is written twice, as two equal ones are
    pickler.dump(state)
    return file.getbuffer()


@lru_cache(maxsize=1)
def _code() -> bytes:
    """Return a hash of the code and tables that decide ids, and of the Python that runs them."""
    from importlib.util import find_spec  # as above

    hashed = new_hash()
    hashed.update(f"{__version__} {sys.version}".encode())
    package = os.path.dirname(os.path.dirname(__file__))
    if not os.path.isdir(package):
        raise OSError("the package is in an archive, so its tables cannot be told apart")
    for name in _DECIDING:
        for folder, folders, files in os.walk(os.path.join(package, name)):
            folders.sort()
            for file in sorted(files):
                if file.endswith((".py", ".pack")):
                    with open(os.path.join(folder, file), "rb") as opened:
                        hashed.update(opened.read())
    found = find_spec("regex")  # which splits by what ``re`` does not understand
    for folder in (found and found.submodule_search_locations) or ():
        with os.scandir(folder) as entries:
            sizes = sorted((one.name, one.stat().st_size) for one in entries if one.is_file())
        hashed.update(repr(sizes).encode())
    return hashed.digest()


class CountCache:
    """Counts of texts by some encodings, kept in a file; new ones are written when it is closed.

    A thread uses an object of its own; any number of them, and of processes, may use one file.

    Args:
        folder: the folder of the file; None to find and to keep nothing.
        encodings: the encodings.
        options: other settings that determine the numbers.
        limit: the largest size of the file in bytes, about.
        day: the number of this day, which orders counts by their last use.
    """

    def __init__(
        self,
        folder: str | None,
        encodings: Iterable[Encoding] = (),
        options: bytes = b"",
        *,
        limit: int = LIMIT,
        day: int | None = None,
    ) -> None:
        self.path = None if folder is None else os.path.join(folder, _NAME)
        self._encodings = tuple(encodings)
        self._options = options
        self._limit = limit
        self._day = int(time.time() // 86_400) if day is None else day
        self._identities: list[bytes] | None = None
        self._connection: sqlite3.Connection | None = None
        #: The numbers of each encoding, by the hashes of texts.
        self._new: dict[bytes, list[bytes]] = {}
        #: Keys that were found and were last used on another day.
        self._used: list[bytes] = []
        self._is_damaged = False
        #: Why it was not used; empty if nothing went wrong.
        self.problem = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_empty(self) -> bool:
        """True if nothing can be found, since there is no file.

        An empty file counts as none: another process is about to write its table.
        """
        with suppress(OSError, ValueError):
            return self.path is None or not os.path.getsize(self.path)
        return True

    def find(self, digests: Sequence[bytes]) -> dict[bytes, list[tuple[int, ...]]]:
        """Return the numbers that were kept for texts, those of each encoding.

        Args:
            digests: the hashes of the texts. One that is not known to all encodings is left out.
        """
        if self.problem or self.is_empty:
            return {}
        try:
            keys = {digest: self._keys(digest) for digest in digests}
            rows = self._rows([key for some in keys.values() for key in some])
        except Exception as error:  # anything may be wrong with the file
            self._note(error)
            return {}
        return {
            digest: [rows[key] for key in some]
            for digest, some in keys.items()
            if all(key in rows for key in some)
        }

    def keep(self, digest: bytes, numbers: Iterable[tuple[int, ...]]) -> None:
        """Keep the numbers of a text, those of each encoding."""
        if self.path is not None:
            self._new[digest] = [b" ".join(b"%d" % number for number in some) for some in numbers]

    def count(self, text: str, count: Callable[[str], int]) -> int:
        """Return the tokens of a text by the only encoding: those that are kept, or new ones.

        Args:
            text: the text.
            count: returns the tokens of a text.
        """
        data = text.encode()
        hashed = new_hash()
        hashed.update(data)
        digest = hashed.digest()
        found = self.find([digest])
        if found:
            return found[digest][0][0]
        tokens = count(text)
        self.keep(digest, [(tokens, len(data), len(text))])
        return tokens

    def close(self) -> None:
        """Write new counts, and close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        new, used = self._new, self._used
        self._new, self._used = {}, []
        if not new and not used:
            return
        for _ in range(2):
            try:
                self._write(new, used)
                return
            except Exception as error:  # as above; a damaged file is removed and written once more
                self._note(error)
                if not self._is_damaged:
                    return

    def size(self) -> tuple[int, int | None]:
        """Return the bytes of the file, and the number of its counts; None if it cannot be read."""
        if self.path is None or self.is_empty:
            return 0, 0
        rows = None
        try:
            with closing(_connected(self.path)) as connection:
                ((rows,),) = connection.execute("SELECT count(*) FROM counts")
        except Exception as error:  # as above
            self._note(error)
        return os.path.getsize(self.path), rows

    def clear(self) -> None:
        """Remove the file.

        Raises:
            OSError: it cannot be removed.
        """
        assert self.path is not None
        for ending in _ENDINGS:
            with suppress(FileNotFoundError, NotADirectoryError):
                os.remove(self.path + ending)

    def _keys(self, digest: bytes) -> list[bytes]:
        from hashlib import sha256  # as above

        if self._identities is None:
            self._identities = [identity(one) + self._options for one in self._encodings]
        return [sha256(digest + one).digest()[:_KEY] for one in self._identities]

    def _rows(self, keys: Sequence[bytes]) -> dict[bytes, tuple[int, ...]]:
        if self._connection is None:
            assert self.path is not None
            self._connection = _connected(self.path)
        rows = {}
        for start in range(0, len(keys), _BATCH):
            batch = keys[start : start + _BATCH]
            marks = ",".join("?" * len(batch))
            for key, numbers, checksum, day in self._connection.execute(
                f"SELECT key, numbers, checksum, day FROM counts WHERE key IN ({marks})", batch
            ):
                if checksum == _checksum(key, numbers):
                    rows[key] = tuple(map(int, numbers.split()))
                    if day != self._day:
                        self._used.append(key)
        return rows

    def _write(self, new: dict[bytes, list[bytes]], used: list[bytes]) -> None:
        assert self.path is not None
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        if self._is_damaged:
            self._is_damaged = False
            self.clear()
        day = self._day
        pairs = (pair for digest, some in new.items() for pair in zip(self._keys(digest), some))
        rows = sorted(islice(pairs, self._limit // _ROW))
        with closing(_connected(self.path)) as connection:
            connection.execute(
                "PRAGMA synchronous = OFF"
            )  # a file that a crash damages is replaced
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(_TABLE)
            connection.executemany(
                "INSERT OR REPLACE INTO counts VALUES (?, ?, ?, ?)",
                ((key, numbers, _checksum(key, numbers), day) for key, numbers in rows),
            )
            connection.executemany(
                "UPDATE counts SET day = ? WHERE key = ?", ((day, key) for key in used)
            )
            while _bytes_used(connection) > self._limit:
                ((number,),) = connection.execute("SELECT count(*) FROM counts")
                if not number:
                    break
                connection.execute(
                    "DELETE FROM counts WHERE key IN (SELECT key FROM counts ORDER BY day LIMIT ?)",
                    (number // 4 + 1,),
                )
            connection.execute("COMMIT")

    def _note(self, error: Exception) -> None:
        # The subclasses of this error are about the operation, not about the file.
        self._is_damaged = type(error).__name__ == "DatabaseError"
        self.problem = self.problem or f"{self.path}: {getattr(error, 'strerror', None) or error}"


def _checksum(key: bytes, numbers: bytes) -> int:
    return crc32(numbers, crc32(key))


def _bytes_used(connection: sqlite3.Connection) -> int:
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _connected(path: str) -> sqlite3.Connection:
    import sqlite3  # some Pythons have none

    with suppress(FileNotFoundError):
        if not stat.S_ISREG(os.lstat(path).st_mode):  # SQLite would follow a link
            raise OSError("not a regular file")
    return sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
