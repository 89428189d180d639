"""What the first answer of a process needs: of the standard library, no more than it uses."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import compat_bpe
from tests.alone import run_alone

ROOT = Path(compat_bpe.__file__).parent.parent

#: What takes milliseconds to import, or brings in much else.
HEAVY = set(
    """
        argparse ast asyncio base64 binascii concurrent.futures contextlib copy csv ctypes
        dataclasses datetime decimal difflib dis email fractions gettext glob hashlib heapq
        importlib.metadata importlib.resources importlib.util inspect json linecache locale logging
        multiprocessing pathlib pickle pkgutil platform queue random selectors shutil signal socket
        string struct subprocess tempfile textwrap threading token tokenize traceback typing
        unicodedata urllib.parse urllib.request uuid warnings weakref zipfile numpy regex
    """.split()
)

#: What each step brings in, on every Python.
STEPS = {
    "import compat_bpe": {"__future__", "zlib"},
    "encoding = compat_bpe.get_encoding({name!r})": set(),
    "encoding.encode('hello world, ' * 300)": set(),
    "encoding.encode('h\\xebllo \\U0001f600, ' * 300)": {
        "bisect",
        "_bisect",
        "encodings.utf_16_le",
    },
    "encoding.decode([5, 6])": {"array"},
    "encoding.count('hello world')": set(),
    "encoding.encode_batch(['hello', 'world'])": None,
}


def modules_of_steps(name: str) -> list[set[str]]:
    """The modules that each step brings in, those of this package aside."""
    script = (
        "import os, re, collections.abc, io\n"
        "seen = set(sys.modules)\n"
        "def report():\n"
        "    new = sorted(name for name in sys.modules if name not in seen)\n"
        "    seen.update(new)\n"
        "    print(*(name for name in new if name.partition('.')[0] != 'compat_bpe'))\n"
    )
    for step in STEPS:
        script += step.format(name=name) + "\nreport()\n"
    return [set(line.split()) for line in run_alone(script).split("\n")[:-1]]


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base", "o200k_harmony"])
def test_what_is_imported(name: str) -> None:
    found = modules_of_steps(name)
    assert len(found) == len(STEPS)
    on_pypy = sys.implementation.name == "pypy"
    without = {"_bisect", "array", "encodings.utf_16_le"} if on_pypy else set()
    for (step, expected), modules in zip(STEPS.items(), found):
        if expected is not None:
            # PyPy has some in itself, and checks text by another codec.
            assert modules == expected - without, step
        else:
            # Small batches are done here: no worker, no thread.
            assert not modules & {"concurrent.futures", "pickle", "subprocess", "multiprocessing"}
    assert not set().union(*found[:-1]) & HEAVY


def test_the_parser_of_patterns_is_not_needed() -> None:
    script = (
        "import compat_bpe\n"
        "for name in compat_bpe.list_encoding_names()[:7]:\n"
        "    compat_bpe.get_encoding(name).encode('hello h\\xebllo \\U0001f600, ' * 300)\n"
        "packages = 'compat_bpe.pattern.', 'compat_bpe.pipeline.', 'compat_bpe.unicode.'\n"
        "print(*(name for name in sys.modules if name.startswith(packages)))\n"
    )
    on_pypy = [
        "compat_bpe.pipeline.pypy" + name
        for name in ("", ".core")
        if sys.implementation.name == "pypy"
    ]
    assert sorted(run_alone(script).split()) == [
        "compat_bpe.pattern.prepared",
        "compat_bpe.pattern.splitter",
        "compat_bpe.pipeline.core",
        "compat_bpe.pipeline.models",
        "compat_bpe.pipeline.models.bpe",
        "compat_bpe.pipeline.models.bpe.by_rank",
        *on_pypy,
        "compat_bpe.pipeline.special_tokens",
        "compat_bpe.unicode.surrogates",
    ]
