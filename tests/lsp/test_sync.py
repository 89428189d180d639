"""The text of the server is that of the editor, and its counts are told at their times."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe import get_encoding
from compat_bpe.fit import edited_document as document_module
from compat_bpe.fit.edited_document import Unit
from compat_bpe.lsp import rpc
from compat_bpe.lsp.documents import INTERVAL, Notices
from tests.lsp.client import Client, about, client_of, insert, process, server, span

ENCODING = get_encoding("o200k_base")
WIDTHS = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
NUMBERS = count()


def units_of(text: str, unit: Unit) -> list[bytes]:
    """The units of a text."""
    codec, width = unit if unit == "utf-8" else f"{unit}-le", WIDTHS[unit]
    data = text.encode(codec, "surrogatepass")
    return [data[at : at + width] for at in range(0, len(data), width)]


class Editor:
    """A text as an editor has it: a list of units, and lines in it by the plain rule."""

    def __init__(self, text: str, unit: Unit) -> None:
        self.unit = unit
        self.units = units_of(text, unit)

    @property
    def text(self) -> str:
        codec = self.unit if self.unit == "utf-8" else f"{self.unit}-le"
        return b"".join(self.units).decode(codec, "surrogatepass")

    def place(self, line: int, column: int) -> int:
        at = 0
        ends = (units_of("\n", self.unit)[0], units_of("\r", self.unit)[0])
        for _ in range(line):
            while at < len(self.units) and self.units[at] not in ends:
                at += 1
            if at == len(self.units):
                return at
            at += 2 if self.units[at : at + 2] == [ends[1], ends[0]] else 1
        while column and at < len(self.units) and self.units[at] not in ends:
            at, column = at + 1, column - 1
        if self.unit == "utf-8":
            while at < len(self.units) and 0x80 <= self.units[at][0] < 0xC0:
                at -= 1
        return at

    def change(self, change: dict[str, Any]) -> None:
        new = units_of(change["text"], self.unit)
        if "range" not in change:
            self.units = new
            return
        start, end = (
            self.place(place["line"], place["character"])
            for place in (change["range"]["start"], change["range"]["end"])
        )
        self.units[start:end] = new


alphabet = ["\n", "\r", "\r\n", "a", "word ", "é", "中", "😀", "👩‍👩", "    ", "'s"]
halves = ["\ud83d", "\ude00", "\ud83d\ude00"]
positions = st.fixed_dictionaries({"line": st.integers(0, 6), "character": st.integers(0, 9)})


def ordered(ends: tuple[dict[str, int], dict[str, int]]) -> dict[str, Any]:
    start, end = sorted(ends, key=lambda place: (place["line"], place["character"]))
    return {"start": start, "end": end}


def texts_of(parts: list[str]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(parts), max_size=12).map("".join)


def notifications(texts: st.SearchStrategy[str]) -> st.SearchStrategy[list[list[dict[str, Any]]]]:
    ranges = st.tuples(positions, positions).map(ordered)
    change = st.one_of(
        *[st.fixed_dictionaries({"range": ranges, "text": texts})] * 9,
        st.fixed_dictionaries({"text": texts}),
    )
    return st.lists(st.lists(change, max_size=4), max_size=6)


@pytest.fixture(scope="module")
def clients() -> Iterator[dict[str, Client]]:
    with ExitStack() as stack:
        yield {
            unit: stack.enter_context(client_of(general={"positionEncodings": [unit]}))
            for unit in WIDTHS
        }


def check_changes(
    client: Client, unit: Unit, text: str, changes: list[list[dict[str, Any]]]
) -> None:
    uri = f"untitled:{next(NUMBERS)}"
    editor = Editor(text, unit)
    client.open(text, uri)
    for version, together in enumerate(changes, 2):
        client.change(*together, version=version, uri=uri)
        for change in together:
            editor.change(change)
        assert client.request("compatBpe/count", about(uri)) == {
            "count": ENCODING.count(editor.text),
            "version": version,
        }
    assert units_of(client.text(uri), unit) == editor.units
    client.close(uri)


@pytest.mark.parametrize("unit", WIDTHS)
@pytest.mark.parametrize("size", [2, 128])
@given(data=st.data())
def test_changes(clients: dict[str, Client], unit: Unit, size: int, data: st.DataObject) -> None:
    # Other units cannot have half of a character, or two halves that are not one.
    texts = texts_of(alphabet + (halves if unit == "utf-16" else halves[:1]))
    with patch.object(document_module, "PIECE", size):
        check_changes(clients[unit], unit, data.draw(texts), data.draw(notifications(texts)))


def test_every_range_of_a_short_text_in_halves(clients: dict[str, Client]) -> None:
    text = "a😀b\r\n😀"
    client, uri = clients["utf-16"], "untitled:halves"
    client.open(text, uri)
    places = [(0, column) for column in range(6)] + [(1, column) for column in range(4)]
    for number, start in enumerate(places):
        for end in places[number:]:
            for new in ("", "x", "\ude00", "\ud83d"):
                change = {"range": span(*start, *end), "text": new}
                editor = Editor(text, "utf-16")
                editor.change(change)
                client.change({"text": text}, change, uri=uri)
                assert units_of(client.text(uri), "utf-16") == editor.units


@settings(max_examples=10)
@given(data=st.data())
def test_changes_in_a_process_of_its_own(process_client: Client, data: st.DataObject) -> None:
    texts = texts_of(alphabet + halves)
    check_changes(process_client, "utf-16", data.draw(texts), data.draw(notifications(texts)))


@pytest.fixture(scope="module")
def process_client() -> Iterator[Client]:
    with process() as (client, running):
        client.initialize()
        yield client
        client.leave()
        assert running.wait() == 0


def test_typing_beside_a_plain_count(clients: dict[str, Client]) -> None:
    """Each count that is told is that of its version."""
    client = clients["utf-16"]
    client.open("", "untitled:typing")
    text = "def add(a, b):\n    return a + b  # 😀\n" * 3
    lines = re.split("(?<=\n)", text)
    version = 1
    for number, line in enumerate(lines):
        column = 0
        for char in line:
            version += 1
            client.change(insert(number, column, char), version=version, uri="untitled:typing")
            column += len(units_of(char, "utf-16"))
    last = {"version": 0}
    while last["version"] < version:
        last = client.wait_for("compatBpe/didCount", lambda one: one["uri"] == "untitled:typing")
        assert last["count"] == ENCODING.count(text[: last["version"] - 1])


@pytest.mark.parametrize(
    ("offered", "agreed"),
    [
        (None, "utf-16"),
        ([], "utf-16"),
        (["utf-8", "utf-16"], "utf-8"),
        (["utf-7", "utf-32", "utf-8"], "utf-32"),
        (["utf-7"], "utf-16"),
        ("utf-8", "utf-16"),
        ([["utf-8"], 8], "utf-16"),
    ],
)
def test_the_unit_is_the_first_of_the_clients_that_is_known(offered: object, agreed: str) -> None:
    with server() as (client, _):
        found = client.initialize(general={"positionEncodings": offered})
        assert found["capabilities"]["positionEncoding"] == agreed
        client.open("é😀x")
        width = len(units_of("é😀", agreed))  # type: ignore[arg-type]
        client.change({"range": span(0, width, 0, width + 1), "text": "y"})
        assert client.text() == "é😀y"


def test_a_flood_of_changes() -> None:
    """Counts come at their interval, and what is shown is left out while changes wait."""
    with client_of() as client:
        client.open("one two three\n" * 1000)
        numbers = []
        for version in range(2, 3002):
            client.change(insert(version % 900, 0, "x"), version=version)
            if version % 100 == 0:
                numbers.append(client.ask("textDocument/codeLens", about()))
        assert client.count() == ENCODING.count(client.text())
        codes = [client.code_of(number) for number in numbers]
        assert set(codes) <= {None, rpc.CONTENT_MODIFIED}
        assert rpc.CONTENT_MODIFIED in codes
        last = client.wait_for("compatBpe/didCount", lambda one: one["version"] == 3001)
        assert last["count"] == client.count()
        told = [one for one in client.notices if one["method"] == "compatBpe/didCount"]
        assert len(told) < 1000


def test_the_first_change_is_told_at_once_and_others_after_an_interval() -> None:
    now, told = 1.0, []
    notices = Notices(lambda uri: told.append((now, uri)), lambda: now)

    def change(time: float) -> None:
        nonlocal now
        now = time
        notices.changed("a")
        notices.send()

    change(1.0)
    change(1.01)
    change(1.02)
    assert told == [(1.0, "a")]
    assert notices.seconds_left() == pytest.approx(INTERVAL - 0.02)
    now = 1.0 + INTERVAL
    notices.send()
    assert told[1:] == [(1.0 + INTERVAL, "a")]
    assert notices.seconds_left() is None
    change(2.0)
    change(2.0 + INTERVAL / 2)
    change(2.0 + INTERVAL * 1.1)
    assert told[2:] == [(2.0, "a"), (2.0 + INTERVAL * 1.1, "a")]
    notices.changed("a")
    notices.forget("a")
    assert notices.seconds_left() is None
