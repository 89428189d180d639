"""BPE over characters, word level, WordPiece and Unigram, against tokenizers."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import assume, given
from hypothesis import strategies as st

from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.checked_json import Json, parse_json, read_float, read_json
from compat_bpe.formats.tokenizer_json import FIELDS, parse_tokenizer
from compat_bpe.formats.tokenizer_models import read_unigram, written_float
from compat_bpe.pipeline.models import unigram as unigram_module
from compat_bpe.pipeline.models.bpe.characters import CharacterBPE
from compat_bpe.pipeline.models.unigram import Unigram
from compat_bpe.pipeline.models.wordpiece import WordLevel, WordPiece
from compat_bpe.unicode.surrogates import repair
from tests.corpora import PARTS, TEXTS, read, standard_library
from tests.differential.reference import sample
from tests.differential.small_tokenizers import PANIC, Both, answer, file
from tests.drawn_models import BARE, CHARACTERS, CHUNKS, PIECES, SCORES, character_models
from tests.examples import drawn
from tests.strategies import texts as any_texts
from tests.tokenizer_files import BYTE_LEVEL, added, tokenizer_file
from tools.reference_files import reference_file
from tools.reference_tokenizers import reference_tokenizer

FIXTURES = Path(__file__).parents[2] / "fixtures"


def of_model(model: dict[str, Any], pre_tokenizer: Any = None) -> Both:
    return Both(file(model=model, pre_tokenizer=pre_tokenizer, decoder=None))


def known(call: Callable[[], Any]) -> Any:
    """Return an answer of tokenizers; None if it lacks the token for what is unknown."""
    try:
        return call()
    except Exception as error:
        if "unk" not in str(error).lower():
            raise
        return None


# BPE over characters, with every option: ids, tokens and places

character_texts = st.one_of(st.text(f"{CHARACTERS}x ü", max_size=40), any_texts.map(repair))
byte_models = character_models("aĠĊbÃ©ä¸Ń")
byte_texts = st.lists(st.text("ab é中\n", max_size=30), max_size=5)


def check_ids(made: Both, text: str) -> None:
    expected = known(lambda: made.theirs.encode(text).ids)
    if expected is None:
        with pytest.raises(ValueError, match="lacks the token for unknown characters, 'absent'"):
            made.ours.encode_ordinary(text)
    else:
        assert made.ours.encode_ordinary(text) == expected
        assert made.ours.count(text) == len(expected)


def check_places(made: Both, chunk: str) -> None:
    """Compare the tokens of a chunk, with their places, and the two ways to the ids."""
    model = made.ours.core.model
    assert isinstance(model, CharacterBPE)
    expected = known(lambda: made.theirs.model.tokenize(chunk))
    if expected is not None:
        found = model.find(chunk)
        assert list(map(tuple, found)) == [(one.id, one.value, *one.offsets) for one in expected]
        assert tuple(token.id for token in found) == model.encode(chunk)


@drawn(250, character_models(), st.lists(character_texts, max_size=5))
def test_any_options(model: dict[str, Any], several: list[str]) -> None:
    made = of_model(model)
    for text in several:
        check_ids(made, text)
        check_places(made, text)


@drawn(200, byte_models, byte_texts)
def test_the_byte_alphabet(model: dict[str, Any], several: list[str]) -> None:
    """ByteLevel with a prefix or a suffix, as in CLIP, or without its token for unknown bytes."""
    made = of_model(model, BYTE_LEVEL)
    for text in several:
        check_ids(made, text)


def tokens_there(made: Both, text: str) -> list[tuple[int, str, tuple[int, int]]]:
    encoding = made.theirs.encode(text)
    return list(zip(encoding.ids, encoding.tokens, encoding.offsets))


@drawn(150, byte_models, byte_texts)
def test_places_of_bytes(model: dict[str, Any], several: list[str]) -> None:
    made = of_model(model, {**BYTE_LEVEL, "trim_offsets": False})
    byte_pair = made.ours.core.model
    for text in several:
        expected = known(partial(tokens_there, made, text))
        if not isinstance(byte_pair, CharacterBPE) or expected is None:
            continue
        # tokenizers gives the characters that have some of a token's bytes.
        owner = [number for number, char in enumerate(text) for _ in char.encode()]
        for token, (number, name, (start, end)) in zip(byte_pair.find(text), expected):
            assert (token.id, token.text) == (number, name)
            if token.end <= len(owner):
                assert (owner[token.start], owner[token.end - 1] + 1) == (start, end)


#: The prefix of a model in which merges make their left part again.
SIX = "######"


@pytest.mark.parametrize(
    ("names", "merges", "options", "text", "ids"),
    [
        # The later of two merges of a pair counts.
        (["a", "b", "c", "ab", "bc"], ["a b", "b c", "a b"], {}, "abc", [0, 4]),
        # An unknown character waits while the bytes of another do not.
        (["<unk>", "<0xC3>", "<0xA9>", "a"], [], {"unk_token": "<unk>", "byte_fallback": True},
         "xyéa", [0, 1, 2, 0, 3]),
        # Characters that vanish let others meet.
        (["a", "b", "ab"], ["a b"], {}, "axb", [2]),
        # A merge whose right part is as long as the prefix makes its left part again. So a merge
        # may wait twice; the second time it is taken for another that makes its token, and counts.
        (["a", f"{SIX}b", "ab", "<0x23>", "<0x41>", "<0x42>"],
         [[f"{SIX}b", "<0x23>"], ["a", f"{SIX}b"], ["<0x41>", "<0x23>"], ["ab", "<0x41>"]],
         {"continuing_subword_prefix": SIX, "byte_fallback": True}, "abAB", [2, *[3] * 6, 5]),
    ],
)  # fmt: skip
def test_merges_of_characters(
    names: list[str], merges: list[Any], options: dict[str, Any], text: str, ids: list[int]
) -> None:
    vocabulary = {name: number for number, name in enumerate(names)}
    made = of_model({**BARE, **options, "vocab": vocabulary, "merges": merges})
    check_places(made, text)
    check_ids(made, text)
    assert made.ours.encode(text) == ids


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


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["llama_2", "mistral_v1", "clip", "moonshine", "gemma_json"])
@pytest.mark.parametrize("length", PARTS)
def test_published_vocabularies_of_characters(name: str, length: int | None) -> None:
    """Natural text and all kinds of characters, line by line, and all of it at once."""
    path = (reference_file if name in ("moonshine", "gemma_json") else reference_tokenizer)(name)
    theirs: Any = tokenizers.Tokenizer.from_file(str(path))
    ours = Tokenizer(name, parse_tokenizer(read_json(path)))
    theirs.encode_special_tokens = True
    several = [*standard_library(4), sample(), *HARD_TEXTS]
    several += [read(path)[:length] for path in TEXTS]
    for text in map(repair, several):
        for part in (*text[:length].splitlines(keepends=True), text[:length]):
            ids = theirs.encode(part, add_special_tokens=False).ids
            assert ours.encode_ordinary(part) == ids, part


# WordPiece and word level


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


def of_words(model: dict[str, Any]) -> Both:
    return of_model(model, {"type": "WhitespaceSplit"})


@pytest.mark.parametrize("size", [99, 100, 101, 700])
def test_words_as_long_as_may_be(size: int) -> None:
    vocab = {"[UNK]": 0, "中": 1, "##中": 2, "##" + "中" * 200 + "x": 3}
    for longest in (100, size, 1 << 40):
        made = of_words(wordpiece(vocab=vocab, max_input_chars_per_word=longest))
        for word in ("中" * size, "中" * size + "x", "中" * size + "y"):
            found, expected = made.ours.encode_with_offsets(word), made.theirs.encode(word)
            assert (found.ids, found.offsets) == (expected.ids, expected.offsets)


@pytest.mark.parametrize("make", [wordpiece, word_level])
def test_a_missing_member_is_an_error_in_both(make: Callable[[], dict[str, Any]]) -> None:
    names = FIELDS[make()["type"]]
    assert {"type", *names} == make().keys()
    for name in names:
        model = make()
        del model[name]
        with pytest.raises(Exception, match=name):
            tokenizers.Tokenizer.from_str(json.dumps(file(model=model)))
        with pytest.raises(ValueError, match=f"model: there is no '{name}'"):
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


@pytest.mark.parametrize(("make", "kind"), [(wordpiece, WordPiece), (word_level, WordLevel)])
def test_written_models_are_those_that_were_read(make: Any, kind: type) -> None:
    read = parse_tokenizer(Json(file(model=make()), "small"))
    assert read.model.written(read.model.vocabulary) == make()
    with pytest.raises(ValueError, match="cannot be extended: only byte-level BPE can"):
        read.extended("more", {b"c": 3}, [])
    assert isinstance(of_words(make()).ours.core.definition.model, kind)


@pytest.mark.parametrize("count", [4_000, pytest.param(20_000, marks=pytest.mark.sweep)])
def test_words_made_of_the_pieces_of_bert(count: int) -> None:
    fields = json.loads(reference_tokenizer("bert_uncased").read_bytes())["model"]
    theirs = tokenizers.models.WordPiece(fields["vocab"], unk_token="[UNK]")
    model = WordPiece(fields["vocab"], "[UNK]")
    pieces = [piece.removeprefix("##") for piece in fields["vocab"]]
    dice = random.Random(1)
    words = ["".join(dice.choices(pieces, k=dice.randrange(1, 6))) for _ in range(count)]
    words += [word + dice.choice("\u0e33\u4dff😀") + word for word in words[:100]]
    unknown = 0
    for word in words:
        found = theirs.tokenize(word)
        assert model.encode(word) == tuple(token.id for token in found)
        expected = [(token.value, *token.offsets) for token in found]
        assert [(one.text, one.start, one.end) for one in model.find(word)] == expected
        unknown += found[0].value == "[UNK]"
    assert 0 < unknown < count // 20


# Unigram

EMPTY = tokenizer_file()


def unigram_file(model: str, **parts: Any) -> str:
    """A ``tokenizer.json`` with a model as it is written, since numbers are the matter here."""
    return f'{json.dumps({**EMPTY, **parts})[:-1]}, "model": {model}}}'


def unigram_model(vocab: list[Any], unknown: int | None, fallback: bool = False) -> str:
    """A model of pieces and of scores, as they are written."""
    listed = ", ".join(f"[{json.dumps(piece)}, {score}]" for piece, score in vocab)
    flags = f'"unk_id": {json.dumps(unknown)}, "byte_fallback": {json.dumps(fallback)}'
    return f'{{"type": "Unigram", {flags}, "vocab": [{listed}]}}'


def both_unigrams(text: str) -> tuple[Unigram, Any]:
    part = read_unigram(parse_json(text.encode(), "small")["model"])
    built = part.define([], "small").model
    assert isinstance(built, Unigram)
    return built, tokenizers.Tokenizer.from_str(text)


def check_chunk(here: Unigram, there: Any, chunk: str) -> None:
    """Compare the tokens of a chunk, or the error, in the fast way and by the plain rule."""
    expected = known(lambda: [(it.id, it.value, *it.offsets) for it in there.model.tokenize(chunk)])
    if expected is None:
        for encode in (here.encode, here.find):
            with pytest.raises(ValueError, match="is not in the vocabulary"):
                encode(chunk)
        return
    assert list(map(tuple, here.find(chunk))) == expected
    ids = tuple(number for number, *_ in expected)
    assert here.encode(chunk) == ids
    with pytest.MonkeyPatch.context() as patch:
        # Part by part, as long chunks go.
        patch.setattr(unigram_module, "_LONG", 0)
        patch.setattr(unigram_module, "_WORTH_PARTS", 0)
        assert here.encode(chunk) == ids


@drawn(
    500,
    st.lists(st.tuples(PIECES, SCORES.map(repr)), min_size=1, max_size=16),
    st.booleans(),
    st.booleans(),
    st.data(),
)
def test_random_vocabularies(
    vocab: list[tuple[str, str]], with_unknown: bool, fallback: bool, data: st.DataObject
) -> None:
    unknown = data.draw(st.integers(0, len(vocab) - 1)) if with_unknown else None
    both = both_unigrams(unigram_file(unigram_model(vocab, unknown, fallback)))
    for chunk in data.draw(st.lists(CHUNKS, max_size=4)):
        check_chunk(*both, chunk)


LONG_CHUNKS = ["a" * 10_000, "ab" * 5_000, "中" * 10_000, "aab中" * 3_000]


@pytest.mark.parametrize(
    ("vocab", "unknown", "chunks"),
    [
        ({}, None, ["a", ""]),
        ({"<unk>": 0, "a": -1.3, "aaa": -3.9, "ba": -1.1, "b": -2.7}, 0, LONG_CHUNKS),
    ],
    ids=["empty", "long texts"],
)
def test_chunks_of_small_vocabularies(vocab: Any, unknown: int | None, chunks: list[str]) -> None:
    both = both_unigrams(unigram_file(unigram_model([*vocab.items()], unknown)))
    for chunk in chunks:
        check_chunk(*both, chunk)


# Scores as they are written

digits = st.text("0123456789", min_size=1, max_size=24)
numbers = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "-"]),
    st.one_of(st.just("0"), digits.map("1".__add__), digits.map("7".__add__)),
    st.one_of(st.just(""), digits.map(".".__add__), digits.map(f".{'0' * 300}{{}}".format)),
    st.one_of(
        st.just(""),
        st.integers(-400, 320).map("e{}".format),
        st.sampled_from(["E+5", "e-0007", "e2147483647", "e-2147483648", "e99999999999"]),
    ),
)


def scores_there(texts: list[str]) -> list[float]:
    """The scores that tokenizers reads."""
    file = unigram_file(unigram_model([("a", text) for text in texts], None))
    made = tokenizers.Tokenizer.from_str(file)
    return [score for _, score in json.loads(made.to_str())["model"]["vocab"]]


@drawn(500, numbers)
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
        *(f'{{"type": "Unigram", "vocab": {vocab}}}'
          for vocab in ("{}", '[["a"]]', '[["a", 0, 0]]', '[[0, "a"]]', r'[["\ud800", 0]]')),
        *(f'{{"type": "Unigram", "vocab": [["a", {score}]]}}'
          for score in ('"0"', "null", "false", "NaN", "Infinity", "1e999")),
        '{"type": "Unigram", "vocab": [], "unk_id": 0}',
        *(f'{{"type": "Unigram", "vocab": [["a", 0]], "unk_id": {unknown}}}'
          for unknown in ("1", "-1", "0.0", '"0"', "true")),
        *(f'{{"type": "Unigram", "vocab": [["a", 0]], "byte_fallback": {flag}}}'
          for flag in ("null", "0")),
        *(f'{{"type": {kind}, "vocab": [["a", 0]]}}' for kind in ("null", '"unigram"')),
        "{}",
    ],
)  # fmt: skip
def test_what_neither_reads(text: str) -> None:
    assert answer(lambda: tokenizers.Tokenizer.from_str(unigram_file(text)))[1]
    with pytest.raises(ValueError, match=r"^small: "):
        parse_tokenizer(parse_json(unigram_file(text).encode(), "small"))


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

LARGE = ["xlm_r", "j2"]
EVERY = [
    "t5_like",
    "kyoto_unigram",
    "albert_like",
    "xlnet_like",
    *(pytest.param(name, marks=pytest.mark.sweep) for name in LARGE),
]


@cache
def published(name: str) -> tuple[Unigram, Any]:
    return both_unigrams(reference_tokenizer(name).read_bytes().decode())


def chunks_of(there: Any, text: str) -> Iterator[str]:
    """The chunks that the reference's own normalizer and pre-tokenizer give its model."""
    if there.normalizer is not None:
        text = there.normalizer.normalize_str(text)
    for chunk, _ in there.pre_tokenizer.pre_tokenize_str(text):
        yield chunk


@pytest.mark.parametrize("name", EVERY)
def test_published_scores(name: str) -> None:
    here, there = published(name)
    assert here.table.scores == dict(map(tuple, json.loads(there.to_str())["model"]["vocab"]))


@pytest.mark.parametrize("name", EVERY)
@drawn(200, text=any_texts.map(repair))
def test_published_vocabularies(name: str, text: str) -> None:
    here, there = published(name)
    chunks, kind = answer(lambda: list(chunks_of(there, text)))
    assert kind in ("", PANIC)
    assume(not kind)  # tokenizers panics at some texts while it normalizes them
    for chunk in (*chunks, text):
        check_chunk(here, there, chunk)


@pytest.mark.sweep
@pytest.mark.parametrize("name", EVERY)
def test_pages_in_many_languages(name: str) -> None:
    here, there = published(name)
    pages = sorted(FIXTURES.rglob("*.txt"))
    assert pages
    for page in islice(pages, 20):
        text = page.read_text("utf-8", "replace")[:20_000]
        for chunk in dict.fromkeys([*chunks_of(there, text), text]):
            check_chunk(here, there, chunk)
