"""The place where the tests run: the package under its name there, the fixtures, a folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Callable, NamedTuple


class Stored:
    """Stands for the answer that is stored in ``answers.json``."""


#: The expected value of a check whose answer is stored.
STORED = Stored()


class Check(NamedTuple):
    """What was found for a question, and what is expected."""

    question: str
    found: object
    expected: object = STORED


class Place(NamedTuple):
    """A place.

    Args:
        package: the name of the package, which is another one if it was copied.
        fixtures: the folder with the fixtures of the project.
        folder: an empty folder to write into.
        every: take one of so many of the golden cases.
        pickles_from: a folder with pickles of other Pythons.
        pickles_to: a folder to write pickles into.
    """

    package: str
    fixtures: Path
    folder: Path
    every: int = 1
    pickles_from: Path | None = None
    pickles_to: Path | None = None

    def module(self, name: str = "") -> Any:
        """Import a module of the package by its name within it."""
        return import_module(f"{self.package}.{name}" if name else self.package)

    def fixture(self, name: str) -> Any:
        """Read a JSON file of the fixtures."""
        return json.loads((self.fixtures / name).read_bytes())

    def names(self, pattern: str) -> list[str]:
        """Return the fixtures that match a pattern, as paths with slashes."""
        found = sorted(self.fixtures.glob(pattern))
        return [path.relative_to(self.fixtures).as_posix() for path in found]

    def write(self, name: str, content: object) -> Path:
        """Write bytes, a text, or anything else as JSON, into the folder; return the path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(content, (bytes, str)):
            content = json.dumps(content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path


#: The tests: each asks some questions at a place.
Test = Callable[[Place], Iterator[Check]]


def digest(value: object) -> str:
    """Return a short digest of bytes, or of what JSON can hold."""
    data = value if isinstance(value, bytes) else json.dumps(value, sort_keys=True).encode()
    return hashlib.sha256(data).hexdigest()[:16]


#: A text with something of everything.
TEXT = (
    "Hello, wörld! It's 12345 and 世界。\n\n  def f(x):\n\treturn x**2  # 😀 👩\u200d👧\r\n"
    "e\u0301 \U00010400 ſ \u3000 naïve—“quoted” HTTPServer\n\n\n"
)

#: A corpus of a few lines.
CORPUS = [
    "the quick brown fox jumps over the lazy dog",
    "low lower lowest new newer newest wide wider widest",
    "Die Würde des Menschen ist unantastbar.",
    "人人生而自由，在尊严和权利上一律平等。",
    "def area(r):\n    return math.pi * r ** 2\n",
] * 3
