"""Training of tokenizers of all kinds: ids, settings, stops, what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import get_encoding
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.tokenizer_json import TokenizerDefinition
from compat_bpe.pipeline.added_tokens import AddedToken
from compat_bpe.pipeline.tokenized import Padding
from compat_bpe.train import (
    ByteSettings,
    CharacterBpeSettings,
    CharacterSettings,
    Trainer,
    WordLevelSettings,
    WordPieceSettings,
    train,
)
from compat_bpe.train.kinds import TOKENIZER_KINDS, kind_of
from compat_bpe.train.tokenizer_kind import NAMED, part_named, renumbered
from tests.train.plain import trained

WORDS = ["Hug " * 10 + "pug " * 5 + "pun " * 12 + "bun " * 4 + "hugs " * 5]
SOME: dict[str, dict[str, Any]] = {
    "wordpiece": {"vocab_size": 20},
    "character-bpe": {"vocab_size": 20},
    "word-level": {"vocab_size": 5},
    "characters": {"vocab_size": 5},
    "bytes": {},
}


def pieces(tokenizer: Any) -> list[str]:
    vocabulary = tokenizer.definition.model.vocabulary
    assert [*vocabulary.values()] == [*range(len(vocabulary))]
    return [*vocabulary]


def test_ids_are_those_of_special_tokens_then_characters_then_merges() -> None:
    enc = train(WORDS, WordPieceSettings(20, special_tokens=["[CLS]", "[SEP]"]), name="mine")
    assert pieces(enc) == [
        "[UNK]",
        "[CLS]",
        "[SEP]",
        *"bghnpsu",
        "##u",
        "##g",
        "##n",
        "##s",
        "##ug",
        "##un",
        "hug",
        "pun",
        "pug",
        "hugs",
    ]
    assert (enc.name, enc.special_tokens) == ("mine", {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2})
    assert enc.encode("[CLS]HUGS hugx", allowed_special="all") == [1, 19, 0]
    enc = train(
        WORDS, WordPieceSettings(20, unknown="<u>", special_tokens=["<s>", "<u>"], prefix="@")
    )
    assert pieces(enc)[:10] == ["<s>", "<u>", *"bghnpsu", "@u"]
    assert enc.decode(enc.encode("bun gh hug")) == "bun <u> hug"


def test_the_rule_of_textbooks() -> None:
    enc = train(WORDS, WordPieceSettings(num_merges=2, rule="likelihood"))
    # Equal scores go by ids, so the second is b ##u.
    assert pieces(enc)[-2:] == ["##gs", "bu"]


def test_marks_of_bpe() -> None:
    assert (
        pieces(train(WORDS, CharacterBpeSettings(16)))[9:]
        == "g</w> n</w> s</w> pu pun</w> Hu Hug</w>".split()
    )
    assert pieces(train(WORDS, CharacterBpeSettings(num_merges=1, prefix="@")))[-1] == "@ug"
    assert pieces(train(WORDS, CharacterBpeSettings(num_merges=1, suffix="")))[-1] == "ug"
    both = pieces(train(WORDS, CharacterBpeSettings(num_merges=1, prefix="@", suffix="$")))
    assert both == ["<unk>", *"Hbghnpsu", "@u", "@g$", "@n$", "@g", "@s$", "pu"]
    long = train(WORDS, CharacterBpeSettings(99, max_token_length=2))
    assert max(len(token.replace("</w>", "")) for token in pieces(long)[1:]) == 2


def test_words_characters_and_bytes() -> None:
    enc = train(["b a b c,", "a"], WordLevelSettings(special_tokens=["<s>", "c"], min_frequency=2))
    # A word that is a special token has its id.
    assert pieces(enc) == ["<unk>", "<s>", "c", "a", "b"]
    assert enc.encode("c b z", allowed_special=set(), disallowed_special=()) == [2, 4, 0]
    assert pieces(train(["a b"], WordLevelSettings(1, special_tokens=["x"]))) == ["<unk>", "x"]
    chars = train(["aab\n"], CharacterSettings(3))
    assert pieces(chars) == ["<unk>", "a", "\n"]
    assert chars.decode(chars.encode("a\na")) == "a\na"
    octets = train(["x"], ByteSettings(special_tokens=["<s>"]))
    assert octets.n_vocab == 257
    assert octets.decode(octets.encode("é \n世")) == "é \n世"
    assert octets.count("é \n世") == 7


def test_it_stops_where_it_is_told_to() -> None:
    assert trained(WordPieceSettings(14), WORDS).stopped == "size"
    assert len(trained(WordPieceSettings(99, num_merges=3), WORDS).merges) == 3
    everything = trained(WordPieceSettings(99), WORDS)
    assert everything.stopped == "nothing left"
    assert everything.merges[-1][:2] == (b"b", b"##un")
    twelve = trained(WordPieceSettings(99, min_frequency=12), WORDS)
    assert min(merge.frequency for merge in twelve.merges) == 12
    # Characters are never left out for the size, as in tokenizers.
    assert trained(WordPieceSettings(3), WORDS).encoding.n_vocab == 12
    assert trained(WordLevelSettings(3), WORDS).stopped == "size"
    assert trained(WordLevelSettings(99), WORDS).stopped == "nothing left"
    assert trained(WordLevelSettings(), WORDS).stopped == "nothing left"


def test_what_it_says_of_the_corpus() -> None:
    found = trained(WordPieceSettings(16), ["hug hug", "naïve"])
    assert (found.bytes, found.chunks, found.distinct_chunks) == (6 + 5, 3, 2)
    text_tokens = found.encoding.encode("hug hug naive")
    assert found.tokens == len(text_tokens)
    assert found.merges == [(b"h", b"##u", 15, 2)]
    assert found.encoding.decode([15]) == "hu"
    counted = trained(WordLevelSettings(2), ["a b a"])
    assert (counted.tokens, counted.merges) == (3, [])


@pytest.mark.parametrize("kind", SOME)
def test_weights(kind: str) -> None:
    settings = TOKENIZER_KINDS[kind].makes(**SOME[kind], weights={"a": 3})
    found = trained(settings, {"a": ["xx xx yy"], "b": ["zz yy zz zz"]})
    # Of characters there are spaces, too; of words, 6 bytes in "a" and 8 in "b".
    sizes = (8, 11) if kind in ("characters", "bytes") else (6, 8)
    assert found.factors == {"a": round(3 * sizes[1] / sizes[0], 3), "b": 1.0}
    if kind == "word-level":
        assert pieces(found.encoding)[1:] == ["xx", "yy", "zz"]
        assert found.tokens == 3 * 4 + 4


def test_frequencies_with_weights_are_those_of_texts() -> None:
    texts = {"a": ["ab ab cd"], "b": ["ab cd cd"]}
    # "a" is taken twice, so that there are 5 ab and 4 cd.
    found = trained(WordPieceSettings(99, weights={"a": 2}, min_frequency=5), texts)
    assert [(merge.left, merge.frequency) for merge in found.merges] == [(b"a", 5)]
    assert found.tokens == 5 + 2 * 4
    found = trained(WordLevelSettings(weights={"a": 2}, min_frequency=5), texts)
    assert pieces(found.encoding)[1:] == ["ab"]


def test_a_pair_that_is_joined_twice_is_one_merge() -> None:
    settings = CharacterBpeSettings(60, prefix="##", pre_tokenizer="whitespace")
    found = trained(settings, ["#### ##### #####"])
    assert len(found.merges) == 4
    assert isinstance(found.encoding, Tokenizer)
    model: Any = found.encoding.definition.model
    assert list(zip(*model.merges)) == [("#", "####"), ("###", "####"), ("###", "###")]


def test_progress_is_told() -> None:
    for kind, some in SOME.items():
        steps: list[int] = []
        with Trainer(TOKENIZER_KINDS[kind].makes(**some)) as trainer:
            trainer.feed(WORDS[0])
            found = trainer.train(steps.append)
        assert sum(steps) == found.encoding.n_vocab
    steps = []
    with Trainer(WordPieceSettings(num_merges=3)) as trainer:
        trainer.feed(WORDS[0])
        trainer.train(steps.append)
    assert steps == [0, 1, 1, 1]


def test_pieces_of_a_text_are_the_text() -> None:
    with Trainer(WordPieceSettings(20)) as trainer:
        for char in WORDS[0]:
            trainer.feed(char, is_last=False)
        trainer.feed("")
        assert trainer.train().merges == trained(WordPieceSettings(20), WORDS).merges


LIKE_PARTS: dict[str, Any] = {
    "normalizer": {"type": "Lowercase"},
    "pre_tokenizer": {"type": "WhitespaceSplit"},
    "post_processor": {"type": "BertProcessing", "sep": ["</s>", 71], "cls": ["<s>", 70]},
    "decoder": {"type": "Fuse"},
}


def like(model: Any) -> Tokenizer:
    tokens = (
        AddedToken("</s>", 71, special=True),
        AddedToken("<s>", 70, special=True, rstrip=True),
        AddedToken("word", 72),
    )
    padding = Padding(pad_id=71, pad_token="</s>")
    return Tokenizer("like", TokenizerDefinition(model, tokens, LIKE_PARTS, "like", None, padding))


@pytest.mark.parametrize("kind", [kind for kind in TOKENIZER_KINDS if kind != "bytes"])
@pytest.mark.parametrize("other", ["wordpiece", "character-bpe", "word-level"])
def test_like_another_tokenizer(kind: str, other: str) -> None:
    model = trained(TOKENIZER_KINDS[other].makes(**SOME[other], unknown="<?>"), WORDS).encoding
    assert isinstance(model, Tokenizer)
    old = like(model.definition.model)
    assert kind_of(old) == other
    enc = train(
        ["Word <s> word"], TOKENIZER_KINDS[kind].makes(20, like=old, special_tokens=["<m>"])
    )
    parts = enc.definition.parts
    is_same = TOKENIZER_KINDS[kind].model_types == TOKENIZER_KINDS[other].model_types
    # The token for the unknown is that of the same kind.
    usual = {"wordpiece": "[UNK]", "character-bpe": "<unk>"}.get(kind, "<unk>")
    unknown = "<?>" if is_same else usual
    assert pieces(enc)[:4] == [unknown, "<s>", "</s>", "<m>"]
    assert enc.special_tokens == {unknown: 0, "<s>": 1, "</s>": 2, "<m>": 3}
    assert [token.rstrip for token in enc.added_tokens] == [False, True, False, False]
    assert parts["normalizer"] == LIKE_PARTS["normalizer"]
    assert parts["pre_tokenizer"] == LIKE_PARTS["pre_tokenizer"]
    assert parts["post_processor"]["cls"] == ["<s>", 1]
    assert parts["post_processor"]["sep"] == ["</s>", 2]
    keeps_decoder = is_same or kind in ("characters", "unigram")
    assert (parts["decoder"] == LIKE_PARTS["decoder"]) == keeps_decoder
    assert enc.definition.padding == Padding(pad_id=2, pad_token="</s>")
    assert enc.encode("", add_special_tokens=True) == [1, 2]


def test_settings_of_the_model_are_those_of_the_other() -> None:
    old = train(WORDS, WordPieceSettings(30, prefix="@"))
    longest = old.definition.model._replace(longest_word=3)  # type: ignore[attr-defined]
    again = train(WORDS, WordPieceSettings(30, like=like(longest)))
    assert again.definition.model.longest_word == 3  # type: ignore[attr-defined]
    assert "@ug" in pieces(again)
    assert "##ug" in pieces(train(WORDS, WordPieceSettings(30, like=like(longest), prefix="##")))
    given = train(["A b"], WordPieceSettings(30, like=like(longest), normalizer="none"))
    assert "A" in pieces(given)
    by_ranks = get_encoding("deepseek_v3")
    assert isinstance(by_ranks, Tokenizer)
    assert kind_of(by_ranks) == "character-bpe"
    fresh = train(WORDS, CharacterBpeSettings(1100, like=by_ranks))
    assert fresh.decode(fresh.encode("é世 hug!")) == "é世 hug!"


def test_byte_fallback_has_its_bytes() -> None:
    old = train(WORDS, CharacterBpeSettings(30))
    model: Any = old.definition.model
    unknown = model.unknown._replace(byte_fallback=True)
    bytes_ = {f"<0x{byte:02X}>": 100 + byte for byte in range(256)}
    model = model._replace(unknown=unknown, vocabulary={**model.vocabulary, **bytes_})
    enc = train(["ab ab"], CharacterBpeSettings(300, like=like(model), byte_fallback=True))
    assert pieces(enc)[:4] == ["<unk>", "<s>", "</s>", "<0x00>"]
    assert pieces(enc)[258:] == ["<0xFF>", "a", "b", "b</w>", "ab</w>"]
    # The bytes are those of the character with its mark, as in tokenizers.
    assert enc.encode("é") == [3 + byte for byte in "é</w>".encode()]
    # As in transformers, there are none unless they are asked for.
    without = train(["ab ab"], CharacterBpeSettings(300, like=like(model)))
    assert pieces(without) == ["<unk>", "<s>", "</s>", "a", "b", "b</w>", "ab</w>"]
    left: Any = without.definition.model
    assert left.unknown.byte_fallback
    anew = train(["ab ab é"], CharacterBpeSettings(300, byte_fallback=True, suffix=""))
    assert anew.decode(anew.encode("ab世a🙂")) == "ab世a🙂"
    marked = train(["ab ab é"], CharacterBpeSettings(300, byte_fallback=True))
    assert marked.decode(marked.encode("ab 世a🙂 a世")) == "ab 世a🙂 a世"


def test_parts_by_name() -> None:
    for kind, named in NAMED.items():
        for name in named:
            options: dict[str, Any] = {kind: name}
            special = ["[CLS]", "[SEP]", "<s>", "</s>"]
            enc = train(WORDS, WordPieceSettings(40, special_tokens=special, **options))
            found = enc.definition.parts[kind]
            expected = renumbered(part_named(kind, name), enc.special_tokens)
            assert found == expected
    enc = train(["A b"], WordPieceSettings(40, normalizer={"type": "NFC"}))
    assert "A" in pieces(enc)


def test_the_alphabet() -> None:
    found = pieces(train(["aab ab"], WordPieceSettings(4, initial_alphabet="zx", limit_alphabet=3)))
    assert found == ["[UNK]", "a", "x", "z", "##a"]
    byte_level = train(["ab"], CharacterBpeSettings(5, suffix="", pre_tokenizer="byte-level"))
    assert byte_level.n_vocab == 257


# The same in any process

ROOT = Path(__file__).parents[2]

#: Trains all kinds, with as many workers as its argument says. Sets have another order in a
#: process with another hash seed.
SCRIPT = """
import sys
from functools import partial
from json import dumps
from compat_bpe.corpus import chunk_counts
from compat_bpe.train import *
from compat_bpe.train.kinds import TOKENIZER_KINDS
from tests.train import plain
chunk_counts._WORTH_WORKERS = chunk_counts._SHARE = 300
workers = int(sys.argv[1])
sorted_json = partial(dumps, sort_keys=True)
lines = open("README.md", encoding="utf-8").read().splitlines()[:80]

def show(settings, texts, held_out=(), workers=1):
    texts = [text + "\\n" for text in texts]
    groups = {"a": texts[::2], "b": texts[1::2]}
    trained = plain.trained(settings, groups, held_out, workers=workers)
    encoding = trained.encoding
    print(settings.kind.name, trained.merges, trained.curve, sorted_json(trained.metrics()))
    print(encoding.recipe()[1] if not hasattr(encoding, "definition") else encoding.definition)

show(TrainingSettings(400, weights={"b": 3}), lines, workers=workers)
for make in (TrainingSettings, WordPieceSettings):
    stop = Convergence(2, 0.01, 20)
    show(make(convergence=stop), lines[::2], lines[1::2], workers)
for kind in TOKENIZER_KINDS.values():
    size = None if kind.makes is ByteSettings else 200
    show(kind.makes(size), lines)
for model in ("bpe", "unigram"):
    show(SentencePieceSettings(200, model, hard_vocab_limit=False), lines)
"""


def test_neither_hash_seeds_nor_workers_play_a_part() -> None:
    found = []
    for workers in (1, 2):
        environment = {**os.environ, "PYTHONHASHSEED": str(workers), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", SCRIPT, str(workers)]
        found.append(subprocess.check_output(command, cwd=ROOT, env=environment))
    assert found[0].count(b"\n") >= 22
    assert found[0] == found[1]
