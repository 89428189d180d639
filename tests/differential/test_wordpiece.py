"""WordPiece and word level, against tokenizers."""

from __future__ import annotations

import json
import random
from typing import Any, NamedTuple

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.tokenizer_json import FIELDS, parse_tokenizer
from compat_bpe.pipeline.models.words import WordLevel, WordPiece
from tests.differential.small_tokenizers import file
from tests.examples import scaled
from tools.reference_tokenizers import reference_tokenizer

LETTERS = "abé中😀"
short = st.text(LETTERS, min_size=1, max_size=4)
texts = st.text(LETTERS + " #", max_size=24)


def wordpiece(**fields: Any) -> dict[str, Any]:
    return {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": {"[UNK]": 0, "a": 1, "##b": 2},
        **fields,
    }


def word_level(**fields: Any) -> dict[str, Any]:
    return {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1}, "unk_token": "[UNK]", **fields}


class Token(NamedTuple):
    """What is compared of a token: its id, its text and the text it was found in."""

    id: int
    text: str
    of: str


class Both:
    """A tokenizer of words between white space, in both packages."""

    def __init__(self, model: dict[str, Any]) -> None:
        content = file(model=model, pre_tokenizer={"type": "WhitespaceSplit"}, decoder=None)
        self.theirs: Any = tokenizers.Tokenizer.from_str(json.dumps(content))
        self.ours = Tokenizer("small", parse_tokenizer(Json(content, "small")))

    def check(self, text: str) -> None:
        """Compare ids, tokens and places, or that there are none."""
        try:
            found = self.theirs.encode(text)
        except Exception as error:
            if "unk" not in str(error).lower():
                raise
            with pytest.raises(ValueError, match="token for what is unknown"):
                self.ours.encode(text)
            return
        assert self.ours.encode(text) == found.ids
        core = self.ours.core
        ours = [
            Token(one.id, one.text, chunk.encode()[one.start : one.end].decode())
            for chunk in core.splitter.chunks(text)
            for one in core.definition.model.find(chunk)
        ]
        assert ours == [
            Token(number, token, text[start:end])
            for number, token, (start, end) in zip(found.ids, found.tokens, found.offsets)
        ]


def shuffled(names: list[str], order: Any) -> dict[str, int]:
    """A vocabulary with ids in any order, not all of them in use."""
    distinct = list(dict.fromkeys(names))
    numbers = order.draw(st.permutations(range(len(distinct) + 2)))
    return dict(zip(distinct, numbers))


@settings(max_examples=scaled(400))
@given(
    st.lists(short, max_size=8),
    st.lists(short, max_size=8),
    st.sampled_from(["##", "", "a", "é", "中a"]),
    st.sampled_from([100, 0, 1, 2, 5, 6]),
    st.sampled_from(["[UNK]", "a", "##a", "missing"]),
    st.lists(texts, min_size=1, max_size=5),
    st.data(),
)
def test_random_vocabularies(
    first: list[str],
    others: list[str],
    prefix: str,
    longest: int,
    unknown: str,
    several: list[str],
    data: Any,
) -> None:
    names = [*first, *(prefix + piece for piece in others), "[UNK]"]
    made = Both(
        wordpiece(
            vocab=shuffled(names, data),
            continuing_subword_prefix=prefix,
            max_input_chars_per_word=longest,
            unk_token=unknown,
        )
    )
    for text in several:
        made.check(text)
        # Made of pieces, so that it is less often unknown.
        made.check(text + "".join(data.draw(st.lists(st.sampled_from(first or [""]), max_size=9))))


@settings(max_examples=scaled(100))
@given(st.lists(short, max_size=8), st.sampled_from(["[UNK]", "missing"]), texts, st.data())
def test_random_word_lists(names: list[str], unknown: str, text: str, data: Any) -> None:
    made = Both(word_level(vocab=shuffled([*names, "[UNK]"], data), unk_token=unknown))
    made.check(text)
    made.check(" ".join(names))


@pytest.mark.parametrize("size", [99, 100, 101, 700])
def test_words_as_long_as_may_be(size: int) -> None:
    for longest in (100, size, 1 << 40):
        made = Both(
            wordpiece(
                vocab={"[UNK]": 0, "中": 1, "##中": 2, "##" + "中" * 200 + "x": 3},
                max_input_chars_per_word=longest,
            )
        )
        for end in ("", "x", "y"):
            made.check("中" * size + end)


@pytest.mark.parametrize(
    ("make", "fields"), [(wordpiece, FIELDS["WordPiece"]), (word_level, FIELDS["WordLevel"])]
)
def test_a_missing_member_is_an_error_in_both(make: Any, fields: tuple[str, ...]) -> None:
    assert {"type", *fields} == make().keys()
    for field in fields:
        model = make()
        del model[field]
        with pytest.raises(Exception, match=field):
            tokenizers.Tokenizer.from_str(json.dumps(file(model=model)))
        with pytest.raises(ValueError, match=f"model: there is no '{field}'"):
            parse_tokenizer(Json(file(model=model), "small"))


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (wordpiece(vocab=[]), "model.vocab: must be an object"),
        (wordpiece(vocab={"a": -1}), "model.vocab: the id of 'a' is not from 0"),
        (wordpiece(vocab={"a": "b"}), "model.vocab.a: must be an integer"),
        (wordpiece(unk_token=None), "model.unk_token: must be a string, not null"),
        (wordpiece(unk_token="\ud800"), "model.unk_token: has a lone surrogate"),
        (wordpiece(continuing_subword_prefix=2), "model.continuing_subword_prefix: must be a str"),
        (wordpiece(max_input_chars_per_word=-1), "model.max_input_chars_per_word: must be 0 or mo"),
        (wordpiece(max_input_chars_per_word=1.5), "model.max_input_chars_per_word: must be an int"),
        (word_level(unk_token=1), "model.unk_token: must be a string, not an integer"),
        (word_level(vocab=None), "model.vocab: must be an object, not null"),
    ],
)
def test_damaged_models_are_refused(model: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=f"^small: {reason}"):
        parse_tokenizer(Json(file(model=model), "small"))


def test_written_models_are_those_that_were_read() -> None:
    for make in (wordpiece, word_level):
        read = parse_tokenizer(Json(file(model=make()), "small"))
        assert read.model.written(read.model.vocabulary) == make()
        with pytest.raises(ValueError, match="cannot be extended: only byte-level BPE can"):
            read.extended("more", {b"c": 3}, [])
    assert isinstance(Both(wordpiece()).ours.core.definition.model, WordPiece)
    assert isinstance(Both(word_level()).ours.core.definition.model, WordLevel)


def test_words_made_of_the_pieces_of_bert() -> None:
    path = reference_tokenizer("bert_uncased")
    fields = json.loads(path.read_bytes())["model"]
    theirs = tokenizers.models.WordPiece(fields["vocab"], unk_token="[UNK]")
    model = WordPiece(fields["vocab"], "[UNK]")
    pieces = [piece.removeprefix("##") for piece in fields["vocab"]]
    dice = random.Random(1)
    words = ["".join(dice.choices(pieces, k=dice.randrange(1, 6))) for _ in range(20_000)]
    words += [word + dice.choice("\u0e33\u4dff😀") + word for word in words[:100]]
    unknown = 0
    for word in words:
        found = theirs.tokenize(word)
        assert model.encode(word) == tuple(token.id for token in found)
        assert [(one.text, one.start, one.end) for one in model.find(word)] == [
            (token.value, *token.offsets) for token in found
        ]
        unknown += found[0].value == "[UNK]"
    assert 0 < unknown < 1000
