"""The Unigram model of a ``tokenizer.json``."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.checked_json import Json, parse_json
from compat_bpe.formats.models.unigram import UnigramPart, read_unigram
from compat_bpe.formats.tokenizer_json import parse_tokenizer

MODEL: dict[str, Any] = {
    "type": "Unigram",
    "unk_id": 0,
    "vocab": [["<unk>", 0.0], ["a", -1.5], ["ab", -2.5]],
    "byte_fallback": True,
}


def read(text: str) -> UnigramPart:
    return read_unigram(Json(parse_json(text.encode(), "u.json").value, "u.json", "model"))


def test_model() -> None:
    part = read(json.dumps(MODEL))
    assert part.unknown == 0
    assert part.byte_fallback
    assert part.vocabulary == {"<unk>": 0, "a": 1, "ab": 2}
    assert list(part.scores) == [0.0, -1.5, -2.5]
    assert part.written(part.vocabulary) == MODEL
    definition = part.define([], "u.json")
    assert definition.tokens() == {b"<unk>": 0, b"a": 1, b"ab": 2}
    assert definition.other_tokens() == {}
    assert definition.model.encode("aab") == (1, 2)


def test_what_may_be_left_out() -> None:
    part = read('{"vocab": [["a", -1]]}')
    assert part == UnigramPart(["a"], [-1.0], None)
    assert type(part.scores[0]) is float
    assert not part.byte_fallback
    assert read('{"vocab": []}').vocabulary == {}


def test_a_piece_that_occurs_twice() -> None:
    part = read('{"vocab": [["a", -1.5], ["b", -1.5], ["a", -2.5]]}')
    assert part.vocabulary == {"a": 2, "b": 1}
    assert part.size == 3
    definition = part.define([], "u.json")
    assert definition.tokens() == {b"a": 2, b"b": 1}
    assert definition.other_tokens() == {0: b"a"}
    assert part.written(part.vocabulary)["vocab"] == [["a", -1.5], ["b", -1.5], ["a", -2.5]]


def test_scores_are_read_as_tokenizers_reads_them() -> None:
    part = read('{"vocab": [["k", -7.4715776443481445], ["l", 12345678901234567890123]]}')
    assert list(part.scores) == [-7.471577644348144, 1.2345678901234568e22]
    written = json.dumps(part.written(part.vocabulary))
    assert list(read(written).scores) == list(part.scores)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("vocab", {}, "model.vocab: must be a list, not an object"),
        ("vocab", [1], "model.vocab[0]: must be a list, not an integer"),
        ("vocab", [["a", 1.0], ["b"]], "model.vocab[1]: must be a piece and its score, not 1 val"),
        ("vocab", [["a", 1.0, 2]], "model.vocab[0]: must be a piece and its score, not 3 values"),
        ("vocab", [["a", "1"]], "model.vocab[0][1]: the score of 'a' must be a number"),
        ("vocab", [["a", None]], "model.vocab[0][1]: the score of 'a' must be a number"),
        ("vocab", [["a", True]], "model.vocab[0][1]: the score of 'a' must be a number"),
        ("vocab", [["a", 10**400]], "model.vocab[0][1]: 10000"),
        ("vocab", [[1, 1.0]], "model.vocab[0][0]: must be a string, not an integer"),
        ("vocab", [["\ud800", 1.0]], "model.vocab[0][0]: has a lone surrogate"),
        ("vocab", [["\ud83d", 1.0], ["\ude00", 1.0]], "model.vocab[0][0]: has a lone surrogate"),
        ("vocab", [], "model.vocab: there are no pieces, not even the unknown one"),
        ("unk_id", 3, "model.unk_id: must be from 0 to 2"),
        ("unk_id", -1, "model.unk_id: must be from 0 to 2"),
        ("unk_id", 0.0, "model.unk_id: must be an integer, not a float"),
        ("unk_id", "0", "model.unk_id: must be an integer, not a string"),
        ("byte_fallback", None, "model.byte_fallback: must be true or false, not null"),
        ("byte_fallback", 1, "model.byte_fallback: must be true or false, not an integer"),
    ],
)
def test_errors_name_the_place(name: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(f'u.json: {message}')}"):
        read(json.dumps({**MODEL, name: value}))


def test_no_vocabulary() -> None:
    with pytest.raises(ValueError, match=r"u\.json: model: there is no 'vocab'"):
        read("{}")


def test_it_cannot_be_extended() -> None:
    part = read(json.dumps(MODEL))
    with pytest.raises(ValueError, match="Unigram vocabulary cannot be extended"):
        part.extended({b"c": 3}, [])
    with pytest.raises(ValueError, match="Unigram vocabulary cannot be extended"):
        part.written({**part.vocabulary, "c": 3})


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"vocab": {"a": 0}, "merges": []}, "ListedModel"),
        ({"vocab": {"a": 0}, "merges": [], "unk_token": "a"}, "ListedModel"),
        (
            {
                "vocab": {"a": 0},
                "unk_token": "a",
                "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100,
            },
            "WordPiecePart",
        ),
        ({"vocab": {"a": 0}, "unk_token": "a"}, "WordLevelPart"),
        ({"vocab": [["a", -1.0]], "unk_id": 0}, "UnigramPart"),
        ({"vocab": [["a", -1.0]]}, "UnigramPart"),
    ],
)
def test_a_model_without_its_type(fields: dict[str, Any], kind: str) -> None:
    file = parse_tokenizer(Json({"model": fields}, "t.json"))
    assert type(file.model).__name__ == kind


def test_a_model_of_no_type() -> None:
    with pytest.raises(ValueError, match=r"t\.json: model: there is no 'type', and no 'vocab'"):
        parse_tokenizer(Json({"model": {}}, "t.json"))


def test_no_pieces_and_no_added_tokens() -> None:
    model = {"type": "Unigram", "vocab": []}
    tokenizer = Tokenizer("x", parse_tokenizer(Json({"model": model}, "x")))
    assert (tokenizer.n_vocab, tokenizer.encode(""), tokenizer.decode([])) == (0, [], "")
    with pytest.raises(ValueError, match="unk"):
        tokenizer.encode("a")
