"""Training on Spark gives the files of one machine; what goes wrong gives none."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import get_encoding
from compat_bpe.cli import cli
from compat_bpe.columns.batches import Carried
from compat_bpe.corpus.prepare import Preparation, rule
from compat_bpe.spark import chunk_counts, train, training, truncate
from compat_bpe.spark.counts import Count, chunks_of, splitter_of, summed
from compat_bpe.spark.frames import mapped, picked
from compat_bpe.train import TrainingSettings, train_bpe
from compat_bpe.train.bpe.merge_kinds import WordPieceSettings
from compat_bpe.train.kind import Trained
from compat_bpe.train.sentencepiece.settings import SentencePieceSettings
from compat_bpe.train.unigram import UnigramSettings
from tests.examples import check_refused
from tests.spark.corpora import counted, few, files_of, frame, of_one_machine, real_corpora, texts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


pytestmark = pytest.mark.spark


@few
@given(texts, st.integers(1, 4))
def test_merges_are_those_of_one_machine(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, some: list[Any], partitions: int
) -> None:
    df = frame(spark, [(text,) for text in some], "text string", partitions)
    output = tmp_path_factory.mktemp("trained") / "own"
    if not any(some):
        with pytest.raises(ValueError, match="there is no text to learn from"):
            train(df, "text", output, TrainingSettings(num_merges=9))
        assert not output.exists()
        return
    trained = train(df, "text", output, TrainingSettings(num_merges=9))
    expected = train_bpe([text or "" for text in some], num_merges=9)
    assert trained.encoding._mergeable_ranks == expected._mergeable_ranks
    manifest = json.loads((output / "manifest.json").read_text())
    assert manifest["corpus"]["kept"]["documents"] == sum(map(bool, some))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of JSON lines with two real corpora, some of it twice."""
    path = tmp_path_factory.mktemp("corpus") / "corpus.jsonl"
    doubled = {lang: [*some, "", *some[:5]] for lang, some in real_corpora(60_000).items()}
    rows = enumerate((lang, text) for lang, some in doubled.items() for text in some)
    lines = [json.dumps({"number": at, "lang": lang, "text": text}) for at, (lang, text) in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


def by_command(*arguments: object) -> dict[str, Any]:
    """The manifest that ``compat-bpe train`` prints."""
    done = CliRunner().invoke(cli, ["train", "--json", "-j", "1", *map(str, arguments)])
    assert done.exit_code == 0, done.output
    manifest: dict[str, Any] = json.loads(done.output[done.output.index("{") :])
    return manifest


def test_files_and_manifest_are_those_of_the_command(
    spark: SparkSession, corpus: Path, tmp_path: Path
) -> None:
    mask = tmp_path / "mask.txt"
    mask.write_text(r"\d+ => 0" + "\n" + r"[^ ]@[^ ]+ =>" + "\n")
    expected = by_command(
        *("-n", 400, "-o", tmp_path / "here", "--name", "own", "--group-field", "lang"),
        *("--special", "<|end|>", "--weight", "english=2", "--normalize", "NFC", "--mask", mask),
        *("--drop-duplicates", "lines", "--validation", 0.1, "--errors", "strict", corpus),
    )
    df = spark.read.json(str(corpus)).repartition(3)
    train(
        df,
        "text",
        tmp_path / "spark",
        TrainingSettings(400, special_tokens=["<|end|>"], weights={"english": 2}),
        name="own",
        group="lang",
        preparation=Preparation("NFC", (rule(r"\d+", "0"), rule(r"[^ ]@[^ ]+", "")), "lines", 0.1),
        order="number",
    )
    assert files_of(tmp_path / "spark") == files_of(tmp_path / "here")
    manifest = json.loads((tmp_path / "spark/manifest.json").read_text())
    assert manifest["corpus"].pop("sha256") is None
    assert len(manifest["corpus"].pop("sha256_sum")) == 64
    assert manifest["corpus"]["paths"] == [corpus.as_uri()]
    lineage = manifest.pop("spark")
    assert lineage["version"] == spark.version
    assert lineage["application"] == spark.sparkContext.applicationId
    assert lineage["count_error"] == 0
    for one in (expected, manifest):
        one["corpus"].pop("paths", None)
        one["files"].pop("validation.jsonl")
    assert expected["corpus"].pop("sha256")
    assert manifest == expected
    held_out = []
    for folder in (tmp_path / "spark", tmp_path / "here"):
        lines = map(json.loads, (folder / "validation.jsonl").read_text("utf-8").splitlines())
        held_out.append(sorted((line["group"], line["text"]) for line in lines))
    assert held_out[0] == held_out[1] != []


@pytest.mark.parametrize("kind", ["wordpiece", "unigram", "sentencepiece-bpe"])
def test_other_kinds(spark: SparkSession, corpus: Path, tmp_path: Path, kind: str) -> None:
    by_command("--model", kind, "-n", 300, "-o", tmp_path / "here", "--name", "own", corpus)
    made: dict[str, Any] = {
        "wordpiece": partial(WordPieceSettings, min_frequency=1),  # as by the command
        "unigram": UnigramSettings,
        "sentencepiece-bpe": partial(SentencePieceSettings, hard_vocab_limit=False),
    }
    settings = made[kind](300)
    df = spark.read.json(str(corpus)).repartition(2)
    train(df, "text", tmp_path / "spark", settings, name="own")
    assert files_of(tmp_path / "spark") == files_of(tmp_path / "here")
    manifests = [
        json.loads((tmp_path / folder / "manifest.json").read_text())
        for folder in ("spark", "here")
    ]
    for name in ("metrics", "pattern", "roles", "special_tokens"):
        assert manifests[0][name] == manifests[1][name]
    assert manifests[0]["settings"]["model"] == manifests[1]["settings"]["model"] == kind


def test_rare_chunks_may_be_left_out(spark: SparkSession, tmp_path: Path) -> None:
    rows = [("aa bb bb",), ("aa bb cc",)]
    df = frame(spark, rows, "text string", 2)
    trained = train(df, "text", tmp_path / "one", TrainingSettings(num_merges=9), min_count=2)
    expected = train_bpe(counts={"aa": 2, " bb": 3}, num_merges=9)  # without " cc"
    assert trained.encoding._mergeable_ranks == expected._mergeable_ranks
    trained = train(df, "text", tmp_path / "two", TrainingSettings(num_merges=9), approximate=1)
    error = json.loads((tmp_path / "two/manifest.json").read_text())["spark"]["count_error"]
    assert isinstance(trained, Trained)
    assert trained.distinct_chunks <= 2
    assert 0 < error <= 6 / 2


WRONG = """
train(df, "number", new, some) → …the column 'number' is of type int… → TypeError
train(df, "text", folder, some) → …not empty… → FileExistsError
train(df, "text", folder / "nothing/new", some) → …there is no folder… → FileNotFoundError
train(df, "text", new, some, preparation=Preparation(drop_duplicates="lines")) → …needs order…
train(df, "text", new, TrainingSettings(300, weights={"a": 1})) → …weights need group…
train(df, "text", new, "bpe") → …the settings are a str… → TypeError
train(df, "text", new, SentencePieceSettings(300, "unigram")) →
    …a Unigram model of SentencePiece cannot be learned from…
train(df, "text", new, SentencePieceSettings(300, input_sentence_size=200)) →
    …take a sample of the rows…
"""


def test_what_is_wrong_is_said_before_a_job_starts(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    own = {
        "df": frame(spark, [(1, "a")], "number int, text string", 1),
        "some": TrainingSettings(num_merges=9),
        "folder": tmp_path,
        "new": tmp_path / "new",
    }
    check_refused(WRONG, {**globals(), **own})
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_superwords_are_those_of_one_machine(spark: SparkSession, tmp_path: Path) -> None:
    some = ["by the way of the old world: by the way 1234", "of the old world, by the way"] * 9
    df = frame(spark, [(text,) for text in some], "text string", 3)
    first = train(df, "text", tmp_path / "first", TrainingSettings(290)).encoding
    options: dict[str, Any] = {"pattern": "superbpe", "max_words": 3, "not_joined": [": "]}
    settings = TrainingSettings(320, start=first, **options)
    trained = train(df, "text", tmp_path / "super", settings)
    expected = train_bpe(some, 320, start=train_bpe(some, 290), **options)
    assert trained.encoding._mergeable_ranks == expected._mergeable_ranks
    assert trained.encoding.encode(some[0]) == expected.encode(some[0])
    manifest = json.loads((tmp_path / "super" / "manifest.json").read_text())
    assert manifest["pattern"] == "superbpe"


def test_a_worker_that_is_killed(spark: SparkSession, tmp_path: Path) -> None:
    """Its task is tried again, and what it had counted does not count twice."""
    some = [f"a dog and {number} cats" for number in range(40)]
    df = frame(spark, [(text,) for text in some], "text string", 3)
    mark = str(tmp_path / "killed")
    count = Count(chunks_of(splitter_of("gpt2")), "text", "strict")

    def killed(batches: Iterator[Any]) -> Iterator[Any]:
        def dying() -> Iterator[Any]:
            for number, batch in enumerate(batches):
                if number == 2 and not os.path.exists(mark):
                    with open(mark, "x"):
                        os.kill(os.getpid(), signal.SIGKILL)
                yield batch
                # Counts of a part of the partition are given before it ends.
                counted_before.append(number)

        counted_before: list[int] = []
        yield from count(dying())

    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "3")
    try:
        rows = mapped(picked(df, "text", None), killed, count.schema)
        found = counted(summed(rows, ["chunk"]))
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    assert os.path.exists(mark)
    assert found == of_one_machine(list(some))


def test_a_row_of_100_megabytes(spark: SparkSession) -> None:
    from pyspark.sql import functions

    repeated = functions.repeat(functions.lit("one row that is long "), 5_000_000)
    df = spark.range(1).select(repeated.alias("text"))
    assert counted(chunk_counts(df, "text")) == {
        "one": 1,
        **dict.fromkeys([" row", " that", " is", " long"], 5_000_000),
        " one": 4_999_999,
        " ": 1,
    }
    assert df.select(truncate("text", "gpt2", 4)).collect()[0][0] == "one row that is"


def test_a_driver_that_stops_leaves_nothing(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    df = frame(spark, [("a dog",), ("a cat",)], "text string", 2)

    def stopped(*arguments: Any, **others: Any) -> None:
        raise KeyboardInterrupt

    for name in ("_without_figures", "write_vocabulary"):
        with monkeypatch.context() as patch:
            patch.setattr(training, name, stopped)
            with pytest.raises(KeyboardInterrupt):
                train(df, "text", tmp_path / "own", TrainingSettings(num_merges=3))
        assert list(tmp_path.iterdir()) == []
    train(df, "text", tmp_path / "own", TrainingSettings(num_merges=3))
    assert (tmp_path / "own/manifest.json").exists()


def test_an_encoding_is_made_once_in_a_worker(spark: SparkSession) -> None:
    """By value it is unpickled once, however many tasks use it."""
    encoding = get_encoding("gpt2")
    ranks = dict(encoding._mergeable_ranks)
    kind, pattern = type(encoding), encoding._pat_str
    own = Carried(kind("own", pat_str=pattern, mergeable_ranks=ranks, special_tokens={}))

    def seen(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            first, second = own.get(), own.get()
            rows = [(os.getpid(), id(first), first is second)] * batch.num_rows
            columns = [pyarrow.array(values) for values in zip(*rows)]
            yield pyarrow.RecordBatch.from_arrays(columns, ["pid", "object", "same"])

    df = spark.range(40).repartition(8)
    rows = df.mapInArrow(seen, "pid bigint, object bigint, same boolean").distinct().collect()
    assert all(row.same for row in rows)
    assert len({row.pid for row in rows}) == len({(row.pid, row.object) for row in rows})
    assert len(rows) < 8
