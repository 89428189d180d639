"""Ignore files: work bounded by the lengths of patterns, what git says of them; damaged indexes."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from random import Random

from compat_bpe.files.git import read_index
from compat_bpe.files.ignore import InvalidPatternError, matcher
from compat_bpe.files.walk import Walk

from .growth import calls_of

_PARTS = [
    *("a", "b", "ab", "*", "*", "**", "**", "/", "/", "/", "?", "[ab]", "[!a]", "[^b]", "[a-c]"),
    *("\\a", "\\*", "\\/", "[/]", "[!/]", "é", ".py", "***", "[[:alpha:]]", "[]a]", "[a", "\\"),
    *("-", " ", "!", "[b-a]", "\\[", "c", "foo"),
]
_NAMES = ["a", "b", "ab", "aab", "c", "x.py", "é", "aé", "-", "a b", "foo", "fooa", "*", "["]

#: One case in so many asks git.
_ASKED = 500
_HAS_GIT = shutil.which("git") is not None


def attack(random: Random) -> None:
    if _HAS_GIT and random.randrange(_ASKED) == 0:
        _compare_with_git(random)
    elif random.randrange(10) == 0:
        _damage_index(random)
    else:
        _count_work(random)


def _pattern(random: Random) -> str:
    return "".join(random.choices(_PARTS, k=random.randint(1, 8)))


def _count_work(random: Random) -> None:
    # A part of a pattern again and again, on a text that nearly fits.
    pattern = _pattern(random) * random.choice([1, 5, 20]) + random.choice(["", "x"])
    text = random.choice(["a", "ab", "a/", "ab/a"]) * random.choice([3, 40, 200])
    try:
        matches = matcher(pattern, is_name="/" not in pattern)
    except InvalidPatternError:
        return
    calls = calls_of(lambda: matches(text.rstrip("/")))
    most = 10 * (len(pattern) + 1) * (len(text) + 1)
    assert calls < most, f"{calls} calls for {pattern!r} on {text!r}"


def _compare_with_git(random: Random) -> None:
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        subprocess.run(["git", "init", "-q"], cwd=top, check=True)
        for index in range(30):
            inner = [
                top.joinpath(str(index), *random.choices(_NAMES, k=random.randint(0, 3)))
                for _ in range(3)
            ]
            for path in inner:
                path.mkdir(parents=True, exist_ok=True)
            for path in inner:
                for name in random.choices(_NAMES, k=5):
                    if not (path / name).exists():
                        (path / name).touch()
            lines = [random.choice(["", "", "!"]) + _pattern(random) for _ in range(2)]
            (top / str(index) / ".gitignore").write_bytes("\n".join(lines).encode())
        files = [path for path in top.rglob("*") if path.is_file() and ".git" not in str(path)]
        tracked = map(str, random.sample(files, min(len(files), 50)))
        add = ["git", "--literal-pathspecs", "add", "-f", "--", *tracked]
        subprocess.run(add, cwd=top, check=True)
        version = ["git", "update-index", "--index-version", random.choice("24")]
        subprocess.run(version, cwd=top, check=True)
        command = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
        listed = subprocess.run(command, cwd=top, stdout=subprocess.PIPE, check=True).stdout
        theirs = {os.fsdecode(path) for path in listed.split(b"\0")}
        theirs = {path for path in theirs if path and os.path.basename(path) != ".gitignore"}
        ours = {os.path.relpath(file.path, top) for file in Walk().find([folder])}
        wrong = [
            (path, (top / path.partition("/")[0] / ".gitignore").read_bytes())
            for path in sorted(ours ^ theirs)
        ]
        assert not wrong, wrong[:3]


def _damage_index(random: Random) -> None:
    """Read an index of random entries with some bytes changed: a list or an ``OSError``."""
    version = random.choice([2, 3, 4])
    number = random.randrange(9)
    data = struct.pack(">4sLL", b"DIRC", version, random.choice([number, 1 << 31]))
    for _ in range(number):
        name = random.choice(_NAMES).encode()
        entry = random.randbytes(60) + struct.pack(">H", random.choice([0, 0x4000])) + name + b"\0"
        data += entry + bytes(-len(entry) % 8 if version < 4 else 0)
    bitmap = struct.pack(">LLQQL", 64, random.choice([1, 2, 99]), 1 << 33 | 3, number, 0)
    for extension in random.choices([b"link", b"TREE", b"none"], k=random.randrange(3)):
        data += extension + struct.pack(">L", 20 + 2 * len(bitmap)) + bytes(19) + b"\1" + bitmap * 2
    damaged = bytearray(data + bytes(20))
    for _ in range(random.randrange(4)):
        damaged[random.randrange(len(damaged))] = random.randrange(256)
    with tempfile.TemporaryDirectory() as folder, suppress(OSError):
        for file in ("index", f"sharedindex.{'00' * 19}01"):
            Path(folder, file).write_bytes(damaged)
        read_index(folder, 20)
