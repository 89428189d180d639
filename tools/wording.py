r"""Check sentences for patterns that read badly, each with the better form.

    python tools/wording.py [FILE…]    # by default all prose, and docstrings and messages

Prose is README.md, CONTRIBUTING.md, SECURITY.md, docs/ and the pages of plug-ins, without their
blocks of code. In Python, strings are read: docstrings, help and messages. A pattern with a place
to allow is better made narrower than allowed one by one.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PROSE = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**/*.md", "editors/*/README.md")
CODE = ("compat_bpe/**/*.py",)


class Pattern(NamedTuple):
    """What is searched for.

    Args:
        regex: the words, in any case.
        better: what to write instead.
        in_code: True if it is searched for in the strings of code, too.
    """

    regex: str
    better: str
    in_code: bool = True


PATTERNS = (
    Pattern(
        r"(?:^|[.:?!] |\n\n(?:[-*] )?)Of (?:`|the |a |an |all |each |its |those )[^.,:]*, ",
        "subject first",
    ),
    Pattern(
        r"\b(?<!there.)(?:is|are) no (?:package|white|text|address|version|place|tokens?|such)\b",
        "is not a …",
    ),
    Pattern(r"; so\b", "a sentence of its own, with a verb"),
    Pattern(r"\bwhat (?:it|they) rests? on\b|\bon what (?:it|they) rests?\b", "its basis"),
    Pattern(r"\bwhatever\b", "any, every, or: no matter which"),
    Pattern(r"\bcomes? about\b", "is made, happens"),
    Pattern(r"\bknows? of\b", "knows, has"),
    Pattern(r"\b(?:says?|tells?) if\b", "… whether"),
    Pattern(r"\b(?:limit|budget)s?\b[^.]{0,30}\b(?:is|are) passed\b(?! over)", "exceeded"),
    Pattern(r"\b(?:is|are) met\b", "is found, happens", False),
    Pattern(r"\bmend(?:s|ed|ing)?\b", "fix"),
    Pattern(r"\brooms? of the (?:code|package)\b", "layers of the code"),
    Pattern(r"[.!?][ ]{2,}[A-Z]", "one space between sentences", False),
)


def found_in(text: str, is_code: bool) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the words and the better form of each place; a space is any white space.

    >>> list(found_in("It runs; so it is fast. Of the\\ntwo, a wins.", False))
    [(1, '. Of the two,', 'subject first'), (1, '; so', 'a sentence of its own, with a verb')]
    """
    for pattern in PATTERNS:
        if pattern.in_code or not is_code:
            for match in re.finditer(
                pattern.regex.replace(" ", r"\s+").replace(r"[\s+]", "[ ]"), text
            ):
                words = " ".join(match[0].split())
                yield text.count("\n", 0, match.start()) + 1, words, pattern.better


def _prose(text: str) -> str:
    """Return a page with empty lines in place of its code and of the texts of options."""
    blocks = re.compile(r"^```.*?^```$|^<!-- options .*?<!-- end of options -->$", re.M | re.S)
    return blocks.sub(lambda block: "\n" * block[0].count("\n"), text)


def _places(path: Path) -> Iterator[tuple[int, str, str]]:
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        yield from found_in(_prose(text), False)
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for line, words, better in found_in(node.value, True):
                yield node.lineno + line - 1, words, better


def main() -> int:
    files = [Path(name) for name in sys.argv[1:]] or [
        path for pattern in (*PROSE, *CODE) for path in sorted(ROOT.glob(pattern))
    ]
    places = [(path, *place) for path in files for place in sorted(_places(path))]
    for path, line, words, better in places:
        print(f"{path}:{line}: {words!r}: {better}")
    return bool(places)


if __name__ == "__main__":
    sys.exit(main())
