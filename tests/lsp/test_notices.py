"""Counts that the server tells by itself: at once, then at an interval."""

from __future__ import annotations

from typing import Any

import pytest

from compat_bpe import get_encoding
from compat_bpe.encodings.resolve import Answer
from compat_bpe.fit import document as document_module
from compat_bpe.lsp import rpc
from compat_bpe.lsp.abilities import Abilities
from compat_bpe.lsp.documents import OpenDocument
from compat_bpe.lsp.notices import INTERVAL, Notices
from compat_bpe.lsp.settings import DEFAULT_CHOICE, read_settings
from tests.lsp.client import URI, client_of, insert

ENCODING = get_encoding("o200k_base")


def test_a_flood_of_changes() -> None:
    """Counts come at their interval, and what is shown is left out while changes wait."""
    document = {"textDocument": {"uri": URI}}
    with client_of() as client:
        client.open("one two three\n" * 1000)
        numbers = []
        for version in range(2, 3002):
            client.change(insert(version % 900, 0, "x"), version=version)
            if version % 100 == 0:
                numbers.append(client.ask("textDocument/codeLens", document))
        assert client.count() == ENCODING.count(client.text())
        codes = [client.code_of(number) for number in numbers]
        assert set(codes) <= {None, rpc.CONTENT_MODIFIED}
        assert rpc.CONTENT_MODIFIED in codes
        last = client.wait_for("compatBpe/didCount", lambda one: one["version"] == 3001)
        assert last["count"] == client.count()
        told = [one for one in client.notices if one["method"] == "compatBpe/didCount"]
        assert len(told) < 1000


class Receiver:
    """What ``Notices`` needs, with a clock that a test sets."""

    def __init__(self) -> None:
        self.unit = "utf-16"
        self.client = Abilities()
        self.settings = read_settings(None)
        self.documents: dict[str, Any] = {}
        self.sent: list[tuple[float, int]] = []
        self.now = 1.0
        self.version = 0

    def notify(self, method: str, params: dict[str, Any]) -> None:
        assert method == "compatBpe/didCount"
        self.sent.append((self.now, params["version"]))


def test_the_first_change_is_told_at_once_and_others_after_an_interval() -> None:
    receiver = Receiver()
    notices = Notices(receiver, lambda: receiver.now)  # type: ignore[arg-type]
    document = document_module.Document(ENCODING, "x")
    opened = OpenDocument("a", "", 0, document, DEFAULT_CHOICE, Answer("o200k_base"), None)
    receiver.documents["a"] = opened

    def change(now: float, version: int) -> None:
        receiver.now, opened.version = now, version
        notices.changed("a")
        notices.send()

    change(1.0, 1)
    change(1.01, 2)
    change(1.02, 3)
    assert receiver.sent == [(1.0, 1)]
    assert notices.seconds_left() == pytest.approx(INTERVAL - 0.02)
    receiver.now = 1.0 + INTERVAL
    notices.send()
    assert receiver.sent[1:] == [(1.0 + INTERVAL, 3)]
    assert notices.seconds_left() is None
    change(2.0, 4)
    change(2.0 + INTERVAL / 2, 5)
    change(2.0 + INTERVAL * 1.1, 6)
    assert receiver.sent[2:] == [(2.0, 4), (2.0 + INTERVAL * 1.1, 6)]
    notices.changed("a")
    notices.forget("a")
    assert notices.seconds_left() is None
