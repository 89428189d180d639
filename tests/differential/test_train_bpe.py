"""Training of BPE and of WordPiece against Hugging Face tokenizers, and what reads the result."""

from __future__ import annotations

import json
import sysconfig
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Callable, NamedTuple

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
from compat_bpe.train import Trainer, TrainingSettings, train_bpe
from compat_bpe.train.bpe.growing import BYTES, make_encoding
from compat_bpe.train.bpe.merge_kinds import (
    CharacterBpeSettings,
    LearnedTokens,
    MergeSettings,
    WordPieceSettings,
)
from compat_bpe.train.bpe.merges_of_characters import Marks, spelled
from compat_bpe.train.words import WordCounter
from compat_bpe.train.write import write_vocabulary
from tests.corpora import CORPORA, natural_texts
from tests.differential.reference import repaired
from tests.strategies import texts

PATTERN_NAMES = ["gpt2", "cl100k_base", "o200k_base", "llama3", DEEPSEEK]


@pytest.fixture(scope="module")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """For each pattern a ``tokenizer.json`` that splits by it and has no merges."""
    folder = tmp_path_factory.mktemp("untrained")
    found = {}
    for name in PATTERN_NAMES:
        save_tokenizer_json(make_encoding(name, name, BYTES, []), folder / "tokenizer.json")
        found[name] = (folder / "tokenizer.json").read_text("utf-8")
    return found


def reference_merges(
    untrained: str, corpus: list[str], vocab_size: int, **options: Any
) -> list[tuple[bytes, ...]]:
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
        **options,
    )
    tokenizer = tokenizers.Tokenizer.from_str(untrained)
    tokenizer.train_from_iterator(corpus, trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [tuple(map(decode_bytes, merge)) for merge in merges]


def merges_of(corpus: list[str], vocab_size: int, **options: Any) -> list[tuple[bytes, ...]]:
    with Trainer(TrainingSettings(vocab_size, **options)) as trainer:
        for text in corpus:
            trainer.feed(text)
        return [(merge.left, merge.right) for merge in trainer.train().merges]


few_letters = st.text("ab \n1'", max_size=60)


@given(
    st.sampled_from(PATTERN_NAMES),
    st.lists(st.one_of(few_letters, st.text("abcde f", max_size=100), texts), max_size=8),
    st.integers(256, 320),
    st.integers(0, 4),
    st.none() | st.integers(2, 9),
)
def test_the_merges_are_those_of_the_reference(
    untrained: dict[str, str],
    pattern: str,
    corpus: list[str],
    vocab_size: int,
    min_frequency: int,
    longest: int | None,
) -> None:
    corpus = [*map(repaired, corpus), "a"]
    # There, a token is shorter than this; here, it is no longer.
    theirs = {} if longest is None else {"max_token_length": longest + 1}
    expected = reference_merges(
        untrained[pattern], corpus, vocab_size, min_frequency=min_frequency, **theirs
    )
    found = merges_of(
        corpus,
        vocab_size,
        pattern=pattern,
        min_frequency=min_frequency,
        max_token_length=longest,
    )
    assert found == expected


@pytest.mark.parametrize(
    "title",
    [
        pytest.param(title, marks=pytest.mark.sweep) if at else title
        for at, title in enumerate(natural_texts())
    ],
)
@pytest.mark.parametrize("pattern", ["gpt2", pytest.param(DEEPSEEK, marks=pytest.mark.sweep)])
def test_natural_texts(untrained: dict[str, str], title: str, pattern: str) -> None:
    corpus = natural_texts()[title]
    expected = reference_merges(untrained[pattern], corpus, 3000)
    assert len(expected) == 3000 - 256
    assert merges_of(corpus, 3000, pattern=pattern) == expected


class Written(NamedTuple):
    """A vocabulary, the folder it is written into, and what reads it from there."""

    encoding: Encoding
    folder: Path
    readers: dict[str, Callable[[str], list[int]]]


def write(name: str, folder: Path) -> Written:
    """Train with a pattern, write all formats, and have each read by whatever reads it."""
    sources = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[:40]
    corpus = [path.read_text("utf-8") for path in sources]
    corpus += ["naïve 世界你好 12345 \u0301\r\n"] * 40
    specials = ["<|endoftext|>", "<|pad|>"]
    encoding = train_bpe(corpus, 900, pattern=name, special_tokens=specials, name="mine")
    write_vocabulary(folder, encoding, pattern=name)

    def here(read: Encoding) -> Callable[[str], list[int]]:
        return lambda text: read.encode(text, allowed_special="all")

    def there(read: tokenizers.Tokenizer) -> Callable[[str], list[int]]:
        # It takes no surrogates.
        return lambda text: read.encode(repaired(text), add_special_tokens=False).ids

    ids = encoding._special_tokens
    readers = {"folder": here(load(folder)), "file": here(load(folder / "tokenizer.json"))}
    reference = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    readers["tokenizers"] = there(reference)
    reference = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    vocabulary, merges = str(folder / "vocab.json"), str(folder / "merges.txt")
    reference.model = tokenizers.models.BPE.from_file(vocabulary, merges)
    readers["tokenizers, vocab.json"] = there(reference)
    if name != DEEPSEEK:
        path = folder / "mine.tiktoken"
        readers["ranks"] = here(load(path, pattern=name, special_tokens=ids))
        readers["vocab.json"] = here(load(folder / "vocab.json", pattern=name))
        readers["encoder.json"] = here(load(folder / "encoder.json", pattern=name))
        ranks = tiktoken.load.load_tiktoken_bpe(str(path))
        # By tiktoken's own reader, which checks one file against the other.
        encoder = json.loads((folder / "encoder.json").read_bytes())
        without = folder.with_name("without_specials.json")
        without.write_text(json.dumps({k: v for k, v in encoder.items() if k not in ids}))
        merges, encoder = str(folder / "vocab.bpe"), str(without)
        assert tiktoken.load.data_gym_to_mergeable_bpe_ranks(merges, encoder) == ranks
        by_ranks = tiktoken.Encoding(
            "x", pat_str=PATTERNS[name], mergeable_ranks=ranks, special_tokens=ids
        )
        readers["tiktoken"] = lambda text: by_ranks.encode(text, allowed_special="all")
    if name == "gpt2":
        readers["vocab.json as it is"] = here(load(folder / "vocab.json"))
    return Written(encoding, folder, readers)


@pytest.fixture(scope="module", params=PATTERN_NAMES)
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Written:
    return write(request.param, tmp_path_factory.mktemp("written") / "mine")


@given(text=texts)
def test_whatever_reads_it_gives_the_same_ids(written: Written, text: str) -> None:
    expected = written.encoding.encode(text, allowed_special="all")
    for reader, encode in written.readers.items():
        assert encode(text) == expected, reader


@pytest.mark.parametrize("number", [4, pytest.param(20, marks=pytest.mark.sweep)])
def test_unseen_text(written: Written, number: int) -> None:
    sources = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[40 : 40 + number]
    for text in (path.read_text("utf-8") for path in sources):
        expected = written.encoding.encode(text, allowed_special="all")
        for reader, encode in written.readers.items():
            assert encode(text) == expected, reader


#: As in scripts/extend_tokenizer.sh of PythonNut/superbpe.
PUBLISHED = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"

SAMPLE = next(iter(natural_texts().values()))


@given(st.one_of(st.text(" \n\r\tab1.,:é/世", max_size=40), texts))
def test_the_pattern_splits_as_the_published_one(text: str) -> None:
    text = repaired(text)
    split = pre_tokenizers.Split(Regex(PUBLISHED), "isolated")
    expected = [chunk for chunk, _ in split.pre_tokenize_str(text)]
    assert make_encoding("x", "superbpe", BYTES, []).core.splitter.chunks(text) == expected


@pytest.mark.parametrize("pattern", ["gpt2", "o200k_base"])
def test_going_on_from_a_tokenizer_of_the_reference(pattern: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    save_tokenizer_json(make_encoding(pattern, pattern, BYTES, []), path)
    untrained = path.read_text("utf-8")

    def reference(size: int) -> list[tuple[bytes, ...]]:
        tokenizer = tokenizers.Tokenizer.from_str(untrained)
        trainer = trainers.BpeTrainer(
            vocab_size=size,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        tokenizer.train_from_iterator(SAMPLE[:8], trainer)
        tokenizer.save(str(path))
        merges = json.loads(tokenizer.to_str())["model"]["merges"]
        return [tuple(map(decode_bytes, merge)) for merge in merges]

    first = reference(900)
    with Trainer(TrainingSettings(1500, start=load(path))) as trainer:
        for text in SAMPLE[:8]:
            trainer.feed(text)
        found = [(merge.left, merge.right) for merge in trainer.train().merges]
    assert [*first, *found] == reference(1500)


@pytest.fixture(scope="module")
def superwords(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a vocabulary of two stages, in every format."""
    folder = tmp_path_factory.mktemp("superwords") / "super"
    first = train_bpe(SAMPLE[:12], 1000, pattern="o200k_base")
    options: dict[str, Any] = {"max_words": 4, "not_joined": [": "]}
    options["special_tokens"] = ["<|endoftext|>"]
    encoding = train_bpe(
        SAMPLE[:12], 2000, start=first, pattern="superbpe", name="super", **options
    )
    assert sum(b" " in token.strip() for token in encoding.core.encoder) > 50
    write_vocabulary(folder, encoding, pattern="superbpe")
    return folder


@pytest.mark.sweep
def test_all_programs_give_the_same_superwords(superwords: Path) -> None:
    from_json = tokenizers.Tokenizer.from_file(str(superwords / "tokenizer.json"))
    ranks = tiktoken.load.load_tiktoken_bpe(str(superwords / "super.tiktoken"))
    by_ranks = tiktoken.Encoding(
        "super",
        pat_str=PATTERNS["superbpe"],
        mergeable_ranks=ranks,
        special_tokens={"<|endoftext|>": 1999},
    )
    gpt2 = tiktoken.load.data_gym_to_mergeable_bpe_ranks(
        str(superwords / "vocab.bpe"), str(superwords / "encoder.json")
    )
    own = [load(superwords), load(superwords / "super.tiktoken"), load(superwords / "vocab.bpe")]
    assert {encoding.n_vocab for encoding in own} == {2000}
    assert list(gpt2) == sorted(ranks, key=ranks.__getitem__)
    for text in [*SAMPLE[8:20], "<|endoftext|>", *natural_texts().get("udhr.txt", [])[:100]]:
        ids = from_json.encode(text).ids
        assert by_ranks.encode(text, allowed_special="all") == ids
        for encoding in own:
            assert encoding.encode(text, allowed_special="all") == ids


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


def learned_tokens(
    corpus: list[str], settings: Any, parts: dict[str, Any], expected: Reference
) -> LearnedTokens:
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
    found: LearnedTokens = settings.kind.learn_tokens(words, tokens=first)
    return found


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


def check_merges(corpus: list[str], settings: Any, parts: dict[str, Any]) -> Reference:
    expected = reference(corpus, settings, parts)
    found = learned_tokens(corpus, settings, parts, expected)
    assert found.tokens == expected.tokens
    if not isinstance(settings, WordPieceSettings):
        assert found.merges == expected.merges
    return expected


few_marks = st.text("ab \n#'", max_size=60)
random_corpora = st.lists(
    st.one_of(few_marks, st.text("abcde f", max_size=100), texts).map(repaired), max_size=8
)
#: None of them is what merges make, but for the tests of that.
special_tokens = st.sampled_from([[], ["[PAD]", "[UNK]"], ["[MASK]"]])


@given(
    st.sampled_from(["bert", "whitespace", "metaspace", "nothing"]),
    random_corpora,
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
    check_merges([*corpus, "a"], settings, PARTS[parts])


@given(
    st.sampled_from(["bert", "whitespace", "metaspace", "nothing"]),
    random_corpora,
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
    check_merges([*corpus, "a"], settings, PARTS[parts])


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
    check_merges([" ".join(words)], WordPieceSettings(60, special_tokens=special), PARTS[parts])
    check_merges([" ".join(words)], CharacterBpeSettings(60, special_tokens=special), PARTS[parts])
    # There, the count of a pair that was joined before and comes up again is too high, so that it
    # is joined again at once. The tokens and the pairs are the same.
    settings = CharacterBpeSettings(60, special_tokens=special, prefix="##")
    expected = reference([" ".join(words)], settings, PARTS[parts])
    found = learned_tokens([" ".join(words)], settings, PARTS[parts], expected)
    assert found.tokens == expected.tokens
    assert sorted(found.merges) == sorted(expected.merges)


@given(st.integers(0, 7), st.sampled_from(["", "z", "ax"]))
def test_a_limited_alphabet(limit: int, initial: str) -> None:
    # No two characters are equally frequent: there, hashes would decide between them.
    corpus = [" ".join(word for word in ["abc", "bac", "cab"] * 3)]
    corpus += ["a" * 5 + " bb ccc" + " dad" * 7 + " éa" * 9 + " f" * 2]
    settings = CharacterBpeSettings(40, initial_alphabet=initial, limit_alphabet=limit)
    if len(initial) <= limit:
        check_merges(corpus, settings, PARTS["whitespace"])


@cache
def larger_texts() -> dict[str, list[str]]:
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
    expected = check_merges(larger_texts()["standard library"][:5], NATURAL[kind], PARTS[parts])
    assert len(expected.tokens) > 1000


@pytest.mark.sweep
@pytest.mark.parametrize("title", larger_texts())
@pytest.mark.parametrize("parts", ["bert", "whitespace"])
@pytest.mark.parametrize("kind", NATURAL)
def test_larger_texts(title: str, parts: str, kind: str) -> None:
    expected = check_merges(larger_texts()[title], NATURAL[kind], PARTS[parts])
    assert len(expected.tokens) > 2000
