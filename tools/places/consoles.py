"""Consoles that are not UTF-8: the tests, the help of every command, and names of files."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from .kit import Kit, PlaceError, Row, output

#: Windows' Western, Cyrillic, Japanese and Chinese pages, and two of DOS.
CHARSETS = ("cp1252", "cp437", "cp850", "cp932", "cp936", "cp1251", "ascii")

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

#: A locale without UTF-8, as Python takes it if it may not do otherwise.
PLAIN = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def rows(kit: Kit) -> Iterator[Row]:
    """Yield the rows."""
    ran = kit.run([sys.executable], environment=kit.plain(**PLAIN))
    python = ran.python.split(",")[0]
    place = "the `C` locale without UTF-8, `PYTHONUTF8=0`"
    yield Row(place, python, f"{ran.answers:,} answers")

    file = kit.folder("names") / "naïve 世界.txt"
    file.write_bytes("naïve 世界".encode())
    code = _COMMANDS.format(site=str(kit.site), file=str(file))
    for charset in CHARSETS:
        environment = kit.plain(PYTHONIOENCODING=charset)
        printed = output([sys.executable, "-c", code], 60, env=environment)
        if not printed.endswith(" commands\n"):
            raise PlaceError(f"a console of {charset}:\n{printed[-3000:]}")
    place = f"consoles of {', '.join(CHARSETS)}"
    yield Row(place, python, f"{printed.split()[-2]} commands each: help, `count`, `show`")
