"""Merging step by step, against the encoders and by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.pipeline.byte_level import BYTE_TO_UNICODE
from compat_bpe.pipeline.models.bpe.by_merges import ListedMergesEncoder, UnknownPolicy
from compat_bpe.pipeline.models.bpe.by_rank import BytePairEncoder, merge
from compat_bpe.pipeline.models.bpe.explain import merge_steps
from tests.pipeline.models.bpe.letter_ranks import chunks, vocabularies
from tests.pipeline.models.bpe.merge_lists import ALPHABET, Pairs, encoder_of, merges


@given(chunks, vocabularies())
def test_steps_by_rank_are_the_rule(chunk: bytes, ranks: dict[bytes, int]) -> None:
    encoder = BytePairEncoder(ranks)
    steps = list(merge_steps(chunk, encoder))
    assert [part.data for part in steps[0].parts] == [chunk[i : i + 1] for i in range(len(chunk))]
    assert [part.data for part in steps[-1].parts] == merge(chunk, ranks)
    assert [part.id for part in steps[-1].parts] == encoder.merge(chunk)
    assert not steps[-1].pairs
    for (parts, pairs), following in zip(steps, steps[1:]):
        joined = [
            (ranks[left.data + right.data], place, left.data + right.data)
            for place, (left, right) in enumerate(zip(parts, parts[1:]))
            if left.data + right.data in ranks
        ]
        assert sorted(joined) == [(pair.rank, pair.place, pair.made.data) for pair in pairs]
        assert all(pair.rank == pair.made.id for pair in pairs)
        place = pairs[0].place
        assert following.parts == [*parts[:place], pairs[0].made, *parts[place + 2 :]]


@given(merges(), st.text("abc", max_size=30))
def test_steps_by_list_end_as_the_encoder_does(pairs: Pairs, chunk: str) -> None:
    encoder, _ = encoder_of(pairs, [*ALPHABET, *map("".join, pairs)])
    steps = list(merge_steps(chunk.encode(), encoder))
    assert [part.id for part in steps[-1].parts] == encoder.merge(chunk.encode())
    assert b"".join(part.data for part in steps[-1].parts) == chunk.encode()
    for parts, found in steps:
        # The rank is the place in the list.
        for pair in found:
            left, right = parts[pair.place : pair.place + 2]
            assert pairs[pair.rank] == (left.data.decode(), right.data.decode())


def test_the_example_of_the_course() -> None:
    # https://huggingface.co/learn/llm-course/chapter6/5: learned from hug, pug, pun, bun and hugs.
    ids = {name: number for number, name in enumerate("bghnpsu")}
    ids.update({"ug": 7, "un": 8, "hug": 9})
    encoder = ListedMergesEncoder(ids, (["u", "u", "h"], ["g", "n", "ug"]), UnknownPolicy())
    found = [
        ([part.data for part in parts], [(pair.place, pair.rank) for pair in pairs])
        for parts, pairs in merge_steps(b"hugpun", encoder)
    ]
    assert found == [
        ([b"h", b"u", b"g", b"p", b"u", b"n"], [(1, 0), (4, 1)]),
        ([b"h", b"ug", b"p", b"u", b"n"], [(3, 1), (0, 2)]),
        ([b"h", b"ug", b"p", b"un"], [(0, 2)]),
        ([b"hug", b"p", b"un"], []),
    ]


def test_of_equal_ranks_the_leftmost_is_joined() -> None:
    steps = list(merge_steps(b"aaa", BytePairEncoder({b"a": 0, b"aa": 1})))
    assert [pair.place for pair in steps[0].pairs] == [0, 1]
    assert [part.data for part in steps[1].parts] == [b"aa", b"a"]


def test_a_byte_that_is_no_token() -> None:
    (step,) = merge_steps(b"ab", BytePairEncoder({b"a": 0}))
    assert [part.id for part in step.parts] == [0, None]
    ids = {char: n for n, char in enumerate(BYTE_TO_UNICODE.values()) if char != "b"}
    ids["<unk>"] = 300
    encoder = ListedMergesEncoder(ids, ([], []), UnknownPolicy("<unk>"))
    (step,) = merge_steps(b"ab", encoder)
    assert step.parts == [(ids["a"], b"a"), (300, b"<unk>")]
