"""Training of WordPiece and of BPE over characters against Hugging Face tokenizers.

There, the order of characters with a mark is random; it is taken from what the reference made.
Given that, all tokens and merges are the same.
"""

from __future__ import annotations

import json
import sysconfig
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import models, trainers

from compat_bpe.train.bpe.merge_kinds import (
    CharacterBpeSettings,
    MergeSettings,
    WordPieceSettings,
)
from compat_bpe.train.bpe.merges_of_characters import Marks, spelled
from compat_bpe.train.words import WordCounter
from tests.corpora import CORPORA
from tests.differential.reference import repaired
from tests.strategies import texts

PARTS: dict[str, dict[str, Any]] = {
    "bert": {
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
    },
    "whitespace": {"normalizer": None, "pre_tokenizer": {"type": "Whitespace"}},
    "metaspace": {
        "normalizer": {"type": "NFKC"},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"},
    },
    "nothing": {"normalizer": None, "pre_tokenizer": None},
}


class Reference(NamedTuple):
    """What tokenizers learned: the tokens by id, and the merges (none for WordPiece)."""

    tokens: list[str]
    merges: list[tuple[str, str]]


def tokenizer_of(model: Any, parts: dict[str, Any]) -> tokenizers.Tokenizer:
    file = json.loads(tokenizers.Tokenizer(model).to_str())
    return tokenizers.Tokenizer.from_str(json.dumps({**file, **parts}))


def reference(corpus: list[str], settings: Any, parts: dict[str, Any]) -> Reference:
    options: dict[str, Any] = {
        "vocab_size": settings.vocab_size,
        "min_frequency": settings.min_frequency,
        "special_tokens": list(settings.kind.all_special_tokens),
        "initial_alphabet": list(settings.initial_alphabet),
        "show_progress": False,
    }
    if settings.limit_alphabet is not None:
        options["limit_alphabet"] = settings.limit_alphabet
    if settings.kind.marks.suffix:
        options["end_of_word_suffix"] = settings.kind.marks.suffix
    if settings.kind.marks.prefix or isinstance(settings, WordPieceSettings):
        options["continuing_subword_prefix"] = settings.kind.marks.prefix
    if isinstance(settings, WordPieceSettings):
        tokenizer = tokenizer_of(models.WordPiece({}, unk_token="[UNK]"), parts)
        trainer: Any = trainers.WordPieceTrainer(**options)
    else:
        tokenizer = tokenizer_of(models.BPE(), parts)
        if settings.max_token_length is not None:
            # There, a token is shorter than this; here, it is no longer.
            options["max_token_length"] = settings.max_token_length + 1
        trainer = trainers.BpeTrainer(**options)
    tokenizer.train_from_iterator(corpus, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    merges = [(left, right) for left, right in model.get("merges", [])]
    return Reference(sorted(model["vocab"], key=model["vocab"].__getitem__), merges)


def learned(
    corpus: list[str], settings: Any, parts: dict[str, Any], expected: Reference
) -> Reference:
    """What is learned here, from the first tokens in the reference's order."""
    with WordCounter.of_parts(parts) as counter:
        for text in corpus:
            counter.feed(text)
        words = counter.finish()
    own = settings.kind.first_tokens(words.counts)
    first = expected.tokens[: len(own)]
    assert sorted(first) == sorted(own)
    unmarked = len(first) - len([token for token in own if token in marked_in(own, settings)])
    assert first[:unmarked] == own[:unmarked], "only characters with a mark are in another order"
    marked = marked_in(own, settings)
    for before, token in always_before(words.counts, first, settings.kind.marks):
        if {before, token} <= marked:
            assert first.index(before) < first.index(token)
            assert own.index(before) < own.index(token)
    model = settings.kind.learn(words, tokens=first).model
    return Reference([*model.vocabulary], [*zip(*getattr(model, "merges", ((), ())))])


def always_before(words: Iterable[str], first: list[str], marks: Marks) -> set[tuple[str, str]]:
    """The pairs of tokens of which one stands before the other in each word that has the other."""
    heads: dict[str, set[str]] = {}
    for ids in spelled(dict.fromkeys(words, 1), first, marks):
        tokens = dict.fromkeys(first[ord(one)] for one in ids)
        for place, token in enumerate(tokens):
            heads.setdefault(token, {*tokens}).intersection_update([*tokens][:place])
    return {(before, token) for token, some in heads.items() for before in some}


def marked_in(tokens: list[str], settings: Any) -> set[str]:
    special = {*settings.kind.all_special_tokens}
    return {token for token in tokens if len(token) > 1 and token not in special}


def check(corpus: list[str], settings: Any, parts: dict[str, Any]) -> Reference:
    expected = reference(corpus, settings, parts)
    found = learned(corpus, settings, parts, expected)
    assert found.tokens == expected.tokens
    if not isinstance(settings, WordPieceSettings):
        assert found.merges == expected.merges
    return expected


few_letters = st.text("ab \n#'", max_size=60)
corpora = st.lists(
    st.one_of(few_letters, st.text("abcde f", max_size=100), texts).map(repaired), max_size=8
)
#: None of them is what merges make, but for the tests of that.
special_tokens = st.sampled_from([[], ["[PAD]", "[UNK]"], ["[MASK]"]])


@given(
    st.sampled_from(["bert", "whitespace", "metaspace", "nothing"]),
    corpora,
    special_tokens,
    st.integers(1, 60),
    st.integers(0, 4),
    st.sampled_from(["", "xyz", "aé"]),
    st.sampled_from(["##", "@", ""]),
)
def test_wordpiece(
    parts: str,
    corpus: list[str],
    special: list[str],
    size: int,
    least: int,
    initial: str,
    prefix: str,
) -> None:
    settings = WordPieceSettings(
        size,
        special_tokens=special,
        min_frequency=least,
        initial_alphabet=initial,
        prefix=prefix,
    )
    check([*corpus, "a"], settings, PARTS[parts])


@given(
    st.sampled_from(["bert", "whitespace", "metaspace", "nothing"]),
    corpora,
    special_tokens,
    st.integers(1, 60),
    st.integers(0, 4),
    st.none() | st.integers(2, 9),
    st.sampled_from(["##", ""]),
    st.sampled_from(["</w>", ""]),
)
def test_bpe_over_characters(
    parts: str,
    corpus: list[str],
    special: list[str],
    size: int,
    least: int,
    longest: int | None,
    prefix: str,
    suffix: str,
) -> None:
    settings = CharacterBpeSettings(
        size,
        special_tokens=special,
        min_frequency=least,
        max_token_length=longest,
        prefix=prefix,
        suffix=suffix,
    )
    check([*corpus, "a"], settings, PARTS[parts])


@given(
    st.lists(
        st.one_of(st.text("#", min_size=1, max_size=9), st.text("#ab", min_size=1, max_size=8)),
        min_size=1,
        max_size=9,
    ),
    st.sampled_from([[], ["ab"], ["##ab"], ["ab</w>", "ba"]]),
    st.sampled_from(["whitespace", "nothing"]),
)
def test_merges_that_make_a_token_again(words: list[str], special: list[str], parts: str) -> None:
    check([" ".join(words)], WordPieceSettings(60, special_tokens=special), PARTS[parts])
    check([" ".join(words)], CharacterBpeSettings(60, special_tokens=special), PARTS[parts])
    # There, the count of a pair that was joined before and comes up again is too high, so that it
    # is joined again at once. The tokens and the pairs are the same.
    settings = CharacterBpeSettings(60, special_tokens=special, prefix="##")
    expected = reference([" ".join(words)], settings, PARTS[parts])
    found = learned([" ".join(words)], settings, PARTS[parts], expected)
    assert found.tokens == expected.tokens
    assert sorted(found.merges) == sorted(expected.merges)


@given(st.integers(0, 7), st.sampled_from(["", "z", "ax"]))
def test_a_limited_alphabet(limit: int, initial: str) -> None:
    # No two characters are equally frequent: there, hashes would decide between them.
    corpus = [" ".join(word for word in ["abc", "bac", "cab"] * 3)]
    corpus += ["a" * 5 + " bb ccc" + " dad" * 7 + " éa" * 9 + " f" * 2]
    settings = CharacterBpeSettings(40, initial_alphabet=initial, limit_alphabet=limit)
    if len(initial) <= limit:
        check(corpus, settings, PARTS["whitespace"])


@cache
def natural_texts() -> dict[str, list[str]]:
    sources = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    found = {"standard library": [path.read_text("utf-8") for path in sources[:40]]}
    for name in ("english.txt", "udhr.txt", "chinese_classical.txt", "markdown.md"):
        if (CORPORA / name).exists():
            text = (CORPORA / name).read_text("utf-8")[:300_000]
            found[name] = text.splitlines(keepends=True)
    return found


NATURAL: dict[str, MergeSettings] = {
    "wordpiece": WordPieceSettings(5000),
    "suffix": CharacterBpeSettings(5000, prefix="", suffix="</w>", min_frequency=2),
    "prefix": CharacterBpeSettings(5000, prefix="##", suffix="", min_frequency=2),
    "plain": CharacterBpeSettings(5000, prefix="", suffix="", min_frequency=2),
}


@pytest.mark.parametrize(
    ("kind", "parts"),
    [("wordpiece", "bert"), ("suffix", "whitespace"), ("prefix", "bert"), ("plain", "metaspace")],
)
def test_a_natural_text(kind: str, parts: str) -> None:
    expected = check(natural_texts()["standard library"][:5], NATURAL[kind], PARTS[parts])
    assert len(expected.tokens) > 1000


@pytest.mark.sweep
@pytest.mark.parametrize("title", natural_texts())
@pytest.mark.parametrize("parts", ["bert", "whitespace"])
@pytest.mark.parametrize("kind", NATURAL)
def test_natural_texts(title: str, parts: str, kind: str) -> None:
    expected = check(natural_texts()[title], NATURAL[kind], PARTS[parts])
    assert len(expected.tokens) > 2000
