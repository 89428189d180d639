"""Reports on vocabularies: the counts are those of whole documents, however they come."""

from __future__ import annotations

import json
from collections import Counter
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.corpus.documents import DocumentPart
from compat_bpe.report.figures import (
    BYTES_PER_TOKEN,
    KEPT,
    WHOLE_CHUNKS,
    Sizes,
    TokenCounts,
    TokenUse,
    balance,
    worst_to_best,
)
from compat_bpe.report.html import page
from compat_bpe.report.measure import report, report_parts
from compat_bpe.report.tables import columns, group_tables, measures_of, vocabulary_table
from compat_bpe.report.text import as_json
from compat_bpe.unicode.surrogates import repair
from tests.fit.hard_encodings import encoding_of, encodings, hard_texts
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
