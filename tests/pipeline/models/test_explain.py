"""The steps that are shown lead to the ids; and the examples that courses work through by hand."""

from __future__ import annotations

import math
from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import get_encoding
from compat_bpe.pipeline.byte_level import BYTE_TO_UNICODE
from compat_bpe.pipeline.models.bpe.by_merges import ListedMergesEncoder, UnknownPolicy
from compat_bpe.pipeline.models.bpe.by_rank import BytePairEncoder, merge
from compat_bpe.pipeline.models.bpe.characters import CharacterBPE
from compat_bpe.pipeline.models.explain import explain, lattice, merge_steps, n_best, tried
from compat_bpe.pipeline.models.unigram import Unigram
from compat_bpe.pipeline.models.wordpiece import WordPiece
from tests.drawn_models import (
    BYTE_NAMES,
    UNIGRAM_ALPHABET,
    Pairs,
    letter_chunks,
    letter_ranks,
    listed_encoder,
    merge_lists,
    unigram_models,
)
from tests.kinds import KINDS, of_kind

words = st.text(st.sampled_from("hugspnblowert中é▁"), min_size=1, max_size=12)


@given(chunk=words, name=st.sampled_from(KINDS))
def test_the_steps_end_with_the_ids(chunk: str, name: str) -> None:
    model = of_kind(name).core.definition.model
    found = explain(model, chunk)
    assert tuple(found.ids) == model.encode(chunk)
    assert found.chunk == chunk.encode()
    members = found.members(bytes.decode)
    rows = list(found.rows())
    names = [token.text for token in model.find(chunk)]
    if isinstance(model, CharacterBPE):
        states = members["steps"]
        assert states[-1]["parts"] == names
        assert not states[-1]["pairs"]
        for before, after in zip(states, states[1:]):
            place, parts = before["pairs"][0]["place"], before["parts"]
            joined = model.join(*parts[place : place + 2])
            assert after["parts"] == [*parts[:place], joined, *parts[place + 2 :]]
            assert [pair["rank"] for pair in before["pairs"]] == sorted(
                pair["rank"] for pair in before["pairs"]
            )
        # One line each, but for a chunk that is one part from the beginning.
        assert len(rows) == (0 if states[0]["parts"] == [chunk] else len(states))
    elif isinstance(model, WordPiece):
        steps = members["steps"]
        assert members["is_unknown"] == (names == ["[UNK]"] and chunk not in model.vocabulary)
        if not members["is_unknown"]:
            assert [step["tried"][-1] for step in steps] == names
            assert [step["id"] for step in steps] == list(found.ids)
        for step in steps:
            last = step["tried"][-1]
            assert model.vocabulary.get(last) == step["id"]
            assert not model.vocabulary.keys() & set(step["tried"][:-1])
            # All lengths, each one character shorter.
            assert [*map(len, step["tried"])] == [*range(len(step["tried"][0]), len(last) - 1, -1)]
            prefix = "##" if step["place"] else ""
            assert step["tried"][0] == prefix + chunk[step["place"] :]
    elif isinstance(model, Unigram):
        ways = members["ways"]
        assert ways[0]["pieces"] == model.best_path(chunk)
        assert [way["score"] for way in ways] == sorted(
            (way["score"] for way in ways), reverse=True
        )
        assert len(rows) == len(chunk) + len(ways)
        taken = [row.items[row.taken].parts for row in rows[: len(chunk)] if row.taken is not None]
        assert taken == [[piece.encode()] for piece in ways[0]["pieces"]]
    else:
        assert [token["token"] for token in members["tokens"]] == names
        assert (found.note == "unknown") == (tuple(found.ids) == (model.unknown_id,))


@pytest.mark.parametrize("name", ["gpt2", "words", "characters", "bytes"])
def test_encodings_without_a_file(name: str) -> None:
    model = get_encoding(name).core.definition.model
    assert tuple(explain(model, "hugs").ids) == model.encode("hugs")


def test_a_token_as_a_whole() -> None:
    ids = {"h": 0, "u": 1, "hu": 2, "uh": 3}
    model = CharacterBPE(ids, (["h"], ["u"]), UnknownPolicy(), ignore_merges=True)
    found = explain(model, "uh")
    assert found.note == "the whole chunk is a token and is not merged; merging would give:"
    assert found.members(bytes.decode)["is_token"]
    assert tuple(found.ids) == (3,)
    assert [row.parts for row in found.rows()] == [[b"u", b"h"]]
    assert explain(model, "h").note == ""


def test_a_word_that_is_too_long() -> None:
    found = explain(WordPiece({"a": 0, "[UNK]": 1}, "[UNK]", longest_word=2), "aaa")
    assert found.note == "unknown: it has more than 2 characters"
    assert list(found.rows()) == []
    assert found.ids == (1,)


def test_what_has_no_token() -> None:
    for model in (WordPiece({"a": 0}, "[UNK]"), Unigram(["a"], [-1.0], None)):
        with pytest.raises(ValueError, match="'b'"):
            explain(model, "b")


@given(letter_chunks, letter_ranks())
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


@given(merge_lists(), st.text("abc", max_size=30))
def test_steps_by_list_end_as_the_encoder_does(pairs: Pairs, chunk: str) -> None:
    encoder, _ = listed_encoder(pairs, [*BYTE_NAMES, *map("".join, pairs)])
    steps = list(merge_steps(chunk.encode(), encoder))
    assert [part.id for part in steps[-1].parts] == encoder.merge(chunk.encode())
    assert b"".join(part.data for part in steps[-1].parts) == chunk.encode()
    for parts, found in steps:
        # The rank is the place in the list.
        for pair in found:
            left, right = parts[pair.place : pair.place + 2]
            assert pairs[pair.rank] == (left.data.decode(), right.data.decode())


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
    (step,) = merge_steps(b" b", encoder)
    assert step.parts == [(ids["Ġ"], b" "), (300, b"<unk>")]


@given(unigram_models(), st.text(UNIGRAM_ALPHABET + "x", max_size=7))
def test_lattice(model: Unigram, chunk: str) -> None:
    try:
        path = model.best_path(chunk)
    except ValueError:
        with pytest.raises(ValueError, match="is not in the vocabulary"):
            n_best(model, chunk, 2)
        return
    edges = lattice(model, chunk)
    assert edges == sorted(edges, key=lambda edge: (edge.start, edge.end))
    assert all(chunk[edge.start : edge.end] == edge.text for edge in edges)
    everything = n_best(model, chunk, 10_000)
    assert [edge.text for edge in everything[0].edges] == path
    assert n_best(model, chunk, 1) == everything[:1]
    texts = [tuple(edge.text for edge in way.edges) for way in everything]
    assert len(set(texts)) == len(texts)
    assert set(texts) == set(all_ways(model, chunk))
    scores = [way.score for way in everything]
    assert scores == sorted(scores, reverse=True)
    for way in everything:
        total = 0.0
        for edge in way.edges:
            total += edge.score
        assert total == way.score
    assert n_best(model, chunk, 0) == []
    if scores and math.isfinite(model.unknown_score) and min(map(abs, scores)) < 1e300:
        assert [way.score for way in n_best(model, chunk, 3)] == scores[:3]


def all_ways(model: Unigram, chunk: str) -> list[tuple[str, ...]]:
    if not chunk:
        return [()]
    ways = []
    for end in range(1, len(chunk) + 1):
        piece = chunk[:end]
        if piece in model.table.scores or (end == 1 and model.unknown is not None):
            ways += [(piece, *way) for way in all_ways(model, chunk[end:])]
    return ways


def ids_of(tokens: list[str]) -> dict[str, int]:
    return {token: number for number, token in enumerate(tokens)}


def texts_of(model: CharacterBPE | Unigram | WordPiece, word: str) -> list[str]:
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
    assert texts_of(CharacterBPE(vocabulary, merges, UnknownPolicy("[UNK]")), word) == pieces


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
    assert texts_of(model, word) == pieces
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
        assert texts_of(model, word) == pieces
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
    assert texts_of(unigram(), "hugs") == ["h", "ugs"]
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
    assert texts_of(model, "highest") == ["highest</s>"]
    assert texts_of(model, "the") == ["the</s>"]
    assert texts_of(model, "lowest") == ["l", "o", "w", "est</s>"]
    assert texts_of(model, "high") == ["hig", "h</s>"]
    assert texts_of(model, "mountain")[-1] == "n</s>"
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
    words = [texts_of(model, word) for word in ("hello", "world", "hell", "held")]
    assert words == [["he", "ll", "o"], ["world"], ["he", "ll"], ["[UNK]"]]
