"""Write the address of the project wherever one belongs: one command, once it is known.

    python tools/set_address.py https://git.example.org/owner/compat_bpe
    python tools/set_address.py https://git.example.org/owner/compat_bpe --site https://docs.example.org/

The places are [project.urls] of the package, CITATION.cff, the extension for VS Code, and the site
of the documentation. A second run replaces what the first has written.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[1]


class Place(NamedTuple):
    """A place in a file.

    Args:
        file: the file, below the folder of the project.
        after: the line after which the lines stand.
        old: a pattern for the lines that an earlier run has written.
        lines: the lines.
    """

    file: str
    after: str
    old: str
    lines: str


def places(address: str, site: str | None) -> Iterator[Place]:
    """Yield the places of an address, and of the site of the documentation if there is one."""
    urls = {
        "Homepage": site or address,
        "Documentation": site or f"{address}/tree/main/docs",
        "Source": address,
        "Issues": f"{address}/issues",
        "Changelog": f"{address}/blob/main/CHANGELOG.md",
    }
    table = "".join(f'{name} = "{url}"\n' for name, url in urls.items())
    yield Place(
        "pyproject.toml",
        "# tools/set_address.py writes [project.urls] here.\n",
        r"\[project\.urls\]\n(?:\w+ = .*\n)+",
        f"[project.urls]\n{table}",
    )
    yield Place(
        "CITATION.cff", "type: software\n", "repository-code: .*\n", f"repository-code: {address}\n"
    )
    yield Place(
        "editors/vscode/package.json",
        '  "license": "MIT",\n',
        '  "repository": .*\n',
        f'  "repository": {{ "type": "git", "url": "{address}.git" }},\n',
    )
    yield Place(
        "mkdocs.yml",
        "docs_dir: docs\n",
        "(?:site_url: .*\n)?repo_url: .*\n",
        (f"site_url: {site}\n" if site else "") + f"repo_url: {address}\n",
    )


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
        if url is not None and not _is_address(url):
            raise ValueError(f"{url} is no address such as https://git.example.org/owner/name")
    texts = {}
    for place in places(address.rstrip("/"), site):
        path = root / place.file
        text = re.sub(rf"^{place.old}", "", path.read_bytes().decode(), flags=re.MULTILINE)
        before, found, after = text.partition(place.after)
        if not found:
            raise ValueError(f"{place.file} has no line {place.after.strip()}")
        texts[path] = before + found + place.lines + after
    for path, text in texts.items():
        path.write_bytes(text.encode())


def _is_address(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" and bool(parts.netloc) and not re.search(r"[\s\"'\\]", url)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("address", help="the address of the repository")
    parser.add_argument("--site", help="the address of the documentation")
    options = parser.parse_args()
    try:
        set_address(ROOT, options.address, options.site)
    except ValueError as error:
        sys.exit(f"set_address.py: {error}")


if __name__ == "__main__":
    main()
