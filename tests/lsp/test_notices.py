"""Counts that the server tells by itself: at once, then at an interval."""

from __future__ import annotations

import pytest

from compat_bpe import get_encoding
from compat_bpe.lsp import rpc
from compat_bpe.lsp.documents import INTERVAL, Notices
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
