from __future__ import annotations

import tracemalloc

from compat_bpe.check.rules import Limit, Place, SectionRule
from compat_bpe.check.section_counts import matching
from compat_bpe.files.markdown import markdown_sections


def test_rules_choose_by_heading_and_level() -> None:
    sections = markdown_sections("# Examples\n## Examples\n## Naïve / plain\n### Other\n")

    def chosen(heading: str, level: int | None = None) -> list[int]:
        rule = SectionRule(heading, level, Limit(1, Place("", 1, ())))
        return [one.line for one in matching(rule, sections)]

    assert chosen("Examples") == [1, 2]
    assert chosen("Examples", 2) == [2]
    assert chosen("*", 3) == [4]
    assert chosen("*plain") == [3]
    assert chosen("Na?ve / *") == [3]
    assert chosen("examples") == []


def test_a_set_of_all_characters_takes_little_memory() -> None:
    rule = SectionRule("[\x01-\U0010ffff]" * 100 + "*", None, Limit(1, Place("", 1, ())))
    tracemalloc.start()
    (found,) = matching(rule, markdown_sections("# " + "é" * 100 + "\n# b\n"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.line == 1
    assert peak < 1_000_000
