"""The configurations that docs/check.md shows are read as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

from compat_bpe.check.configuration import configuration_of
from compat_bpe.check.source import NAME, PYPROJECT, Source

PAGE = Path(__file__).parents[2] / "docs/check.md"


def test_configurations(tmp_path: Path) -> None:
    blocks = re.findall(r"^```toml\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    shared = "[check]\n[[check.rules]]\nfiles = ['a']\nmax = 1\n"
    (tmp_path / "shared.toml").write_text(shared)
    assert len(blocks) == 2
    small, large = (
        configuration_of(Source(str(tmp_path / name), text))
        for name, text in zip((PYPROJECT, NAME), blocks)
    )
    (rule,) = small.rules
    assert rule.counted_by is not None
    assert (rule.counted_by.encoding_name, rule.files) == ("o200k_base", ("skills/*.md",))
    assert [rule.largest and rule.largest.tokens for rule in large.rules] == [1, 5000, None, 20_000]
    assert [rule.total and rule.total.tokens for rule in large.rules] == [None, 25_600, None, None]
    assert [len(rule.sections) for rule in large.rules] == [0, 1, 0, 0]
    assert [rule.body and rule.body.tokens for rule in large.rules] == [None, None, 5000, None]
    assert [one.reason for one in large.exemptions] == ["is removed with version 2"]
