"""What only a process of its own shows: time to load, memory, a command's whole time."""

from __future__ import annotations

import os
import pickle
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tools.benchmark import interleaved
from tools.benchmark.corpora import varied

ROOT = Path(__file__).resolve().parents[2]

_LOAD = """
import time, {module} as module
start = time.perf_counter()
module.get_encoding({name!r})
print(time.perf_counter() - start)
"""

_MEMORY = """
import pickle, {module} as module
def resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1000
encoding = module.get_encoding({name!r})
encoding.encode_ordinary("hello")
print(resident())
with open({texts!r}, "rb") as file:
    while True:
        try:
            text = pickle.load(file)
        except EOFError:
            break
        encoding.encode_ordinary(text)
        del text
print(resident())
"""

_COUNT = """
import sys, tiktoken
with open(sys.argv[1], encoding="utf-8") as file:
    print(len(tiktoken.get_encoding({name!r}).encode_ordinary(file.read())))
"""


def run_code(code: str, *arguments: str) -> list[float]:
    """The numbers that some code prints in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, *arguments]
    run = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    return [float(line) for line in run.stdout.split()]


def load_seconds(name: str, rounds: int) -> dict[str, float]:
    """``get_encoding`` in a fresh process, the package imported; tiktoken's files are at hand."""
    codes = [_LOAD.format(module=module, name=name) for module in ("compat_bpe", "tiktoken")]
    times = [[run_code(code)[0] for code in codes] for _ in range(rounds)]
    ours, theirs = map(statistics.median, zip(*times))
    return {"seconds": ours, "tiktoken_seconds": theirs, "ratio": theirs / ours}


def command_seconds(name: str, rounds: int) -> dict[str, float]:
    """``compat-bpe count`` of a small file, against the same in a line of Python with tiktoken."""
    path = str(Path(__file__))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    def runs(*arguments: str) -> Callable[[], object]:
        command = [sys.executable, *arguments]
        return lambda: subprocess.run(command, env=environment, capture_output=True, check=True)

    ours, theirs, python = interleaved(
        rounds,
        runs("-m", "compat_bpe", "count", "-e", name, path),
        runs("-c", _COUNT.format(name=name), path),
        runs("-c", "pass"),
    )
    return {"seconds": ours, "tiktoken_seconds": theirs, "python_seconds": python}


def memory_megabytes(name: str, texts: list[str]) -> dict[str, float]:
    """Resident memory after load and after 50 MB of varied text; empty where Linux is not."""
    if not Path("/proc/self/status").exists():
        return {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts"
        with path.open("wb") as file:
            for text in varied(texts, 50_000_000):
                pickle.dump(text, file)
        results = {}
        for module, prefix in (("compat_bpe", ""), ("tiktoken", "tiktoken_")):
            loaded, after = run_code(_MEMORY.format(module=module, name=name, texts=str(path)))
            results[f"{prefix}after_load"] = loaded
            results[f"{prefix}after_50_mb"] = after
    return results
