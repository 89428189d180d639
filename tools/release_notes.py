"""Print what CHANGELOG.md says of a version: the notes of its release.

python tools/release_notes.py v1.0.0    # of a tag, which must be that of the package's version
python tools/release_notes.py           # what is under "Unreleased"
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from compat_bpe.version import __version__

ROOT = Path(__file__).parents[1]
UNRELEASED = "Unreleased"


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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tag", nargs="?", help="the tag of the release, such as v1.0.0")
    tag = parser.parse_args().tag
    try:
        text = notes(tag, (ROOT / "CHANGELOG.md").read_text("utf-8"))
    except ValueError as error:
        sys.exit(f"release_notes.py: {error}")
    sys.stdout.buffer.write(text.encode())


if __name__ == "__main__":
    main()
