"""Trained, trained anew and extended tokenizers of all kinds, read by the references.

And the vocabulary of words is that of ``WordLevelTrainer``.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import tiktoken
import tiktoken.load
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import models, trainers

from compat_bpe import Encoding, get_encoding, load
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.tokenizer_json import parse_tokenizer
from compat_bpe.save import save_gpt2, save_tiktoken, save_tokenizer_json
from compat_bpe.train import (
    ByteSettings,
    CharacterBpeSettings,
    CharacterSettings,
    WordLevelSettings,
    WordPieceSettings,
    train,
)
from compat_bpe.train.extend import extend
from compat_bpe.train.kinds import TOKENIZER_KINDS, kind_of
from compat_bpe.train.tokenizer_kind import TokenizerSettings
from compat_bpe.train.words import WordCounter
from tests.corpora import SOURCES
from tests.differential.any_tokenizer import processor_sequence, special_piece, template, text_piece
from tests.differential.reference import repaired
from tests.differential.small_tokenizers import file
from tests.examples import drawn
from tests.kinds import kind_path
from tests.strategies import texts
from tests.tokenizer_files import BYTE_LEVEL, added
from tests.train.small_vocabularies import by_list, by_rank, corpora, terms

CORPUS = [path.read_text("utf-8")[:12_000] for path in SOURCES[:5]]
CORPUS += ["naïve 世界你好 12345 \u0301\r\nCafé ### a#b"] * 9
BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def saved(encoding: Any, path: Path) -> tuple[Any, Any]:
    """A tokenizer that is written, read here and by tokenizers."""
    save_tokenizer_json(encoding, path)
    there: Any = tokenizers.Tokenizer.from_file(str(path))
    there.no_padding()
    return load(path), there


#: A tokenizer to be trained anew, whose parts and special tokens have ids of their own.
LIKE: dict[str, Any] = file(
    pre_tokenizer={**BYTE_LEVEL, "use_regex": True},
    added_tokens=[
        added(384 + at, name, special=name != "<b>", lstrip=name == "<m>")
        for at, name in enumerate(("<s>", "</s>", "<b>", "<m>"))
    ],
    post_processor=processor_sequence(
        {**BYTE_LEVEL, "add_prefix_space": True, "use_regex": True},
        template(
            [special_piece("<s>"), text_piece("A")],
            [text_piece("A"), special_piece("</s>"), text_piece("B", 1)],
            {
                name: {"id": name, "ids": [384 + at], "tokens": [name]}
                for at, name in enumerate(("<s>", "</s>"))
            },
        ),
    ),
    padding={
        "strategy": "BatchLongest",
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 385,
        "pad_type_id": 0,
        "pad_token": "</s>",
    },
)


def like() -> Tokenizer:
    """The tokenizer to be trained anew, read by this package."""
    return Tokenizer("like", parse_tokenizer(Json(LIKE, "like")))


KINDS: dict[str, Callable[[], TokenizerSettings]] = {
    "wordpiece": lambda: WordPieceSettings(900, special_tokens=BERT, post_processor="bert"),
    "wordpiece by likelihood": lambda: WordPieceSettings(
        700, special_tokens=BERT, rule="likelihood", min_frequency=5, normalizer="bert-cased"
    ),
    "wordpiece, another mark": lambda: WordPieceSettings(
        900, prefix="@", pre_tokenizer="metaspace"
    ),
    "wordpiece like": lambda: WordPieceSettings(900, like=like()),
    "suffix": lambda: CharacterBpeSettings(900, limit_alphabet=60, normalizer="nfkc"),
    "prefix": lambda: CharacterBpeSettings(900, prefix="##", pre_tokenizer="whitespace"),
    "both": lambda: CharacterBpeSettings(900, prefix="##", suffix="</w>"),
    "plain": lambda: CharacterBpeSettings(900, suffix="", pre_tokenizer="metaspace"),
    "byte-level": lambda: CharacterBpeSettings(900, suffix="", pre_tokenizer="byte-level"),
    "bpe like": lambda: CharacterBpeSettings(900, like=like()),
    "words": lambda: WordLevelSettings(
        900, special_tokens=["<s>", "</s>"], post_processor="roberta"
    ),
    "characters": lambda: CharacterSettings(70),
    "bytes": lambda: ByteSettings(special_tokens=["<s>"]),
}


class Made(NamedTuple):
    """A trained tokenizer, and what two libraries read of it."""

    here: Tokenizer
    loaded: Any
    there: tokenizers.Tokenizer


@pytest.fixture(scope="module", params=KINDS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    here = train(CORPUS, KINDS[request.param](), workers=1)
    return Made(here, *saved(here, tmp_path_factory.mktemp("trained") / "tokenizer.json"))


def check(made: Made, text: str) -> None:
    text = repaired(text)
    for add in (False, True):
        expected = made.there.encode(text, add_special_tokens=add).ids
        for enc in (made.here, made.loaded):
            assert enc.encode(text, allowed_special="all", add_special_tokens=add) == expected
    assert made.here.decode(expected) == made.there.decode(expected, skip_special_tokens=False)


@drawn(20, text=st.one_of(texts, st.text("abcdé #'\n世<s>/[UNK]", max_size=60)))
def test_the_same_ids_of_any_text(made: Made, text: str) -> None:
    check(made, text)


def test_the_same_ids_of_unseen_text(made: Made) -> None:
    for path in SOURCES[12:16]:
        check(made, path.read_text("utf-8")[:15_000])


def test_the_vocabulary_is_the_same(made: Made) -> None:
    assert made.there.get_vocab(with_added_tokens=False) == made.here.definition.model.vocabulary
    listed = made.there.get_added_tokens_decoder().items()
    special = {token.content: number for number, token in listed if token.special}
    assert special == made.here.special_tokens


def test_bpe_like_another_is_what_the_reference_trains() -> None:
    special = [
        tokenizers.AddedToken(name, special=True, normalized=False, lstrip=name == "<m>")
        for name in ("<s>", "</s>", "<m>")
    ]
    trainer = trainers.BpeTrainer(
        vocab_size=900,
        special_tokens=special,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    model = {**LIKE["model"], "vocab": {}, "merges": []}
    untrained = {**LIKE, "added_tokens": [], "post_processor": None, "model": model}
    there = tokenizers.Tokenizer.from_str(json.dumps(untrained))
    there.train_from_iterator(CORPUS, trainer)
    here = train(CORPUS, CharacterBpeSettings(900, like=like()))
    found = here.definition.model
    assert found.written(found.vocabulary) == json.loads(there.to_str())["model"]
    assert [token.lstrip for token in here.added_tokens] == [False, False, True]
    assert here.definition.padding is not None
    assert here.definition.padding.pad_id == here.special_tokens["</s>"] == 1


@given(
    st.lists(st.one_of(st.text("ab \n#", max_size=60), texts).map(repaired), max_size=8),
    st.integers(1, 30) | st.none(),
    st.integers(0, 3),
    st.sampled_from([None, {"type": "Whitespace"}, {"type": "BertPreTokenizer"}]),
)
def test_words_are_those_of_the_reference(
    corpus: list[str], size: int | None, least: int, pre_tokenizer: Any
) -> None:
    corpus = [*corpus, "a"]
    there = json.loads(tokenizers.Tokenizer(models.WordLevel({}, unk_token="<unk>")).to_str())
    reference = tokenizers.Tokenizer.from_str(json.dumps({**there, "pre_tokenizer": pre_tokenizer}))
    options: dict[str, Any] = {"special_tokens": ["<unk>"], "show_progress": False}
    trainer = trainers.WordLevelTrainer(
        vocab_size=30_000 if size is None else size, min_frequency=least, **options
    )
    reference.train_from_iterator(corpus, trainer)
    with WordCounter.of_parts({"pre_tokenizer": pre_tokenizer}) as counter:
        for text in corpus:
            counter.feed(text)
        words = counter.finish()
    learned = WordLevelSettings(size, min_frequency=least).kind.learn(words, lambda steps: None)
    assert learned.model.vocabulary == reference.get_vocab()


# Anew, against what ``train_new_from_iterator`` of transformers does
#
# transformers takes a tokenizer's file, empties the model, and trains it with the trainer of its
# kind, the marks of BPE and the special tokens. ``trained_there`` does these steps with tokenizers.

LIKE_CORPUS = [path.read_text("utf-8")[:9_000] for path in SOURCES[5:9]]
LIKE_CORPUS += ["naïve 世界 🙂 a</w> ##b"] * 3

TRAINERS: dict[str, Any] = {
    "BPE": trainers.BpeTrainer,
    "WordPiece": trainers.WordPieceTrainer,
    "WordLevel": trainers.WordLevelTrainer,
    "Unigram": trainers.UnigramTrainer,
}


def file_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(kind_path(name)).read_text("utf-8"))
    # The processors' tokens may be no special ones, which the reference refuses.
    found["post_processor"] = found["padding"] = found["truncation"] = None
    ids = [len(found["model"]["vocab"]) - 1, *(one["id"] for one in found["added_tokens"])]
    # A token that is not special, which only Unigram keeps.
    found["added_tokens"].append(added(max(ids) + 1, "<b>", lstrip=True, normalized=True))
    return found


def trained_there(file: dict[str, Any], size: int) -> dict[str, Any]:
    model = {**file["model"]}
    kind = model["type"]
    options: dict[str, Any] = {"vocab_size": size, "show_progress": False}
    if kind == "Unigram":
        options["unk_token"] = model["vocab"][model["unk_id"]][0]
        model.update(unk_id=0, vocab=[[options["unk_token"], 0.0]])
    else:
        model["vocab"] = {}
    if kind == "BPE":
        model["merges"] = []
        for name in ("continuing_subword_prefix", "end_of_word_suffix"):
            if model.get(name) is not None:
                options[name] = model[name]
    options["special_tokens"] = [
        tokenizers.AddedToken(**{key: one[key] for key in one if key not in ("id", "special")})
        for one in file["added_tokens"]
        if one["special"] or kind == "Unigram"
    ]
    there = tokenizers.Tokenizer.from_str(json.dumps({**file, "added_tokens": [], "model": model}))
    there.train_from_iterator(LIKE_CORPUS, TRAINERS[kind](**options))
    found: dict[str, Any] = json.loads(there.to_str())
    return found


def trained_here(file: dict[str, Any], size: int, folder: Path) -> dict[str, Any]:
    (folder / "like.json").write_text(json.dumps(file), "utf-8")
    like = load(folder / "like.json")
    assert isinstance(like, Tokenizer)
    settings = TOKENIZER_KINDS[kind_of(like)].makes(size, like=like)
    enc = train(LIKE_CORPUS, settings, workers=1)
    save_tokenizer_json(enc, folder / "tokenizer.json")
    read = load(folder / "tokenizer.json")
    assert [enc.encode(text) for text in LIKE_CORPUS] == [read.encode(text) for text in LIKE_CORPUS]
    found: dict[str, Any] = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    return found


@pytest.mark.parametrize("no_mark", [None, ""])
@pytest.mark.parametrize("name", ["word_level", "characters_byte_fallback"])
def test_a_tokenizer_anew_is_that_of_the_reference(
    name: str, no_mark: str | None, tmp_path: Path
) -> None:
    file = file_of(name)
    if file["model"]["type"] == "BPE":
        file["model"].update(continuing_subword_prefix=no_mark, end_of_word_suffix=no_mark)
    assert trained_here(file, 500, tmp_path) == trained_there(file, 500)


@pytest.mark.parametrize("name", ["wordpiece", "characters_end_of_word"])
def test_but_for_the_numbers_of_characters_with_a_mark(name: str, tmp_path: Path) -> None:
    file = file_of(name)
    # No merges: those of equally frequent pairs go by the numbers.
    here, there = trained_here(file, 1, tmp_path), trained_there(file, 1)
    vocab, expected = here["model"].pop("vocab"), there["model"].pop("vocab")
    assert here == there
    assert {*vocab} == {*expected}
    plain = [token for token in expected if len(token) == 1]
    assert [vocab[token] for token in plain] == [expected[token] for token in plain]


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["unigram", "unigram_bytes"])
def test_but_for_the_scores_of_characters(name: str, tmp_path: Path) -> None:
    file = file_of(name)
    here, there = trained_here(file, 500, tmp_path), trained_there(file, 500)
    pieces, expected = dict(here["model"].pop("vocab")), dict(there["model"].pop("vocab"))
    assert here == there
    assert pieces.keys() == expected.keys()
    assert pieces == pytest.approx(expected, abs=0.02)


# Extended: tiktoken and tokenizers, given the new vocabularies, have the ids that are here

TERM_CORPUS = [
    "The ribosome translates messenger RNA; polyribosomes are many ribosomes on one mRNA.\n",
    "Apoptosis is programmed cell death, and kinases phosphorylate; 核糖体翻译信使核糖核酸。\n",
    "def phosphorylate(kinase):\n    return kinase.phosphorylate(ribosome)\n",
] * 3
TERMS = ["phosphorylate", "核糖体", "tRNA"]
OTHER = [
    "A tRNA meets ribosomes<|endoftext|> while 核糖体 phosphorylates.",
    "Nothing of that kind is here, café, 12345, 世界 \u200b😀",
]
several = st.tuples(corpora, st.integers(0, 5), terms, corpora)
Several = tuple[list[str], int, list[str], list[str]]


def by_tiktoken(new: Any, ranks: dict[bytes, int]) -> tiktoken.Encoding:
    special = new._special_tokens
    return tiktoken.Encoding(
        "new", pat_str=new._pat_str, mergeable_ranks=ranks, special_tokens=special
    )


@drawn(40, by_rank(tokenizers=False), several)
def test_by_rank(old: Encoding, several: Several) -> None:
    corpus, number, wanted, others = several
    new = extend(old, corpus, number, terms=wanted, min_frequency=1).encoding
    reference = by_tiktoken(new, dict(new._mergeable_ranks))
    for text in [*corpus, *others, *wanted]:
        ids = reference.encode(text, allowed_special="all")
        assert new.encode(text, allowed_special="all") == ids


@drawn(40, old=st.one_of(by_rank(), by_list()), several=several)
def test_as_tokenizer_json(
    tmp_path_factory: pytest.TempPathFactory, old: Encoding, several: Several
) -> None:
    corpus, number, wanted, others = several
    new = extend(old, corpus, number, terms=wanted, min_frequency=1).encoding
    again, reference = saved(new, tmp_path_factory.getbasetemp() / "extended.json")
    for text in [*corpus, *others, *wanted]:
        ids = reference.encode(text, add_special_tokens=False).ids
        for encoding in (new, again):
            assert encoding.encode(text, allowed_special="all") == ids


@pytest.mark.sweep
def test_gpt2_in_every_format(tmp_path: Path) -> None:
    old = get_encoding("gpt2")
    found = extend(old, TERM_CORPUS, 15, terms=TERMS)
    new = found.encoding
    assert len(found.merges) > 15
    assert not any(term.reason for term in found.terms)
    again, reference = saved(new, tmp_path / "tokenizer.json")
    save_gpt2(new, tmp_path / "encoder.json", tmp_path / "vocab.bpe")
    save_tiktoken(new, tmp_path / "new.tiktoken")
    ranks = tiktoken.load.load_tiktoken_bpe(str(tmp_path / "new.tiktoken"))
    encodings: list[Any] = [new, again, load(tmp_path / "vocab.bpe"), by_tiktoken(new, ranks)]
    rng = random.Random(1)
    words = [*" ".join([*TERM_CORPUS, *OTHER, *TERMS]).split(" "), "\n", "<|endoftext|>"]
    texts = [*TERM_CORPUS, *OTHER, *(" ".join(rng.choices(words, k=20)) for _ in range(50))]
    for text in texts:
        ids = reference.encode(text, add_special_tokens=False).ids
        for encoding in encodings:
            assert encoding.encode(text, allowed_special="all") == ids
    assert old.encode_ordinary(OTHER[1]) == new.encode_ordinary(OTHER[1])


@pytest.mark.parametrize(
    "settings",
    [
        WordPieceSettings(60, special_tokens=["[CLS]"]),
        CharacterBpeSettings(60, special_tokens=["<s>"]),
        CharacterBpeSettings(60, prefix="##", suffix=""),
        CharacterBpeSettings(60, suffix="", pre_tokenizer="metaspace"),
        WordLevelSettings(12),
    ],
)
def test_other_kinds(settings: TokenizerSettings, tmp_path: Path) -> None:
    old = train(TERM_CORPUS[:1], settings)
    found = extend(old, TERM_CORPUS, 12, terms=["phosphorylate", "tRNA", "mRNA"])
    new = found.encoding
    assert len(found.tokens) > 5
    again, reference = saved(new, tmp_path / "tokenizer.json")
    for text in (*TERM_CORPUS, *OTHER, *TERMS, "translate the ribosomes"):
        ids = reference.encode(text).ids
        for encoding in (new, again):
            assert encoding.encode(text, allowed_special="all") == ids
