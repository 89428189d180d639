"""Post-processors: the ids alone are those of all that is known of the tokens."""

from __future__ import annotations

import pytest

from compat_bpe.pipeline.processors import (
    BertProcessing,
    ByteLevelOffsets,
    ProcessorSequence,
    RobertaProcessing,
    Special,
    SpecialPiece,
    SpecialTokens,
    TemplateProcessing,
    TextPiece,
    process,
    process_ids,
    trimmed,
)
from compat_bpe.pipeline.tokenized import Tokenized

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compat_bpe.pipeline.processors import Processor

CLS, SEP = Special("[CLS]", 101), Special("[SEP]", 102)
FIRST = Tokenized([1, 2], ["Ġa", "b"], [(0, 2), (2, 3)], [0, 0])
SECOND = Tokenized([3], ["ĠĠc"], [(0, 3)], [0])
SPECIAL = {"x": SpecialTokens([7, 8], ["x", "y"])}
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
