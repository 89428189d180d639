"""Figures are those of plain counting, of any kind of encoding; learning curves are read again."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding, load
from compat_bpe.corpus.documents import DocumentPart
from compat_bpe.report.charts import curve_chart, keys
from compat_bpe.report.figures import (
    BYTES_PER_TOKEN,
    KEPT,
    WHOLE_CHUNKS,
    Check,
    Sizes,
    TokenCounts,
    TokenUse,
    balance,
    columns,
    curve_of,
    group_tables,
    measures_of,
    sampled_checks,
    vocabulary_table,
    worst_to_best,
)
from compat_bpe.report.html import page
from compat_bpe.report.measure import report, report_parts
from compat_bpe.report.text import as_json, table_lines
from compat_bpe.unicode.surrogates import repair
from tests.cli.running import run
from tests.fit.hard_encodings import encoding_of, encodings, hard_texts
from tests.formats.small_files import NAME, WHOLE
from tests.formats.small_gguf import Written, bert, gguf, gpt2, pieces
from tests.kinds import of_kind


def cut(text: str, places: list[int], group: str) -> list[DocumentPart]:
    """A document in parts that end at some places of it."""
    ends = sorted({place % len(text) for place in places} - {0}) if text else []
    parts = [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)])]
    return [
        DocumentPart(part, group, "", number == len(parts))
        for number, part in enumerate(parts, 1)
        if text
    ]


def lost_words(encoding: Encoding, text: str) -> int:
    decoded = encoding.decode(encoding.encode_ordinary(text))
    return sum((Counter(text.split()) - Counter(decoded.split())).values())


documents = st.lists(
    st.tuples(
        hard_texts.map(repair), st.lists(st.integers(0, 500), max_size=6), st.sampled_from("ab")
    ),
    max_size=4,
)


@given(encodings.filter(lambda encoding: encoding.name != "characters"), documents)
def test_parts_count_as_whole_documents(
    encoding: Encoding, some: list[tuple[str, list[int], str]]
) -> None:
    parts = chain.from_iterable(cut(text, places, group) for text, places, group in some)
    found = report_parts({"it": encoding}, parts, groups=["a", "b"])
    one = found.encodings["it"]
    ids: Counter[int] = Counter()
    for group in "ab":
        texts = [text for text, _, of in some if of == group and text]
        assert found.groups[group] == Sizes(
            len(texts),
            sum(len(text.encode()) for text in texts),
            sum(map(len, texts)),
            sum(len(text.split()) for text in texts),
        )
        chunks = [ids for text in texts for ids in encoding.core.ids_by_chunk(text)]
        unknown = encoding.core.model.unknown_id
        # A group without any text has no share of unknown tokens.
        is_met = unknown is not None and one.groups[group].unknown is not None
        assert is_met or unknown is None or not chunks
        assert one.groups[group] == TokenCounts(
            sum(map(encoding.count, texts)),
            len(chunks),
            sum(len(chunk) == 1 and chunk[0] != unknown for chunk in chunks),
            sum(chunk.count(unknown) for chunk in chunks) if is_met else None,
            sum(lost_words(encoding, text) for text in texts),
        )
        ids.update(chain.from_iterable(map(encoding.encode_ordinary, texts)))
    assert {use.id: use.times for use in one.uses} == ids
    # All groups together are the total.
    assert found.total == Sizes(*map(sum, zip(*found.groups.values())))
    assert one.total[:3] == tuple(map(sum, zip(*(group[:3] for group in one.groups.values()))))
    assert one.total.tokens == sum(ids.values())


@given(encodings, hard_texts)
def test_texts_are_repaired_as_the_encoding_does(encoding: Encoding, text: str) -> None:
    found = report({"it": encoding}, {"all": [text]})
    assert found.encodings["it"].total.tokens == encoding.count(text)
    assert found.total.characters == len(repair(text))


def test_groups_stay_in_their_order_and_may_be_empty() -> None:
    gpt2 = get_encoding("gpt2")
    found = report({"gpt2": gpt2}, {"z": ["a dog"], "empty": [], "blank": [""], "a": ["x"]})
    assert list(found.groups) == ["z", "empty", "blank", "a"]
    assert found.groups["empty"] == found.groups["blank"] == Sizes()
    assert found.encodings["gpt2"].groups["empty"] == TokenCounts()
    # A group that is not known beforehand comes when its first part does.
    parts = [DocumentPart("x", "new", "", True), DocumentPart("a dog", "old", "", True)]
    assert list(report_parts({"gpt2": gpt2}, parts, groups=["old"]).groups) == ["old", "new"]


def test_words_across_parts() -> None:
    parts = [
        DocumentPart(text, "", "", is_last)
        for text, is_last in (("two wo", False), ("rds", False), (" ", False), ("three", True))
    ]
    assert report_parts({}, [*parts, DocumentPart("four", "", "", True)]).total.words == 4


def test_nothing() -> None:
    found = report({"gpt2": get_encoding("gpt2")}, {})
    one = found.encodings["gpt2"]
    assert (found.total, one.total, one.used, one.unused) == (Sizes(), TokenCounts(), 0, 50256)
    assert (one.uses, one.longest(3), one.by_length(), one.covered) == ([], [], {}, [])
    assert BYTES_PER_TOKEN.of(found.total, one.total) is None
    assert [rows for _, _, rows in group_tables(found)[1:]] == [
        [("total", ["-"] * 4)],
        [("total", ["-"] * 4)],
        [("total", ["-"] * 4)],
        [("total", ["-"])],
    ]


def test_vocabulary() -> None:
    gpt2 = get_encoding("gpt2")
    one = report({"gpt2": gpt2}, {"": ["the cats and the dog and the cow"]}).encodings["gpt2"]
    # Of two that came as often, the lower id comes first.
    assert one.uses[:2] == [TokenUse(262, b" the", 2, 4), TokenUse(290, b" and", 2, 4)]
    assert [use.token for use in one.longest(3)] == [b" cats", b" the", b" and"]
    assert one.by_length() == {3: 1, 4: 6, 5: 1}
    assert (one.mergeable, one.used, one.unused) == (50256, 6, 50250)
    assert one.covered == [8, 16, 19, 23, 27, 32]
    assert one.unreachable is not None
    assert len(one.unreachable) == 13


def test_terms() -> None:
    terms = ["naïve", "", " a"]
    made = report({"gpt2": get_encoding("gpt2")}, {}, terms=iter(terms))
    first, empty, spaced = made.encodings["gpt2"].terms
    assert first.term == "naïve"
    assert (b"".join(first.alone), b"".join(first.after_space)) == (
        "naïve".encode(),
        " naïve".encode(),
    )
    assert (empty.alone, empty.after_space) == ([], [b" "])
    assert spaced.after_space == [b" ", b" a"]


def test_an_encoding_that_decodes_otherwise() -> None:
    # Added tokens are tokens here, and their bytes are known.
    encoding = encoding_of("added tokens")
    one = report({"": encoding}, {"": ["a<b>y"]}).encodings[""]
    assert {use.token for use in one.uses} >= {b"<b>"}
    assert one.used < len(one.uses)


def test_a_byte_without_a_token_is_an_error() -> None:
    encoding = Encoding("own", pat_str=".", mergeable_ranks={b"a": 0}, special_tokens={})
    with pytest.raises(ValueError, match="no token for the byte b'b'"):
        report({"own": encoding}, {"": ["ab"]})


def test_balance() -> None:
    groups = {"a": Sizes(characters=10), "b": Sizes(characters=40), "none": Sizes()}
    counts = {"a": TokenCounts(20), "b": TokenCounts(20), "none": TokenCounts()}
    ratios = balance(groups, counts)
    assert ratios == {"a": 4.0, "b": 1.0, "none": None}
    assert worst_to_best(ratios) == 4.0
    assert worst_to_best(balance({}, {})) is None


def test_tables() -> None:
    gpt2 = get_encoding("gpt2")
    found = report({"gpt2": gpt2, "same": gpt2}, {"en": ["a dog. A dog."], "zh": ["你好"]})
    assert [column.name for column in columns(found)] == ["gpt2", "same", "char", "byte", "word"]
    tables = {table.title: table for table in group_tables(found)}
    tokens = tables["tokens"]
    assert tokens.columns == ["gpt2", "same", "char", "byte", "word"]
    assert tokens.rows == [
        ("en", ["6", "6", "13", "13", "4"]),
        ("zh", ["4", "4", "2", "6", "1"]),
        ("total", ["10", "10", "15", "19", "5"]),
    ]
    assert tables[WHOLE_CHUNKS.title].rows[0] == ("en", ["100.0%", "100.0%"])
    *_, last = tables.values()
    assert last.rows == [
        ("en", ["1.00", "1.00", "1.00", "1.00", "1.00"]),
        ("zh", ["4.33", "4.33", "1.00", "3.00", "1.62"]),
        ("worst to best", ["4.33", "4.33", "1.00", "3.00", "1.62"]),
    ]
    [(name, cells), _] = vocabulary_table(found).rows
    assert (name, cells[0], cells[-1]) == ("gpt2", "50,256", "13")


def test_words_that_decoding_gives_back() -> None:
    text = "hug hugs  Hug éx\nhug xxx"
    wordpiece, gpt2 = of_kind("wordpiece"), get_encoding("gpt2")
    found = report({"w": wordpiece, "g": gpt2}, {"a": [text, "hug"], "b": ["hug hug"]})
    lost = lost_words(wordpiece, text)
    assert lost > 0
    groups = found.encodings["w"].groups
    assert (groups["a"].lost, groups["b"].lost) == (lost, 0)
    assert found.encodings["g"].total.lost == 0
    tables = {table.title: table for table in group_tables(found)}
    kept = tables["words that decoding gives back"]
    assert kept.columns == ["w", "g"]
    assert kept.rows == [
        ("a", [f"{(7 - lost) / 7:.2%}", "100.00%"]),
        ("b", ["100.00%", "100.00%"]),
        ("total", [f"{(9 - lost) / 9:.2%}", "100.00%"]),
    ]
    shown = json.loads(as_json(found, 0, {}))["encodings"]
    assert shown[0]["groups"]["a"]["kept_word_share"] == (7 - lost) / 7
    assert "words that decoding gives back" in page(found)
    # It says nothing if nothing can be lost.
    bare = report({"g": gpt2}, {"a": [text]})
    assert KEPT not in measures_of(bare)
    assert "words that decoding gives back" not in page(bare)


@given(st.lists(st.text("hugs  H\n", max_size=9)), st.sampled_from(["wordpiece", "unigram"]))
def test_words_are_those_of_documents_however_they_are_cut(parts: list[str], kind: str) -> None:
    enc, text = of_kind(kind), "".join(parts)
    last = len(parts) - 1
    cut = [DocumentPart(part, "", "", number == last) for number, part in enumerate(parts)]
    whole = [DocumentPart(text, "", "", True)] if parts else []
    assert report_parts({"e": enc}, cut).encodings["e"].groups == (
        report_parts({"e": enc}, whole).encodings["e"].groups
    )


CURVE = [Check(256, 0, 1.0), Check(300, 44, 2.5), Check(340, 84, 3.0)]


def write(folder: Path, curve: Any, data: bytes = b"{}") -> None:
    (folder / "tokenizer.json").write_bytes(b"{}")
    manifest = {
        "files": {"tokenizer.json": hashlib.sha256(data).hexdigest()},
        "metrics": {"curve": curve},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_a_curve_is_read_for_the_files_of_its_manifest(tmp_path: Path) -> None:
    write(tmp_path, [check._asdict() for check in CURVE])
    assert curve_of(tmp_path) == curve_of(tmp_path / "tokenizer.json") == CURVE
    (tmp_path / "other.json").write_text("{}")
    assert curve_of(tmp_path / "other.json") == []
    (tmp_path / "tokenizer.json").write_text("{ }")
    assert curve_of(tmp_path) == curve_of(tmp_path / "tokenizer.json") == []
    (tmp_path / "manifest.json").unlink()
    assert curve_of(tmp_path) == []


ONE = CURVE[0]._asdict()


@pytest.mark.parametrize(
    "curve",
    [
        None,
        3,
        [3],
        [{}],
        [{**ONE, "tokens": "256"}],
        [{**ONE, "tokens": True}],
        [{**ONE, "merges": -1}],
        [{**ONE, "bytes_per_token": float("inf")}],
        [{**ONE, "bytes_per_token": float("nan")}],
        [{**ONE, "bytes_per_token": 10**400}],
    ],
)
def test_a_damaged_curve_is_none(curve: Any, tmp_path: Path) -> None:
    write(tmp_path, curve)
    assert curve_of(tmp_path) == []


def test_a_chart_has_each_check_on_round_axes() -> None:
    first, second = keys(["a", "b"])
    drawn = curve_chart([(first, CURVE), (second, CURVE[:1])], "said")
    lines = re.findall('points="([^"]*)"', drawn)
    # The axes end at 400 tokens and 3 bytes.
    assert lines == ["64.00,66.67 75.00,16.67 85.00,0.00", "64.00,66.67"]
    across = re.findall('class="x" style="left:([^"]*)">([^<]*)<', drawn)
    assert across == [
        ("0.00%", "0"),
        ("25.00%", "100"),
        ("50.00%", "200"),
        ("75.00%", "300"),
        ("100.00%", "400"),
    ]
    assert re.findall('class="y"[^>]*>([^<]*)<', drawn) == ["0", "1", "2", "3"]
    assert drawn.count('class="badge') == 2
    assert 'aria-label="said"' in drawn
    zero = curve_chart([(first, [Check(0, 0, 0.0)])], "said")
    assert 'points="0.00,100.00"' in zero


def test_rows_of_a_table() -> None:
    assert sampled_checks(CURVE) == CURVE
    many = [Check(number, number, 1.0) for number in range(1000)]
    found = sampled_checks(many)
    assert (len(found), found[0], found[-1]) == (12, many[0], many[-1])
    assert sampled_checks(many[:12]) == many[:12]


def test_a_report_has_the_curves_that_there_are() -> None:
    encodings = {"a": get_encoding("gpt2"), "b": get_encoding("bytes")}
    bare = report(encodings, {"en": ["A dog."]})
    assert "Learning curve" not in page(bare)
    assert "learning curve" not in "\n".join(table_lines(bare, 80, 0))
    made = bare._replace(curves={"b": CURVE})
    written = page(made)
    assert "<h2>Learning curve</h2>" in written
    assert "<td>2.5000</td>" in written
    lines = table_lines(made, 80, 0)
    place = lines.index("learning curve of b: bytes per token of the text held out in training")
    assert lines[place + 1 : place + 5] == [
        "tokens  merges  bytes per token",
        "   256       0           1.0000",
        "   300      44           2.5000",
        "   340      84           3.0000",
    ]
    found = json.loads(as_json(made, 0, {}))["encodings"]
    assert [one["learning_curve"] for one in found] == [[], [check._asdict() for check in CURVE]]


TEXT = "hello the hello, ab a s!\nhe said\n"
KINDS: dict[str, dict[str, Written]] = {
    "gpt2": gpt2(),
    "llama": pieces("llama"),
    "t5": pieces("t5"),
    "bert": bert(),
}


@pytest.mark.parametrize("kind", [*KINDS, "rwkv"])
def test_a_report_of_a_vocabulary(tmp_path: Path, kind: str) -> None:
    path = tmp_path / (f"{kind}.gguf" if kind in KINDS else NAME)
    path.write_bytes(gguf(KINDS[kind]) if kind in KINDS else WHOLE)
    corpus, page = tmp_path / "corpus", tmp_path / "page.html"
    corpus.mkdir()
    for name in ("a.txt", "b.txt"):
        (corpus / name).write_text(TEXT)
    arguments = ("report", "-e", str(path), "-e", "gpt2", str(corpus))
    status, out, err = run(*arguments, "--html", str(page))
    assert (status, err) == (0, "")
    assert path.name in out.decode()
    assert path.name in page.read_text("utf-8")
    measured = json.loads(run(*arguments, "--json").out)["encodings"][0]
    assert measured["name"] == str(path)
    assert measured["total"]["tokens"] == 2 * load(path).count(TEXT)
