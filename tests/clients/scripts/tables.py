"""Counts columns by DuckDB, Polars and pandas, and runs the guide's blocks; says "done"."""

import doctest
import random
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import tiktoken

import compat_bpe.pandas
import compat_bpe.polars  # noqa: F401
from compat_bpe.sql import register


def fails(call, message):
    try:
        call()
    except Exception as error:
        found = str(error)
    else:
        raise AssertionError(message)
    assert re.search(message, found), found


reference = tiktoken.get_encoding("o200k_base")
assert "compat_bpe" not in tiktoken.__file__
chance = random.Random(1)
pages = "".join(path.read_text("utf-8") for path in Path(sys.argv[1]).parent.glob("*.md"))
odd = "".join(map(chr, (*range(0x250), *range(0x4E00, 0x4E40), *range(0x1F600, 0x1F640))))
texts = [None, "", "a\0b", "<|endoftext|>", *pages.split("\n")]
texts += ["".join(chance.choices(odd, k=chance.randrange(30))) for _ in range(5000)]
texts += texts[::7]
expected = [None if text is None else len(reference.encode_ordinary(text)) for text in texts]
blobs = [None if text is None else text.encode() for text in texts]
bad = [b"a\xff", None, b"cat"]

table = pa.table({"n": range(len(texts)), "text": texts, "blob": pa.array(blobs, pa.binary())})
connection = duckdb.connect(config={"threads": 4})
register(connection)
connection.register("t", table)
query = (
    "SELECT token_count(text, 'o200k_base'), token_count_blob(blob, 'o200k_base') FROM t ORDER BY n"
)
assert connection.execute(query).fetchall() == [(one, one) for one in expected]


def in_thread(_):
    cursor = connection.cursor()
    return cursor.from_arrow(table).query("s", query.replace("FROM t", "FROM s")).fetchall()


with ThreadPoolExecutor(4) as pool:
    for rows in pool.map(in_thread, range(4)):
        assert rows == [(one, one) for one in expected]
fails(lambda: connection.execute("SELECT token_count('a', 'gpt9')").fetchall(), "encoding 'gpt9'")
fails(lambda: connection.execute("SELECT token_count(5, 'gpt2')").fetchall(), "No function matches")
call = "SELECT token_count_blob('\\xFF'::BLOB, 'gpt2')"
fails(lambda: connection.execute(call).fetchall(), "not UTF-8")
skipping = duckdb.connect()
register(skipping, errors="skip")
assert skipping.execute(call).fetchall() == [(None,)]

frame = pl.DataFrame({"text": texts, "blob": blobs})
for column in ("text", "blob"):
    counts = frame.lazy().select(pl.col(column).tokens.count("o200k_base"))
    for engine in ("streaming", "in-memory"):
        assert counts.collect(engine=engine)[column].to_list() == expected
    with ThreadPoolExecutor(4) as pool:
        for made in pool.map(lambda counts: counts.collect(), [counts] * 4):
            assert made[column].to_list() == expected
column = pl.col("b").tokens
assert pl.DataFrame({"b": bad}).select(column.count("gpt2", errors="skip"))["b"].to_list() == [
    None,
    None,
    1,
]
fails(lambda: pl.DataFrame({"b": bad}).select(column.count("gpt2")), "not UTF-8")
fails(lambda: pl.DataFrame({"b": [1]}).select(column.count("gpt2")), "is of type Int64")
fails(lambda: column.count("gpt9"), "unknown encoding 'gpt9'")
fails(lambda: column.truncate("gpt2", -1), "limit")
ids = frame.select(pl.col("text").tokens.ids("o200k_base"))["text"].to_list()
assert ids == [None if text is None else reference.encode_ordinary(text) for text in texts]

for values in (texts, blobs):
    made = pd.Series(values, index=range(5, 5 + len(values)), name="x").tokens.count("o200k_base")
    assert [None if one is pd.NA else one for one in made] == expected
    assert (made.name, made.index[0], str(made.dtype)) == ("x", 5, "Int64")
series = pd.Series(["cat", "cat", None, float("nan"), pd.NA])
ids = series.tokens.ids("gpt2")
ids[0].append(5)
assert len(ids[1]) == 1
fails(lambda: pd.Series([1]).tokens.count("gpt2"), "of type int")

guide = Path(sys.argv[1]).read_text("utf-8")
blocks = re.findall(r"^```pycon\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
assert len(blocks) == 4
test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "guide", sys.argv[1], 0)
assert doctest.DocTestRunner().run(test).failed == 0
print("done")
