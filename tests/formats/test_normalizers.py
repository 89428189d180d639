"""Normalizers are read as they stand in a file; a wrong one is named with its place."""

from __future__ import annotations

from typing import Any

import pytest

from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.parts.before_model import read_normalizer

BERT = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": None,
    "lowercase": True,
}


def read(part: dict[str, Any]) -> Any:
    return read_normalizer(Json(part, "tokenizer.json", "normalizer"))


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (BERT, "e 中 "),
        ({**BERT, "type": "Bert"}, "e 中 "),
        ({key: value for key, value in BERT.items() if key != "strip_accents"}, "e 中 "),
        ({**BERT, "strip_accents": False}, "é 中 "),
        ({**BERT, "lowercase": False}, "É 中 "),
        ({**BERT, "strip_accents": True, "lowercase": False}, "E 中 "),
        ({**BERT, "handle_chinese_chars": False}, "e中"),
        ({**BERT, "clean_text": False}, "\x01e\u200b 中 "),
        ({"type": "StripAccents"}, "\x01É\u200b中"),
        ({"type": "Nmt"}, "É 中"),
        ({"type": "ByteLevel"}, "āÃīâĢĭä¸Ń"),
    ],
)
def test_options(part: dict[str, Any], expected: str) -> None:
    assert read(part)("\x01É\u200b中") == expected


@pytest.mark.parametrize(
    ("part", "message"),
    [
        *(
            ({other: value for other, value in BERT.items() if other != key}, f"no '{key}'")
            for key in ("clean_text", "handle_chinese_chars", "lowercase")
        ),
        ({**BERT, "strip_accents": 1}, "strip_accents: must be true or false, not an integer"),
        ({**BERT, "lowercase": None}, "lowercase: must be true or false, not null"),
        ({"type": "Precompiled"}, "there is no 'precompiled_charsmap'"),
        *(
            ({"type": "Precompiled", "precompiled_charsmap": value}, f"precompiled_charsmap: {why}")
            for value, why in [
                (None, "must be a string, not null"),
                ("", "the character map is shorter than it says"),
                ("????", "not base64"),
                ("AAAA\n", "not base64"),
                ("é", "not base64"),
                ("AAAAAA==", "the character map is shorter than it says"),
            ]
        ),
    ],
)
def test_wrong_parts_are_named_with_their_place(part: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r"^tokenizer.json: normalizer") as error:
        read(part)
    assert message in str(error.value)
    with pytest.raises(ValueError, match=r"^tokenizer.json: normalizer\[0\]"):
        read({"type": "Sequence", "normalizers": [part]})
