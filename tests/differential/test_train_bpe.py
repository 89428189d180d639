"""Training of BPE and of WordPiece against Hugging Face tokenizers, and what reads the result.

The merges are the same in the same order. Of characters with a mark the order there is random; it
is taken from what the reference made. Given that, all tokens and merges are the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import tiktoken
import tiktoken.load
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, models, pre_tokenizers, trainers

from compat_bpe import Encoding, load
from compat_bpe.encodings.load import DEEPSEEK
from compat_bpe.encodings.published import PATTERNS
from compat_bpe.pipeline.byte_level import decode_bytes
from compat_bpe.save import save_tokenizer_json
from compat_bpe.train import TrainingSettings, train_bpe
from compat_bpe.train.bpe.growing import make_encoding
from compat_bpe.train.bpe.merge_kinds import (
    CharacterBpeSettings,
    MergeSettings,
    WordPieceSettings,
)
from compat_bpe.train.bpe.merges_of_characters import Marks, spelled
from compat_bpe.train.words import WordCounter
from compat_bpe.train.write import write_vocabulary
from tests.corpora import CORPORA, SOURCES, natural_texts
from tests.differential.reference import repaired
from tests.strategies import texts
from tests.train.plain import trained

# BPE over bytes

PATTERN_NAMES = ["gpt2", "cl100k_base", "o200k_base", "llama3", DEEPSEEK]
Merges = list[tuple[bytes, ...]]
Reader = Callable[[str], list[int]]


@pytest.fixture(scope="module")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """For each pattern a ``tokenizer.json`` that splits by it and has no merges."""
    path = tmp_path_factory.mktemp("untrained") / "tokenizer.json"
    found = {}
    for name in PATTERN_NAMES:
        save_tokenizer_json(make_encoding(name, name), path)
        found[name] = path.read_text("utf-8")
    return found


def trained_there(untrained: str, corpus: list[str], vocab_size: int, **options: Any) -> Any:
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, initial_alphabet=alphabet, show_progress=False, **options
    )
    tokenizer = tokenizers.Tokenizer.from_str(untrained)
    tokenizer.train_from_iterator(corpus, trainer)
    return tokenizer


def reference_merges(untrained: str, corpus: list[str], vocab_size: int, **options: Any) -> Merges:
    there = trained_there(untrained, corpus, vocab_size, **options)
    merges = json.loads(there.to_str())["model"]["merges"]
    return [tuple(map(decode_bytes, merge)) for merge in merges]


def merges_of(corpus: list[str], vocab_size: int, **options: Any) -> Merges:
    found = trained(TrainingSettings(vocab_size, **options), corpus)
    return [(merge.left, merge.right) for merge in found.merges]


def random_corpora(few_letters: str) -> st.SearchStrategy[list[str]]:
    text = st.one_of(st.text(few_letters, max_size=60), st.text("abcde f", max_size=100), texts)
    return st.lists(text.map(repaired), max_size=8).map(lambda corpus: [*corpus, "a"])


@given(
    st.sampled_from(PATTERN_NAMES),
    random_corpora("ab \n1'"),
    st.integers(256, 320),
    st.integers(0, 4),
    st.none() | st.integers(2, 9),
)
def test_the_merges_are_those_of_the_reference(
    untrained: dict[str, str], pattern: str, corpus: list[str], size: int, least: int, longest: Any
) -> None:
    # There, a token is shorter than this; here, it is no longer.
    theirs = {} if longest is None else {"max_token_length": longest + 1}
    expected = reference_merges(untrained[pattern], corpus, size, min_frequency=least, **theirs)
    options = {"pattern": pattern, "min_frequency": least, "max_token_length": longest}
    assert merges_of(corpus, size, **options) == expected


@pytest.mark.parametrize(
    ("title", "number", "pattern"),
    [
        ("standard library", 30, "gpt2"),
        *(
            pytest.param(title, None, pattern, marks=pytest.mark.sweep)
            for title in natural_texts()
            for pattern in ("gpt2", DEEPSEEK)
        ),
    ],
)
def test_natural_texts(
    untrained: dict[str, str], title: str, number: int | None, pattern: str
) -> None:
    corpus = natural_texts()[title][:number]
    expected = reference_merges(untrained[pattern], corpus, 3000)
    assert len(expected) == 3000 - 256
    assert merges_of(corpus, 3000, pattern=pattern) == expected


class Written(NamedTuple):
    """A vocabulary, and what reads it from its folder."""

    encoding: Encoding
    readers: dict[str, Reader]


def write(name: str, folder: Path) -> Written:
    """Train with a pattern, write all formats, and have each read by whatever reads it."""
    corpus = [path.read_text("utf-8") for path in SOURCES[:10]]
    corpus += ["naïve 世界你好 12345 \u0301\r\n"] * 40
    specials = ["<|endoftext|>", "<|pad|>"]
    encoding = train_bpe(corpus, 900, pattern=name, special_tokens=specials, name="mine")
    write_vocabulary(folder, encoding, pattern=name)

    def here(file: str = "", **options: Any) -> Reader:
        read = load(folder / file, **options)
        return lambda text: read.encode(text, allowed_special="all")

    def there(*model: str) -> Reader:
        read: Any = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        if model:
            files = [str(folder / file) for file in model]
            read.model = tokenizers.models.BPE.from_file(*files)
        # It takes no surrogates.
        return lambda text: read.encode(repaired(text), add_special_tokens=False).ids

    readers = {
        "folder": here(),
        "file": here("tokenizer.json"),
        "tokenizers": there(),
        "tokenizers, vocab.json": there("vocab.json", "merges.txt"),
    }
    if name != DEEPSEEK:
        ids = encoding._special_tokens
        readers["ranks"] = here("mine.tiktoken", pattern=name, special_tokens=ids)
        readers["vocab.json"] = here("vocab.json", pattern=name)
        readers["encoder.json"] = here("encoder.json", pattern=name)
        ranks = tiktoken.load.load_tiktoken_bpe(str(folder / "mine.tiktoken"))
        # By tiktoken's own reader, which checks one file against the other.
        encoder = json.loads((folder / "encoder.json").read_bytes())
        without = folder.with_name("without_specials.json")
        without.write_text(json.dumps({k: v for k, v in encoder.items() if k not in ids}))
        files = str(folder / "vocab.bpe"), str(without)
        assert tiktoken.load.data_gym_to_mergeable_bpe_ranks(*files) == ranks
        by_ranks = tiktoken.Encoding(
            "x", pat_str=PATTERNS[name], mergeable_ranks=ranks, special_tokens=ids
        )
        readers["tiktoken"] = lambda text: by_ranks.encode(text, allowed_special="all")
    if name == "gpt2":
        readers["vocab.json as it is"] = here("vocab.json")
    return Written(encoding, readers)


@pytest.fixture(scope="module", params=PATTERN_NAMES)
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Written:
    return write(request.param, tmp_path_factory.mktemp("written") / "mine")


def check_written(written: Written, text: str) -> None:
    expected = written.encoding.encode(text, allowed_special="all")
    for reader, encode in written.readers.items():
        assert encode(text) == expected, reader


@given(text=texts)
def test_whatever_reads_it_gives_the_same_ids(written: Written, text: str) -> None:
    check_written(written, text)


@pytest.mark.parametrize("number", [4, pytest.param(20, marks=pytest.mark.sweep)])
def test_unseen_text(written: Written, number: int) -> None:
    for path in SOURCES[40 : 40 + number]:
        check_written(written, path.read_text("utf-8"))


# Going on from a vocabulary, and superwords

#: As in scripts/extend_tokenizer.sh of PythonNut/superbpe.
PUBLISHED = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"

SAMPLE = next(iter(natural_texts().values()))


@given(st.one_of(st.text(" \n\r\tab1.,:é/世", max_size=40), texts))
def test_the_pattern_splits_as_the_published_one(text: str) -> None:
    text = repaired(text)
    split = pre_tokenizers.Split(Regex(PUBLISHED), "isolated")
    expected = [chunk for chunk, _ in split.pre_tokenize_str(text)]
    assert make_encoding("x", "superbpe").core.splitter.chunks(text) == expected


@pytest.mark.parametrize("pattern", ["gpt2", "o200k_base"])
def test_going_on_from_a_tokenizer_of_the_reference(
    pattern: str, untrained: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "tokenizer.json"
    trained_there(untrained[pattern], SAMPLE[:8], 900).save(str(path))
    first, whole = (reference_merges(untrained[pattern], SAMPLE[:8], n) for n in (900, 1500))
    assert [*first, *merges_of(SAMPLE[:8], 1500, start=load(path))] == whole


@pytest.mark.sweep
def test_all_programs_give_the_same_superwords(tmp_path: Path) -> None:
    """A vocabulary of two stages, in every format."""
    folder = tmp_path / "super"
    first = train_bpe(SAMPLE[:12], 1000, pattern="o200k_base")
    options: dict[str, Any] = {"max_words": 4, "not_joined": [": "]}
    options.update(special_tokens=["<|endoftext|>"], pattern="superbpe", name="super")
    encoding = train_bpe(SAMPLE[:12], 2000, start=first, **options)
    assert sum(b" " in token.strip() for token in encoding.core.encoder) > 50
    write_vocabulary(folder, encoding, pattern="superbpe")
    from_json = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    ranks = tiktoken.load.load_tiktoken_bpe(str(folder / "super.tiktoken"))
    special = {"<|endoftext|>": 1999}
    by_ranks = tiktoken.Encoding(
        "super", pat_str=PATTERNS["superbpe"], mergeable_ranks=ranks, special_tokens=special
    )
    files = str(folder / "vocab.bpe"), str(folder / "encoder.json")
    gpt2 = tiktoken.load.data_gym_to_mergeable_bpe_ranks(*files)
    own = [load(folder), load(folder / "super.tiktoken"), load(folder / "vocab.bpe")]
    assert {encoding.n_vocab for encoding in own} == {2000}
    assert list(gpt2) == sorted(ranks, key=ranks.__getitem__)
    for text in [*SAMPLE[8:20], "<|endoftext|>", *natural_texts().get("udhr.txt", [])[:100]]:
        ids = from_json.encode(text).ids
        assert by_ranks.encode(text, allowed_special="all") == ids
        for encoding in own:
            assert encoding.encode(text, allowed_special="all") == ids


# WordPiece, and BPE over characters

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
    kind, is_words = settings.kind, isinstance(settings, WordPieceSettings)
    options: dict[str, Any] = {
        "vocab_size": settings.vocab_size,
        "min_frequency": settings.min_frequency,
        "special_tokens": list(kind.all_special_tokens),
        "initial_alphabet": list(settings.initial_alphabet),
        "show_progress": False,
    }
    if settings.limit_alphabet is not None:
        options["limit_alphabet"] = settings.limit_alphabet
    if kind.marks.suffix:
        options["end_of_word_suffix"] = kind.marks.suffix
    if kind.marks.prefix or is_words:
        options["continuing_subword_prefix"] = kind.marks.prefix
    if not is_words and settings.max_token_length is not None:
        # There, a token is shorter than this; here, it is no longer.
        options["max_token_length"] = settings.max_token_length + 1
    empty = models.WordPiece({}, unk_token="[UNK]") if is_words else models.BPE()
    trainer = trainers.WordPieceTrainer if is_words else trainers.BpeTrainer
    tokenizer = tokenizer_of(empty, parts)
    tokenizer.train_from_iterator(corpus, trainer(**options))
    model = json.loads(tokenizer.to_str())["model"]
    merges = [(left, right) for left, right in model.get("merges", [])]
    return Reference(sorted(model["vocab"], key=model["vocab"].__getitem__), merges)


def learned_tokens(
    corpus: list[str], settings: Any, parts: dict[str, Any], expected: Reference
) -> Reference:
    """What is learned here, from the first tokens in the reference's order."""
    with WordCounter.of_parts(parts) as counter:
        for text in corpus:
            counter.feed(text)
        words = counter.finish()
    kind = settings.kind
    own = kind.first_tokens(words.counts)
    first = expected.tokens[: len(own)]
    assert sorted(first) == sorted(own)
    special = {*kind.all_special_tokens}
    marked = {token for token in own if len(token) > 1 and token not in special}
    unmarked = len(first) - len([token for token in own if token in marked])
    assert first[:unmarked] == own[:unmarked], "only characters with a mark are in another order"
    for before, token in always_before(words.counts, first, kind.marks):
        if {before, token} <= marked:
            assert first.index(before) < first.index(token)
            assert own.index(before) < own.index(token)
    kind.first_tokens = lambda words: first
    model = kind.learn(words, lambda steps: None).model
    return Reference([*model.vocabulary], [*zip(*getattr(model, "merges", ((), ())))])


def always_before(words: Iterable[str], first: list[str], marks: Marks) -> set[tuple[str, str]]:
    """The pairs of tokens of which one stands before the other in each word that has the other."""
    heads: dict[str, set[str]] = {}
    for ids in spelled(dict.fromkeys(words, 1), first, marks):
        tokens = dict.fromkeys(first[ord(one)] for one in ids)
        for place, token in enumerate(tokens):
            heads.setdefault(token, {*tokens}).intersection_update([*tokens][:place])
    return {(before, token) for token, some in heads.items() for before in some}


def check_merges(corpus: list[str], settings: Any, parts: dict[str, Any]) -> Reference:
    expected = reference(corpus, settings, parts)
    found = learned_tokens(corpus, settings, parts, expected)
    assert found.tokens == expected.tokens
    if not isinstance(settings, WordPieceSettings):
        assert found.merges == expected.merges
    return expected


#: None of them is what merges make, but for the tests of that.
COMMON: dict[str, st.SearchStrategy[Any]] = {
    "vocab_size": st.integers(1, 60),
    "special_tokens": st.sampled_from([[], ["[PAD]", "[UNK]"], ["[MASK]"]]),
    "min_frequency": st.integers(0, 4),
}
OF_WORDPIECE = {
    **COMMON,
    "initial_alphabet": st.sampled_from(["", "xyz", "aé"]),
    "prefix": st.sampled_from(["##", "@", ""]),
}
OF_CHARACTERS = {
    **COMMON,
    "max_token_length": st.none() | st.integers(2, 9),
    "prefix": st.sampled_from(["##", ""]),
    "suffix": st.sampled_from(["</w>", ""]),
}
any_parts = st.sampled_from([*PARTS.values()])
marked_corpora = random_corpora("ab \n#'")


@given(any_parts, marked_corpora, st.fixed_dictionaries(OF_WORDPIECE))
def test_wordpiece(parts: dict[str, Any], corpus: list[str], options: dict[str, Any]) -> None:
    check_merges(corpus, WordPieceSettings(**options), parts)


@given(any_parts, marked_corpora, st.fixed_dictionaries(OF_CHARACTERS))
def test_bpe_over_characters(
    parts: dict[str, Any], corpus: list[str], options: dict[str, Any]
) -> None:
    check_merges(corpus, CharacterBpeSettings(**options), parts)


signs = st.one_of(st.text("#", min_size=1, max_size=9), st.text("#ab", min_size=1, max_size=8))


@given(
    st.lists(signs, min_size=1, max_size=9).map(" ".join),
    st.sampled_from([[], ["ab"], ["##ab"], ["ab</w>", "ba"]]),
    st.sampled_from([PARTS["whitespace"], PARTS["nothing"]]),
)
def test_merges_that_make_a_token_again(
    text: str, special: list[str], parts: dict[str, Any]
) -> None:
    check_merges([text], WordPieceSettings(60, special_tokens=special), parts)
    check_merges([text], CharacterBpeSettings(60, special_tokens=special), parts)
    # There, the count of a pair that was joined before and comes up again is too high, so that it
    # is joined again at once. The tokens and the pairs are the same.
    settings = CharacterBpeSettings(60, special_tokens=special, prefix="##")
    expected = reference([text], settings, parts)
    found = learned_tokens([text], settings, parts, expected)
    assert found.tokens == expected.tokens
    assert sorted(found.merges) == sorted(expected.merges)


@given(st.integers(0, 7), st.sampled_from(["", "z", "ax"]))
def test_a_limited_alphabet(limit: int, initial: str) -> None:
    # No two characters are equally frequent: there, hashes would decide between them.
    corpus = [" ".join(["abc", "bac", "cab"] * 3)]
    corpus += ["a" * 5 + " bb ccc" + " dad" * 7 + " éa" * 9 + " f" * 2]
    settings = CharacterBpeSettings(40, initial_alphabet=initial, limit_alphabet=limit)
    if len(initial) <= limit:
        check_merges(corpus, settings, PARTS["whitespace"])


@cache
def larger_texts() -> dict[str, list[str]]:
    found = {"standard library": [path.read_text("utf-8") for path in SOURCES[:40]]}
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
    corpus = larger_texts()["standard library"][:5]
    assert len(check_merges(corpus, NATURAL[kind], PARTS[parts]).tokens) > 1000


@pytest.mark.sweep
@pytest.mark.parametrize("title", larger_texts())
@pytest.mark.parametrize("parts", ["bert", "whitespace"])
@pytest.mark.parametrize("kind", NATURAL)
def test_larger_texts(title: str, parts: str, kind: str) -> None:
    assert len(check_merges(larger_texts()[title], NATURAL[kind], PARTS[parts]).tokens) > 2000
