"""Values of JSON are checked with their places, and numbers are those that tokenizers reads."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.files.whole import read_whole
from compat_bpe.formats import checked_json
from compat_bpe.formats.checked_json import (
    Json,
    is_unicode,
    parse_json,
    read_float,
    read_json,
)
from compat_bpe.formats.tokenizer_models import written_float

VALUES: dict[str, Any] = {
    "an object": {"a": 1},
    "a list": [1],
    "a string": "a",
    "null": None,
    "true or false": False,
    "an integer": 1,
}
#: For each reader the kind that it takes, and what it says that this is.
READERS = {
    "mapping": ("an object", "an object"),
    "sequence": ("a list", "a list"),
    "text": ("a string", "a string"),
    "truth": ("true or false", "true or false"),
    "number": ("an integer", "an integer"),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", VALUES)
def test_each_kind_is_read_by_its_reader_alone(reader: str, kind: str) -> None:
    value = Json(VALUES[kind], "x.json", "a.b")
    own, expected = READERS[reader]
    if kind == own:
        assert getattr(value, reader)() == VALUES[kind]
    else:
        reason = f"must be {expected}, not {kind}"
        with pytest.raises(ValueError, match=rf"^x\.json: a\.b: {reason}$"):
            getattr(value, reader)()


def test_a_fraction_is_no_whole_number() -> None:
    with pytest.raises(ValueError, match=r"^x: must be an integer, not a float$"):
        Json(1.0, "x").number()


def test_a_text_must_be_unicode() -> None:
    with pytest.raises(ValueError, match=r"^x: has a lone surrogate$"):
        Json("a\ud800", "x").text()
    assert [is_unicode(text) for text in ("", "a", "é😀", "\ud800")] == [True, True, True, False]


def test_members_know_their_place() -> None:
    value = Json({"a": {"b": None, "c": [{"d": 1}]}}, "x")
    assert value["a"]["c"].place == "a.c"
    [item] = value["a"]["c"].items()
    assert (item.value, item.source, item.place) == ({"d": 1}, "x", "a.c[0]")
    [item] = value["a"]["c"].items("tokens")
    assert item["d"].place == "tokens[0].d"
    assert value["a"]["b"].value is None
    assert value["a"]["b"].place == "a.b"
    assert value["a"].get("b") is None
    assert value.get("z") is None
    with pytest.raises(ValueError, match=r"^x: there is no 'z'$"):
        value["z"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": 1', r"^x: line 1: not JSON: "),
        (b"{\n\n]", r"^x: line 3: not JSON: "),
        (b"", r"^x: line 1: not JSON: "),
        (b'"a\n\n\xff"', r"^x: line 3: not UTF-8: invalid start byte$"),
        (b"[" * 100_000, r"^x: nested too deeply$"),
    ],
)
def test_what_is_no_json_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_json(data, "x")


@pytest.mark.skipif(not hasattr(sys, "set_int_max_str_digits"), reason="numbers have no bound yet")
def test_a_number_of_thousands_of_digits_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^x: Exceeds the limit"):
        parse_json(b"9" * 5000, "x")


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'{"a": 1}')
    monkeypatch.setattr(checked_json, "read_whole", partial(read_whole, limit=8))
    read = read_json(path)
    assert (read.value, read.source) == ({"a": 1}, str(path))
    monkeypatch.setattr(checked_json, "read_whole", partial(read_whole, limit=7))
    with pytest.raises(ValueError, match=r"a\.json: larger than 7 bytes$"):
        read_json(path)
    with pytest.raises(FileNotFoundError):
        read_json(tmp_path / "b.json")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text("aé\ud800"),
        lambda inner: st.lists(inner) | st.dictionaries(st.text("ab"), inner),
    )
)
def test_any_value_is_read_back(value: Any) -> None:
    assert parse_json(json.dumps(value).encode(), "x").value == value


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
