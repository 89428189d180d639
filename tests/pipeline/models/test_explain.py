"""The steps that are shown lead to the ids that the model gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import get_encoding
from compat_bpe.pipeline.models.bpe.by_merges import UnknownPolicy
from compat_bpe.pipeline.models.bpe.characters import CharacterBPE
from compat_bpe.pipeline.models.explain import explain
from compat_bpe.pipeline.models.unigram.model import Unigram
from compat_bpe.pipeline.models.wordpiece.model import WordPiece
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
    assert found.note == "a token as a whole, so it is not merged; if it were:"
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
