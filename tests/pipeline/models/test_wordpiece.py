"""Word level, WordPiece and longest tokens: the plain rule and the fast ways give the same ids."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from compat_bpe.pipeline.models import wordpiece as words_module
from compat_bpe.pipeline.models.base import ChunkToken
from compat_bpe.pipeline.models.longest import LongestTokens
from compat_bpe.pipeline.models.splitters import TokenSplitter
from compat_bpe.pipeline.models.wordpiece import LinkedPieces, WordLevel, WordPiece
from tests.examples import scaled

WORDS = {"hug": 3, "é": 1, "<unk>": 2, "": 0}


@given(st.one_of(st.sampled_from(sorted(WORDS)), st.text("hugé<>", max_size=5)))
def test_a_chunk_is_one_token(chunk: str) -> None:
    model = WordLevel(WORDS, "<unk>")
    text = chunk if chunk in WORDS else "<unk>"
    assert model.encode(chunk) == (WORDS[text],)
    assert model.find(chunk) == [ChunkToken(WORDS[text], text, 0, len(chunk.encode()))]


def test_a_long_chunk() -> None:
    assert WordLevel(WORDS, "<unk>").encode("hug" * 1_000_000) == (2,)


def test_a_word_without_a_token() -> None:
    model = WordLevel({"hug": 0}, "<unk>")
    assert model.encode("hug") == (0,)
    for way in (model.encode, model.find):
        with pytest.raises(ValueError, match="'pug' is not in the vocabulary, and neither is '<un"):
            way("pug")
    for length in (41, 1_000_000):
        with pytest.raises(ValueError, match=r"^'x{40}…' is not"):
            model.encode("x" * length)


LETTERS = "abé中😀"
pieces = st.lists(st.text(LETTERS, min_size=1, max_size=7), max_size=12)
words = st.one_of(st.text(LETTERS, max_size=20), st.text("ab", max_size=40))


def numbered(names: list[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def of_pieces(
    first: list[str], others: list[str], prefix: str, longest_word: int = 100
) -> WordPiece:
    names = [*first, *(prefix + piece for piece in others), "[UNK]"]
    return WordPiece(numbered(names), "[UNK]", prefix, longest_word)


def test_a_choice_is_never_reconsidered() -> None:
    model = of_pieces(["abc", "ab"], ["cd"], "##")
    # "ab", "##cd" would do, but "abc" is longer.
    assert model.encode("abcd") == (model.vocabulary["[UNK]"],)


@settings(max_examples=scaled(500))
@given(pieces, pieces, st.sampled_from(["##", "", "a", "éa"]), st.integers(0, 25), words)
@example(["a", "ab"], ["b"], "", 100, "abbab")
@example(["a"], ["a"], "##", 3, "aaaa")
@example(["a"], ["a"], "##", 4, "aaaa")
def test_fast_way_is_the_plain_rule(
    first: list[str], others: list[str], prefix: str, longest_word: int, word: str
) -> None:
    model = of_pieces(first, others, prefix, longest_word)
    assert model.encode(word) == model.plain(word)
    assert tuple(found.id for found in model.find(word)) == model.plain(word)


@settings(max_examples=scaled(500))
@given(pieces, pieces, st.sampled_from(["##", "", "a"]), words)
@example(["a", "aaab"], ["a", "aab", "ab"], "##", "aaaaaab")
@example(["abcd", "a"], ["bc", "b", "cd"], "##", "abcbcdb")
def test_one_pass_is_the_plain_rule(
    first: list[str], others: list[str], prefix: str, word: str
) -> None:
    model = of_pieces(first, others, prefix)
    begin: Mapping[str, int] = model.vocabulary
    go_on = {
        name[len(prefix) :]: number
        for name, number in model.vocabulary.items()
        if name.startswith(prefix) and name != prefix
    }
    found = LinkedPieces({name: id for name, id in begin.items() if name}, go_on).encode(word)
    assert ((model.vocabulary["[UNK]"],) if found is None else found) == model.plain(word)


@settings(max_examples=scaled(300))
@given(pieces, pieces, words, st.integers(1, 6))
def test_what_is_long_changes_nothing(
    first: list[str], others: list[str], word: str, long: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words_module, "_LONG", long)
        model = of_pieces(first, others, "##")
        found = model.find(word)
        ids = model.encode(word)
        assert ids == model.plain(word)
        assert ids == tuple(one.id for one in found)
        ends = [0, *(one.end for one in found)]
        assert [one.start for one in found] == ends[:-1]
        assert ends[-1] == len(word.encode())
        if model.vocabulary["[UNK]"] not in ids:
            shown = "".join(one.text[2 * (one.start > 0) :] for one in found)
            assert shown == word


MANY = 80_000


@pytest.mark.sweep
@pytest.mark.parametrize("long_piece", ["", "ab" * 15_000 + "c"])
@pytest.mark.parametrize("end", ["", "d"])
def test_a_word_of_many_characters(long_piece: str, end: str) -> None:
    names = ["a", "ab", "##a", "##b", "##ba", "##c", "[UNK]"]
    if long_piece:
        # Each place looks like the beginning of such a piece.
        names += [long_piece, f"##{long_piece}", f"##b{long_piece}"]
    ids = numbered(names)
    model = WordPiece(ids, "[UNK]", "##", 1 << 40)
    word = "ab" * (MANY // 2) + end
    if end == "d":
        assert model.encode(word) == (ids["[UNK]"],)
        assert model.find(word) == [ChunkToken(ids["[UNK]"], "[UNK]", 0, MANY + 1)]
        return
    found = model.encode(word)
    assert ("_linked" in vars(model)) == bool(long_piece)
    assert len(model.find(word)) == len(found)
    assert found[:3] == (ids["ab"], ids["##a"], ids["##ba"])
    assert len(found) == 2 + (MANY - 4) // 2 + 1


def test_a_longer_word_is_not_looked_at() -> None:
    model = of_pieces(["a"], ["a"], "##")
    for size, count in ((100, 100), (101, 1), (MANY, 1)):
        assert len(model.encode("a" * size)) == count
        assert len(model.find("a" * size)) == count


def test_a_piece_as_long_as_a_word_may_be() -> None:
    model = of_pieces(["a", "aaa"], ["a", "aa"], "##", 3)
    assert model.encode("aaa") == model.plain("aaa") == (1,)


def test_without_a_token_for_what_is_unknown() -> None:
    model = WordPiece({"a": 0, "##b": 1}, "[UNK]")
    assert model.encode("abb") == (0, 1, 1)
    for word in ("b", "ac", "a" * 101):
        for way in (model.encode, model.find, model.plain):
            with pytest.raises(ValueError, match=r"is not in the vocabulary, and neither is '\[UN"):
                way(word)


BYTES = {bytes([byte]): byte for byte in range(256)}
#: Characters of all lengths, two of which have the same last byte, and what is cut at.
TOKEN_LETTERS = "ab \n\t.éĩ中丮😀"

texts = st.text(TOKEN_LETTERS, max_size=30)


@st.composite
def vocabularies(draw: st.DrawFn) -> dict[bytes, int]:
    """Tokens of whole characters, and of parts of them."""
    whole = st.text(TOKEN_LETTERS, min_size=2, max_size=6).map(str.encode)
    parts = st.builds(
        lambda data, start, end: data[start : len(data) - end],
        st.text(TOKEN_LETTERS, min_size=2, max_size=4).map(str.encode),
        st.integers(0, 2),
        st.integers(0, 2),
    ).filter(lambda data: len(data) > 1)
    tokens = draw(st.lists(st.one_of(whole, whole, parts), max_size=20, unique=True))
    return {**BYTES, **{token: 256 + number for number, token in enumerate(tokens)}}


def plain(tokens: Mapping[bytes, int], data: bytes) -> list[int]:
    """The rule: the longest token that the rest begins with, again and again."""
    ids = []
    while data:
        longest = max((token for token in tokens if data.startswith(token)), key=len)
        ids.append(tokens[longest])
        data = data[len(longest) :]
    return ids


@given(vocabularies(), texts)
@settings(max_examples=scaled(300))
def test_ids_are_those_of_the_plain_rule(tokens: dict[bytes, int], text: str) -> None:
    assert [*LongestTokens(tokens).encode(text)] == plain(tokens, text.encode())


@given(vocabularies(), texts)
def test_places(tokens: dict[bytes, int], text: str) -> None:
    model = LongestTokens(tokens)
    found = model.find(text)
    assert tuple(token.id for token in found) == model.encode(text)
    data = text.encode()
    assert [tokens[data[token.start : token.end]] for token in found] == [one.id for one in found]
    assert b"".join(data[token.start : token.end] for token in found) == data


@given(vocabularies(), texts)
@settings(max_examples=scaled(300))
def test_no_token_reaches_across_a_cut(tokens: dict[bytes, int], text: str) -> None:
    model = LongestTokens(tokens)
    ids = model.encode(text)
    for cut in range(1, len(text)):
        if model.joints.are_between(text[cut - 1], text[cut]):
            assert model.encode(text[:cut]) + model.encode(text[cut:]) == ids


@given(vocabularies(), texts)
@settings(max_examples=scaled(300))
def test_chunks(tokens: dict[bytes, int], text: str) -> None:
    model, splitter = LongestTokens(tokens), TokenSplitter(tokens)
    chunks = splitter.chunks(text)
    assert "".join(chunks) == text
    assert all(chunks)
    assert sum(map(model.encode, chunks), ()) == model.encode(text)
    # Where text is cut is where its cut points are, and the model knows them, too.
    ends = {len("".join(chunks[:number])) for number in range(1, len(chunks))}
    for place in range(1, len(text)):
        assert (place in ends) == splitter.is_cut(text[place - 1 : place + 1], False)
        assert place not in ends or model.joints.are_between(text[place - 1], text[place])


@given(vocabularies(), st.text(TOKEN_LETTERS, min_size=600, max_size=900))
@settings(max_examples=scaled(20))
def test_segments(tokens: dict[bytes, int], text: str) -> None:
    model, splitter = LongestTokens(tokens), TokenSplitter(tokens)
    segments = [*splitter.segments(text * 5)]
    assert "".join(segments) == text * 5
    assert sum(map(model.encode, segments), ()) == model.encode(text * 5)


def test_long_tokens_and_long_texts() -> None:
    tokens = {**BYTES, **{b"a" * length: 254 + length for length in range(2, 257)}}
    model = LongestTokens(tokens)
    assert model.encode("a" * 1000) == (510, 510, 510, 254 + 232)
    assert model.encode("aab" * 20_000) == (256, 98) * 20_000
