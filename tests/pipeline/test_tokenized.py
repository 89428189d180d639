"""Post-processors, and ``Tokenized``, cut, padded and joined."""

from __future__ import annotations

import copy
import pickle
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.pipeline import tokenized
from compat_bpe.pipeline.processors import (
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
)
from compat_bpe.pipeline.tokenized import Tokenized, Truncation


def text(names: str) -> Tokenized:
    """A token for each letter."""
    places = [(at, at + 1) for at in range(len(names))]
    return Tokenized(range(len(names)), names, places, range(len(names)))


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


def test_combinations_are_made_when_they_are_looked_at() -> None:
    with patch.object(tokenized, "_column", wraps=tokenized._column) as made:
        parts = [text("a" * 100).truncated(1) for _ in range(2)]
        whole = Tokenized.joined(parts).padded(3)
        assert made.call_count == 2 * 7
        assert len(whole.overflowing) == 100 * 100 - 1
        assert made.call_count == 2 * 7
        assert whole.overflowing[5].tokens == ["a", "a", "[PAD]"]
        assert len(whole.overflowing[0].overflowing) == 99
        assert made.call_count < 20


def test_an_unknown_field() -> None:
    whole = Tokenized.joined([text("ab").truncated(1), text("a")])
    with pytest.raises(AttributeError, match="no attribute 'length'"):
        _ = whole.length  # type: ignore[attr-defined]


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
        ({"max_length": 1, "stride": 1}, "stride is 1; it must be less than the 1 tok"),
        ({"max_length": 1, "direction": "up"}, "direction is 'up'"),
    ],
)
def test_what_cannot_be_cut(arguments: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        text("abc").truncated(**arguments)  # type: ignore[arg-type]


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


CLS, SEP = Special("[CLS]", 101), Special("[SEP]", 102)
FIRST = Tokenized([1, 2], ["Ġa", "b"], [(0, 2), (2, 3)], [0, 0])
SECOND = Tokenized([3], ["ĠĠc"], [(0, 3)], [0])
SPECIAL = {"x": TemplateTokens([7, 8], ["x", "y"])}
TEMPLATE = TemplateProcessing(
    [TextPiece(0, 2), SpecialPiece("x", 1), TextPiece(0, 3)],
    [TextPiece(1, 0), SpecialPiece("x", 1), TextPiece(0, 1)],
    SPECIAL,
)


def test_the_given_texts_stay_as_they_are() -> None:
    before = FIRST.changed()
    for processor in (TEMPLATE, RobertaProcessing(CLS, SEP), ByteLevelOffsets()):
        process(processor, FIRST, SECOND, add_special_tokens=True)
        assert before == FIRST


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
