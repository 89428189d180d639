"""Check the links within a built site: each leads to a file of it, and its anchor is in that file.

    python tools/check_links.py build/site

``mkdocs build --strict`` checks the links that are written in Markdown. This checks the pages as a
reader gets them: links in HTML, links between docstrings, style sheets, scripts and pictures. None
of the last three may come from another site.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: This page is served at every address, so its links depend on where the site is.
_ANYWHERE = "404.html"


class _Page(HTMLParser):
    """The names of a page's anchors, and the targets of its links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors = {"", "top"}
        self.targets: list[str] = []
        #: The scripts, styles and pictures of other sites.
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if value and (name == "id" or (tag, name) == ("a", "name")):
                self.anchors.add(value)
            elif value and name in ("href", "src"):
                self.targets.append(value)
                if tag != "a" and urlsplit(value).netloc:
                    self.loaded.append(value)


def broken_links(site: Path) -> Iterator[str]:
    """Yield the page and the target of each link that leads nowhere, or loads from elsewhere."""
    pages = {path: _Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        for target in page.loaded:
            yield f"{path.relative_to(site)}: {target} is loaded from another site"
        if path == site / _ANYWHERE:
            continue
        for target in page.targets:
            url = urlsplit(target)
            if url.scheme or url.netloc:
                continue
            found = (path.parent / unquote(url.path)).resolve() if url.path else path
            if found.is_dir():
                found /= "index.html"
            anchors = pages[found].anchors if found in pages else {""}
            if not found.is_file() or unquote(url.fragment) not in anchors:
                yield f"{path.relative_to(site)}: {target}"


def main() -> None:
    site = Path(sys.argv[1]).resolve()
    if not (site / "index.html").is_file():
        sys.exit(f"check_links.py: {site} has no index.html")
    broken = list(broken_links(site))
    if broken:
        sys.exit("\n".join(["links that lead nowhere:", *broken]))


if __name__ == "__main__":
    main()
