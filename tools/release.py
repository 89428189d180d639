"""Write what a release needs: the notes, a new version or the address, wherever they belong.

    python tools/release.py notes [v1.0.0]    # what CHANGELOG.md says of a tag, or of what is new
    python tools/release.py version 1.0.0     # a new version; run tools/build_man.py afterwards
    python tools/release.py address https://git.example.org/owner/compat_bpe
                                    [--site https://docs.example.org/]
    python tools/release.py index             # the package is on PyPI: install it from there

What CHANGELOG.md has under "Unreleased" becomes the section of a version, of today. The
address is written into [project.urls] of the package, CITATION.cff, the extension for VS Code, and
the site of the documentation. A second run replaces what the first has written. Until ``index`` has
run, documents and messages say ``pip install '.[EXTRA]' in a checkout``; run tools/build_man.py
afterwards.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from compat_bpe.version import __version__

ROOT = Path(__file__).parents[1]
UNRELEASED = "Unreleased"

#: The versions that are possible: those of PyPI that are also versions of npm.
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")

#: The files that tell users, or the tests of messages, how to install the package.
INSTALLING = tuple(
    """
        README.md docs/**/*.md compat_bpe/**/*.py tests/**/*.py web/site/*.html editors/*/README.md
        editors/emacs/*.el editors/nvim/doc/* editors/nvim/**/*.lua
    """.split()
)
#: How pip gets the package, or an extra, from a checkout.
FROM_CHECKOUT = re.compile(
    r"(pip\s+install\s+)(?:'\.(\[[{}\w]+\])'|\.)(`*|</code>)(?:  #)?"
    r"\s+in\s+a\s+checkout\b(?:\s+of\s+compat-bpe\b)?"
)

#: A file, a pattern for the one place in it, and what stands there afterwards.
Place = tuple[str, str, str]


def section(changelog: str, name: str) -> str:
    """Return the text below a version's heading, up to the next version's.

    >>> section("## [1.0.0] - 2026-12-01\\n\\n### Added\\n\\n- a\\n\\n## [0.1.0]\\n", "1.0.0")
    '### Added\\n\\n- a\\n'

    Raises:
        ValueError: there is no such heading, or nothing below it.
    """
    parts = re.split(r"^## \[(.+?)\].*\n", changelog, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2]))
    if name not in sections:
        raise ValueError(f"CHANGELOG.md has no heading ## [{name}]; it has {', '.join(sections)}")
    text = sections[name].strip()
    if not text:
        raise ValueError(f"CHANGELOG.md says nothing of {name}")
    return f"{text}\n"


def notes(tag: str | None, changelog: str, version: str = __version__) -> str:
    """Return the notes for a tag, or what is unreleased.

    Raises:
        ValueError: the tag is not ``v`` with the version of the package, or there are no notes.
    """
    if tag is not None and tag != f"v{version}":
        raise ValueError(f"the tag is {tag}, but compat_bpe/version.py says {version}")
    return section(changelog, UNRELEASED if tag is None else version)


def places_of_version(old: str, new: str, day: str) -> Iterator[Place]:
    """Yield the places of a version."""
    old = re.escape(old)
    yield "compat_bpe/version.py", rf'__version__ = "{old}"\n', f'__version__ = "{new}"\n'
    released = f"\nversion: {new}\ndate-released: {day}\n"
    yield "CITATION.cff", rf"\nversion: {old}\n(date-released: .*\n)?", released
    yield "editors/emacs/compat-bpe.el", rf"\n;; Version: {old}\n", f"\n;; Version: {new}\n"
    for name in ("package.json", "package-lock.json"):
        yield f"editors/vscode/{name}", rf'\n  "version": "{old}",', f'\n  "version": "{new}",'
    head = '"": {\n      "name": "compat-bpe",\n      "version": '
    yield "editors/vscode/package-lock.json", rf'{re.escape(head)}"{old}",', f'{head}"{new}",'
    yield "CHANGELOG.md", r"\n## \[Unreleased\]\n", f"\n## [Unreleased]\n\n## [{new}] - {day}\n"


def places_of_address(address: str, site: str | None) -> Iterator[Place]:
    """Yield the places of an address, and of the site of the documentation if there is one."""
    urls = {
        "Homepage": site or address,
        "Documentation": site or f"{address}/tree/main/docs",
        "Source": address,
        "Issues": f"{address}/issues",
        "Changelog": f"{address}/blob/main/CHANGELOG.md",
    }
    table = "".join(f'{name} = "{url}"\n' for name, url in urls.items())
    # A file, the line before, what an earlier run has written after it, and the new lines.
    for file, before, old, lines in (
        (
            "pyproject.toml",
            "# tools/release.py writes [project.urls] here.\n",
            r"\[project\.urls\]\n(?:\w+ = .*\n)+",
            f"[project.urls]\n{table}",
        ),
        (
            "CITATION.cff",
            "type: software\n",
            "repository-code: .*\n",
            f"repository-code: {address}\n",
        ),
        (
            "editors/vscode/package.json",
            '  "license": "MIT",\n',
            '  "repository": .*\n',
            f'  "repository": {{ "type": "git", "url": "{address}.git" }},\n',
        ),
        (
            "mkdocs.yml",
            "docs_dir: docs\n",
            "(?:site_url: .*\n)?repo_url: .*\n",
            (f"site_url: {site}\n" if site else "") + f"repo_url: {address}\n",
        ),
    ):
        yield file, f"{re.escape(before)}(?:{old})?", before + lines


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
    if not _VERSION.fullmatch(new):
        raise ValueError(f"{new} is no version such as 1.0.0")
    if new == found[1]:
        raise ValueError(f"{new} is the version already")
    _write(root, places_of_version(found[1], new, day))


def set_address(root: Path, address: str, site: str | None = None) -> None:
    """Write an address into the files below a folder: all of them, or none.

    Args:
        root: the folder of the project.
        address: the address of the repository.
        site: the address of the documentation.

    Raises:
        ValueError: an address is none of the web, or a file has no place for it.
    """
    for url in (address, site):
        if url is not None:
            parts = urlsplit(url)
            if parts.scheme != "https" or not parts.netloc or re.search(r"[\s\"'\\]", url):
                raise ValueError(f"{url} is no address such as https://git.example.org/owner/name")
    _write(root, places_of_address(address.rstrip("/"), site))


def from_index(text: str) -> str:
    """Return a text with each way to install the package from a checkout as that from an index.

    >>> from_index("Run `pip install '.[chat]'` in a checkout, not `pip install '.[dev]'`.")
    "Run `pip install 'compat-bpe[chat]'`, not `pip install '.[dev]'`."
    >>> from_index("pip install .  # in a checkout")
    'pip install compat-bpe'
    """

    def changed(match: re.Match[str]) -> str:
        pip, extra, end = match.groups()
        return f"{pip}'compat-bpe{extra}'{end}" if extra else f"{pip}compat-bpe{end}"

    return FROM_CHECKOUT.sub(changed, text)


def set_index(root: Path) -> None:
    """Write into the files below a folder that the package is installed from an index."""
    for pattern in INSTALLING:
        for path in root.glob(pattern):
            text = path.read_bytes().decode()
            if (after := from_index(text)) != text:
                path.write_bytes(after.encode())


def _write(root: Path, places: Iterable[Place]) -> None:
    texts: dict[Path, str] = {}
    for name, pattern, after in places:
        path = root / name
        text = texts.get(path) or path.read_bytes().decode()
        texts[path], count = re.subn(pattern, lambda _: after, text)  # noqa: B023
        if count != 1:
            raise ValueError(f"{name} has {count} places like {pattern}, not one")
    for path, text in texts.items():
        path.write_bytes(text.encode())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("notes")
    command.add_argument("tag", nargs="?", help="the tag of the release, such as v1.0.0")
    command = commands.add_parser("version")
    command.add_argument("version", help="three numbers, as in 1.0.0")
    command = commands.add_parser("address")
    command.add_argument("address", help="the address of the repository")
    command.add_argument("--site", help="the address of the documentation")
    commands.add_parser("index")
    given = parser.parse_args()
    try:
        if given.command == "notes":
            text = notes(given.tag, (ROOT / "CHANGELOG.md").read_text("utf-8"))
            sys.stdout.buffer.write(text.encode())
        elif given.command == "version":
            set_version(ROOT, given.version, time.strftime("%Y-%m-%d"))
        elif given.command == "index":
            set_index(ROOT)
        else:
            set_address(ROOT, given.address, given.site)
    except ValueError as error:
        sys.exit(f"release.py: {error}")


if __name__ == "__main__":
    main()
