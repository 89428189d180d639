"""Pyodide, the Python that runs in browsers: fetched from npm, pinned, kept in a folder."""

from __future__ import annotations

import base64
import hashlib
import tarfile
import tempfile
from pathlib import Path

from tools.fetch_package import fetch_package
from tools.reference_files import reference_folder, write_whole

VERSION = "314.0.7"
PACKAGE = f"pyodide@{VERSION}"
#: The integrity hash of the package in npm's registry.
INTEGRITY = (
    "sha512-0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOtty"
    "McWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
)
#: The files of it that a page needs.
FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
LOCK = "pyodide-lock.json"


def npm_archive(package: str, integrity: str) -> Path:
    """Return a package of npm, fetched if it is not there yet.

    Args:
        package: ``name@version``.
        integrity: its hash in the registry, ``sha512-…``.

    Raises:
        OSError: it cannot be fetched.
        ValueError: it is not the one that was published.
    """
    kept = reference_folder() / "npm" / f"{package}.tgz"
    if not kept.exists() or integrity_of(kept.read_bytes()) != integrity:
        with tempfile.TemporaryDirectory() as folder:
            data = fetch_package(package, Path(folder)).read_bytes()
        found = integrity_of(data)
        if found != integrity:
            raise ValueError(f"{package} is another one: it has {found}, not {integrity}")
        write_whole(kept, data)
    return kept


def integrity_of(data: bytes) -> str:
    """Return a hash as npm writes it.

    >>> integrity_of(b"")[:20]
    'sha512-z4PhNX7vuL3xV'
    """
    return "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()


def put_runtime(folder: Path) -> None:
    """Write the files of Pyodide that a page needs into a folder; errors as ``npm_archive``."""
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(npm_archive(PACKAGE, INTEGRITY), "r:gz") as tar:
        for name in (*FILES, LOCK):
            member = tar.extractfile(f"package/{name}")
            assert member is not None
            (folder / name).write_bytes(member.read())
