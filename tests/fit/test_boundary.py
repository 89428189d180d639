"""The positions at which a text may be cut."""

from __future__ import annotations

import pytest

from compat_bpe.fit.boundary import Boundary, rule_of


@pytest.mark.parametrize(
    ("boundary", "text", "expected"),
    [
        # Only a high surrogate and a low one after it are one character.
        ("char", "a\ud83d\ude00\ude00\ud83d\ud83d\ude00b", [1, 3, 4, 5, 7]),
        ("char", "\ud7ff\udc00\ud800\ue000\udbff\udfff", [1, 2, 3, 4]),
        ("word", "ab_1 c,\u0301d\ud83d\ude00 e\n", [4, 5, 6, 7, 9, 11, 12, 13]),
        # Two surrogates are the letter that they make.
        ("word", "a\ud800\udc00\ud800\udc00b\udc00\ud800\ud800\udc00", [6, 7, 8]),
        ("line", "\na\r\nb\rc\n\r\r\n", [1, 4, 6, 8, 9]),
    ],
)
def test_positions(boundary: Boundary, text: str, expected: list[int]) -> None:
    may_cut = rule_of(boundary)
    assert [at for at in range(1, len(text)) if may_cut(text, at)] == expected
