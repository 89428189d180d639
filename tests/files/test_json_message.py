"""A message about damaged JSON can be printed, on every Python."""

from __future__ import annotations

import json

import pytest

from compat_bpe.files.json_message import json_message


@pytest.mark.parametrize("text", ["\x80", '{"a": é}', "[1 中", '"\\é"', "[😀", "[", '{"a" 1}'])
def test_messages_can_be_printed(text: str) -> None:
    with pytest.raises(json.JSONDecodeError) as raised:
        json.loads(text)
    for message in (str(raised.value), raised.value.msg):
        shown = f"not JSON: {json_message(message)}"
        assert ascii(shown).isprintable()
        assert len(shown) > len("not JSON: ")


@pytest.mark.parametrize(
    "message", ["", "Expecting value: line 1 column 1 (char 0)", "'é'", "\ud800"]
)
def test_other_messages_stay(message: str) -> None:
    kept = message.replace("\ud800", "\\ud800")
    assert json_message(message) == kept
