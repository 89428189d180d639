"""Truncation and padding against tokenizers, overflowing parts included."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.tokenizer_parts import (
    padding_part,
    read_padding,
    read_post_processor,
    read_truncation,
    truncation_part,
)
from compat_bpe.pipeline.processors import process
from compat_bpe.pipeline.tokenized import Padding, Truncation
from tests.differential.processors import BERT, ROBERTA, special, template, text
from tests.differential.small_tokenizers import file
from tests.differential.tokenized import error_of, fields, of_theirs
from tests.differential.truncation_padding import paddings, truncations
from tests.examples import scaled
from tests.tokenizer_files import BYTE_LEVEL

PROCESSORS = [
    None,
    BERT,
    *ROBERTA[2:],
    template(
        [special("[CLS]"), text("A", 2), special("long", 1)],
        [special("[CLS]"), text("A"), special("[SEP]"), text("B", 1), special("[SEP]", 1)],
    ),
    template([text("A"), text("A", 1)], [text("B"), text("A"), text("B", 1)]),
    {
        "type": "Sequence",
        "processors": [BERT, template([text("A")], [text("B", 2), special("long"), text("A", 1)])],
    },
]
words = st.text("ab é", max_size=12)
optional_words = st.one_of(st.none(), words)


class Sides:
    def __init__(self, processor: Any, truncation: Any, padding: Any) -> None:
        pre_tokenizer = {**BYTE_LEVEL, "use_regex": True}
        content = file(pre_tokenizer=pre_tokenizer)
        self.plain: Any = tokenizers.Tokenizer.from_str(json.dumps(content))
        content.update(post_processor=processor, truncation=truncation, padding=padding)
        self.theirs: Any = tokenizers.Tokenizer.from_str(json.dumps(content))
        self.processor = (
            None
            if processor is None
            else read_post_processor(Json(processor, "x", "post_processor"))
        )
        self.truncation = None if truncation is None else read_truncation(Json(truncation, "x"))
        self.padding = None if padding is None else read_padding(Json(padding, "x"))

    def ours(self, first: str, second: str | None, add: bool) -> Any:
        parts = [of_theirs(self.plain.encode(one)) for one in (first, second) if one is not None]
        if self.truncation is not None:
            added = 0
            if add and self.processor is not None:
                added = self.processor.added(second is not None)
            cut = self.truncation.applied(parts[0], parts[1] if parts[1:] else None, added)
            parts = [part for part in cut if part is not None]
        found = process(self.processor, *parts, add_special_tokens=add)
        return found if self.padding is None else self.padding.applied([found])[0]

    def check(self, first: str, second: str | None, add: bool) -> bool:
        try:
            expected = self.theirs.encode(first, second, add_special_tokens=add)
        except BaseException as error:
            if type(error).__name__ != "PanicException" and not isinstance(error, Exception):
                raise
            with pytest.raises(ValueError, match=r"stride is|truncation is|post_processor"):
                self.ours(first, second, add)
            return False
        assert fields(self.ours(first, second, add)) == fields(expected)
        return True


@settings(max_examples=scaled(1000))
@given(
    st.sampled_from(PROCESSORS),
    truncations,
    st.one_of(st.none(), paddings),
    words,
    optional_words,
    st.booleans(),
)
def test_truncation(
    processor: Any, truncation: Any, padding: Any, first: str, second: str | None, add: bool
) -> None:
    Sides(processor, truncation, padding).check(first, second, add)


@given(st.sampled_from(PROCESSORS), paddings, words, optional_words, st.booleans())
def test_padding(processor: Any, padding: Any, first: str, second: str | None, add: bool) -> None:
    assert Sides(processor, None, padding).check(first, second, add)


@given(paddings, st.lists(words, max_size=4))
def test_padding_of_a_batch(padding: Any, texts: list[str]) -> None:
    sides = Sides(BERT, None, padding)
    found = [process(sides.processor, of_theirs(sides.plain.encode(one))) for one in texts]
    assert sides.padding is not None
    expected = sides.theirs.encode_batch(texts, add_special_tokens=False)
    assert list(map(fields, sides.padding.applied(found))) == list(map(fields, expected))


@given(words, st.integers(0, 8), st.integers(0, 3), st.sampled_from(["left", "right"]))
def test_the_methods_of_the_result(
    given_text: str, length: int, stride: int, direction: str
) -> None:
    theirs = Sides(None, None, None).plain.encode(given_text)
    ours = of_theirs(theirs)
    if error_of(lambda: theirs.truncate(length, stride=stride, direction=direction)):
        with pytest.raises(ValueError, match="stride is"):
            ours.truncated(length, stride=stride, direction=direction)
        return
    ours = ours.truncated(length, stride=stride, direction=direction)
    assert fields(ours) == fields(theirs)
    theirs.pad(9, direction=direction, pad_id=3, pad_type_id=2, pad_token="p")
    ours = ours.padded(9, direction=direction, pad_id=3, pad_type_id=2, pad_token="p")
    assert fields(ours) == fields(theirs)


@given(truncations, paddings)
def test_settings_are_written_as_they_were_read(truncation: Any, padding: Any) -> None:
    assert truncation_part(read_truncation(Json(truncation, "x"))) == truncation
    assert padding_part(read_padding(Json(padding, "x"))) == padding
    theirs: Any = tokenizers.Tokenizer.from_str(
        json.dumps(file(truncation=truncation, padding=padding))
    )
    assert read_truncation(Json(truncation, "x"))._asdict() == theirs.truncation
    assert read_padding(Json(padding, "x"))._asdict() == theirs.padding


TRUNCATION = {"max_length": 3, "strategy": "LongestFirst", "stride": 0}
PADDING = {
    "strategy": "BatchLongest",
    "direction": "Right",
    "pad_to_multiple_of": None,
    "pad_id": 0,
    "pad_type_id": 0,
    "pad_token": "[PAD]",
}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"direction": "Right"},
        *({"direction": value} for value in ("right", None, 1)),
        *({"max_length": value} for value in (-1, None, "3", 2.0, 1 << 40)),
        *({"strategy": value} for value in ("longest_first", None)),
        *({"stride": value} for value in (-1, None)),
        *({name: ...} for name in TRUNCATION),
    ],
    ids=str,
)
def test_truncation_in_files(change: dict[str, Any]) -> None:
    part = {k: v for k, v in {**TRUNCATION, **change}.items() if v is not ...}
    try:
        theirs: Any = tokenizers.Tokenizer.from_str(json.dumps(file(truncation=part)))
    except Exception:
        with pytest.raises(ValueError, match="truncation"):
            read_truncation(Json(part, "x", "truncation"))
        return
    assert read_truncation(Json(part, "x", "truncation"))._asdict() == theirs.truncation


@pytest.mark.parametrize(
    "change",
    [
        {},
        *({"direction": value} for value in ("right", None)),
        *({"strategy": value} for value in ({"Fixed": 3}, {"Fixed": -3}, {"Fixed": None})),
        *({"strategy": value} for value in ({"Other": 3}, "Fixed", {}, None)),
        *({"pad_to_multiple_of": value} for value in (8, -8, "8", ...)),
        *({name: ...} for name in PADDING),
        *({name: -1} for name in PADDING),
        *({"pad_id": value} for value in (1 << 32, "x")),
    ],
    ids=str,
)
def test_padding_in_files(change: dict[str, Any]) -> None:
    part = {k: v for k, v in {**PADDING, **change}.items() if v is not ...}
    try:
        theirs: Any = tokenizers.Tokenizer.from_str(json.dumps(file(padding=part)))
    except Exception:
        with pytest.raises(ValueError, match="padding"):
            read_padding(Json(part, "x", "padding"))
        return
    assert read_padding(Json(part, "x", "padding"))._asdict() == theirs.padding


@pytest.mark.parametrize(
    ("settings_", "reason"),
    [
        (Truncation(3, strategy="longest"), "strategy is 'longest'"),
        (Truncation(3, direction="up"), "direction is 'up'"),
        (Truncation(-1), "max_length is -1"),
        (Truncation(1, stride=-1), "stride is -1"),
        (Padding(direction="up"), "direction is 'up'"),
        (Padding(-1), "length is -1"),
        (Padding(pad_to_multiple_of=-1), "pad_to_multiple_of is -1"),
    ],
)
def test_settings_that_are_wrong(settings_: Truncation | Padding, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        settings_.check()
