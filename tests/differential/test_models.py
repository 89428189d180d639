"""BPE over characters, word level, WordPiece and Unigram, against tokenizers."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import tokenizers
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.checked_json import Json, parse_json, read_float, read_json
from compat_bpe.formats.tokenizer_json import FIELDS, parse_tokenizer
from compat_bpe.formats.tokenizer_models import read_unigram, written_float
from compat_bpe.pipeline.models import unigram as unigram_module
from compat_bpe.pipeline.models.bpe.characters import CharacterBPE
from compat_bpe.pipeline.models.unigram import Unigram
from compat_bpe.pipeline.models.words import WordLevel, WordPiece
from compat_bpe.unicode.surrogates import repair
from tests.corpora import PARTS, TEXTS, read, standard_library
from tests.differential.reference import sample
from tests.differential.small_tokenizers import file
from tests.examples import scaled
from tests.pipeline.models.drawn import BARE, CHARACTERS, character_models
from tests.strategies import texts as any_texts
from tests.tokenizer_files import BYTE_LEVEL, added, tokenizer_file
from tools.reference_files import reference_file
from tools.reference_tokenizers import reference_tokenizer

character_texts = st.one_of(st.text(f"{CHARACTERS}x ü", max_size=40), any_texts.map(repair))


class BothModels:
    """One tokenizer in both packages."""

    def __init__(self, model: dict[str, Any], pre_tokenizer: Any = None) -> None:
        content = file(model=model, pre_tokenizer=pre_tokenizer, decoder=None)
        self.theirs: Any = tokenizers.Tokenizer.from_str(json.dumps(content))
        self.ours = Tokenizer("small", parse_tokenizer(Json(content, "small")))

    def check(self, text: str) -> None:
        """Compare the ids of a text."""
        expected = self.expected(lambda: self.theirs.encode(text).ids)
        if expected is None:
            with pytest.raises(ValueError, match="not the token for unknown characters, 'absent'"):
                self.ours.encode_ordinary(text)
        else:
            assert self.ours.encode_ordinary(text) == expected
            assert self.ours.count(text) == len(expected)

    def expected(self, ask: Callable[[], Any]) -> Any:
        """Return an answer of tokenizers; None if it lacks the token for unknown characters."""
        try:
            return ask()
        except Exception as error:
            if "Unk" not in str(error):
                raise
            return None

    def check_places(self, chunk: str) -> None:
        """Compare the tokens of a chunk, with their places, and the two ways to the ids."""
        model = self.ours.core.model
        assert isinstance(model, CharacterBPE)
        expected = self.expected(lambda: self.theirs.model.tokenize(chunk))
        if expected is not None:
            found = model.find(chunk)
            assert list(map(tuple, found)) == [
                (token.id, token.value, *token.offsets) for token in expected
            ]
            assert tuple(token.id for token in found) == model.encode(chunk)


@settings(max_examples=scaled(250))
@given(character_models(), st.lists(character_texts, max_size=5))
def test_any_options(model: dict[str, Any], several: list[str]) -> None:
    made = BothModels(model)
    for text in several:
        made.check(text)


@settings(max_examples=scaled(200))
@given(character_models(), st.lists(character_texts, max_size=5))
def test_tokens_and_places_in_a_chunk(model: dict[str, Any], several: list[str]) -> None:
    made = BothModels(model)
    for text in several:
        made.check_places(text)


def tokens_there(made: BothModels, text: str) -> list[tuple[int, str, tuple[int, int]]]:
    encoding = made.theirs.encode(text)
    return list(zip(encoding.ids, encoding.tokens, encoding.offsets))


@settings(max_examples=scaled(200))
@given(character_models("aĠĊbÃ©ä¸Ń"), st.lists(st.text("ab é中\n", max_size=30), max_size=5))
def test_the_byte_alphabet(model: dict[str, Any], several: list[str]) -> None:
    """ByteLevel with a prefix or a suffix, as in CLIP, or without its token for unknown bytes."""
    made = BothModels(model, BYTE_LEVEL)
    for text in several:
        made.check(text)


@settings(max_examples=scaled(150))
@given(character_models("aĠĊbÃ©ä¸Ń"), st.lists(st.text("ab é中\n", max_size=30), max_size=5))
def test_places_of_bytes(model: dict[str, Any], several: list[str]) -> None:
    made = BothModels(model, {**BYTE_LEVEL, "trim_offsets": False})
    byte_pair = made.ours.core.model
    for text in several:
        expected = made.expected(partial(tokens_there, made, text))
        if not isinstance(byte_pair, CharacterBPE) or expected is None:
            continue
        # tokenizers gives the characters that have some of a token's bytes.
        owner = [number for number, char in enumerate(text) for _ in char.encode()]
        for token, (number, name, (start, end)) in zip(byte_pair.find(text), expected):
            assert (token.id, token.text) == (number, name)
            if token.end <= len(owner):
                assert (owner[token.start], owner[token.end - 1] + 1) == (start, end)


def test_the_later_of_two_merges_of_a_pair_counts() -> None:
    vocabulary = {name: number for number, name in enumerate(["a", "b", "c", "ab", "bc"])}
    made = BothModels({**BARE, "vocab": vocabulary, "merges": ["a b", "b c", "a b"]})
    made.check("abc")
    assert made.ours.encode("abc") == [0, 4]


def test_an_unknown_character_waits_while_the_bytes_of_another_do_not() -> None:
    vocabulary = {"<unk>": 0, "<0xC3>": 1, "<0xA9>": 2, "a": 3}
    options = {"unk_token": "<unk>", "byte_fallback": True}
    made = BothModels({**BARE, **options, "vocab": vocabulary})
    made.check_places("xyéa")
    assert made.ours.encode("xyéa") == [0, 1, 2, 0, 3]


def test_characters_that_vanish_let_others_meet() -> None:
    made = BothModels({**BARE, "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]})
    made.check_places("axb")
    assert made.ours.encode("axb") == [2]


def test_a_merge_out_of_date_counts_if_it_makes_the_same_token() -> None:
    """A merge whose right part is as long as the prefix makes its left part again.

    So a merge may wait twice, and the second time it is taken for another that makes its token.
    """
    prefix = "######"
    names = ["a", f"{prefix}b", "ab", "<0x23>", "<0x41>", "<0x42>"]
    merges = [[names[1], "<0x23>"], ["a", names[1]], ["<0x41>", "<0x23>"], ["ab", "<0x41>"]]
    options = {"continuing_subword_prefix": prefix, "byte_fallback": True, "merges": merges}
    vocabulary = {name: number for number, name in enumerate(names)}
    made = BothModels({**BARE, **options, "vocab": vocabulary})
    made.check_places("abAB")
    assert made.ours.encode("abAB") == [2, *[3] * 6, 5]


#: Where each of these vocabularies is from.
CHARACTER_FILES: dict[str, Callable[[str], Path]] = {
    **dict.fromkeys(["llama_2", "mistral_v1", "clip"], reference_tokenizer),
    **dict.fromkeys(["moonshine", "gemma_json"], reference_file),
}


@pytest.fixture(
    params=[
        pytest.param(name, marks=pytest.mark.sweep) if name == "gemma_json" else name
        for name in CHARACTER_FILES
    ]
)
def characters_published(request: pytest.FixtureRequest) -> tuple[Any, Tokenizer]:
    """A published vocabulary in both packages."""
    path = CHARACTER_FILES[request.param](request.param)
    theirs = tokenizers.Tokenizer.from_file(str(path))
    return theirs, Tokenizer(request.param, parse_tokenizer(read_json(path)))


@pytest.mark.sweep
@pytest.mark.parametrize("length", PARTS)
def test_published_vocabularies_of_characters(
    characters_published: tuple[Any, Tokenizer], length: int | None
) -> None:
    """Natural text and all kinds of characters, line by line, and all of it at once."""
    theirs, ours = characters_published
    theirs.encode_special_tokens = True
    several = [*standard_library(4), sample(), *HARD_TEXTS]
    several += [read(path)[:length] for path in TEXTS]
    for text in map(repair, several):
        for part in (*text[:length].splitlines(keepends=True), text[:length]):
            ids = theirs.encode(part, add_special_tokens=False).ids
            assert ours.encode_ordinary(part) == ids, part


#: Repetitions, spaces and full stops beside all sorts of things.
HARD_TEXTS = [
    "",
    " ",
    "  a  b ",
    "a" * 5_000,
    " " * 5_000,
    "\n" * 3_000,
    "▁ ▁a▁",
    "中。”。。 a。\n。\u3000。",
    "中华人民共和国" * 500,
    "<0x0A><unk>",
    "\x00\ufffd\U0010ffff" * 100,
]


LETTERS = "abé中😀"
short = st.text(LETTERS, min_size=1, max_size=4)
word_texts = st.text(LETTERS + " #", max_size=24)


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


class BothWords:
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
    st.lists(word_texts, min_size=1, max_size=5),
    st.data(),
)
def test_random_vocabularies_of_pieces(
    first: list[str],
    others: list[str],
    prefix: str,
    longest: int,
    unknown: str,
    several: list[str],
    data: Any,
) -> None:
    names = [*first, *(prefix + piece for piece in others), "[UNK]"]
    made = BothWords(
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
@given(st.lists(short, max_size=8), st.sampled_from(["[UNK]", "missing"]), word_texts, st.data())
def test_random_word_lists(names: list[str], unknown: str, text: str, data: Any) -> None:
    made = BothWords(word_level(vocab=shuffled([*names, "[UNK]"], data), unk_token=unknown))
    made.check(text)
    made.check(" ".join(names))


@pytest.mark.parametrize("size", [99, 100, 101, 700])
def test_words_as_long_as_may_be(size: int) -> None:
    for longest in (100, size, 1 << 40):
        made = BothWords(
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
    assert isinstance(BothWords(wordpiece()).ours.core.definition.model, WordPiece)
    assert isinstance(BothWords(word_level()).ours.core.definition.model, WordLevel)


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


EMPTY = tokenizer_file()


def unigram_file(unigram_model: str, **parts: Any) -> str:
    """A ``tokenizer.json`` with a model as it is written, since numbers are the matter here."""
    content = json.dumps({**EMPTY, **parts})
    return f'{content[:-1]}, "model": {unigram_model}}}'


def unigram_model(vocab: list[tuple[str, str]], unknown: int | None, fallback: bool = False) -> str:
    """A model of pieces and of scores, as they are written."""
    listed = ", ".join(f"[{json.dumps(piece)}, {score}]" for piece, score in vocab)
    flags = f'"unk_id": {json.dumps(unknown)}, "byte_fallback": {json.dumps(fallback)}'
    return f'{{"type": "Unigram", {flags}, "vocab": [{listed}]}}'


def unigram(text: str) -> Unigram:
    part = read_unigram(parse_json(text.encode(), "small")["model"])
    built = part.define([], "small").model
    assert isinstance(built, Unigram)
    return built


def check_chunk(here: Unigram, there: Any, chunk: str) -> None:
    """Compare the tokens of a chunk, or the error, in the fast way and by the plain rule."""
    try:
        expected = [(it.id, it.value, *it.offsets) for it in there.tokenize(chunk)]
    except Exception as error:
        if "unk_id` is missing" not in str(error):
            raise
        for encode in (here.encode, here.find):
            with pytest.raises(ValueError, match="is no piece of the vocabulary"):
                encode(chunk)
        return
    assert list(map(tuple, here.find(chunk))) == expected
    assert here.encode(chunk) == tuple(number for number, *_ in expected)
    with pytest.MonkeyPatch.context() as patch:
        # Part by part, as long chunks go.
        patch.setattr(unigram_module, "_LONG", 0)
        patch.setattr(unigram_module, "_WORTH_PARTS", 0)
        assert here.encode(chunk) == tuple(number for number, *_ in expected)


ALPHABET = "ab中😀"
SCORES = st.one_of(
    st.sampled_from(["-1.0", "-2.0", "-3", "0.0", "1", "-0.0"]),
    st.sampled_from(["-0.1", "-0.2", "-0.3", "-0.7", "-1e16", "1e16", "3e-17", "-1e308", "1e308"]),
    st.floats(-20, 0).map(repr),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
)
PIECES = st.one_of(
    st.text(ALPHABET, max_size=5),
    st.sampled_from(["<unk>", "<0x61>", "<0xE4>", "<0xB8>", "<0xAD>", "<0xe4>", "<", "", "xé"]),
    st.integers(30, 36).map(lambda length: "a" * length),
)
CHUNKS = st.one_of(
    st.text(ALPHABET, max_size=40),
    st.lists(st.sampled_from(["a", "b", "<unk>", "<0x61>", "中", "x", "é", "ab"]), max_size=12).map(
        "".join
    ),
    st.integers(30, 120).map(lambda length: "a" * length),
    any_texts.map(repair),
)


@settings(max_examples=scaled(500))
@given(
    st.lists(st.tuples(PIECES, SCORES), min_size=1, max_size=16),
    st.booleans(),
    st.booleans(),
    st.data(),
)
def test_random_vocabularies(
    vocab: list[tuple[str, str]], with_unknown: bool, fallback: bool, data: st.DataObject
) -> None:
    unknown = data.draw(st.integers(0, len(vocab) - 1)) if with_unknown else None
    text = unigram_file(unigram_model(vocab, unknown, fallback))
    there = tokenizers.Tokenizer.from_str(text).model
    here = unigram(text)
    for chunk in data.draw(st.lists(CHUNKS, max_size=4)):
        check_chunk(here, there, chunk)


@settings(max_examples=scaled(300))
@given(st.lists(st.integers(-8, -1), min_size=14, max_size=14), st.integers(1, 7), st.data())
def test_ties(scores: list[int], parts: int, data: st.DataObject) -> None:
    """Scores that are added to the same sums in many orders, rounded or not."""
    pieces = [*"ab", "aa", "ab", "ba", "bb"] + [
        f"{x}{y}{z}" for x in "ab" for y in "ab" for z in "ab"
    ]
    text = unigram_file(
        unigram_model([(it, repr(-s / parts)) for it, s in zip(pieces, scores)], None)
    )
    here, there = unigram(text), tokenizers.Tokenizer.from_str(text).model
    for chunk in data.draw(st.lists(st.text("ab", max_size=60), max_size=4)):
        check_chunk(here, there, chunk)


def test_an_empty_vocabulary() -> None:
    text = unigram_file(unigram_model([], None))
    check_chunk(unigram(text), tokenizers.Tokenizer.from_str(text).model, "a")
    check_chunk(unigram(text), tokenizers.Tokenizer.from_str(text).model, "")


def test_a_long_text_in_one_piece() -> None:
    vocab = [("<unk>", "0"), ("a", "-1.3"), ("aaa", "-3.9"), ("ba", "-1.1"), ("b", "-2.7")]
    text = unigram_file(unigram_model(vocab, 0))
    here, there = unigram(text), tokenizers.Tokenizer.from_str(text).model
    for chunk in ("a" * 30_000, "ab" * 15_000, "中" * 30_000, "aab中" * 10_000):
        check_chunk(here, there, chunk)


# Scores as they are written


@st.composite
def numbers(draw: Any) -> str:
    digits = st.text("0123456789", min_size=1, max_size=24)
    whole = draw(st.one_of(st.just("0"), digits.map(lambda it: "1" + it), digits.map("7".__add__)))
    fraction = draw(
        st.one_of(st.just(""), digits.map(".".__add__), digits.map(f".{'0' * 300}{{}}".format))
    )
    exponent = draw(
        st.one_of(
            st.just(""),
            st.integers(-400, 320).map("e{}".format),
            st.sampled_from(["E+5", "e-0007", "e2147483647", "e-2147483648", "e99999999999"]),
        )
    )
    return f"{draw(st.sampled_from(['', '-']))}{whole}{fraction}{exponent}"


def scores_there(texts: list[str]) -> list[float]:
    """The scores that tokenizers reads."""
    made = tokenizers.Tokenizer.from_str(
        unigram_file(unigram_model([("a", text) for text in texts], None))
    )
    return [score for _, score in json.loads(made.to_str())["model"]["vocab"]]


@settings(max_examples=scaled(500))
@given(numbers())
def test_numbers(text: str) -> None:
    try:
        expected = scores_there([text])
    except Exception as error:
        if "out of range" not in str(error):
            raise
        with pytest.raises(ValueError, match="is out of range"):
            read_float(text)
        return
    assert list(map(repr, expected)) == [repr(read_float(text))]


@given(st.lists(st.floats(-20, 0), max_size=50))
def test_numbers_that_are_written(values: list[float]) -> None:
    scores = [read_float(repr(value)) for value in values]
    assert scores_there([repr(written_float(score)) for score in scores]) == scores


# Files


@pytest.mark.parametrize(
    "text",
    [
        '{"type": "Unigram"}',
        '{"type": "Unigram", "vocab": {}}',
        '{"type": "Unigram", "vocab": [], "unk_id": 0}',
        '{"type": "Unigram", "vocab": [["a", 0]], "unk_id": 1}',
        '{"type": "Unigram", "vocab": [["a", 0]], "unk_id": -1}',
        '{"type": "Unigram", "vocab": [["a", 0]], "unk_id": 0.0}',
        '{"type": "Unigram", "vocab": [["a", 0]], "unk_id": "0"}',
        '{"type": "Unigram", "vocab": [["a", 0]], "unk_id": true}',
        '{"type": "Unigram", "vocab": [["a", "0"]]}',
        '{"type": "Unigram", "vocab": [["a", null]]}',
        '{"type": "Unigram", "vocab": [["a", false]]}',
        '{"type": "Unigram", "vocab": [["a", NaN]]}',
        '{"type": "Unigram", "vocab": [["a", Infinity]]}',
        '{"type": "Unigram", "vocab": [["a", 1e999]]}',
        '{"type": "Unigram", "vocab": [["a"]]}',
        '{"type": "Unigram", "vocab": [["a", 0, 0]]}',
        '{"type": "Unigram", "vocab": [[0, "a"]]}',
        '{"type": "Unigram", "vocab": [["\\ud800", 0]]}',
        '{"type": "Unigram", "vocab": [["a", 0]], "byte_fallback": null}',
        '{"type": "Unigram", "vocab": [["a", 0]], "byte_fallback": 0}',
        '{"type": null, "vocab": [["a", 0]]}',
        '{"type": "unigram", "vocab": [["a", 0]]}',
        "{}",
    ],
)
def test_what_neither_reads(text: str) -> None:
    with pytest.raises(Exception):  # noqa: B017, PT011  # it has no class of its own
        tokenizers.Tokenizer.from_str(unigram_file(text))
    with pytest.raises(ValueError, match=r"^small: "):
        parse_tokenizer(parse_json(unigram_file(text).encode(), "small"))


@pytest.mark.parametrize(
    "text",
    [
        '{"vocab": [["a", -1], ["b", -2.5]]}',
        '{"vocab": [["a", -1], ["b", -2.5]], "unk_id": null}',
        '{"vocab": [["a", -1], ["b", -2.5]], "unk_id": 1, "other": 5}',
        '{"type": "Unigram", "vocab": []}',
        '{"vocab": {"a": 0, "b": 1}, "unk_token": "a"}',
        '{"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"], "unk_token": "a"}',
        '{"vocab": {"a": 0, "b": 1, "##b": 2}, "unk_token": "a",'
        ' "continuing_subword_prefix": "##", "max_input_chars_per_word": 9}',
    ],
)
def test_what_both_read_as_the_same_model(text: str) -> None:
    there = type(tokenizers.Tokenizer.from_str(unigram_file(text)).model).__name__
    here = type(parse_tokenizer(parse_json(unigram_file(text).encode(), "small")).model).__name__
    assert here == {"BPE": "ListedModel"}.get(there, f"{there}Part")


@pytest.mark.parametrize("twice", [False, True])
def test_ids_of_added_tokens(twice: bool) -> None:
    """They are numbered on from the number of ids, not from that of different pieces."""
    vocab = [("<unk>", "0"), ("a", "-1"), ("b", "-2"), ("a" if twice else "c", "-3")]
    tokens = [added(90, "<x>"), added(1, "b"), added(91, "<y>")]
    text = unigram_file(unigram_model(vocab, 0), added_tokens=tokens)
    there = tokenizers.Tokenizer.from_str(text)
    here = Tokenizer("small", parse_tokenizer(parse_json(text.encode(), "small")))
    for part in ("ab<x>ba<y>", "<y>abc", "", "aé<x>é"):
        assert here.encode(part, allowed_special="all") == there.encode(part).ids
        assert here.encode_ordinary("ab") == there.encode("ab").ids


# Published vocabularies

CORPORA = Path(__file__).parents[2] / "fixtures"
FILES = ["t5_like", "kyoto_unigram", "albert_like", "xlnet_like"]
LARGE = ["xlm_r", "j2"]
EVERY = [*FILES, *(pytest.param(name, marks=pytest.mark.sweep) for name in LARGE)]


@cache
def published(name: str) -> tuple[Unigram, Any]:
    text = reference_tokenizer(name).read_bytes()
    return unigram(text.decode()), tokenizers.Tokenizer.from_str(text.decode())


def chunks_of(there: Any, text: str) -> Iterator[str]:
    """The chunks that the reference's own normalizer and pre-tokenizer give its model."""
    if there.normalizer is not None:
        text = there.normalizer.normalize_str(text)
    for chunk, _ in there.pre_tokenizer.pre_tokenize_str(text):
        yield chunk


@pytest.mark.parametrize("name", EVERY)
def test_published_scores(name: str) -> None:
    here, there = published(name)
    vocab = json.loads(there.to_str())["model"]["vocab"]
    assert here.table.scores == dict(map(tuple, vocab))


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", EVERY)
def test_published_vocabularies(name: str) -> None:
    here, there = published(name)

    @settings(max_examples=scaled(200))
    @given(any_texts.map(repair))
    def check_all(text: str) -> None:
        # tokenizers panics at some texts while it normalizes them.
        try:
            chunks = list(chunks_of(there, text))
        except BaseException as error:
            assume(type(error).__name__ != "PanicException")
            raise
        for chunk in chunks:
            check_chunk(here, there.model, chunk)
        check_chunk(here, there.model, text)

    check_all()


@pytest.mark.sweep
@pytest.mark.parametrize("name", EVERY)
def test_pages_in_many_languages(name: str) -> None:
    here, there = published(name)
    pages = sorted(CORPORA.rglob("*.txt"))
    assert pages
    for page in islice(pages, 20):
        text = page.read_text("utf-8", "replace")[:20_000]
        for chunk in dict.fromkeys(chunks_of(there, text)):
            check_chunk(here, there.model, chunk)
        check_chunk(here, there.model, text)
