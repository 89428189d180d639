"""What the places share: the wheel, the libraries of the command, and a run of the tests there."""

from __future__ import annotations

import copy
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Union

ROOT = Path(__file__).resolve().parents[2]
PORTABLE = ROOT / "tests" / "portable"
FIXTURES = ROOT / "fixtures"
PAGE = ROOT / "docs" / "where-it-runs.md"

#: The library of the command; this version runs on every Python from 3.9.
LIBRARIES = ("click==8.1.8",)

#: The tests of a quick run where Python is slow: numbers of 16 and 32 bits in files, hashes, sums.
SAMPLE = tuple(
    """
        golden.encodings golden.sentencepiece files.loaded training.learned fitting.documents
        pickles.own pickles.exchanged command.texts
    """.split()
)

Word = Union[str, "os.PathLike[str]"]

#: Runs the tests with folders to import from; -I and -S leave PYTHONPATH and site-packages out.
_START = (
    "import runpy, sys; sys.path[:0] = {path!r}; sys.argv = {argv!r}; "
    "runpy.run_path({argv!r}[0], run_name='__main__')"
)


class PlaceError(Exception):
    """A place could not be had, or something is wrong there; the text says what."""


class Row(NamedTuple):
    """A row of the table.

    Args:
        place: the place, and its version.
        had: the way it was had.
        ran: what was run there.
    """

    place: str
    had: str
    ran: str


class Run(NamedTuple):
    """A run of the tests.

    Args:
        python: the Python that ran them, with its version and the machine's kind.
        answers: the number of answers that were right.
    """

    python: str
    answers: int

    @property
    def version(self) -> str:
        """The Python without the kind of the machine."""
        return self.python.split(",")[0]

    def row(self, place: str, had: str | None = None, more: str = "") -> Row:
        """Return a row of the table; unless told, the place was had with the Python of the run."""
        return Row(place, had or self.version, f"{self.answers:,} answers{more}")


class Kit:
    """The files that every place needs.

    Args:
        kept: a folder for what is fetched or built; it can be used again.
        quick: True to take samples.
    """

    def __init__(self, kept: Path, quick: bool = False) -> None:
        self.kept = kept
        self.quick = quick
        #: The tests take one golden case in so many.
        self.every = 1
        self._work = tempfile.TemporaryDirectory(prefix="places-")
        self.work = Path(os.path.realpath(self._work.name))

    def of_place(self, name: str) -> Kit:
        """Return the kit of a place, with a folder of its own to keep what is fetched for it."""
        kit = copy.copy(self)
        kit.kept = self.kept / name
        kit.kept.mkdir(parents=True, exist_ok=True)
        kit.every = 50 if self.quick else 1
        return kit

    def prepare(self) -> None:
        """Make what the places share, before several of them run at the same time."""
        self.pickles.exists()
        self.site.exists()

    def close(self) -> None:
        """Remove the files of this run."""
        self._work.cleanup()

    def folder(self, name: str) -> Path:
        """Return a new folder for this run."""
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.work))

    @cached_property
    def wheel(self) -> Path:
        """The wheel of the project, built now."""
        into = self.folder("wheel")
        output([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", into, ROOT], 300)
        return next(into.glob("*.whl"))

    @cached_property
    def libraries(self) -> list[Path]:
        """The wheels of what the command needs."""
        into = self.folder("libraries")
        fetch: list[Word] = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", into]
        output([*fetch, *LIBRARIES], 300)
        return sorted(into.glob("*.whl"))

    @cached_property
    def site(self) -> Path:
        """A folder with the package and the libraries, as an installer would unpack them."""
        into = self.folder("site")
        for wheel in (self.wheel, *self.libraries):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(into)
        return into

    def environment(self, *packages: str) -> Path:
        """Return the Python of an environment with the wheel and packages of PyPI."""
        folder = self.kept / "environment"
        python = folder / "bin" / "python"
        if not python.exists():
            output([sys.executable, "-m", "venv", folder], 300)
        install: list[Word] = [python, "-m", "pip", "install", "-q"]
        output([*install, *packages, *LIBRARIES], 600)
        output([*install, "--no-deps", "--force-reinstall", self.wheel], 300)
        return python

    @cached_property
    def pickles(self) -> Path:
        """A folder with pickles that this Python wrote."""
        into = self.folder("pickles")
        self.run([sys.executable], "pickles.exchanged", "--pickles-to", into, exchange=False)
        return into

    def run(
        self,
        python: Sequence[Word],
        *options: Word,
        flag: str = "-c",
        path: Sequence[Path] | None = None,
        more: Sequence[Word] = (),
        workers: bool = True,
        exchange: bool = True,
        environment: Mapping[str, str] | None = None,
        timeout: int = 900,
    ) -> Run:
        """Run the tests with a Python.

        Args:
            python: the command of the Python, with its flags.
            options: more options of the tests.
            flag: the flag before the code that starts the tests.
            path: what to import the package and the libraries from; unless given, ``site``.
            more: more words after that code.
            workers: False if no worker processes are to be had there.
            exchange: False to leave out pickles from and to this Python.
            environment: the environment; unless given, a small one.
            timeout: the longest time in seconds.

        Raises:
            PlaceError: an answer is wrong, or they cannot be run.
        """
        written = self.folder("written")
        if exchange:
            options = (*options, "--pickles-from", self.pickles, "--pickles-to", written)
        start = _START.format(
            path=list(map(str, [self.site] if path is None else path)),
            argv=self.arguments(*options, workers=workers),
        )
        command = [*python, *([flag] if flag else []), start, *more]
        found = parsed(output(command, timeout, env=environment or self.plain()))
        if exchange:
            self.read_back(written)
        return found

    def run_program(
        self, command: Sequence[Word], *, workers: bool = False, folder: Path | None = None
    ) -> Run:
        """Run a program that has the tests in it; it says the same as ``run``."""
        written = self.folder("written")
        pickles: list[Word] = ["--pickles-from", self.pickles, "--pickles-to", written]
        arguments = self.arguments("--fixtures", FIXTURES, *pickles, workers=workers)[1:]
        found = parsed(output([*command, *arguments], 900, cwd=folder, env=self.plain()))
        self.read_back(written)
        return found

    def arguments(self, *options: Word, workers: bool) -> list[str]:
        """Return the arguments of the tests, the program included."""
        words = [PORTABLE, "--every", self.every, *options, "--workers", "yes" if workers else "no"]
        return list(map(str, words))

    def read_back(self, pickles: Path) -> None:
        """Read the pickles of another Python with this one."""
        self.run([sys.executable], "pickles.exchanged", "--pickles-from", pickles, exchange=False)

    def plain(self, **more: str) -> dict[str, str]:
        """Return a small environment, with a home of its own and UTF-8."""
        home = self.work / "home"
        home.mkdir(exist_ok=True)
        kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
        return {**kept, "HOME": str(home), "USERPROFILE": str(home), "LC_ALL": "C.UTF-8", **more}


def parsed(printed: str) -> Run:
    """Read what the tests print.

    >>> parsed("CPython 3.13.0, x86_64\\nworker processes: yes\\n\\n12 answers, 0 wrong\\n")
    Run(python='CPython 3.13.0, x86_64', answers=12)
    """
    answers = re.search(r"^(\d+) answers, 0 wrong\s*\Z", printed, re.MULTILINE)
    if answers is None:
        raise PlaceError(f"the tests did not end well:\n{printed[-3000:]}")
    python = printed.partition("\n")[0].strip()
    return Run(python, int(answers[1]))


def output(
    command: Sequence[Word],
    timeout: int,
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> str:
    """Return what a command prints.

    Raises:
        PlaceError: it fails, with what it printed.
    """
    words = list(map(str, command))
    try:
        done = subprocess.run(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            cwd=cwd,
            env=env,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise PlaceError(f"{words[0]} took more than {timeout} seconds") from None
    except OSError as error:
        raise PlaceError(f"{words[0]}: {error.strerror}") from None
    printed = done.stdout.decode("utf-8", "replace")
    if done.returncode:
        raise PlaceError(f"{words[0]} gave {done.returncode}:\n{printed[-4000:]}")
    return printed


def need(program: str, reason: str) -> str:
    """Return the path of a program, or raise ``PlaceError`` with the reason it is needed for."""
    found = shutil.which(program)
    if found is None:
        raise PlaceError(f"there is no {program}, which {reason}")
    return found


def npm_package(folder: Path, package: str) -> Path:
    """Return the folder of a package of npm, without the packages that it can load."""
    if not (folder / "complete").exists():
        folder.mkdir(exist_ok=True)
        npm = need("npm", f"fetches {package}")
        output([npm, "pack", "--silent", "--ignore-scripts", package], 300, cwd=folder)
        with tarfile.open(next(folder.glob("*.tgz"))) as archive:
            for member in archive:
                if member.isfile() and ".." not in Path(member.name).parts:
                    archive.extract(member, folder)
        (folder / "complete").touch()
    return folder / "package"


# The page


def with_row(page: str, row: Row, date: str) -> str:
    """Return a page with a row in place of the one that begins with the same words.

    The words are those before the first digit, so that another version takes the same row.

    >>> with_row("| CPython 3.9.1 | x | y | 1 |\\n", Row("CPython 3.9.2", "a", "b"), "2")
    '| CPython 3.9.2 | a | b | 2 |\\n'
    """
    lines = page.splitlines(keepends=True)
    line = f"| {' | '.join(row)} | {date} |\n"
    for number, old in enumerate(lines):
        if old.startswith("| ") and _key(old[2:].partition(" | ")[0]) == _key(row.place):
            lines[number] = line
            return "".join(lines)
    raise ValueError(f"{PAGE} has no row for {row.place}")


def write_row(row: Row) -> None:
    """Write a row of today into the page."""
    page = with_row(PAGE.read_text("utf-8"), row, time.strftime("%Y-%m-%d"))
    PAGE.write_bytes(page.encode())


def _key(place: str) -> str:
    """Return a place with only the part of its version that has a row of its own.

    >>> _key("CPython 3.13.0"), _key("PyPy 7.3.11 (Python 3.9.16)"), _key("s390x, big endian")
    ('CPython 3.13', 'PyPy 7', 's390x, big endian')
    """
    name = place.partition(" (")[0]
    words = name.split(" ")
    version = words[-1].split(".")
    if not version[0].isdigit():
        return name
    parts = 2 if name.startswith("CPython 3") else 1
    return " ".join([*words[:-1], ".".join(version[:parts])])
