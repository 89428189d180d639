"""Extending words, WordPiece and BPE over characters: no id changes, and all changes are listed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.tokenizer_bpe import ListedModel
from compat_bpe.formats.tokenizer_json import TokenizerDefinition
from compat_bpe.pipeline.added_tokens import AddedToken
from compat_bpe.pipeline.core import texts_of_chunks
from compat_bpe.pipeline.models.bpe.by_merges import UnknownPolicy
from compat_bpe.train import (
    CharacterBpeSettings,
    WordLevelSettings,
    WordPieceSettings,
    train,
)
from compat_bpe.train.extend import Extended, Extender, extend
from tests.examples import scaled
from tests.kinds import of_kind

OLD = ["hug pug pun bun hugs " * 5]

words = st.text("hugs#x", min_size=1, max_size=8)
lines = st.lists(words, max_size=8).map(" ".join)
corpora = st.lists(lines, max_size=4)

MADE: dict[str, Any] = {
    "words": lambda: train(OLD, WordLevelSettings(5, special_tokens=["<s>", "sun"])),
    "pieces": lambda: train(OLD, WordPieceSettings(16, special_tokens=["[CLS]", "sun"])),
    "suffix": lambda: train(OLD, CharacterBpeSettings(16, special_tokens=["<s>", "sun</w>"])),
    "prefix": lambda: train(
        OLD, CharacterBpeSettings(16, prefix="#", suffix="", pre_tokenizer="whitespace-split")
    ),
    "spaces": lambda: train(OLD, CharacterBpeSettings(16, suffix="", pre_tokenizer="metaspace")),
    "bytes": lambda: of_kind("characters_byte_fallback"),
}
OLD_BY_NAME = {name: make() for name, make in MADE.items()}
for own in ("words", "pieces", "suffix"):
    made = OLD_BY_NAME[own]
    some = (*made.added_tokens, AddedToken("x#", 70), AddedToken("hugx", 71, lstrip=True))
    OLD_BY_NAME[f"{own}, added"] = Tokenizer(own, made.definition._replace(added_tokens=some))


def vocabulary(encoding: Any) -> dict[str, int]:
    return dict(encoding.definition.model.vocabulary)


def check(old: Tokenizer, found: Extended, texts: list[str], others: list[str]) -> None:
    new = found.encoding
    before, after = vocabulary(old), vocabulary(new)
    added = {token: number for token, number in after.items() if token not in before}
    assert {**before, **added} == after
    first = old.max_token_value + 1
    assert [*added.values()] == [*range(first, first + len(added))]
    assert [token.encode() for token in added] == list(found.tokens)
    assert [merge.id for merge in found.merges] == [*added.values()]
    # Each chunk of the texts is encoded as before, unless it is listed.
    changed = {change.chunk.decode(): change for change in found.changes.chunks}
    spans = (span for text in texts for span in texts_of_chunks(old.core, text))
    chunks = [chunk for some, _ in spans for chunk in some]
    for chunk in chunks:
        then, now = [*old.core.model.encode(chunk)], [*new.core.model.encode(chunk)]
        assert (then != now) == (chunk in changed)
        if chunk in changed:
            change = changed[chunk]
            assert (change.before, change.after) == (then, now)
            assert change.frequency == chunks.count(chunk)
    assert found.changes.before == sum(len(old.encode_ordinary(text)) for text in texts)
    assert found.changes.after == sum(len(new.encode_ordinary(text)) for text in texts)
    # What has nothing new in it stays as it was.
    pairs = {(merge.left, merge.right) for merge in found.merges}
    for text in others:
        ids = old.encode_ordinary(text)
        names = [old.id_to_token(number).encode() for number in ids]  # type: ignore[union-attr]
        now_ids = new.encode_ordinary(text)
        if ids != now_ids:
            is_merged = not pairs.isdisjoint(zip(names, names[1:]))
            assert is_merged or any(number >= first for number in now_ids)


@pytest.mark.parametrize("name", OLD_BY_NAME)
@settings(max_examples=scaled(15))
@given(corpora, corpora, st.integers(0, 4), st.lists(words, max_size=3))
def test_no_id_changes_and_all_changes_are_listed(
    name: str, texts: list[str], others: list[str], number: int, terms: list[str]
) -> None:
    old = OLD_BY_NAME[name]
    found = extend(old, texts, number, terms=terms, workers=1)
    check(old, found, texts, others)
    learned = [merge for merge in found.merges if merge.frequency]
    assert len(learned) <= number
    assert all(merge.frequency >= 2 for merge in learned)
    for term in found.terms:
        assert bool(term.reason) == (
            len(term.after) != 1 or term.after[0] == found.encoding.core.model.unknown_id
        )


def extended(name: str, *args: Any, **options: Any) -> list[str]:
    found = extend(OLD_BY_NAME[name], *args, **options)
    return [token.decode() for token in found.tokens]


def test_words() -> None:
    texts = ["snug snug bugs bugs mugs hug", "bugs"]
    assert extended("words", texts, 9) == ["bugs", "snug"]
    assert extended("words", texts, 1) == ["bugs"]
    assert extended("words", texts, 9, min_frequency=1) == ["bugs", "snug", "mugs"]
    assert extended("words", texts, 9, max_token_length=3) == []
    assert extended("words", texts, 9, terms=["mugs", "a b", "hug", "sun"]) == [
        *("mugs", "bugs", "snug"),
    ]


def test_pieces() -> None:
    assert extended("pieces", ["snug snug snug"], 9) == ["sn", "snug"]
    assert extended("pieces", ["snug snug snug"], 9, max_token_length=3) == ["sn"]
    assert extended("pieces", ["snug snug snug"], 9, min_frequency=4) == []
    # Unknown characters are learned from only where they are terms.
    assert extended("pieces", ["xug xug"], 9, terms=["xux", "HUGS"]) == ["xux", "hugs"]
    found = extend(OLD_BY_NAME["pieces"], terms=["h" * 101])
    assert found.terms[0].reason == "words of more than 100 characters are unknown"


def test_merges() -> None:
    assert extended("suffix", ["snug snug snug"], 9) == ["nu", "snu", "snug</w>"]
    assert extended("suffix", ["gun gun gun"], 9, max_token_length=3) == ["gu", "gun</w>"]
    assert extended("suffix", ["gun gun gun"], 9, max_token_length=2) == ["gu"]
    assert extended("suffix", terms=["snug", "snub", "xx"]) == ["sn", "snu", "snug</w>"]
    # Both pairs are joined by one merge.
    assert extended("suffix", terms=["snsns"]) == ["sn", "snsn", "snsns</w>"]
    assert extend(OLD_BY_NAME["suffix"], terms=["snsns"]).encoding.count("snsns") == 1
    found = extend(OLD_BY_NAME["suffix"], terms=["snug", "snun", "xx", "sun"])
    assert [token.decode() for token in found.tokens] == ["sn", "snu", "snug</w>", "snun</w>"]
    reasons = {term.text: term.reason for term in found.terms}
    assert reasons["xx"] == "the vocabulary has no token for one of its characters"
    assert reasons["sun"] == "'sun</w>' is already a token, and no merge makes it"
    # A space is a part of a chunk here.
    found = extend(OLD_BY_NAME["spaces"], terms=["guns"])
    assert found.encoding.count("guns") == 1


def test_nothing_makes_a_token_that_is_there() -> None:
    for name, special in (("suffix", "sun</w>"), ("pieces", "sun"), ("words", "sun")):
        assert special in vocabulary(OLD_BY_NAME[name])
        assert special not in extended(name, ["sun sun sun snun"], 9)


@pytest.mark.parametrize("name", ["suffix", "pieces", "words"])
def test_added_tokens_keep_their_ids_and_texts(name: str) -> None:
    old = OLD_BY_NAME[name]
    text = "snug</w>" if name == "suffix" else "snug"
    added = (*old.added_tokens, AddedToken(text, 50, special=True))
    old = Tokenizer("old", old.definition._replace(added_tokens=added))
    found = extend(old, ["snug snug snubs snubs"], 9)
    assert text.encode() not in found.tokens
    assert found.merges[0].id == 51
    assert found.encoding.special_tokens[text] == 50
    found = extend(old, terms=["snug"])
    assert found.terms[0].reason == (
        "'snug</w>' is already a token, and no merge makes it"
        if name == "suffix"
        else "'snug' is an added token"
    )


def test_no_token_is_made_that_would_stand_for_a_byte() -> None:
    vocabulary = {char: number for number, char in enumerate("<0x61>")}
    part = ListedModel(vocabulary, ([], []), unknown=UnknownPolicy(None, byte_fallback=True))
    parts = dict.fromkeys(("normalizer", "pre_tokenizer", "post_processor", "decoder"))
    old = Tokenizer("old", TokenizerDefinition(part, (), parts, "old"))
    found = extend(old, ["<0x61>"] * 3, 9, terms=["<0x61>"], with_space=False)
    assert b"<0x61>" not in found.tokens
    assert found.terms[0].reason == "'<0x61>' is already a token, and no merge makes it"


def test_a_special_token_is_no_word() -> None:
    found = extend(OLD_BY_NAME["words"], terms=["sun"])
    assert (found.tokens, found.terms[0].reason) == ([], "")


def test_step_by_step() -> None:
    with Extender(OLD_BY_NAME["pieces"], 1, name="new") as extender:
        extender.feed("snug sn", is_last=False)
        extender.feed("ug")
        steps: list[int] = []
        found = extender.extend(steps.append)
    assert (found.encoding.name, found.tokens, steps) == ("new", [b"sn"], [1])
    for name in ("number", "min_frequency"):
        wrong: Any = {name: -1}
        with pytest.raises(ValueError, match=f"{name} is -1; it must be 0 or more"):
            Extender(OLD_BY_NAME["pieces"], **wrong)
