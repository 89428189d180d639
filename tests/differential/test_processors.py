"""Post-processors, truncation and padding against tokenizers: ids and all other fields."""

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
from compat_bpe.pipeline.processors import process, process_ids
from compat_bpe.pipeline.tokenized import Padding, Truncation
from tests.differential.parts import (
    BERT,
    OFFSET_FLAGS,
    OFFSETS,
    ROBERTA,
    paddings,
    processors,
    special_piece,
    template,
    text_piece,
    truncations,
)
from tests.differential.small_tokenizers import Both, error_of, fields, file, of_theirs
from tests.examples import scaled
from tests.tokenizer_files import BYTE_LEVEL

texts = st.text("ab \nĠ\u3000é", max_size=6)


class Sides:
    """A post-processor in both packages, on tokens of tokenizers'."""

    def __init__(self, part: dict[str, Any] | None) -> None:
        pre_tokenizer = {**BYTE_LEVEL, "use_regex": True, "add_prefix_space": True}
        content = file(post_processor=part, pre_tokenizer=pre_tokenizer)
        self.theirs: Any = tokenizers.Tokenizer.from_str(json.dumps(content))
        self.plain: Any = tokenizers.Tokenizer.from_str(
            json.dumps({**content, "post_processor": None})
        )
        self.ours = read_post_processor(None if part is None else Json(part, "x", "post_processor"))

    def check(self, first: str, second: str | None, add: bool) -> bool:
        """Compare what both make of a text; False if tokenizers panics."""
        parts = [of_theirs(self.plain.encode(one)) for one in (first, second) if one is not None]
        ids = [part.ids for part in parts]
        try:
            expected = self.theirs.encode(first, second, add_special_tokens=add)
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            with pytest.raises(ValueError, match="post_processor"):
                process(self.ours, *parts, add_special_tokens=add)
            with pytest.raises(ValueError, match="post_processor"):
                process_ids(self.ours, ids, add)
            return False
        found = process(self.ours, *parts, add_special_tokens=add)
        assert fields(found) == fields(expected)
        assert process_ids(self.ours, ids, add) == expected.ids
        if self.ours is not None:
            is_pair = second is not None
            assert self.ours.added(is_pair) == self.theirs.num_special_tokens_to_add(is_pair)
        return True


def test_each_template_takes_the_parts_that_the_one_before_has_made() -> None:
    """The second one sees ``A`` and ``[SEP]`` as a pair, and its own pair leaves the latter out."""
    end = template([text_piece("A"), special_piece("[SEP]")], [])
    begin = template([special_piece("[CLS]"), text_piece("A")], [text_piece("A")])
    both = Both(file(post_processor={"type": "Sequence", "processors": [end, begin]}))
    both.check("ab")
    assert len(both.ours.encode("ab", add_special_tokens=True)) == 2


def test_a_batch_that_is_a_text_only_with_special_tokens() -> None:
    """Without them the first template leaves no part for the second one."""
    only = template([special_piece("[SEP]")], [])
    both = Both(
        file(
            post_processor={
                "type": "Sequence",
                "processors": [only, template([text_piece("A")], [])],
            }
        )
    )
    expected = both.theirs.encode("ab").ids
    assert both.ours.encode_batch(["ab"], add_special_tokens=True) == [expected]


@settings(max_examples=scaled(1000))
@given(processors, texts, st.one_of(st.none(), texts), st.booleans())
def test_random_processors(part: dict[str, Any], first: str, second: str | None, add: bool) -> None:
    Sides(part).check(first, second, add)


@given(texts, st.one_of(st.none(), texts), st.booleans())
def test_no_processor(first: str, second: str | None, add: bool) -> None:
    assert Sides(None).check(first, second, add)


@pytest.mark.parametrize("part", [BERT, *ROBERTA, *OFFSETS])
@pytest.mark.parametrize("add", [False, True])
def test_texts_and_pairs(part: dict[str, Any], add: bool) -> None:
    sides = Sides(part)
    for first in ("", "a", " a", "  a ", "ab \n b", "\u3000é"):
        for second in (None, "", " b", "a  b"):
            assert sides.check(first, second, add)


CASES: dict[str, Any] = {
    "no second text": template([text_piece("B")], []),
    "a name without tokens": template([special_piece("none"), text_piece("A")], []),
    "three parts": {
        "type": "Sequence",
        "processors": [
            template([text_piece("A")] * 3, []),
            template([text_piece("A")], [text_piece("A")]),
        ],
    },
    "no parts": {
        "type": "Sequence",
        "processors": [template([], []), template([text_piece("A")], [text_piece("A")])],
    },
}


@pytest.mark.parametrize("name", CASES)
def test_panics_are_errors(name: str) -> None:
    assert not Sides(CASES[name]).check("ab", None, True)


#: As in files of other versions, and parts that are wrong.
SPELLINGS: list[Any] = [
    {"sep": ["[SEP]", 1001], "cls": ["[CLS]", 1000]},
    {"sep": ["[SEP]", 1001], "cls": ["[CLS]", 1000], **OFFSET_FLAGS[3]},
    {**BERT, **OFFSET_FLAGS[3]},
    {**BERT, "type": "RobertaProcessing"},
    {**BERT, "trim_offsets": True},
    {
        key: value
        for key, value in template([text_piece("A")], [text_piece("A")]).items()
        if key != "type"
    },
    {"type": "ByteLevel", **OFFSET_FLAGS[3]},
    {"type": "ByteLevel", "trim_offsets": True},
    {"type": "Sequence", "processors": []},
    {"type": "Sequence"},
    {**OFFSET_FLAGS[3]},
    {"type": "BertProcessing", "sep": ["[SEP]", 1001]},
    {**BERT, "cls": ["[CLS]", -1]},
    {**BERT, "cls": ["[CLS]", 1 << 32]},
    {**BERT, "cls": ["[CLS]"]},
    template(["$A"], []),
    template([text_piece("C")], []),
    template([{"Text": {"id": "A", "type_id": 0}}], []),
    template([{"Sequence": {"id": "A"}}], []),
    template([{"Sequence": {"id": "A", "type_id": -1}}], []),
    {"type": "TemplateProcessing", "single": [text_piece("A")], "special_tokens": {}},
    {"type": "Nothing"},
    {**BERT, "type": "Nothing"},
    {**BERT, "type": 5, **OFFSET_FLAGS[3]},
    {**template([text_piece("A")], [text_piece("A")]), "type": None},
    {**template([text_piece("A")], [text_piece("A")]), "type": "ByteLevels"},
    {"type": "Sequences", "processors": []},
    [],
]


@pytest.mark.parametrize("part", SPELLINGS, ids=str)
def test_spellings(part: Any) -> None:
    content = file(post_processor=part)
    try:
        tokenizers.Tokenizer.from_str(json.dumps(content))
    except Exception:
        with pytest.raises(ValueError, match="post_processor"):
            read_post_processor(Json(part, "x", "post_processor"))
        return
    for second in (None, "b"):
        assert Sides(part).check("ab", second, True)


CUT_PROCESSORS = [
    None,
    BERT,
    *ROBERTA[2:],
    template(
        [special_piece("[CLS]"), text_piece("A", 2), special_piece("long", 1)],
        [
            special_piece("[CLS]"),
            text_piece("A"),
            special_piece("[SEP]"),
            text_piece("B", 1),
            special_piece("[SEP]", 1),
        ],
    ),
    template(
        [text_piece("A"), text_piece("A", 1)],
        [text_piece("B"), text_piece("A"), text_piece("B", 1)],
    ),
    {
        "type": "Sequence",
        "processors": [
            BERT,
            template(
                [text_piece("A")], [text_piece("B", 2), special_piece("long"), text_piece("A", 1)]
            ),
        ],
    },
]
words = st.text("ab é", max_size=12)
optional_words = st.one_of(st.none(), words)


class CutSides:
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
    st.sampled_from(CUT_PROCESSORS),
    truncations,
    st.one_of(st.none(), paddings),
    words,
    optional_words,
    st.booleans(),
)
def test_truncation(
    processor: Any, truncation: Any, padding: Any, first: str, second: str | None, add: bool
) -> None:
    CutSides(processor, truncation, padding).check(first, second, add)


@given(st.sampled_from(CUT_PROCESSORS), paddings, words, optional_words, st.booleans())
def test_padding(processor: Any, padding: Any, first: str, second: str | None, add: bool) -> None:
    assert CutSides(processor, None, padding).check(first, second, add)


@given(paddings, st.lists(words, max_size=4))
def test_padding_of_a_batch(padding: Any, texts: list[str]) -> None:
    sides = CutSides(BERT, None, padding)
    found = [process(sides.processor, of_theirs(sides.plain.encode(one))) for one in texts]
    assert sides.padding is not None
    expected = sides.theirs.encode_batch(texts, add_special_tokens=False)
    assert list(map(fields, sides.padding.applied(found))) == list(map(fields, expected))


@given(words, st.integers(0, 8), st.integers(0, 3), st.sampled_from(["left", "right"]))
def test_the_methods_of_the_result(
    given_text: str, length: int, stride: int, direction: str
) -> None:
    theirs = CutSides(None, None, None).plain.encode(given_text)
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


TRUNCATION_PART = {"max_length": 3, "strategy": "LongestFirst", "stride": 0}
PADDING_PART = {
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
        *({name: ...} for name in TRUNCATION_PART),
    ],
    ids=str,
)
def test_truncation_in_files(change: dict[str, Any]) -> None:
    part = {k: v for k, v in {**TRUNCATION_PART, **change}.items() if v is not ...}
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
        *({name: ...} for name in PADDING_PART),
        *({name: -1} for name in PADDING_PART),
        *({"pad_id": value} for value in (1 << 32, "x")),
    ],
    ids=str,
)
def test_padding_in_files(change: dict[str, Any]) -> None:
    part = {k: v for k, v in {**PADDING_PART, **change}.items() if v is not ...}
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
