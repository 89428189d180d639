"""A tree of files, counted by the command and by a script with tiktoken."""

from __future__ import annotations

import os
import random
import shutil
import statistics
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from tools.benchmark.common import Options, Row, run

_WITH_TIKTOKEN = """
import pathlib, sys, tiktoken
encoding = tiktoken.get_encoding({name!r})
for path in pathlib.Path(sys.argv[1]).rglob("*.py"):
    encoding.encode_ordinary(path.read_text("utf-8"))
"""


def tree(options: Options) -> Iterator[Row]:
    """Yield the seconds on the clock of counts of a tree, and of a script with tiktoken.

    The tree has the sources of the standard library. ``first`` begins with an empty
    cache, ``no cache`` writes none, and ten files are changed before ``changed``.
    """
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ):
        os.environ["COMPAT_BPE_CACHE_DIR"] = cache = os.path.join(folder, "cache")
        root = Path(folder, "tree")
        paths = _sources(root)
        script = _WITH_TIKTOKEN.format(name=options.encoding)
        count = ["-m", "compat_bpe", "count", "-q", "--total-only", "-e", options.encoding]
        taken: dict[str, list[float]] = {}
        for number in range(options.rounds + 1):
            shutil.rmtree(cache, ignore_errors=True)
            for title in ("tiktoken", "no cache", "first", "again", "changed"):
                if title == "changed":
                    for path in random.Random(number).sample(paths, 10):
                        path.write_text(path.read_text("utf-8") + f"# {number}\n", "utf-8")
                words = ["-c", script] if title == "tiktoken" else count
                start = time.perf_counter()
                run(*words, *["--no-cache"] * (title == "no cache"), str(root))
                if number:  # the first time, files may have to be read and modules compiled
                    taken.setdefault(title, []).append(time.perf_counter() - start)
        yield "count of a tree", {title: statistics.median(some) for title, some in taken.items()}


def _sources(root: Path) -> list[Path]:
    """Write the sources of the standard library, as UTF-8, into a new folder."""
    root.mkdir()
    library = Path(sysconfig.get_path("stdlib"))
    paths = []
    for number, source in enumerate(sorted([*library.glob("*.py"), *library.glob("*/*.py")])):
        paths.append(root / f"{number}.py")
        paths[-1].write_bytes(source.read_bytes().decode("utf-8", "replace").encode())
    return paths
