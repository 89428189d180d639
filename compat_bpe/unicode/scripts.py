"""The script of each character, as of Unicode 9.0, the version that tokenizers 0.23.3 goes by.

It is the script in 16.0, for the code points that 9.0 assigns already. Hardly any character has
another script in 16.0 than in 9.0.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache

from . import tables, tables_tokenizers
from .properties import parse_ranges

#: The characters that have another script in 16.0, or in the reference.
_OTHERWISE = {0x589: "Common", 0x61C: "Common", 0x953: "Devanagari", 0x954: "Devanagari"}


def script_of(code_point: int) -> str | None:
    """Return the script of a character by its long name; None if it has none.

    >>> script_of(ord("字")), script_of(ord("1")), script_of(0x301), script_of(0xE000)
    ('Han', 'Common', 'Inherited', None)
    """
    if code_point in _OTHERWISE:
        return _OTHERWISE[code_point]
    starts, scripts = _ranges()
    return scripts[bisect_right(starts, code_point) - 1]


@cache
def _ranges() -> tuple[list[int], list[str | None]]:
    """Return the first code points of all ranges of one script, and their scripts."""
    assigned = ~parse_ranges(tables_tokenizers.UNASSIGNED)
    scripts: dict[int, str | None] = {0: None}
    for script, table in tables.SCRIPTS.items():
        for first, last in (parse_ranges(table) & assigned).ranges():
            scripts[first] = script
            scripts.setdefault(last + 1, None)
    starts = sorted(scripts)
    return starts, [scripts[start] for start in starts]
