"""The small examples that courses and papers work through by hand: each gives what they give."""

from __future__ import annotations

from itertools import combinations
from math import exp, log

import pytest

from compat_bpe.pipeline.models.bpe.by_merges import ListedMergesEncoder, UnknownPolicy
from compat_bpe.pipeline.models.bpe.characters import CharacterBPE
from compat_bpe.pipeline.models.explain import explain, merge_steps, n_best, tried
from compat_bpe.pipeline.models.unigram import Unigram
from compat_bpe.pipeline.models.words import WordPiece


def ids_of(tokens: list[str]) -> dict[str, int]:
    return {token: number for number, token in enumerate(tokens)}


def texts(model: CharacterBPE | Unigram | WordPiece, word: str) -> list[str]:
    found = model.find(word)
    assert tuple(token.id for token in found) == model.encode(word)
    return [token.text for token in found]


# Learned from hug (10 times), pug (5), pun (12), bun (4) and hugs (5).


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("hug", ["hug"]),
        ("hugs", ["hug", "s"]),
        ("pug", ["p", "ug"]),
        ("pun", ["p", "un"]),
        ("bun", ["b", "un"]),
        ("bug", ["b", "ug"]),
        ("unhug", ["un", "hug"]),
        ("mug", ["[UNK]", "ug"]),
        ("thug", ["[UNK]", "hug"]),
    ],
)
def test_hugs_by_merges(word: str, pieces: list[str]) -> None:
    vocabulary = ids_of(["[UNK]", "b", "g", "h", "n", "p", "s", "u", "ug", "un", "hug"])
    merges = ["u", "u", "h"], ["g", "n", "ug"]
    assert texts(CharacterBPE(vocabulary, merges, UnknownPolicy("[UNK]")), word) == pieces


def test_hugs_step_by_step() -> None:
    ids = ids_of([*"bghnpsu", "ug", "un", "hug"])
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


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("hug", ["hug"]),
        ("hugs", ["hug", "##s"]),
        ("pug", ["p", "##u", "##g"]),
        ("pun", ["p", "##u", "##n"]),
        ("bun", ["b", "##u", "##n"]),
        ("bugs", ["b", "##u", "##gs"]),
        ("mug", ["[UNK]"]),
        ("bum", ["[UNK]"]),
        ("hum", ["[UNK]"]),
        ("##u", ["##u"]),
        ("[UNK]", ["[UNK]"]),
        ("", []),
    ],
)
def test_hugs_by_the_longest_piece(word: str, pieces: list[str]) -> None:
    tokens = ["b", "h", "p", "##g", "##n", "##s", "##u", "##gs", "hu", "hug", "[UNK]"]
    model = WordPiece(ids_of(tokens), "[UNK]")
    assert texts(model, word) == pieces
    is_known = word in tokens or "[UNK]" not in pieces
    assert all(step.id is not None for step in tried(model, word)) == is_known


def test_the_pieces_that_are_tried() -> None:
    model = WordPiece(ids_of(["b", "##u", "##gs", "[UNK]"]), "[UNK]")
    assert [step.pieces for step in tried(model, "bugs")] == [
        ["bugs", "bug", "bu", "b"],
        ["##ugs", "##ug", "##u"],
        ["##gs"],
    ]
    assert [step.id for step in tried(model, "bum")] == [0, 1, None]


#: The number of times that each substring of these words occurs, but for other whole words.
TIMES = dict(
    zip(
        ["h", "u", "g", "hu", "ug", "p", "pu", "n", "un", "b", "bu", "s", "hug", "gs", "ugs"],
        [15, 36, 20, 15, 20, 17, 17, 16, 16, 4, 4, 5, 15, 5, 5],
    )
)


def unigram() -> Unigram:
    pieces = ["<unk>", *TIMES]
    return Unigram(pieces, [0.0, *(log(times / 210) for times in TIMES.values())], 0)


def test_the_times_of_substrings() -> None:
    words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    counted: dict[str, int] = {}
    for word, times in words.items():
        for start, end in combinations(range(len(word) + 1), 2):
            part = word[start:end]
            counted[part] = counted.get(part, 0) + times
    assert counted == {**TIMES, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    assert sum(TIMES.values()) == 210


@pytest.mark.parametrize(
    ("word", "pieces", "probability"),
    [
        ("hug", ["hug"], 15 / 210),
        ("hugs", ["hug", "s"], 15 * 5 / 210**2),
        ("pun", ["pu", "n"], 17 * 16 / 210**2),
        ("bun", ["bu", "n"], 4 * 16 / 210**2),
        ("unhug", ["un", "hug"], 16 * 15 / 210**2),
    ],
)
def test_hugs_by_probability(word: str, pieces: list[str], probability: float) -> None:
    model = unigram()
    ways = n_best(model, word, 3)
    assert exp(ways[0].score) == pytest.approx(probability)
    if word not in ("pun", "bun", "hugs"):  # of which another way is as good
        assert texts(model, word) == pieces
    assert pieces in [[edge.text for edge in way.edges] for way in ways]


def test_two_ways_that_are_as_good() -> None:
    # p ug and pu g: 17 · 20 / 210², which is 0.0077. The last piece is the longest.
    ways = n_best(unigram(), "pug", 3)
    found = [[edge.text for edge in way.edges] for way in ways]
    assert found == [["p", "ug"], ["pu", "g"], ["p", "u", "g"]]
    assert ways[0].score == ways[1].score
    assert [exp(way.score) for way in ways] == pytest.approx(
        [17 * 20 / 210**2, 17 * 20 / 210**2, 17 * 36 * 20 / 210**3]
    )
    shown = explain(unigram(), "pug").members(bytes.decode)["ways"]
    assert [way["pieces"] for way in shown] == found[:2]
    # The course has ["hug", "s"], which is as good.
    assert texts(unigram(), "hugs") == ["h", "ugs"]
    best, second = n_best(unigram(), "hugs", 2)
    assert best.score == second.score


def test_the_end_of_a_word_is_a_part_of_its_last_letter() -> None:
    # Learned from "the highest mountain", whose words end in "</s>".
    merges = ["e s", "es t</s>", "h i", "hi g", "hig h", "high est</s>", "t h", "th e</s>"]
    lefts, rights = zip(*(merge.split() for merge in merges))
    singles = set("thehighestmountainlow")
    singles |= {f"{char}</s>" for char in singles}
    tokens = [*sorted(singles), *(merge.replace(" ", "") for merge in merges)]
    model = CharacterBPE(ids_of(tokens), (lefts, rights), suffix="</s>")
    assert texts(model, "highest") == ["highest</s>"]
    assert texts(model, "the") == ["the</s>"]
    assert texts(model, "lowest") == ["l", "o", "w", "est</s>"]
    assert texts(model, "high") == ["hig", "h</s>"]
    assert texts(model, "mountain")[-1] == "n</s>"
    states = explain(model, "highest").members(bytes.decode)["steps"]
    assert [state["parts"] for state in states] == [
        ["h", "i", "g", "h", "e", "s", "t</s>"],
        ["h", "i", "g", "h", "es", "t</s>"],
        ["h", "i", "g", "h", "est</s>"],
        ["hi", "g", "h", "est</s>"],
        ["hig", "h", "est</s>"],
        ["high", "est</s>"],
        ["highest</s>"],
    ]


def test_longest_tokens_first_without_marks() -> None:
    model = WordPiece(ids_of(["he", "ll", "o", "h", "l", "world", "[UNK]"]), "[UNK]", prefix="")
    words = [texts(model, word) for word in ("hello", "world", "hell", "held")]
    assert words == [["he", "ll", "o"], ["world"], ["he", "ll"], ["[UNK]"]]
