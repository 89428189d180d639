"""Numbers as serde_json reads them; tests/differential/test_unigram.py has random ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.formats.checked_json import parse_json, read_float, written_float

#: What tokenizers 0.23.3 has read.
READ = {
    "-7.4715776443481445": -7.471577644348144,
    "-10.0": -10.0,
    "0.1": 0.1,
    "-0.0": -0.0,
    "1e22": 1e22,
    "123456789012345678.5e-3": 123456789012345.67,
    "18446744073709551615.5": 1.8446744073709552e19,
    "18446744073709551616.5": 1.8446744073709552e19,
    "1e-400": 0.0,
    "-1e-99999999999": -0.0,
    "0e99999999999": 0.0,
    "0.0e400": 0.0,
    "5e-324": 5e-324,
    "0." + "0" * 400 + "1e400": 0.1,
}


@pytest.mark.parametrize("text", READ, ids=lambda text: text[:20])
def test_numbers(text: str) -> None:
    assert repr(read_float(text)) == repr(READ[text])


@pytest.mark.parametrize("text", ["1e309", "-1e400", "1e99999999999", "9" * 309 + ".0", "179e307"])
def test_numbers_out_of_range(text: str) -> None:
    with pytest.raises(ValueError, match="is out of range"):
        read_float(text)
    with pytest.raises(ValueError, match=r"a\.json: .* is out of range"):
        parse_json(text.encode(), "a.json")


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_names_are_no_numbers(name: str) -> None:
    with pytest.raises(ValueError, match=rf"a\.json: not JSON: {name} is no number"):
        parse_json(f'{{"a": {name}}}'.encode(), "a.json")


def test_what_is_no_number_at_all() -> None:
    with pytest.raises(ValueError, match="'x' is no number"):
        read_float("x")


@given(st.floats(-1e300, 1e300).filter(lambda value: value == 0 or abs(value) > 1e-280))
def test_a_number_of_15_digits_is_what_python_reads(value: float) -> None:
    text = f"{value:.14e}"
    mantissa, _, exponent = text.partition("e")
    if abs(int(exponent)) <= 7:
        assert read_float(text) == float(text)
    assert read_float(mantissa) == float(mantissa)


@given(st.floats(-200, 200).map(lambda value: read_float(repr(value))))
def test_what_is_written_is_read_again(value: float) -> None:
    assert read_float(repr(written_float(value))) == value
