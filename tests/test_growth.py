"""The work of each function grows with the text, whatever the text is made of."""

from __future__ import annotations

import pytest

from tools.attack.growth import CHARS, FUNCTIONS, check

#: What was quadratic once, or is hardest to bound.
HARDEST = [
    ("gpt2", "truncate", "lone surrogates"),
    ("gpt2", "truncate, tail", "one letter"),
    ("gpt2", "split_text", "spaces"),
]


@pytest.mark.parametrize(("encoding", "function", "chars"), HARDEST)
def test_work_grows_with_the_text(encoding: str, function: str, chars: str) -> None:
    check(encoding, function, chars)


@pytest.mark.sweep
@pytest.mark.parametrize("function", FUNCTIONS)
def test_work_of_all_grows_with_the_text(function: str) -> None:
    # The attack draws the other encodings, too.
    for chars in CHARS:
        check("gpt2", function, chars)
