"""Small corpora for the tests, and two real ones; DataFrames, and results of one machine."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import Phase, settings
from hypothesis import strategies as st

from compat_bpe.corpus.chunk_counts import ChunkCounter
from compat_bpe.corpus.prepare import Preparation, rule
from compat_bpe.spark.counts import splitter_of
from compat_bpe.unicode.surrogates import repair
from tests.corpora import CORPORA

#: Words that recur, in several scripts, with what normalization, masking and lines look at.
_WORDS = ["the", " dog", "s", "12", "é", "e\u0301", "世界", " ", "\n", "\n\n", "가", "a@b.c", "\t"]

#: Settings of properties. An example takes a second, so one that fails is not made smaller.
few = settings(max_examples=6, phases=[Phase.explicit, Phase.generate])

#: Texts of a corpus, some of them null, empty, or the same as another.
texts = st.lists(
    st.one_of(
        st.none(),
        st.lists(st.sampled_from(_WORDS), max_size=12).map("".join),
        st.text(max_size=8).map(repair),
    ),
    min_size=1,
    max_size=12,
)

#: What is done to a corpus before it is counted.
preparations = st.builds(
    Preparation,
    normalization=st.sampled_from([None, "NFC", "NFKD"]),
    rules=st.sampled_from([(), (rule(r"\d+", "0"), rule(r"\S+@\S+", ""))]),
    drop_duplicates=st.sampled_from(["lines", "documents", None]),
    validation=st.sampled_from([0.0, 0.4]),
)


def real_corpora(size: int = 150_000) -> dict[str, list[str]]:
    """The beginnings of two corpora in documents of some lines; of two guides without them."""
    paths = {name: CORPORA / f"{name}.txt" for name in ("english", "udhr")}
    if not all(path.exists() for path in paths.values()):
        docs = Path(__file__).parents[2] / "docs"
        paths = {"english": docs / "guide-training.md", "udhr": docs / "compatibility.md"}
    found = {}
    for name, path in paths.items():
        lines = path.read_text("utf-8", errors="replace")[:size].splitlines(keepends=True)
        found[name] = ["".join(lines[at : at + 9]) for at in range(0, len(lines), 9)]
    return found


if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def frame(spark: SparkSession, rows: list[Any], schema: str, partitions: int) -> DataFrame:
    """A DataFrame with its rows in so many partitions, of which some may be empty."""
    return spark.createDataFrame(spark.sparkContext.parallelize(rows, partitions), schema)


def counted(df: DataFrame) -> dict[Any, int]:
    """Counts by chunk, or by chunk and group; each has one row."""
    rows = [tuple(row) for row in df.collect()]
    found = {row[0] if len(row) == 2 else (row[0], row[2]): row[1] for row in rows}
    assert len(found) == len(rows)
    return found


def of_one_machine(some: list[str | None], pattern: str = "gpt2") -> Counter[str]:
    with ChunkCounter(splitter_of(pattern), workers=1) as counter:
        for text in some:
            counter.feed(text or "")
        return counter.finish().get("", Counter())


def files_of(folder: Path) -> dict[str, bytes]:
    """The files of a vocabulary but for those that say how it was made."""
    others = ("manifest.json", "validation.jsonl")
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in others}
