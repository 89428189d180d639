"""Tokens that share a character are a unit; what makes no characters is shown as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.cli.shown.shown_tokens import Look
from compat_bpe.cli.shown.token_units import data_of, units
from tests.strategies import texts


def found(*parts: bytes | tuple[bytes, str]) -> list[list[bytes]]:
    looks = [Look(1, part) if isinstance(part, bytes) else Look(1, *part) for part in parts]
    return [[look.data for look in unit] for unit in units(looks)]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([b"\xe4", b"\xb8", b"\x96"], [[b"\xe4", b"\xb8", b"\x96"]]),
        # A token with the end of a character and the beginning of the next one.
        (
            [b"\xe4\xb8", b"\x96\xe7", b"\x95\x8c", b"a"],
            [[b"\xe4\xb8", b"\x96\xe7", b"\x95\x8c"], [b"a"]],
        ),
        ([b"\x96", b"a"], [[b"\x96"], [b"a"]]),
        ([b"\xe4", b"a", b"\xb8"], [[b"\xe4"], [b"a"], [b"\xb8"]]),
        ([b"\xe4", b"\xe4", b"\xb8\x96"], [[b"\xe4"], [b"\xe4", b"\xb8\x96"]]),
        ([b"\xe4", (b"<b>", "special"), b"\xb8"], [[b"\xe4"], [b"<b>"], [b"\xb8"]]),
        ([b"\xe4", (b" ", "gap"), b"x"], [[b"\xe4"], [b" "], [b"x"]]),
        ([b"a", b"\xf0\x9f"], [[b"a"], [b"\xf0\x9f"]]),
        ([b"\xe4", b"", b"\xb8\x96", b""], [[b"\xe4", b"", b"\xb8\x96"], [b""]]),
        ([], []),
    ],
)
def test_units(parts: list[bytes], expected: list[list[bytes]]) -> None:
    assert found(*parts) == expected


@given(text=texts, cuts=st.lists(st.integers(0, 60)))
def test_units_of_a_text_cut_anywhere_are_whole_characters(text: str, cuts: list[int]) -> None:
    data = text.encode("utf-8", "ignore")
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    parts = [data[start:end] for start, end in zip(places, places[1:])]
    shown = list(units(Look(1, part) for part in parts))
    assert [look.data for unit in shown for look in unit] == parts
    for unit in shown:
        data_of(unit).decode()
        # No shorter beginning of it is: the units are as short as can be.
        for end in range(1, len(unit)):
            with pytest.raises(UnicodeDecodeError):
                data_of(unit[:end]).decode()
