"""Post-processors against tokenizers: texts and pairs, ids and all other fields."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.tokenizer_parts import read_post_processor
from compat_bpe.pipeline.processors import process, process_ids
from tests.differential.processors import (
    BERT,
    FLAGS,
    OFFSETS,
    ROBERTA,
    processors,
    special,
    template,
    text,
)
from tests.differential.small_tokenizers import Both, file
from tests.differential.tokenized import fields, of_theirs
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
    end = template([text("A"), special("[SEP]")], [])
    begin = template([special("[CLS]"), text("A")], [text("A")])
    both = Both(file(post_processor={"type": "Sequence", "processors": [end, begin]}))
    both.check("ab")
    assert len(both.ours.encode("ab", add_special_tokens=True)) == 2


def test_a_batch_that_is_a_text_only_with_special_tokens() -> None:
    """Without them the first template leaves no part for the second one."""
    only = template([special("[SEP]")], [])
    both = Both(
        file(post_processor={"type": "Sequence", "processors": [only, template([text("A")], [])]})
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
    "no second text": template([text("B")], []),
    "a name without tokens": template([special("none"), text("A")], []),
    "three parts": {
        "type": "Sequence",
        "processors": [template([text("A")] * 3, []), template([text("A")], [text("A")])],
    },
    "no parts": {
        "type": "Sequence",
        "processors": [template([], []), template([text("A")], [text("A")])],
    },
}


@pytest.mark.parametrize("name", CASES)
def test_panics_are_errors(name: str) -> None:
    assert not Sides(CASES[name]).check("ab", None, True)


#: As in files of other versions, and parts that are wrong.
SPELLINGS: list[Any] = [
    {"sep": ["[SEP]", 1001], "cls": ["[CLS]", 1000]},
    {"sep": ["[SEP]", 1001], "cls": ["[CLS]", 1000], **FLAGS[3]},
    {**BERT, **FLAGS[3]},
    {**BERT, "type": "RobertaProcessing"},
    {**BERT, "trim_offsets": True},
    {key: value for key, value in template([text("A")], [text("A")]).items() if key != "type"},
    {"type": "ByteLevel", **FLAGS[3]},
    {"type": "ByteLevel", "trim_offsets": True},
    {"type": "Sequence", "processors": []},
    {"type": "Sequence"},
    {**FLAGS[3]},
    {"type": "BertProcessing", "sep": ["[SEP]", 1001]},
    {**BERT, "cls": ["[CLS]", -1]},
    {**BERT, "cls": ["[CLS]", 1 << 32]},
    {**BERT, "cls": ["[CLS]"]},
    template(["$A"], []),
    template([text("C")], []),
    template([{"Text": {"id": "A", "type_id": 0}}], []),
    template([{"Sequence": {"id": "A"}}], []),
    template([{"Sequence": {"id": "A", "type_id": -1}}], []),
    {"type": "TemplateProcessing", "single": [text("A")], "special_tokens": {}},
    {"type": "Nothing"},
    {**BERT, "type": "Nothing"},
    {**BERT, "type": 5, **FLAGS[3]},
    {**template([text("A")], [text("A")]), "type": None},
    {**template([text("A")], [text("A")]), "type": "ByteLevels"},
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
