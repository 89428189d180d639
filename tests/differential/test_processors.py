"""Post-processors, truncation, padding and ``encode_with_offsets`` against tokenizers."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import compat_bpe
from compat_bpe.encodings.tokenizer import Tokenizer
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
from compat_bpe.save import save_tokenizer_json
from tests.differential.any_tokenizer import (
    BERT,
    OFFSET_FLAGS,
    ROBERTA,
    padding,
    post_processor,
    processor_sequence,
    special_piece,
    template,
    text_piece,
    truncation,
)
from tests.differential.small_tokenizers import (
    PANIC,
    Both,
    answer,
    error_of,
    fields,
    file,
    of_theirs,
)
from tests.examples import drawn
from tests.tokenizer_files import BYTE_LEVEL, added

texts = st.text("ab \nĠ\u3000é", max_size=12)
second_texts = st.one_of(st.none(), texts)
randoms = st.randoms(use_true_random=False)
processors = randoms.map(lambda draw: post_processor(draw, repeats=True))
truncations, paddings = randoms.map(truncation), randoms.map(padding)

A, B = map(text_piece, "AB")
CLS, SEP, LONG = map(special_piece, ("[CLS]", "[SEP]", "long"))


READERS: tuple[Any, ...] = (read_post_processor, read_truncation, read_padding)


class Sides:
    """A post-processor, truncation and padding in both packages, on tokens of tokenizers'."""

    def __init__(self, processor: Any, truncation: Any = None, padding: Any = None) -> None:
        content = file(pre_tokenizer={**BYTE_LEVEL, "use_regex": True, "add_prefix_space": True})
        self.plain: Any = tokenizers.Tokenizer.from_str(json.dumps(content))
        content.update(post_processor=processor, truncation=truncation, padding=padding)
        self.theirs: Any = tokenizers.Tokenizer.from_str(json.dumps(content))
        self.processor, self.truncation, self.padding = (
            None if part is None else read(Json(part, "x", "post_processor"))
            for part, read in zip((processor, truncation, padding), READERS)
        )

    def ours(self, first: str, second: str | None, add: bool) -> Any:
        parts = [of_theirs(self.plain.encode(one)) for one in (first, second) if one is not None]
        if self.truncation is not None:
            more = self.processor.added(second is not None) if add and self.processor else 0
            cut = self.truncation.applied(parts[0], parts[1] if parts[1:] else None, more)
            parts = [part for part in cut if part is not None]
        found = process(self.processor, *parts, add_special_tokens=add)
        if self.truncation is None:
            assert process_ids(self.processor, [part.ids for part in parts], add) == found.ids
        return found if self.padding is None else self.padding.applied([found])[0]

    def check(self, first: str, second: str | None, add: bool) -> bool:
        """Compare what both make of a text; False if tokenizers fails."""
        expected, kind = answer(lambda: self.theirs.encode(first, second, add_special_tokens=add))
        if kind:
            assert kind == PANIC or self.truncation is not None
            with pytest.raises(ValueError, match=r"stride is|truncation is|post_processor"):
                self.ours(first, second, add)
            if self.truncation is None:
                ids = [self.plain.encode(one).ids for one in (first, second) if one is not None]
                with pytest.raises(ValueError, match="post_processor"):
                    process_ids(self.processor, ids, add)
            return False
        assert fields(self.ours(first, second, add)) == fields(expected)
        if self.processor is not None:
            is_pair = second is not None
            assert self.processor.added(is_pair) == self.theirs.num_special_tokens_to_add(is_pair)
        return True


def test_each_template_takes_the_parts_that_the_one_before_has_made() -> None:
    """The second one sees ``A`` and ``[SEP]`` as a pair, and its own pair leaves the latter out."""
    steps = template([A, SEP], []), template([CLS, A], [A])
    both = Both(file(post_processor=processor_sequence(*steps)))
    both.check("ab")
    assert len(both.ours.encode("ab", add_special_tokens=True)) == 2


def test_a_batch_that_is_a_text_only_with_special_tokens() -> None:
    """Without them the first template leaves no part for the second one."""
    both = Both(file(post_processor=processor_sequence(template([SEP], []), template([A], []))))
    expected = both.theirs.encode("ab").ids
    assert both.ours.encode_batch(["ab"], add_special_tokens=True) == [expected]


@drawn(1000, processors, texts, second_texts, st.booleans())
def test_random_processors(part: dict[str, Any], first: str, second: str | None, add: bool) -> None:
    Sides(part).check(first, second, add)


@pytest.mark.parametrize(
    "part",
    [
        template([B], []),
        template([special_piece("none"), A], []),
        processor_sequence(template([A] * 3, []), template([A], [A])),
        processor_sequence(template([], []), template([A], [A])),
    ],
    ids=["no second text", "a name without tokens", "three parts", "no parts"],
)
def test_panics_are_errors(part: dict[str, Any]) -> None:
    assert not Sides(part).check("ab", None, True)


TEMPLATE = template([A], [A])
#: As in files of other versions, and parts that are wrong.
SPELLINGS: list[Any] = [
    {"sep": ["[SEP]", 1001], "cls": ["[CLS]", 1000]},
    {"sep": ["[SEP]", 1001], "cls": ["[CLS]", 1000], **OFFSET_FLAGS[3]},
    *({**BERT, **more} for more in (OFFSET_FLAGS[3], {"type": "RobertaProcessing"})),
    {**BERT, "trim_offsets": True},
    {key: value for key, value in TEMPLATE.items() if key != "type"},
    *({"type": "ByteLevel", **more} for more in (OFFSET_FLAGS[3], {"trim_offsets": True})),
    *({"type": "Sequence", "processors": []}, {"type": "Sequence"}, OFFSET_FLAGS[3]),
    {"type": "BertProcessing", "sep": ["[SEP]", 1001]},
    *({**BERT, "cls": wrong} for wrong in (["[CLS]", -1], ["[CLS]", 1 << 32], ["[CLS]"])),
    *(template(["$A"], []), template([text_piece("C")], [])),
    template([{"Text": {"id": "A", "type_id": 0}}], []),
    *(template([{"Sequence": {"id": "A", **more}}], []) for more in ({}, {"type_id": -1})),
    {"type": "TemplateProcessing", "single": [A], "special_tokens": {}},
    *({"type": "Nothing"}, {**BERT, "type": "Nothing"}, {**BERT, "type": 5, **OFFSET_FLAGS[3]}),
    *({**TEMPLATE, "type": None}, {**TEMPLATE, "type": "ByteLevels"}),
    *({"type": "Sequences", "processors": []}, []),
]


@pytest.mark.parametrize("part", SPELLINGS, ids=str)
def test_spellings(part: Any) -> None:
    if error_of(lambda: tokenizers.Tokenizer.from_str(json.dumps(file(post_processor=part)))):
        with pytest.raises(ValueError, match="post_processor"):
            read_post_processor(Json(part, "x", "post_processor"))
        return
    for second in (None, "b"):
        assert Sides(part).check("ab", second, True)


# Truncation and padding, overflowing parts included

cut_processors = st.sampled_from(
    [
        None,
        BERT,
        *ROBERTA[2:],
        template(
            [CLS, text_piece("A", 2), special_piece("long", 1)],
            [CLS, A, SEP, text_piece("B", 1), special_piece("[SEP]", 1)],
        ),
        template([A, text_piece("A", 1)], [B, A, text_piece("B", 1)]),
        processor_sequence(BERT, template([A], [text_piece("B", 2), LONG, text_piece("A", 1)])),
    ]
)


@drawn(
    1000,
    cut_processors,
    truncations,
    st.one_of(st.none(), paddings),
    texts,
    second_texts,
    st.booleans(),
)
def test_truncation(
    processor: Any, truncation: Any, padding: Any, first: str, second: str | None, add: bool
) -> None:
    Sides(processor, truncation, padding).check(first, second, add)


@given(cut_processors, paddings, texts, second_texts, st.booleans())
def test_padding(processor: Any, padding: Any, first: str, second: str | None, add: bool) -> None:
    assert Sides(processor, None, padding).check(first, second, add)


@given(paddings, st.lists(texts, max_size=4))
def test_padding_of_a_batch(padding: Any, texts: list[str]) -> None:
    sides = Sides(BERT, None, padding)
    found = [process(sides.processor, of_theirs(sides.plain.encode(one))) for one in texts]
    assert sides.padding is not None
    expected = sides.theirs.encode_batch(texts, add_special_tokens=False)
    assert list(map(fields, sides.padding.applied(found))) == list(map(fields, expected))


@given(texts, st.integers(0, 8), st.integers(0, 3), st.sampled_from(["left", "right"]))
def test_the_methods_of_the_result(text: str, length: int, stride: int, direction: str) -> None:
    theirs = Sides(None).plain.encode(text)
    ours = of_theirs(theirs)
    if error_of(lambda: theirs.truncate(length, stride=stride, direction=direction)):
        with pytest.raises(ValueError, match="stride is"):
            ours.truncated(length, stride=stride, direction=direction)
        return
    ours = ours.truncated(length, stride=stride, direction=direction)
    assert fields(ours) == fields(theirs)
    options: dict[str, Any] = {"pad_id": 3, "pad_type_id": 2, "pad_token": "p"}
    theirs.pad(9, direction=direction, **options)
    assert fields(ours.padded(9, direction=direction, **options)) == fields(theirs)


#: By the name of a part of a file: how it is read and written, and one of it.
SETTINGS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "truncation": (
        read_truncation,
        truncation_part,
        {"max_length": 3, "strategy": "LongestFirst", "stride": 0},
    ),
    "padding": (
        read_padding,
        padding_part,
        {
            "strategy": "BatchLongest",
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "[PAD]",
        },
    ),
}
#: What a member is changed to; ``...`` stands for one that is missing.
CHANGES: dict[str, dict[str, list[Any]]] = {
    "truncation": {
        "direction": ["Right", "right", None, 1],
        "max_length": [-1, None, "3", 2.0, 1 << 40, ...],
        "strategy": ["longest_first", None, ...],
        "stride": [0, -1, None, ...],
    },
    "padding": {
        "direction": ["Right", "right", None, ..., -1],
        "strategy": [
            *({"Fixed": value} for value in (3, -3, None)),
            {"Other": 3},
            "Fixed",
            {},
            None,
            ...,
            -1,
        ],
        "pad_to_multiple_of": [8, -8, "8", ..., -1],
        "pad_id": [1 << 32, "x", ..., -1],
        "pad_type_id": [..., -1],
        "pad_token": [..., -1],
    },
}


@given(truncations, paddings)
def test_settings_are_written_as_they_were_read(truncation: Any, padding: Any) -> None:
    content = json.dumps(file(truncation=truncation, padding=padding))
    theirs: Any = tokenizers.Tokenizer.from_str(content)
    for name, part in (("truncation", truncation), ("padding", padding)):
        read, written, _ = SETTINGS[name]
        assert written(read(Json(part, "x"))) == part
        assert read(Json(part, "x"))._asdict() == getattr(theirs, name)


@pytest.mark.parametrize(
    ("name", "member"), [(name, member) for name in CHANGES for member in CHANGES[name]]
)
def test_settings_in_files(name: str, member: str) -> None:
    read, _, usual = SETTINGS[name]
    for value in CHANGES[name][member]:
        part = {k: v for k, v in {**usual, member: value}.items() if v is not ...}
        content = json.dumps(file(**{name: part}))
        theirs, refused = answer(lambda: getattr(tokenizers.Tokenizer.from_str(content), name))  # noqa: B023
        if refused:
            with pytest.raises(ValueError, match=name):
                read(Json(part, "x", name))
        else:
            assert read(Json(part, "x", name))._asdict() == theirs


@pytest.mark.parametrize(
    ("settings", "reason"),
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
def test_settings_that_are_wrong(settings: Truncation | Padding, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        settings.check()


# ``encode_with_offsets``: what is asked of a tokenizer and of its result

LISTED = [added(900, "<s>", special=True), added(901, "he"), added(902, "t", rstrip=True)]


def small(**parts: Any) -> Both:
    return Both(file(added_tokens=LISTED, **parts))


def test_texts_of_tokens() -> None:
    both = small(post_processor=BERT)
    for pair, add in ((None, True), ("he", True), (None, False)):
        found = both.ours.encode_with_offsets("a he", pair, add_special_tokens=add)
        expected = both.theirs.encode("a he", pair, False, add)
        for place in range(len(found) + 2):
            assert found.token_to_sequence(place) == expected.token_to_sequence(place)


@pytest.mark.parametrize(
    "name", ["char_to_token", "char_to_word", "word_to_tokens", "word_to_chars", "token_to_word"]
)
def test_negative_places_are_refused(name: str) -> None:
    both = small()
    for found in (both.ours.encode_with_offsets("a"), both.theirs.encode("a")):
        with pytest.raises(OverflowError, match=r"negative|too small"):
            getattr(found, name)(-1)


@pytest.mark.parametrize(
    ("text", "is_pretokenized"), [(["a"], False), ("a", True), (["a", 1], True), (None, True)]
)
def test_what_is_neither_a_text_nor_words(text: Any, is_pretokenized: bool) -> None:
    both = small()
    for encode in (both.ours.encode, both.ours.encode_with_offsets, both.theirs.encode):
        with pytest.raises(TypeError):
            encode(text, is_pretokenized=is_pretokenized)


def test_a_shared_tokenizer_takes_no_tokens() -> None:
    shipped = compat_bpe.get_encoding("deepseek_v3")
    assert isinstance(shipped, Tokenizer)
    for one in (shipped, pickle.loads(pickle.dumps(shipped))):
        with pytest.raises(ValueError, match="shared by all"):
            one.add_tokens(["<tool>"])
    assert shipped.token_to_id("<tool>") is None


def test_added_tokens_reach_all_that_is_made_of_a_tokenizer() -> None:
    both = small()
    ours = both.ours
    ours.cache_limit = 77
    assert ours.encode("<x> <x>") == both.theirs.encode("<x> <x>").ids
    definition = ours.definition
    for token, name in (("<x>", "add_tokens"), ("<y>", "add_special_tokens")):
        assert getattr(ours, name)([token]) == getattr(both.theirs, name)([token])
    copy = pickle.loads(pickle.dumps(ours))
    for one in (ours, copy, ours.with_special({"he"})):
        found = one.encode("<x> <y>", allowed_special="all")
        assert found == both.theirs.encode("<x> <y>").ids
    assert ours.cache_limit == 77
    assert "<y>" in ours.special_tokens_set
    assert Tokenizer("before", definition).token_to_id("<x>") is None
    with pytest.raises(TypeError, match="list of tokens"):
        ours.add_tokens("<x>")


def test_special_tokens_are_as_in_encode() -> None:
    ours = small().ours
    for texts in (["a<s>"], ["a", "<s>"]):
        with pytest.raises(ValueError, match="<s>"):
            ours.encode_with_offsets(*texts)
    plain = ours.encode_with_offsets("a<s>", disallowed_special=())
    assert plain.ids == ours.encode_ordinary("a<s>")
    found = ours.encode_with_offsets("a<s>", allowed_special={"<s>"})
    assert (found.tokens, found.offsets) == (["a", "<s>"], [(0, 1), (1, 4)])


def test_places_are_those_of_the_text_as_given() -> None:
    found = small().ours.encode_with_offsets("\ud83d\ude00a\udc00b")
    assert found.offsets[-1] == (4, 5)
    assert {place for place in found.offsets if place[0] == 0} == {(0, 2)}


def test_settings_of_ones_own() -> None:
    ours = small().ours
    found = ours.encode_with_offsets("a b c", truncation=Truncation(2), padding=Padding(4))
    assert found.attention_mask == [1, 1, 0, 0]
    assert ours.truncation is None
    assert ours.padding is None


def test_a_model_that_has_a_piece_twice_is_saved(tmp_path: Path) -> None:
    pieces = [["<unk>", 0.0], ["a", -1.0], ["b", -2.0], ["a", -3.0]]
    model = {"type": "Unigram", "unk_id": 0, "vocab": pieces, "byte_fallback": False}
    parts = {"pre_tokenizer": None, "decoder": {"type": "Fuse"}}
    both = Both(file(model=model, added_tokens=[added(4, "<s>", special=True)], **parts))
    path = tmp_path / "tokenizer.json"
    save_tokenizer_json(both.ours, path)
    ours, theirs = compat_bpe.load(path), tokenizers.Tokenizer.from_file(str(path))
    expected = both.theirs.encode("ab<s>ba").ids
    assert 4 in expected
    for ids in (theirs.encode("ab<s>ba").ids, ours.encode("ab<s>ba", allowed_special="all")):
        assert ids == expected
    for number in range(6):
        assert both.ours.id_to_token(number) == both.theirs.id_to_token(number)
    assert both.ours.decode([1, 3, 4]) == both.theirs.decode([1, 3, 4], skip_special_tokens=False)
