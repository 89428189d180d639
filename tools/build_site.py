"""Make the site to publish: the documentation, and the page that counts in its folder ``count/``.

    python tools/build_site.py build/site

Any web server can serve it, below any address. It needs `pip install '.[docs]'`, and npm for the
page. The texts of the documentation are in it, too, for programs that read Markdown: ``llms.txt``
lists them.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.check_links import broken_links

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

#: The folder of the page in the site. ``docs/guide-web.md`` names it; here that becomes a link.
COUNT = "count"


def build(out: Path) -> None:
    """Make the site in a new folder.

    Raises:
        ValueError: the folder has something in it, or a link leads nowhere.
        subprocess.CalledProcessError: a part cannot be made; it has said why.
    """
    if out.exists() and any(out.iterdir()):
        raise ValueError(f"{out} has something in it: it is not emptied")
    mkdocs = [sys.executable, "-m", "mkdocs", "--quiet", "build", "--strict"]
    subprocess.run([*mkdocs, "--site-dir", str(out)], cwd=ROOT, check=True)
    for page in DOCS.rglob("*.md"):
        target = out / page.relative_to(DOCS)
        shutil.copyfile(page, target)
    page_of_web = [sys.executable, str(ROOT / "web/build.py"), str(out / COUNT), "--docs", "../"]
    subprocess.run(page_of_web, check=True)
    guide = out / "guide-web.html"
    name = f"(<code[^>]*>{COUNT}/</code>)"
    text, links = re.subn(name, rf'<a href="{COUNT}/">\1</a>', guide.read_text("utf-8"))
    if not links:
        raise ValueError(f"{guide} does not name the page: {COUNT}/")
    guide.write_text(text, "utf-8")
    if broken := list(broken_links(out)):
        raise ValueError("\n".join(["links that lead nowhere:", *broken]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where the site is made; new or empty")
    try:
        build(parser.parse_args().folder.absolute())
    except (ValueError, subprocess.CalledProcessError) as error:
        sys.exit(f"build_site.py: {error}")


if __name__ == "__main__":
    main()
