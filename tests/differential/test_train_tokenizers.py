"""Trained tokenizers of all kinds, written and read by the real tokenizers: the same ids.

And the vocabulary of words is that of ``WordLevelTrainer``.
"""

from __future__ import annotations

import json
import sysconfig
from pathlib import Path
from typing import Any, Callable, NamedTuple

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import models, trainers

from compat_bpe import load
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.save import save_tokenizer_json
from compat_bpe.train import (
    ByteSettings,
    CharacterBpeSettings,
    CharacterSettings,
    WordLevelSettings,
    WordPieceSettings,
    train,
)
from compat_bpe.train.tokenizer_kind import TokenizerSettings
from compat_bpe.train.words import WordCounter
from tests.differential.reference import repaired
from tests.differential.small_tokenizers import file
from tests.examples import scaled
from tests.strategies import texts
from tests.tokenizer_files import BYTE_LEVEL

SOURCES = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
CORPUS = [path.read_text("utf-8")[:12_000] for path in SOURCES[:5]]
CORPUS += ["naïve 世界你好 12345 \u0301\r\nCafé ### a#b"] * 9
BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

#: A tokenizer to be trained anew, whose parts and special tokens have ids of their own.
LIKE: dict[str, Any] = file(
    pre_tokenizer={**BYTE_LEVEL, "use_regex": True},
    added_tokens=[
        {"id": 384 + number, "content": name, "special": name != "<b>", **flags}
        for number, (name, flags) in enumerate(
            (name, {"single_word": False, "lstrip": name == "<m>", "rstrip": False}
             | {"normalized": False})
            for name in ("<s>", "</s>", "<b>", "<m>")
        )
    ],
    post_processor={
        "type": "Sequence",
        "processors": [
            {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True,
             "use_regex": True},
            {
                "type": "TemplateProcessing",
                "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                           {"Sequence": {"id": "A", "type_id": 0}}],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}},
                         {"SpecialToken": {"id": "</s>", "type_id": 0}},
                         {"Sequence": {"id": "B", "type_id": 1}}],
                "special_tokens": {
                    "<s>": {"id": "<s>", "ids": [384], "tokens": ["<s>"]},
                    "</s>": {"id": "</s>", "ids": [385], "tokens": ["</s>"]},
                },
            },
        ],
    },
    padding={"strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": None,
             "pad_id": 385, "pad_type_id": 0, "pad_token": "</s>"},
)  # fmt: skip


def like() -> Tokenizer:
    """The tokenizer to be trained anew, read by this package."""
    from compat_bpe.formats.checked_json import Json
    from compat_bpe.formats.tokenizer_json import parse_tokenizer

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
    path = tmp_path_factory.mktemp("trained") / "tokenizer.json"
    here = train(CORPUS, KINDS[request.param](), workers=1)
    save_tokenizer_json(here, path)
    there = tokenizers.Tokenizer.from_file(str(path))
    there.no_padding()
    return Made(here, load(path), there)


def check(made: Made, text: str) -> None:
    text = repaired(text)
    for added in (False, True):
        expected = made.there.encode(text, add_special_tokens=added).ids
        for enc in (made.here, made.loaded):
            assert enc.encode(text, allowed_special="all", add_special_tokens=added) == expected
    decoded = made.there.decode(expected, skip_special_tokens=False)
    assert made.here.decode(expected) == decoded


@settings(max_examples=scaled(20))
@given(text=st.one_of(texts, st.text("abcdé #'\n世<s>/[UNK]", max_size=60)))
def test_the_same_ids_of_any_text(made: Made, text: str) -> None:
    check(made, text)


def test_the_same_ids_of_unseen_text(made: Made) -> None:
    for path in SOURCES[12:16]:
        check(made, path.read_text("utf-8")[:15_000])


def test_the_vocabulary_is_the_same(made: Made) -> None:
    assert made.there.get_vocab(with_added_tokens=False) == made.here.definition.model.vocabulary
    special = {
        token.content: number
        for number, token in made.there.get_added_tokens_decoder().items()
        if token.special
    }
    assert special == made.here.special_tokens


def test_bpe_like_another_is_what_the_reference_trains() -> None:
    trainer = trainers.BpeTrainer(
        vocab_size=900,
        special_tokens=[
            tokenizers.AddedToken(name, special=True, normalized=False, lstrip=name == "<m>")
            for name in ("<s>", "</s>", "<m>")
        ],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    untrained = {**LIKE, "added_tokens": [], "post_processor": None}
    untrained["model"] = {**LIKE["model"], "vocab": {}, "merges": []}
    there = tokenizers.Tokenizer.from_str(json.dumps(untrained))
    there.train_from_iterator(CORPUS, trainer)
    expected = json.loads(there.to_str())
    here = train(CORPUS, CharacterBpeSettings(900, like=like()))
    model = here.definition.model
    assert model.written(model.vocabulary) == expected["model"]
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
    trainer = trainers.WordLevelTrainer(
        vocab_size=30_000 if size is None else size,
        min_frequency=least,
        special_tokens=["<unk>"],
        show_progress=False,
    )
    reference.train_from_iterator(corpus, trainer)
    with WordCounter.of_parts({"pre_tokenizer": pre_tokenizer}) as counter:
        for text in corpus:
            counter.feed(text)
        words = counter.finish()
    learned = WordLevelSettings(size, min_frequency=least).kind.learn(words, lambda steps: None)
    assert learned.model.vocabulary == reference.get_vocab()
