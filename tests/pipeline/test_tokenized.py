"""Post-processors, and ``Tokenized``, cut, padded and joined."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.pipeline import tokenized
from compat_bpe.pipeline.processors import (
    BertProcessing,
    ByteLevelOffsets,
    ProcessorSequence,
    RobertaProcessing,
    Special,
    SpecialPiece,
    TemplateProcessing,
    TemplateTokens,
    TextPiece,
    process,
    process_ids,
    trimmed,
)
from compat_bpe.pipeline.tokenized import Padding, Tokenized, Truncation


def text(names: str) -> Tokenized:
    """A token for each letter."""
    places = [(at, at + 1) for at in range(len(names))]
    return Tokenized(range(len(names)), names, places, range(len(names)))


@pytest.mark.parametrize(
    ("length", "stride", "direction", "parts"),
    [
        (5, 0, "right", ["abcde"]),
        (2, 0, "right", ["ab", "cd", "e"]),
        (2, 1, "right", ["ab", "bc", "cd", "de"]),
        (2, 0, "left", ["de", "bc", "a"]),
        (3, 1, "left", ["cde", "abc"]),
        (0, 0, "right", ["", "abcde"]),
    ],
)
def test_parts(length: int, stride: int, direction: str, parts: list[str]) -> None:
    whole = text("abcde")
    found = whole.truncated(length, stride=stride, direction=direction)
    assert ["".join(part.tokens) for part in (found, *found.overflowing)] == parts
    assert len(whole) == 5
    assert all(part.ids == ["abcde".index(name) for name in part.tokens] for part in [found])


def test_what_overflows_is_combined_with_each_other_part() -> None:
    left, right = text("abc").truncated(1), text("xy").truncated(1)
    whole = Tokenized.joined([left, right])
    assert whole.tokens == ["a", "x"]
    found = ["".join(part.tokens) for part in whole.overflowing]
    assert found == ["bx", "by", "cx", "cy", "ay"]


def merged(left: Tokenized, right: Tokenized) -> Tokenized:
    """The plain rule of joining: all at once, and all that overflows from what overflows."""
    overflowing = [
        merged(own, other) for own in left.overflowing for other in (right, *right.overflowing)
    ]
    overflowing += [merged(left, other) for other in right.overflowing]
    at = len(left)
    ranges = {
        number: (at + start, at + end) for number, (start, end) in right.sequence_ranges.items()
    }
    columns = {
        name: getattr(left, name) + getattr(right, name)
        for name in Tokenized.__slots__
        if name not in ("overflowing", "sequence_ranges")
    }
    return Tokenized(
        **columns, overflowing=overflowing, sequence_ranges={**left.sequence_ranges, **ranges}
    )


@st.composite
def texts(draw: st.DrawFn) -> Tokenized:
    whole = text(draw(st.text("abc", max_size=4)))
    whole.sequence_ranges = draw(st.sampled_from([{}, {0: (0, len(whole))}, {1: (0, len(whole))}]))
    found = whole.truncated(draw(st.integers(0, 5)))
    for part in found.overflowing:
        part.sequence_ranges = {1: (0, len(part))}
    return found


@given(st.lists(texts(), max_size=3), st.sampled_from(["left", "right"]), st.integers(0, 9))
def test_what_is_made_when_it_is_looked_at_is_what_is_made_at_once(
    parts: list[Tokenized], direction: str, length: int
) -> None:
    expected = Tokenized()
    for part in parts:
        expected = merged(expected, part)
    whole = Tokenized.joined(parts)
    padded = whole.padded(length, direction=direction)
    copies = [copy.deepcopy(whole), pickle.loads(pickle.dumps(whole))]
    for part in parts:
        # It does not change with the parts, whenever it is made.
        for one in (part, *part.overflowing):
            one.ids.append(77)
            one.sequence_ranges[0] = 7, 7
        part.overflowing.append(text("z"))
    assert whole == expected
    assert copies == [expected, expected]
    whole.overflowing.clear()
    assert padded == expected.padded(length, direction=direction)
    assert all(len(one) >= length for one in (padded, *padded.overflowing))


def test_combinations_are_made_when_they_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    column = tokenized._column

    def counted(parts: tuple[Tokenized, ...], name: str) -> list[object]:
        made.append(name)
        return column(parts, name)

    monkeypatch.setattr(tokenized, "_column", counted)
    parts = [text("a" * 100).truncated(1) for _ in range(2)]
    whole = Tokenized.joined(parts).padded(3)
    assert len(made) == 2 * 7
    assert len(whole.overflowing) == 100 * 100 - 1
    assert len(made) == 2 * 7
    assert whole.overflowing[5].tokens == ["a", "a", "[PAD]"]
    assert len(whole.overflowing[0].overflowing) == 99
    assert len(made) < 20


def test_an_unknown_field() -> None:
    whole = Tokenized.joined([text("ab").truncated(1), text("a")])
    with pytest.raises(AttributeError, match="no attribute 'length'"):
        _ = whole.length  # type: ignore[attr-defined]


def test_padding_reaches_what_overflows() -> None:
    whole = text("abc").truncated(2).padded(3, direction="left", pad_id=9, pad_type_id=1)
    assert whole.tokens == ["[PAD]", "a", "b"]
    assert whole.overflowing[0].tokens == ["[PAD]", "[PAD]", "c"]
    assert (whole.type_ids, whole.attention_mask) == ([1, 0, 0], [0, 1, 1])
    assert (whole.special_tokens_mask, whole.word_ids) == ([1, 0, 0], [None, 0, 1])


def test_a_copy_shares_nothing_that_changes() -> None:
    whole = text("ab")
    copy = whole.changed()
    copy.ids.append(5)
    assert len(whole) == 2
    assert whole != copy
    assert whole == whole.changed()
    assert whole != "ab"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"max_length": -1}, "max_length is -1"),
        ({"max_length": 1, "stride": 1}, "stride is 1, but a part has only 1 tokens"),
        ({"max_length": 1, "direction": "up"}, "direction is 'up'"),
    ],
)
def test_what_cannot_be_cut(arguments: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        text("abc").truncated(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "lengths"),
    [
        (Truncation(6), (3, 3)),
        (Truncation(7), (4, 3)),
        (Truncation(4), (2, 2)),
        (Truncation(5), (3, 2)),
        (Truncation(1), (1, 0)),
        (Truncation(4, strategy="only_first"), (1, 3)),
        (Truncation(7, strategy="only_second"), (5, 2)),
        (Truncation(0), (0, 0)),
    ],
)
def test_pairs(settings: Truncation, lengths: tuple[int, int]) -> None:
    first, second = settings.applied(text("abcde"), text("xyz"))
    assert second is not None
    assert (len(first), len(second)) == lengths
    # The other way round, the longer text is the second.
    if settings.strategy == "longest_first":
        second, first_ = settings.applied(text("xyz"), text("abcde"))
        assert first_ is not None
        assert (len(first_), len(second)) == lengths


@pytest.mark.parametrize(
    ("strategy", "second", "reason"),
    [
        ("only_first", "xyz", "that text is too short"),
        ("only_first", "xy", "that text is too short"),
        ("only_second", "x", "that text is too short"),
        ("only_second", None, "there is no second text"),
    ],
)
def test_pairs_that_cannot_be_cut(strategy: str, second: str | None, reason: str) -> None:
    other = None if second is None else text(second)
    with pytest.raises(ValueError, match=reason):
        Truncation(2, strategy=strategy).applied(text("abc"), other)


def test_more_special_tokens_than_room_cut_nothing() -> None:
    assert Truncation(2).applied(text("abc"), None, 3) == (text("abc"), None)


@pytest.mark.parametrize(
    ("settings", "lengths"),
    [
        (Padding(), [3, 3]),
        (Padding(pad_to_multiple_of=2), [4, 4]),
        (Padding(2), [2, 3]),
        (Padding(5, pad_to_multiple_of=4), [8, 8]),
    ],
)
def test_batches(settings: Padding, lengths: list[int]) -> None:
    assert list(map(len, settings.applied([text("a"), text("abc")]))) == lengths


TYPE_CHECKING = False
if TYPE_CHECKING:
    from compat_bpe.pipeline.processors import Processor

CLS, SEP = Special("[CLS]", 101), Special("[SEP]", 102)
FIRST = Tokenized([1, 2], ["Ġa", "b"], [(0, 2), (2, 3)], [0, 0])
SECOND = Tokenized([3], ["ĠĠc"], [(0, 3)], [0])
SPECIAL = {"x": TemplateTokens([7, 8], ["x", "y"])}
TEMPLATE = TemplateProcessing(
    [TextPiece(0, 2), SpecialPiece("x", 1), TextPiece(0, 3)],
    [TextPiece(1, 0), SpecialPiece("x", 1), TextPiece(0, 1)],
    SPECIAL,
)


@pytest.mark.parametrize(
    ("processor", "single", "pair"),
    [
        (None, [1, 2], [1, 2, 3]),
        (BertProcessing(CLS, SEP), [101, 1, 2, 102], [101, 1, 2, 102, 3, 102]),
        (RobertaProcessing(CLS, SEP), [101, 1, 2, 102], [101, 1, 2, 102, 102, 3, 102]),
        (ByteLevelOffsets(), [1, 2], [1, 2, 3]),
        (TEMPLATE, [1, 2, 7, 8, 1, 2], [3, 7, 8, 1, 2]),
        (ProcessorSequence([]), [1, 2], [1, 2, 3]),
        (
            ProcessorSequence([BertProcessing(CLS, SEP), TEMPLATE]),
            [101, 1, 2, 102, 7, 8, 101, 1, 2, 102],
            [3, 102, 7, 8, 101, 1, 2, 102],
        ),
    ],
)
def test_ids(processor: Processor | None, single: list[int], pair: list[int]) -> None:
    assert process_ids(processor, [FIRST.ids], True) == single
    assert process_ids(processor, [FIRST.ids, SECOND.ids], True) == pair
    assert process(processor, FIRST, add_special_tokens=True).ids == single
    found = process(processor, FIRST, SECOND, add_special_tokens=True)
    assert found.ids == pair
    for name in found.__slots__[:7]:
        assert len(getattr(found, name)) == len(pair)


def test_types_and_masks() -> None:
    found = process(TEMPLATE, FIRST, add_special_tokens=True)
    assert found.type_ids == [2, 2, 1, 1, 3, 3]
    assert found.special_tokens_mask == [0, 0, 1, 1, 0, 0]
    assert found.tokens[2:4] == ["x", "y"]
    bert = process(BertProcessing(CLS, SEP), FIRST, SECOND, add_special_tokens=True)
    assert bert.type_ids == [0, 0, 0, 0, 1, 1]
    assert bert.sequence_ids == [None, 0, 0, None, 1, None]
    roberta = process(RobertaProcessing(CLS, SEP), FIRST, SECOND, add_special_tokens=True)
    assert set(roberta.type_ids) == {0}


def test_the_given_texts_stay_as_they_are() -> None:
    before = FIRST.changed()
    for processor in (TEMPLATE, RobertaProcessing(CLS, SEP), ByteLevelOffsets()):
        process(processor, FIRST, SECOND, add_special_tokens=True)
        assert before == FIRST


@pytest.mark.parametrize(
    ("token", "place", "add_prefix_space", "expected"),
    [
        ("Ġa", (0, 2), False, (1, 2)),
        ("Ġa", (0, 2), True, (0, 2)),
        ("ĠĠa", (0, 3), True, (2, 3)),
        ("a\u2003", (4, 6), True, (4, 5)),
        ("ĠĠ", (4, 6), True, (6, 6)),
        ("a\x1c", (4, 6), True, (4, 6)),
    ],
)
def test_trimmed(
    token: str, place: tuple[int, int], add_prefix_space: bool, expected: tuple[int, int]
) -> None:
    part = Tokenized([5], [token], [place], [0])
    assert trimmed(part, add_prefix_space).offsets == [expected]
    whole = Tokenized([1], ["x"], [(0, 1)], [0], overflowing=[part])
    assert trimmed(whole, add_prefix_space).overflowing[0].offsets == [expected]


def test_only_the_first_token_of_a_text_may_keep_its_space() -> None:
    part = Tokenized([1, 2, 3], ["Ġa"] * 3, [(5, 7), (7, 9), (0, 2)], [0, 1, 2])
    assert trimmed(part, True).offsets == [(5, 7), (8, 9), (0, 2)]


def test_special_tokens_within_special_tokens_count_as_text() -> None:
    both = ProcessorSequence([TEMPLATE, BertProcessing(CLS, SEP)])
    found = process(both, FIRST, add_special_tokens=True)
    # Three parts: the first one between [CLS] and [SEP], a [SEP] after each other one.
    assert found.special_tokens_mask == [1, 0, 0, 1, 0, 0, 1, 0, 0, 1]


def test_the_text_of_what_overflows_is_known_only_with_a_post_processor() -> None:
    first = FIRST.truncated(1)
    plain = process(None, first, SECOND).overflowing[0]
    assert (plain.n_sequences, plain.sequence_ids) == (1, [0, 0])
    known = process(ByteLevelOffsets(), first, SECOND).overflowing[0]
    assert (known.n_sequences, known.sequence_ids) == (2, [0, 1])


def test_templates_say_what_they_lack() -> None:
    twice = ProcessorSequence([TEMPLATE, TEMPLATE])
    with pytest.raises(ValueError, match="makes 3 parts"):
        process_ids(twice, [[1]], True)
    lacking = TemplateProcessing([SpecialPiece("z", 0)], [], SPECIAL, "file: place")
    with pytest.raises(ValueError, match="file: place: there are no tokens for 'z'"):
        process(lacking, FIRST, add_special_tokens=True)
    assert process_ids(lacking, [[1]], False) == []
    assert lacking.added(False) == 0
    second = TemplateProcessing([TextPiece(1, 0)], [], SPECIAL)
    with pytest.raises(ValueError, match="needs a second text"):
        process_ids(second, [[1]], False)


@pytest.mark.parametrize(
    ("processor", "single", "pair"),
    [
        (BertProcessing(CLS, SEP), 2, 3),
        (RobertaProcessing(CLS, SEP), 2, 4),
        (ByteLevelOffsets(), 0, 0),
        (TEMPLATE, 2, 2),
        (ProcessorSequence([TEMPLATE, BertProcessing(CLS, SEP)]), 4, 5),
    ],
)
def test_added(processor: Processor, single: int, pair: int) -> None:
    assert (processor.added(False), processor.added(True)) == (single, pair)
