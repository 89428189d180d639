"""The parts that need no Spark: encodings on their way, the zip, and documents one by one."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
from collections import Counter
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compat_bpe.train
from compat_bpe import get_encoding, load
from compat_bpe.columns.batches import Carried, texts_of
from compat_bpe.corpus.documents import DocumentPart, parts_of
from compat_bpe.corpus.prepare import CorpusCounts, Preparation, rule
from compat_bpe.corpus.prepare import prepare as prepare_here
from compat_bpe.spark import count_tokens, counts, job, partition_counts, write_zip
from compat_bpe.spark.counts import Figures, digests_of, prepared
from compat_bpe.spark.job import main
from compat_bpe.spark.training import WordsTrainer, check_learned_from_words, sentence_words
from compat_bpe.train import (
    SentencePieceSettings,
)
from compat_bpe.train.sentencepiece.trainer import SentencePieceTrainer
from tests.encodings.small_vocabularies import own_encoding
from tests.encodings.stores import cached
from tests.examples import cases
from tests.formats.small_files import NAME, WHOLE
from tests.formats.small_gguf import bert, gguf, gpt2, pieces
from tests.spark.corpora import preparations, texts

FIXTURES = Path(__file__).parents[2] / "fixtures"


def test_nothing_is_imported_before_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    script = (
        "import sys\n"
        "sys.modules.update(dict.fromkeys(['pyspark', 'pyarrow', 'pandas', 'click'], None))\n"
        "import compat_bpe.spark, compat_bpe.spark.job\n"
    )
    folder = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    monkeypatch.setitem(sys.modules, "pyspark.sql.functions", None)
    with pytest.raises(ImportError, match=r"pip install '\S+\[spark\]'"):
        count_tokens("text", "gpt2")


def test_encodings_travel_by_name_or_by_value() -> None:
    named = Carried("o200k_base")
    assert len(pickle.dumps(named)) < 500
    assert pickle.loads(pickle.dumps(named)).get() is get_encoding("o200k_base")
    own = own_encoding()
    sent = pickle.dumps(Carried(own))
    first, second = pickle.loads(sent).get(), pickle.loads(sent).get()
    assert first is second is not own
    assert first.encode("abc") == own.encode("abc") == [256, 99]
    for path in (FIXTURES / "gpt2_small", str(FIXTURES / "gpt2_small")):
        assert pickle.loads(pickle.dumps(Carried(path))).get().encode("the") == [83, 258]


@pytest.mark.parametrize("name", ["model.gguf", "pieces.gguf", "words.gguf", NAME])
def test_vocabularies_of_other_programs_travel(tmp_path: Path, name: str) -> None:
    data = {"model.gguf": gpt2(), "pieces.gguf": pieces("llama"), "words.gguf": bert()}
    path = tmp_path / name
    path.write_bytes(gguf(data[name]) if name in data else WHOLE)
    encoding = load(path)
    sent = pickle.dumps(Carried(path))
    path.unlink()  # workers have no such file
    found = pickle.loads(sent).get()
    text = "hello ab a"
    assert type(found) is type(encoding)
    assert found.encode(text) == encoding.encode(text)
    assert found.count(text) == encoding.count(text) > 0


def test_a_model_in_a_store_travels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    cached(tmp_path)
    sent = pickle.dumps(Carried("hf:acme/Small"))
    monkeypatch.delenv("HF_HUB_CACHE")
    assert pickle.loads(sent).get().encode("the") == [83, 258]
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(OSError, match="`hf download acme/Other "):
        Carried("hf:acme/Other")


@pytest.mark.parametrize(
    ("given", "error"),
    [("gpt3", ValueError), (7, TypeError), (str(FIXTURES / "docs/texts"), ValueError)],
)
def test_what_is_no_encoding(given: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"unknown encoding 'gpt3'|not int|has no vocabulary"):
        Carried(given)


@pytest.mark.sweep
def test_the_zip_has_all_and_is_the_same_each_time(tmp_path: Path) -> None:
    first, second, third = (tmp_path / f"{number}.zip" for number in range(3))
    write_zip(first)
    assert main(["zip", str(second)]) == 0
    assert first.read_bytes() == second.read_bytes()
    # From inside the zip: the package works, with its packs, and makes the same zip once more.
    script = (
        f"import sys; sys.path.insert(0, {str(first)!r})\n"
        "import compat_bpe, compat_bpe.spark\n"
        f"compat_bpe.spark.write_zip({str(third)!r})\n"
        "print(compat_bpe.__file__, compat_bpe.get_encoding('gpt2').encode('hello world'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True
    )
    assert done.stdout == f"{first}/compat_bpe/__init__.py [31373, 995]\n", done.stderr
    assert third.read_bytes() == first.read_bytes()


@pytest.mark.parametrize(
    "arguments", [["count", "a", "-o"], ["report", "a", "-e", "gpt2", "--html"], ["zip"]]
)
def test_no_file_is_overwritten_unasked(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "old.tsv"
    path.write_text("old")
    assert main([*arguments, str(path)]) == 2
    assert capsys.readouterr().err.endswith("old.tsv: the file exists; --force overwrites it\n")
    assert path.read_text() == "old"


def test_the_file_to_submit_runs_by_its_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["path"]) == 0
    path = capsys.readouterr().out.rstrip("\n")
    done = subprocess.run(
        [sys.executable, "-I", path, "path"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{path}\n", "")


def test_messages_on_a_console_that_knows_few_characters(tmp_path: Path) -> None:
    """A name that it cannot show, or that has a line feed, is escaped; the message is one line."""
    script = "import sys\nfrom compat_bpe.spark.job import main\nsys.exit(main())\n"
    name = "dog\n世.txt"
    done = subprocess.run(
        [sys.executable, "-c", script, "count", "corpus", "-o", str(tmp_path / name / "counts.x")],
        env={**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONPATH": str(FIXTURES.parent)},
        capture_output=True,
    )
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith(b"compat_bpe.spark: ")
    assert b"dog\\n\\u4e16.txt" in lines[0]


def without_session(monkeypatch: pytest.MonkeyPatch, train: Any) -> None:
    """Let jobs train by another function, without Spark."""
    monkeypatch.setattr(job, "_session", lambda options: None)
    monkeypatch.setattr(job, "_read", lambda spark, options: (None, "text"))
    monkeypatch.setattr(job, "train", train)


def test_results_on_a_console_that_knows_few_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    trained = SimpleNamespace(encoding=SimpleNamespace(n_vocab=300))
    without_session(monkeypatch, lambda *arguments, **others: trained)
    written = io.BytesIO()
    console = io.TextIOWrapper(written, "cp1252", write_through=True)
    monkeypatch.setattr(sys, "stdout", console)
    assert main(["train", "corpus", "-n", "300", "-o", "世\udce9\x1b[1m"]) == 0
    shown = written.getvalue()
    assert shown.splitlines() == [rb"300 tokens in \u4e16\udce9\x1b[1m"]
    assert shown.endswith(b"\n")


@cases(
    """
-n 300 → TrainingSettings(300, weights={})
--merges 9 --pattern cl100k_base --special <s> --eos <e> --weight en=2 --max-words 3 →
    TrainingSettings(num_merges=9, pattern="cl100k_base", special_tokens=["<s>", "<e>"],
    weights={"en": 2.0}, max_words=3)
--model wordpiece -n 99 --rule likelihood --unk ? --normalizer nfc → WordPieceSettings(
    99, rule="likelihood", unknown="?", normalizer="nfc", min_frequency=1, weights={})
--model unigram -n 99 --seed-size 500 --shrinking-factor 0.5 →
    UnigramSettings(99, seed_size=500, shrinking_factor=0.5, min_frequency=1, weights={})
--model sentencepiece-bpe -n 399 --byte-fallback --special <s1> --max-piece-length 8 →
    SentencePieceSettings(399, byte_fallback=True, control_symbols=["<s1>"],
    max_sentencepiece_length=8, hard_vocab_limit=False)
""",
    "options settings",
)
def test_the_job_has_the_settings_of_the_command(
    options: str, settings: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Any] = []

    def train(df: object, column: str, output: str, settings: Any, **_: object) -> object:
        found.append(settings)
        return SimpleNamespace(encoding=SimpleNamespace(n_vocab=300))

    without_session(monkeypatch, train)
    assert main(["train", "corpus", "-o", "x", *options.split()]) == 0
    assert found == [eval(settings, vars(compat_bpe.train))]


@cases(
    """
 → Give --vocab-size or --merges.
--model unigram → Give --vocab-size.
--model unigram -n 9 --merges 3 → --merges is not for --model unigram, only for bpe,
--model sentencepiece-bpe -n 9 --weight a=1 → --weight is not for --model
-n 300 --weight en → --weight: 'en' is not GROUP=NUMBER
-n 300 --min-frequency -1 → min_frequency is -1; it must be 0 or more
""",
    "options message",
)
def test_settings_of_a_job_that_do_not_fit(
    options: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", "corpus", "-o", "x", *options.split()]) == 2
    assert message in capsys.readouterr().err


class Array:
    """As much of an Arrow array as texts are read from."""

    type = "string"

    def __init__(self, values: list[Any]) -> None:
        self._values = values

    def to_pylist(self) -> list[Any]:
        return self._values


def test_texts_of_a_column() -> None:
    assert texts_of(Array(["a", None, ""]), "strict", "'x'") == ["a", None, ""]
    damaged = Array([b"a", None, b"\xc3\xa9", b"b\xe9", b""])
    assert texts_of(damaged, "replace", "'x'") == ["a", None, "é", "b\ufffd", ""]
    assert texts_of(damaged, "skip", "'x'") == ["a", None, "é", None, ""]
    with pytest.raises(ValueError, match="column 'x': a text is not UTF-8: byte 0xe9 at offset 1"):
        texts_of(damaged, "strict", "'x'")


@given(texts, preparations)
def test_documents_one_by_one_are_those_of_a_corpus(
    some: list[str | None], preparation: Preparation
) -> None:
    """As on a cluster: each document by itself, told which of its digests come first."""
    seen: set[bytes] = set()
    kept: list[DocumentPart] = []
    held_out: list[DocumentPart] = []
    figures = Figures(len(preparation.rules))
    for number, text in enumerate(some):
        if not text:
            continue
        first = []
        for at, digest in enumerate(digests_of(text, preparation)):
            if digest not in seen:
                first.append(at)
            seen.add(digest)
        found = prepared(text, str(number), preparation, first)
        kept += [part for parts in found.kept for part in parts]
        held_out += found.held_out
        figures.add(found)
    expected_out: list[DocumentPart] = []
    counts = CorpusCounts()
    parts = (p for n, text in enumerate(some) for p in parts_of([text or ""], str(n), ""))
    expected = list(prepare_here(parts, preparation, expected_out.append, counts))
    assert kept == expected
    assert held_out == expected_out
    listed = counts.as_dict()
    assert figures.as_dict() == {
        **listed,
        "masked": listed["masked"] or [0] * len(preparation.rules),
        "sha256": None,
        "sha256_sum": figures.as_dict()["sha256_sum"],
    }


def test_the_digest_of_a_corpus_does_not_depend_on_the_order() -> None:
    some = Preparation(rules=[rule("^x$", "")])

    def digest(*texts: str) -> str:
        figures = Figures()
        for text in texts:
            figures.add(prepared(text, "", some))
        return str(figures.as_dict()["sha256_sum"])

    known = [int(sha256(text + b"\xff").hexdigest(), 16) for text in (b"a", b"b", b"c", b"d")]
    assert sum(known) >= 2**256
    assert digest("a", "b", "c", "d") == f"{sum(known) % 2**256:064x}"
    assert max(known) >= 2**255
    assert [digest(one) for one in "abcd"] == [f"{value:064x}" for value in known]
    assert digest("a", "x") == digest("a")  # of which nothing is left

    assert digest("a", "b", "b") == digest("b", "a", "b") != digest("a", "b")
    assert digest("a", "b") not in (digest("ab"), digest("a", "c"), digest("b", "b"))


def test_a_long_document_stays_one() -> None:
    text = "a line of some words\n" * 10_000
    found = prepared(text, "", Preparation("NFC"))
    assert [len(parts) for parts in found.kept] == [4]
    assert "".join(part.text for part in found.kept[0]) == text


def test_counts_of_parts_add_up() -> None:
    some = ["a dog", "a cat", "two dogs", ""]
    parts = [partition_counts(some[:1]), partition_counts(some[1:])]
    assert parts[0] + parts[1] == partition_counts(some)
    with pytest.raises(ValueError, match="the pattern cannot be used"):
        partition_counts(some, "(")


#: Settings that change what the sentences and their words are.
KINDS: list[dict[str, Any]] = [
    {},
    {"model_type": "word"},
    {"model_type": "char"},
    {"add_dummy_prefix": False, "remove_extra_whitespaces": False},
    {"treat_whitespace_as_suffix": True, "allow_whitespace_only_pieces": True},
    {"split_by_whitespace": False, "user_defined_symbols": ["dog", "@"]},
    {"max_sentence_length": 12, "pretokenization_delimiter": "s"},
    {"character_coverage": 0.98, "byte_fallback": True},
]


def learned_in_parts(some: list[Any], own: SentencePieceSettings, parts: int) -> Any:
    """The pieces, the scores and the figures, when each task has some of the texts."""
    figures: Counter[str] = Counter()
    with WordsTrainer(own, "own", figures) as trainer:
        for first in range(parts):
            documents = (part for text in some[first::parts] for part in parts_of([text], "", ""))
            for counts in sentence_words(own, documents, False, figures):
                trainer.feed_counts(counts[""])
        return shown(trainer)


def learned_at_once(some: list[Any], own: SentencePieceSettings) -> Any:
    with SentencePieceTrainer(own, name="own") as trainer:
        for text in some:
            trainer.feed(text)
        return shown(trainer)


def shown(trainer: Any) -> Any:
    try:
        trained = trainer.train()
    except ValueError as error:
        return str(error)
    model = trained.encoding.definition
    return list(model.texts), list(model.scores), trained.metrics()


@pytest.mark.parametrize("kind", KINDS, ids=str)
@settings(max_examples=15)
@given(texts, st.integers(1, 3))
def test_models_are_those_of_the_running_text(
    kind: dict[str, Any], some: list[Any], parts: int
) -> None:
    own = SentencePieceSettings(320, hard_vocab_limit=False, **kind)
    some = [text for text in some if text]
    assert learned_in_parts(some, own, parts) == learned_at_once(some, own)


def test_words_go_on_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "HELD", 3)
    own = SentencePieceSettings(60, hard_vocab_limit=False)
    some = ["a dog and a cat\n" * 5_000, "a dog\ntwo dogs\r\n", "x" * 70_000]
    figures: Counter[str] = Counter()
    documents = (part for text in some for part in parts_of([text], "", ""))
    portions = list(sentence_words(own, documents, False, figures))
    assert [len(portion[""]) for portion in portions] == [4, 4, 0, 0]
    # "skipped" is what is not UTF-8.
    assert set(figures) == {f"sentences.{name}" for name in ("bytes", "lines", "skipped")}
    found = learned_in_parts(some, own, 2)
    assert found == learned_at_once(some, own)
    assert found[2]["skipped_lines"] == 1


def test_what_is_not_learned_from_words() -> None:
    with pytest.raises(ValueError, match="substrings of the running text"):
        check_learned_from_words(SentencePieceSettings(300, "unigram"))
    with pytest.raises(ValueError, match=r"DataFrame\.sample"):
        check_learned_from_words(SentencePieceSettings(300, input_sentence_size=1000))
