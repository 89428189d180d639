"""A corpus is read as what it is, in parts, and damage is named."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.corpus import documents as corpus
from compat_bpe.corpus.documents import CorpusFile, DocumentPart, group_of, parts_of, read_corpus
from compat_bpe.files import compressed as file_bytes
from compat_bpe.formats.checked_json import is_unicode
from compat_bpe.unicode.surrogates import repair
from tests.examples import shared_fixture
from tests.files.systems import windows_paths
from tests.memory import tracemalloc
from tests.strategies import texts

# Every example writes the file anew, so it may be shared.
sizes = st.integers(1, 20)


def read(path: Path | str, **options: Any) -> list[DocumentPart]:
    return list(read_corpus([CorpusFile(str(path), "g")], **options))


def read_skipping(path: Path | str, **options: Any) -> tuple[list[DocumentPart], list[Any]]:
    """The parts, and what is skipped with its reason."""
    skipped: list[tuple[str, str]] = []
    options["skipped"] = lambda *what: skipped.append(what)
    return read(path, errors="skip", **options), skipped


def documents(parts: Iterable[DocumentPart]) -> list[str]:
    """The texts of the documents; every part has some text."""
    found = [""]
    for part in parts:
        assert part.text
        found[-1] += part.text
        if part.is_last:
            found.append("")
    assert found.pop() == "", "the last document has no end"
    return found


def small(part: int, block: int) -> ExitStack:
    """With parts and blocks of so many characters and bytes."""
    stack = ExitStack()
    stack.enter_context(patch.object(corpus, "PART", part))
    stack.enter_context(patch.object(file_bytes, "BLOCK", block))
    return stack


@given(texts, sizes, st.lists(st.integers(0, 30)))
def test_parts_are_the_text_and_end_at_line_ends(text: str, size: int, cuts: list[int]) -> None:
    with small(size, 1):
        parts = list(parts_of([text], "g", "s"))
        places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
        pieces = [text[start:end] for start, end in zip(places, places[1:])]
        assert list(parts_of(pieces, "g", "s")) == parts
    assert "".join(part.text for part in parts) == text
    start = 0
    for part in parts[:-1]:
        # After the last line that ends in so many characters; if none does, so many.
        lines = text[start : start + size].rpartition("\n")[0]
        assert part.text == (
            text[start:][: len(lines) + 1] if "\n" in part.text else text[start:][:size]
        )
        assert ("\n" in part.text) == ("\n" in text[start : start + size])
        assert not part.is_last
        start += len(part.text)
    assert [part.is_last for part in parts[-1:]] == [True] * bool(text)


@shared_fixture()
@given(text=texts.map(repair), part=sizes, block=sizes, suffix=st.sampled_from([".txt", ".TXT.GZ"]))
def test_a_text_file_is_read_whatever_the_blocks(
    tmp_path: Path, text: str, part: int, block: int, suffix: str
) -> None:
    path = tmp_path / f"a{suffix}"
    data = text.replace("\0", "").encode()
    path.write_bytes(gzip.compress(data) if suffix == ".TXT.GZ" else data)
    for errors in ("strict", "replace", "skip"):
        told: list[int] = []
        with small(part, block):
            parts = read(path, errors=errors, advance=told.append)
            assert parts == list(parts_of([data.decode()], "g", str(path)))
        assert sum(told) == path.stat().st_size


@shared_fixture()
@given(text=st.lists(texts, max_size=4), part=sizes, data=st.data())
def test_json_lines_are_documents(
    tmp_path: Path, text: list[str], part: int, data: st.DataObject
) -> None:
    path = tmp_path / "b.ndjson"
    blank = st.sampled_from(["", "\n", " \r\n", "\t\n\n"])
    with path.open("wb") as file:
        for number, one in enumerate(text):
            members = {"id": number, "text": one, "lang": one}
            # As UTF-8 surrogates cannot be; escaped they can.
            escaped = not is_unicode(one) or data.draw(st.booleans())
            file.write((data.draw(blank) + json.dumps(members, ensure_ascii=escaped)).encode())
            file.write(b"\n" if number < len(text) - 1 else b"")
    with small(part, 1):
        parts = read(path, group_field="lang")
    assert documents(parts) == [repair(one) for one in text if one]
    assert {part.group for part in parts} == {repair(one) for one in text if one}


def test_lines_are_named_by_their_number(tmp_path: Path) -> None:
    path = tmp_path / "b.jsonl"
    # A byte-order mark, as Windows writes it, and the last line without an end.
    path.write_bytes(b'\xef\xbb\xbf{"t": "1"}\r\n\r\n{"t": ""}\n{"x": 0, "t": "2"}')
    assert read(path, field="t") == [
        DocumentPart("1", "g", f"{path}:1", True),
        DocumentPart("2", "g", f"{path}:4", True),
    ]

    # The mark alone is no document.
    path.write_bytes(b"\xef\xbb\xbf")
    assert read(path, field="t") == []


def test_a_byte_order_mark_of_a_text_is_text(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\r")
    assert documents(read(path)) == ["\ufeffa\r\nb\r"]


zipped = gzip.compress(b"some text")
line = b'{"text": "fine"}\n'

DAMAGED = {
    "nul": ("a.txt", b"PNG\0", "a.txt: binary: NUL byte at offset 3"),
    "utf-16": ("a.txt", "a".encode("utf-16"), "a.txt: not UTF-8: UTF-16 byte-order mark"),
    "byte": ("a.txt", b"caf\xe9 au lait", "a.txt: not UTF-8: byte 0xe9 at offset 3"),
    "cut character": ("a.txt", "aé".encode()[:-1], "a.txt: not UTF-8: byte 0xc3 at offset 1"),
    "surrogate": ("a.txt", b"\xed\xa0\x80", "a.txt: not UTF-8: byte 0xed at offset 0"),
    "cut gzip": ("a.txt.gz", zipped[:-9], "a.txt.gz: gzip data that is cut short"),
    "cut header": ("a.txt.gz", zipped[:5], "a.txt.gz: gzip data that is cut short"),
    "no gzip data": ("a.gz", b"", "a.gz: gzip data that is cut short"),
    "no gzip": ("a.txt.gz", b"text", "a.txt.gz: damaged gzip data: Error -3"),
    "checksum": ("a.gz", zipped[:-8] + bytes(8), "a.gz: damaged gzip data: Error -3"),
    "deflate": ("a.gz", zipped[:10] + b"\xff" * 99, "a.gz: damaged gzip data: Error -3"),
    "byte in gzip": ("a.gz", gzip.compress(b"ab\xff"), "a.gz: not UTF-8: byte 0xff at offset 2"),
    "no JSON": ("b.jsonl", line + b"text\n", "b.jsonl:2: not JSON: column 1: Expecting value"),
    "cut JSON": ("b.jsonl", line + line[:-4], "b.jsonl:2: not JSON: column 10: Unterminated"),
    "list": ("b.jsonl", b"[]", "b.jsonl:1: must be an object, not a list"),
    "no field": (
        "b.jsonl",
        b'\n{"id": 1, "content": "a"}',
        "b.jsonl:2: no field 'text'; the fields are 'id', 'content'",
    ),
    "empty object": ("b.jsonl", b"{}", "b.jsonl:1: no field 'text'; there are none"),
    "number": ("b.jsonl", b'{"text": 1}', "b.jsonl:1: 'text': must be a string, not an integer"),
    "null": ("b.jsonl", b'{"text": null}', "b.jsonl:1: 'text': must be a string, not null"),
    "byte in JSON": (
        "b.jsonl",
        b"\xef\xbb\xbf" + line + b'{"text": "\xff"}',
        "b.jsonl:2: not UTF-8: byte 0xff at offset 30; convert it to UTF-8",
    ),
    "nested": ("b.jsonl", b'{"text": ' + b"[" * 200_000, "b.jsonl:1: not JSON"),
    "digits": ("b.jsonl", b'{"text": ' + b"1" * 5000 + b"}", "b.jsonl:1: "),
    "UTF-16 of JSON": ("b.jsonl", "{}".encode("utf-16"), "b.jsonl:1: not UTF-8: UTF-16 byte-order"),
}


@pytest.mark.parametrize(("name", "data", "reason"), DAMAGED.values(), ids=DAMAGED)
def test_damage_is_named_and_left_out_if_asked(
    name: str, data: bytes, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(data)
    Path("z").write_text("the next")
    files = [CorpusFile(name, "g"), CorpusFile("z", "g")]
    with pytest.raises(ValueError, match=r".") as caught:
        list(read_corpus(files))
    assert str(caught.value).startswith(reason)

    skipped: list[str] = []
    told: list[int] = []
    parts = list(
        read_corpus(
            files,
            errors="skip",
            skipped=lambda source, reason: skipped.append(f"{source}: {reason}"),
            advance=told.append,
        )
    )
    assert [one[: len(reason)] for one in skipped] == [reason]
    # The other lines are taken, of a text nothing.
    assert documents(parts) == ["fine"] * data.startswith((line, b"\xef\xbb\xbf" + line)) + [
        "the next"
    ]
    assert sum(told) == len(data) + len("the next")


def test_bytes_that_are_not_utf8_are_replaced_if_asked(tmp_path: Path) -> None:
    text, lines = tmp_path / "a.txt", tmp_path / "b.jsonl"
    text.write_bytes(b"caf\xe9 \xf0\x9f\x98")
    lines.write_bytes(b'{"text": "caf\xe9"}\n')
    assert documents(read(text, errors="replace")) == ["caf\ufffd \ufffd"]
    assert documents(read(lines, errors="replace")) == ["caf\ufffd"]
    text.write_bytes(b"\xe9\0")
    lines.write_bytes(b"{]\n")
    for path in (text, lines):
        with pytest.raises(ValueError, match=f"^{path}:"):
            read(path, errors="replace")


@pytest.mark.parametrize("in_memory", [0, 100, 1 << 23])
@pytest.mark.parametrize("ending", [b"", b"\xff"])
def test_damage_far_behind_leaves_nothing_of_a_text(
    in_memory: int, ending: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Ünïcödé\n" * 50
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode() + ending)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    # A file, which can be read twice, and a pipe, which cannot.
    for name in (str(path), "-"):
        with small(20, 30), patch.object(corpus, "_IN_MEMORY", in_memory):
            parts, skipped = read_skipping(name)
            assert parts == ([] if ending else list(parts_of([text], "g", name)))
        assert [source for source, _ in skipped] == ([name] if ending else [])


def test_lines_before_damaged_gzip_data_stay(tmp_path: Path) -> None:
    path = tmp_path / "b.jsonl.gz"
    documents_there = [Random(number).randbytes(1000).hex() for number in range(1000)]
    lines = "".join(json.dumps({"text": text}) + "\n" for text in documents_there)
    data = gzip.compress(lines.encode())
    path.write_bytes(data[: len(data) // 2])
    parts, skipped = read_skipping(path)
    found = documents(parts)
    assert 0 < len(found) < 1000
    assert found == documents_there[: len(found)]
    assert skipped == [(f"{path}:{len(found) + 1}", "gzip data that is cut short")]


def test_a_line_that_is_too_long_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "b.jsonl"
    path.write_bytes(line + b'{"text": "%s"}\n' % (b"a" * 100) + line + b"{" * 100)
    with patch.object(corpus, "LINE_LIMIT", len(line)):
        parts, skipped = read_skipping(path)
    assert [part.source for part in parts] == [f"{path}:1", f"{path}:3"]
    reason = f"a line of more than {len(line)} bytes"
    assert skipped == [(f"{path}:2", reason), (f"{path}:4", reason)]


def test_standard_input_is_text_unless_said_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    for options, expected in (({}, line.decode()), ({"jsonl": True}, "fine")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(line)))
        assert documents(read("-", **options)) == [expected]
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(OSError, match="standard input is closed"):
        read("-")


@pytest.mark.parametrize("errors", ["strict", "replace", "skip"])
def test_what_cannot_be_read_is_an_error_with_its_name(errors: str, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing", tmp_path / "missing.jsonl.gz"):
        with pytest.raises(OSError, match=r".") as caught:
            read(path, errors=errors)
        assert caught.value.filename == str(path)


def test_an_unknown_way_with_errors_is_refused_at_once() -> None:
    with pytest.raises(
        ValueError, match="errors is 'ignore'; it must be one of strict, replace, skip"
    ):
        read_corpus([], errors="ignore")  # type: ignore[arg-type]


@pytest.mark.parametrize("content", ["a line of text\n", "без строк "])
def test_memory_does_not_grow_with_a_file(content: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    with gzip.open(path, "wb", 1) as file:
        for _ in range(32):
            file.write(content.encode() * (1_000_000 // len(content.encode())))
    tracemalloc.start()
    try:
        size = sum(len(part.text.encode()) for part in read_corpus([CorpusFile(str(path), "")]))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size > 31_000_000
    assert peak < 12_000_000


@pytest.mark.parametrize(
    ("path", "root", "group"),
    [
        ("c/zh/news/a.txt", "c", "zh"),
        ("c/zh/news/a.txt", "c/zh/", "news"),
        ("./zh/a.txt", ".", "zh"),
        ("c/zh.train.jsonl.gz", "c", "zh"),
        ("c/zh/a.txt", "c/zh/a.txt", "a"),
        ("README", "README", "README"),
        ("c/.hidden/a", "c", ".hidden"),
        ("c/.profile", "c", ".profile"),
        ("-", "-", "-"),
        ("c/caf\udce9.txt", "c", "caf\ufffd"),
    ],
)
def test_groups_are_folders_or_names(path: str, root: str, group: str) -> None:
    def native(name: str) -> str:
        return name.replace("/", os.sep)

    assert group_of(native(path), native(root)) == group


@pytest.mark.parametrize("suffix", [".txt", ".txt.gz", ".jsonl"])
@pytest.mark.parametrize("errors", ["strict", "skip"])
def test_what_is_told_of_has_been_worked_on(tmp_path: Path, suffix: str, errors: str) -> None:
    path = tmp_path / f"a{suffix}"
    text = "".join(f"{number:x}\n" for number in Random(0).sample(range(10**9), 100_000))
    lines = [json.dumps({"text": text[at : at + 3000]}) for at in range(0, len(text), 3000)]
    data = "\n".join(lines).encode() if suffix == ".jsonl" else text.encode()
    path.write_bytes(gzip.compress(data) if suffix == ".txt.gz" else data)
    size = path.stat().st_size
    told: list[int] = []
    seen: list[float] = []
    worked: list[float] = []
    done = 0
    options: dict[str, Any] = {"errors": errors, "advance": told.append}
    for part in read_corpus([CorpusFile(str(path), "g")], **options):
        seen.append(sum(told) / size)
        worked.append(done / len(text))
        done += len(part.text)
    assert sum(told) == size
    assert len(set(seen)) >= 5, "it goes on within a file"
    # Not before it is worked on: but for what a line end shifts, and, decompressed, for a part.
    block, part_size = file_bytes.BLOCK / size, corpus.PART / len(text)
    # From Python 3.12 on, gzip reads 128 KiB at once.
    ahead = max(part_size, 1.1 * (1 << 17) / size) if suffix.endswith(".gz") else part_size / 20
    for known, true in zip(seen, worked):
        assert true - 2.5 * max(block, part_size) <= known <= true + ahead
    assert seen[-1] < 1


def test_a_group_on_windows_may_be_typed_with_slashes() -> None:
    with windows_paths():
        assert group_of("corpus/zh/a.txt", "corpus") == "zh"
        assert group_of("corpus/x\\zh\\a.txt", "corpus/x") == "zh"
        assert group_of("corpus/x/zh.txt.gz", "corpus/x") == "zh"
