"""Training of models of SentencePiece, against sentencepiece itself."""

from __future__ import annotations

import io
from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import sentencepiece
from hypothesis import strategies as st

from compat_bpe.encodings.sentencepiece import SentencePiece
from compat_bpe.formats.sentencepiece import read_sentencepiece
from compat_bpe.train import SentencePieceSettings, save_trained_sentencepiece, train
from compat_bpe.train.sentencepiece.trainer import SentencePieceTrainer
from tests.differential.small_sentencepieces import SENTENCES, parsed
from tests.examples import drawn

ROOT = Path(__file__).parents[2]

#: What is learned: each piece with its score and type.
Learned = list[tuple[str, float, int]]


def theirs(lines: Any, vocab_size: int, **options: Any) -> bytes:
    """Return the reference's model; raise what it raises. The lines may be the names of files."""
    model = io.BytesIO()
    lines = {"input": lines} if isinstance(lines, str) else {"sentence_iterator": iter(lines)}
    limits: dict[str, Any] = {"vocab_size": vocab_size, "num_threads": 1, "minloglevel": 3}
    options = {"model_type": "bpe", "normalization_rule_name": "identity", **limits, **options}
    sentencepiece.SentencePieceTrainer.train(**lines, model_writer=model, **options)
    return model.getvalue()


def learned(data: bytes) -> Learned:
    return [(piece.piece, piece.score, piece.type) for piece in parsed(data).pieces]


def ours(encoding: SentencePiece) -> Learned:
    model = encoding.definition
    return list(zip(model.texts, model.scores, model.types))


def trained(lines: list[str], vocab_size: int, **options: Any) -> Learned:
    return ours(train(lines, SentencePieceSettings(vocab_size, **options)))


def assert_nearly_equal(one: Learned, other: Learned) -> None:
    """Compare pieces and types, and scores but for the last bit.

    The reference takes logarithms of 32 bits, whose last bit depends on the machine.
    """
    assert [(text, kind) for text, _, kind in one] == [(text, kind) for text, _, kind in other]
    for (_, score, _), (_, expected, _) in zip(one, other):
        assert score == pytest.approx(expected, rel=2.5e-7, abs=1e-7)


def assert_same(kind: str, found: Learned, expected: Learned) -> None:
    if kind in ("bpe", "unigram"):
        assert found == expected
    else:
        assert_nearly_equal(found, expected)


def check(
    lines: list[str], vocab_size: int, texts: list[str] | None = None, **options: Any
) -> None:
    """Compare what both learn of some lines, here also as texts, or that neither does."""
    texts = lines if texts is None else texts
    try:
        expected = learned(theirs(lines, vocab_size, **options))
    except RuntimeError:
        with pytest.raises(ValueError):  # noqa: PT011 - the reference says something else
            trained(texts, vocab_size, **options)
    else:
        found = trained(texts, vocab_size, **options)
        assert_same(options.get("model_type", "bpe"), found, expected)


@cache
def corpus(name: str) -> str:
    if name == "readme":
        return (ROOT / "README.md").read_text("utf-8")
    if name == "code":
        return (ROOT / "compat_bpe" / "pipeline" / "core.py").read_text("utf-8")
    paths = sorted((ROOT / "fixtures").rglob("*.txt"))
    assert paths
    return "\n".join(path.read_bytes().decode("utf-8", "replace")[:40_000] for path in paths)


CORPORA = ("readme", "code", "fixtures")
UNIGRAM: dict[str, Any] = {"model_type": "unigram", "hard_vocab_limit": False}


@pytest.mark.parametrize("name", CORPORA)
@pytest.mark.parametrize(
    ("extra", "options"),
    [
        *((extra, {}) for extra in (20, 400)),
        *(pytest.param(extra, UNIGRAM, marks=pytest.mark.sweep) for extra in (20, 300)),
    ],
)
def test_pieces_are_equal(name: str, extra: int, options: dict[str, Any]) -> None:
    text = corpus(name)
    check(text.split("\n"), len(set(text)) + extra, [text], **options)


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_first_lines_are_equal(kind: str) -> None:
    lines = corpus("code").split("\n")
    usual: dict[str, Any] = {"model_type": kind, "hard_vocab_limit": False}
    options = {**usual, "input_sentence_size": 101, "shuffle_input_sentence": False}
    check(lines, 150, **options)
    assert trained(lines, 150, **options) != trained(lines, 150, **usual)


@pytest.mark.parametrize("kind", ["word", "char"])
@pytest.mark.parametrize("name", CORPORA)
def test_words_and_characters_are_equal(name: str, kind: str) -> None:
    text = corpus(name)
    for size in (10, 60, 200):
        check(text.split("\n"), size, [text], model_type=kind, hard_vocab_limit=False)


#: Options of the trainer, by a name for the test.
OPTIONS: dict[str, dict[str, Any]] = {
    "coverage": {"character_coverage": 0.98},
    "all_characters": {"character_coverage": 1.0},
    "bytes": {"byte_fallback": True, "vocab_size": 450},
    "digits": {"split_digits": True},
    "numbers": {"split_by_number": False},
    "scripts": {"split_by_unicode_script": False},
    "over_spaces": {"split_by_whitespace": False},
    "suffix": {"treat_whitespace_as_suffix": True},
    "suffix_over_spaces": {"treat_whitespace_as_suffix": True, "split_by_whitespace": False},
    "all_spaces": {"allow_whitespace_only_pieces": True, "remove_extra_whitespaces": False},
    "all_spaces_suffix": {
        "allow_whitespace_only_pieces": True,
        "remove_extra_whitespaces": False,
        "treat_whitespace_as_suffix": True,
    },
    "no_prefix": {"add_dummy_prefix": False},
    "short": {"max_sentencepiece_length": 3},
    "short_lines": {"max_sentence_length": 60},
    "required": {"required_chars": "zя猫", "character_coverage": 0.98},
    "delimiter": {"pretokenization_delimiter": "t"},
    "symbols": {
        "user_defined_symbols": ["the", "he cat", "ab", "aba", "<x>"],
        "control_symbols": ["<c>", "sat"],
    },
    "special_pieces": {
        "unk_id": 3,
        "bos_id": -1,
        "eos_id": 0,
        "pad_id": 1,
        "unk_piece": "[UNK]",
        "eos_piece": "[END]",
        "pad_piece": "[PAD]",
        "unk_surface": "?",
        "user_defined_symbols": ["[END]"],
    },
    "no_unknown": {"byte_fallback": True, "unk_id": -1, "bos_id": 0, "eos_id": 1},
    "soft": {"vocab_size": 2000, "hard_vocab_limit": False},
    "like_llama": {
        "byte_fallback": True,
        "vocab_size": 450,
        "remove_extra_whitespaces": False,
        "allow_whitespace_only_pieces": True,
        "split_digits": True,
    },
}


@pytest.mark.parametrize("kind", ["bpe", "unigram", "word", "char"])
@pytest.mark.parametrize("name", OPTIONS)
def test_options(name: str, kind: str) -> None:
    options = {"vocab_size": 420 if "unk_id" in OPTIONS[name] else 190, **OPTIONS[name]}
    if kind != "bpe" or name == "special_pieces":
        options["hard_vocab_limit"] = False
    options["model_type"] = kind
    if kind in ("word", "char") and "pretokenization_delimiter" in options:
        with pytest.raises(RuntimeError):
            theirs(SENTENCES * 2, **options)
        with pytest.raises(ValueError, match="pretokenization_delimiter"):
            trained(SENTENCES * 2, **options)
        return
    found = trained(SENTENCES * 2, **options)
    assert_same(kind, found, learned(theirs(SENTENCES * 2, **options)))


@pytest.mark.parametrize(
    "options",
    [
        {"shrinking_factor": 0.5},
        pytest.param({"shrinking_factor": 0.95, "num_sub_iterations": 1}, marks=pytest.mark.sweep),
        pytest.param({"num_sub_iterations": 5}, marks=pytest.mark.sweep),
        {"seed_sentencepiece_size": 200},
        {"seed_sentencepiece_size": 0},
    ],
)
def test_options_of_unigram(options: dict[str, Any]) -> None:
    lines, options = corpus("code").split("\n"), {"model_type": "unigram", **options}
    assert trained(lines, 150, **options) == learned(theirs(lines, 150, **options))


@pytest.mark.parametrize("kind", ["word", "char"])
def test_all_words_and_characters(kind: str) -> None:
    options: dict[str, Any] = {"vocab_size": 10, "model_type": kind, "use_all_vocab": True}
    assert_nearly_equal(trained(SENTENCES, **options), learned(theirs(SENTENCES, **options)))


PARTS = [
    *("a", "b", "aa", "ab", "ba", "x", "the", " ", " ", "  ", "▁", "_", ".", "\t"),
    *("1", "23", "\uff11", "é", "e\u0301", "\u0301", "猫", "ねこ", "ー", "カ", "б", "а", "🙂"),
    *("<s>", "</s>", "<unk>", "<0x0A>", "\x1f", "\u2585", "\0", "\r"),
]
#: Few different parts make equal frequencies and long repetitions.
LINES = st.lists(st.sampled_from(PARTS), min_size=1, max_size=10, unique=True).flatmap(
    lambda parts: st.lists(st.lists(st.sampled_from(parts), max_size=14).map("".join), min_size=1)
)
FLAGS = """
    byte_fallback split_digits treat_whitespace_as_suffix split_by_whitespace
    allow_whitespace_only_pieces split_by_unicode_script split_by_number add_dummy_prefix
    remove_extra_whitespaces hard_vocab_limit
""".split()
ANY_OPTIONS = st.fixed_dictionaries(
    {"vocab_size": st.sampled_from([20, 30, 60, 120, 330])},
    optional={
        **{flag: st.booleans() for flag in FLAGS},
        "model_type": st.sampled_from(["bpe", "bpe", "unigram", "unigram", "word", "char"]),
        "user_defined_symbols": st.lists(
            st.sampled_from(["ab", "a", "the", "▁▁", "▁a", "<s>", "<pad>", "aba", "b a"]),
            max_size=3,
        ),
        "control_symbols": st.lists(st.sampled_from(["<c>", "aab", "</s>", "<unk>"]), max_size=2),
        "required_chars": st.text("azб猫 \u2585\0", max_size=3),
        "character_coverage": st.sampled_from([0.97, 0.98, 0.99, 1.0]),
        "max_sentencepiece_length": st.integers(0, 5),
        "max_sentence_length": st.integers(9, 20),
        "input_sentence_size": st.sampled_from([0, 1, 101]),
        "pretokenization_delimiter": st.sampled_from(["a", "x", "▁"]),
        "unk_id": st.sampled_from([-1, 0, 1, 3]),
        "bos_id": st.sampled_from([-1, 0, 1]),
        "pad_id": st.sampled_from([1, 3, 30]),
        "eos_piece": st.sampled_from(["<s>", "a", "<unk>"]),
    },
)


NO_SURPRISES: dict[str, Any] = {"hard_vocab_limit": False, "shuffle_input_sentence": False}


@drawn(100, LINES, ANY_OPTIONS)
def test_any_corpus_with_any_options(lines: list[str], options: dict[str, Any]) -> None:
    check(lines, **{**NO_SURPRISES, **options})


@pytest.mark.sweep
@drawn(1000, LINES, ANY_OPTIONS)
def test_many_corpora_with_any_options(lines: list[str], options: dict[str, Any]) -> None:
    check(lines, **{**NO_SURPRISES, **options})


#: Lines that end, or begin, in ways that two readers may see differently.
LINE_PARTS = st.sampled_from(
    ["a", "ab", "ba", " ", "\n", "\n", "\r\n", "\r\n", "\r", "\0", "\ufeff", "\x0b", "\x0c"]
    + ["\x1c", "\x85", "\u2028", "\t", "hug", "é猫", "\u2585", "x" * 12, "\x1a"]
)
FILE_OPTIONS = st.fixed_dictionaries(
    {"model_type": st.sampled_from(["bpe", "unigram", "word", "char"])},
    optional={
        "max_sentence_length": st.integers(10, 14),
        "remove_extra_whitespaces": st.booleans(),
        "normalization_rule_name": st.just("nmt_nfkc"),
    },
)


@cache
def nmt_nfkc() -> bytes:
    model = theirs(["a"], 5, model_type="char", normalization_rule_name="nmt_nfkc")
    found: bytes = parsed(model).normalizer_spec.precompiled_charsmap
    return found


@drawn(60, st.lists(st.lists(LINE_PARTS, max_size=14).map("".join), max_size=3), FILE_OPTIONS)
def test_files_of_any_lines(texts: list[str], options: dict[str, Any]) -> None:
    """A file is read as the reference reads it, and so is its text, and are its counted lines.

    An empty file between others is left out: there, the line before it may be counted again.
    """
    texts = [*filter(None, texts)]
    kind = options["model_type"]
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.txt" for number in range(len(texts))]
        for path, text in zip(paths, texts):
            path.write_bytes(text.encode())
        names = ",".join(map(str, paths)) or "missing"
        try:
            expected = learned(theirs(names, 60, hard_vocab_limit=False, **options))
        except (RuntimeError, OSError):
            expected = None
    if options.get("normalization_rule_name"):
        options = {**options, "charsmap": nmt_nfkc()}
    own = SentencePieceSettings(60, hard_vocab_limit=False, **options)
    with SentencePieceTrainer(own) as files, SentencePieceTrainer(own) as counted:
        for text in texts:
            files.feed(text)
        if kind != "unigram":
            lines = (line for text in texts for line in text.split("\n"))
            counted.feed_counts(Counter(filter(None, lines)))
        for trainer in (files, counted)[: 1 + (kind != "unigram")]:
            if expected is None:
                with pytest.raises(ValueError):  # noqa: PT011 - the reference says something else
                    trainer.train()
            else:
                assert_same(kind, ours(trainer.train().encoding), expected)


@drawn(40, st.lists(st.lists(LINE_PARTS, max_size=9).map("".join), max_size=9), FILE_OPTIONS)
def test_lines_of_an_iterator(lines: list[str], options: dict[str, Any]) -> None:
    """An iterator of lines, with their ends, is read as the reference's ``sentence_iterator``."""
    lines = [line.rstrip("\r\n").replace("\n", "") + "\r\n" * (len(line) % 2) for line in lines]
    options.pop("normalization_rule_name", None)
    check(lines, 60, **NO_SURPRISES, **options)


def check_reader(encoding: SentencePiece, model: str) -> None:
    processor = sentencepiece.SentencePieceProcessor(model_file=model)
    for line in [*corpus("readme").split("\n"), "<x> 猫 🙂  a"]:
        assert encoding.encode_ordinary(line) == processor.encode(line)


def test_files_are_read_by_the_reference(tmp_path: Path) -> None:
    text = corpus("fixtures")
    options: dict[str, Any] = {"byte_fallback": True, "user_defined_symbols": ["<x>"]}
    encoding = train([text], SentencePieceSettings(900, **options))
    model, vocab = save_trained_sentencepiece(encoding, tmp_path / "m")
    check_reader(encoding, model)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text.split("\n")),
        model_prefix=str(tmp_path / "r"),
        model_type="bpe",
        vocab_size=900,
        normalization_rule_name="identity",
        minloglevel=3,
        **options,
    )
    assert Path(vocab).read_bytes() == (tmp_path / "r.vocab").read_bytes()


@pytest.mark.parametrize("kind", ["unigram", "word", "char"])
def test_files_of_other_kinds_are_read_by_the_reference(kind: str, tmp_path: Path) -> None:
    lines = corpus("fixtures")[:20_000].split("\n")
    options: dict[str, Any] = {"user_defined_symbols": ["<x>"], "hard_vocab_limit": False}
    options["byte_fallback"] = kind != "word"
    size = 300 + len(set("".join(lines)))  # room for bytes, for each character and for more
    encoding = train(lines, SentencePieceSettings(size, kind, **options))
    model, _ = save_trained_sentencepiece(encoding, tmp_path / "m")
    check_reader(encoding, model)


@pytest.mark.parametrize("rules", ["nmt_nfkc", "nfkc_cf"])
def test_character_map_of_another_model(rules: str, tmp_path: Path) -> None:
    lines = [*SENTENCES, "ｶﾞ Ｆｕｌｌ　width ﬁne Å", "A\u030a\u200b STRASSE Straße"]
    data = theirs(lines, 200, normalization_rule_name=rules)
    (tmp_path / "m.model").write_bytes(data)
    like = read_sentencepiece(tmp_path / "m.model").normalizer
    own = SentencePieceSettings(200, normalization_rule_name=like.name, charsmap=like.charsmap)
    found = train(lines, own)
    assert ours(found) == learned(data)
    spec = parsed(data).normalizer_spec
    assert found.definition.normalizer.charsmap == spec.precompiled_charsmap
    assert found.definition.normalizer.name == rules
