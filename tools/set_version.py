"""Give the project a new version, everywhere it is written.

    python tools/set_version.py 1.0.0

What CHANGELOG.md has under "Unreleased" becomes the section of the version, with the day of today.
The manual pages are not written here: run tools/build_man.py afterwards.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]

#: The versions that are possible: those of PyPI that are also versions of npm.
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")


def places(old: str, new: str, day: str) -> Iterator[tuple[str, str, str]]:
    """Yield each file, with a pattern for one place in it and what stands there afterwards."""
    old = re.escape(old)
    yield "compat_bpe/version.py", rf'__version__ = "{old}"\n', f'__version__ = "{new}"\n'
    released = f"\nversion: {new}\ndate-released: {day}\n"
    yield "CITATION.cff", rf"\nversion: {old}\n(date-released: .*\n)?", released
    yield "editors/emacs/compat-bpe.el", rf"\n;; Version: {old}\n", f"\n;; Version: {new}\n"
    for name in ("package.json", "package-lock.json"):
        yield f"editors/vscode/{name}", rf'\n  "version": "{old}",', f'\n  "version": "{new}",'
    head = '"": {\n      "name": "compat-bpe",\n      "version": '
    yield "editors/vscode/package-lock.json", rf'{re.escape(head)}"{old}",', f'{head}"{new}",'
    section = f"\n## [Unreleased]\n\n## [{new}] - {day}\n"
    yield "CHANGELOG.md", r"\n## \[Unreleased\]\n", section


def set_version(root: Path, new: str, day: str) -> None:
    """Write a version into the files below a folder: all of them, or none.

    Args:
        root: the folder of the project.
        new: the version, three numbers with dots between them.
        day: the day of the release, as in 2026-12-01.

    Raises:
        ValueError: this is no such version or the present one, or a file does not have the present
            one where it should.
    """
    found = re.search(r'__version__ = "(.+)"', (root / "compat_bpe/version.py").read_text("utf-8"))
    if found is None:
        raise ValueError("compat_bpe/version.py has no version")
    old = found[1]
    if not _VERSION.fullmatch(new):
        raise ValueError(f"{new} is no version such as 1.0.0")
    if new == old:
        raise ValueError(f"{new} is the version already")
    texts: dict[Path, str] = {}
    for name, pattern, after in places(old, new, day):
        path = root / name
        text = texts.get(path) or path.read_bytes().decode()
        texts[path], count = re.subn(pattern, after, text)
        if count != 1:
            raise ValueError(f"{name} has {count} places like {pattern}, not one")
    for path, text in texts.items():
        path.write_bytes(text.encode())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("version", help="three numbers, as in 1.0.0")
    version = parser.parse_args().version
    try:
        set_version(ROOT, version, time.strftime("%Y-%m-%d"))
    except ValueError as error:
        sys.exit(f"set_version.py: {error}")


if __name__ == "__main__":
    main()
