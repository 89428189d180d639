"""The server goes on, whatever a client sends, and ends when the client is gone."""

from __future__ import annotations

import io
import json
import subprocess
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.lsp import rpc
from compat_bpe.lsp import session as session_module
from compat_bpe.lsp.rpc import Params
from compat_bpe.lsp.server import REQUESTS
from compat_bpe.lsp.session import Session
from tests.lsp.client import (
    COMMAND,
    PATIENCE,
    URI,
    Failed,
    about,
    client_of,
    insert,
    process,
    server,
    span,
)

ENCODING = get_encoding("o200k_base")


def framed(data: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(data), data)


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (framed(b"{"), rpc.PARSE_ERROR),
        (framed(b"[" * 100_000), rpc.PARSE_ERROR),
        (framed(b""), rpc.PARSE_ERROR),
        (framed(b"3"), rpc.INVALID_REQUEST),
        (framed(b'[{"id": 1, "method": "shutdown"}]'), rpc.INVALID_REQUEST),
        (framed(b"{}"), rpc.INVALID_REQUEST),
        (framed(b'{"method": 3}'), rpc.INVALID_REQUEST),
        (framed(b'{"id": [1], "method": "shutdown"}'), rpc.INVALID_REQUEST),
        (framed(b'{"id": null, "method": "shutdown"}'), rpc.INVALID_REQUEST),
        (b"Content-Length: 5\r\nContent-Type: text\r\n\r\n{{{{{", rpc.PARSE_ERROR),
        (b"Content-Length: %d\r\n\r\n" % (rpc.LONGEST + 1), rpc.INVALID_REQUEST),
    ],
)
def test_what_is_no_message_is_refused(sent: bytes, code: int) -> None:
    longest = patch.object(rpc, "LONGEST", 10_000_000)
    with longest, client_of() as client:
        if sent.startswith(b"Content-Length: 10737"):
            sent = b"Content-Length: 10000001\r\n\r\n" + b"x" * 10_000_001
        client.write(sent)
        assert client.request("compatBpe/count", {"text": "hello"}) == {"count": 1}
        assert [error["code"] for error in client.errors] == [code]


@pytest.mark.parametrize(
    "sent",
    [
        b"\r\n\r\n",
        b"hello\r\n",
        b"Content-Length: x\r\n\r\n",
        b"Content-Length: -5\r\n\r\n",
        b'{"id": 1}\n' * 3,
        b"x" * 100_000 + b"\n",
        b"half of a message, and then ",
        framed(b'{"result": 5, "id": "compat-bpe-9"}'),
        framed(b'{"error": {}, "id": {}}'),
        framed(b'{"method": "no/such"}'),
        framed(b'{"method": "$/cancelRequest", "params": {"id": []}}'),
        framed(b'{"method": "$/cancelRequest", "params": {"id": 77}}'),
        framed(b'{"method": "$/setTrace", "params": {"value": "off"}}'),
        framed(b'{"method": "textDocument/didSave", "params": {}}'),
        framed(b'{"method": "initialized", "params": []}'),
        framed(b'{"method": "\xff"}'),
    ],
)
def test_what_can_be_skipped_is(sent: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    with client_of() as client:
        client.write(sent)
        assert client.request("compatBpe/count", {"text": "hello"}) == {"count": 1}
        assert client.errors == []


def test_a_log_that_is_closed_does_not_end_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    log.close()
    with client_of() as client:
        monkeypatch.setattr("sys.stderr", log)
        client.write(b"hello\r\n")
        assert client.request("compatBpe/count", {"text": "hello"}) == {"count": 1}
        monkeypatch.undo()


@given(
    junk=st.lists(
        st.one_of(
            st.binary(max_size=30),
            st.sampled_from(
                [b"Content-Length: 3\r\n\r\n", b"\r\n", framed(b"{}"), b"Content-Length:"]
            ),
        ),
        max_size=6,
    ).map(b"".join)
)
def test_junk_never_ends_the_server(junk: bytes) -> None:
    with server() as (client, _):
        client.initialize()
        client.write(junk + b"\r\n")
        # At worst the junk takes the next message for its own text.
        client.write(framed(b" " * 20) * 20)
        assert client.request("compatBpe/count", {"text": "hello"}) == {"count": 1}


def test_the_order_of_a_session() -> None:
    with server() as (client, status):
        assert client.code_of(client.ask("compatBpe/count", {"text": ""})) == rpc.NOT_INITIALIZED
        client.open("before its time")
        client.initialize()
        assert client.code_of(client.ask("initialize", {})) == rpc.INVALID_REQUEST
        assert client.code_of(client.ask("no/such")) == rpc.METHOD_NOT_FOUND
        with pytest.raises(Failed, match="no document"):
            client.count()
        assert client.request("shutdown") is None
        assert client.code_of(client.ask("compatBpe/count", {"text": ""})) == rpc.INVALID_REQUEST
        client.notify("exit")
        while client.take():
            pass
    assert status == [0]


def test_what_is_open_at_the_end_is_answered() -> None:
    with server() as (client, status):
        client.initialize()
        client.open("x " * 1_000_000)
        numbers = [client.ask("compatBpe/count", about()) for _ in range(2)]
        client.notify("exit")
        codes = [client.code_of(number) for number in numbers]
        assert codes == [rpc.REQUEST_CANCELLED] * 2
    assert status == [1]


def test_a_client_that_just_leaves() -> None:
    with server() as (client, status):
        client.initialize()
        client.open("x " * 1_000_000)
    assert status == [1]


def test_a_client_that_does_not_listen_any_more() -> None:
    with subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        initialize = {"id": 1, "method": "initialize", "params": {"capabilities": {}}}
        running.stdin.write(framed(json.dumps(initialize).encode()))
        running.stdin.flush()
        # Standard input stays open: the server sees by its answer that nobody is there.
        assert running.wait(PATIENCE) == 1
        assert running.stderr.read() == b""


def test_documents_that_are_not_open_or_are_opened_twice() -> None:
    with client_of() as client:
        for method, more in (("didChange", {"contentChanges": [{"text": "x"}]}), ("didClose", {})):
            document = {"uri": "file:///no", "version": 1}
            client.notify(f"textDocument/{method}", {"textDocument": document, **more})
        messages = client.shown("window/logMessage")
        assert [one.split(": ")[1] for one in messages] == [
            "textDocument/didChange",
            "textDocument/didClose",
        ]
        client.open("one")
        client.open("one two", version=1)
        assert client.count() == 2
        client.change(insert(0, 7, " three"))
        assert client.text() == "one two three"


@pytest.mark.parametrize(
    "changes",
    [
        None,
        [3],
        [{}],
        [{"text": None}],
        [{"text": "x", "range": {}}],
        [insert(0, 0, "x"), {"range": span(0, 0, 0, 0), "text": 3}],
        [{"text": "x", "range": span(-1, 0, 0, 0)}],
        [{"text": "x", "range": span(0, "1", 0, 0)}],  # type: ignore[arg-type]
    ],
)
def test_a_change_that_is_none_changes_nothing(changes: Any) -> None:
    with client_of() as client:
        client.open("one two")
        document = {"uri": URI, "version": 2}
        params = {"textDocument": document, "contentChanges": changes}
        client.notify("textDocument/didChange", params)
        (message,) = client.shown("window/logMessage")
        assert message.startswith("compat-bpe: textDocument/didChange: contentChanges")
        assert client.text() == "one two"


def test_odd_ranges_and_versions() -> None:
    with client_of() as client:
        client.open("one\r\ntwo\rthree")
        client.change({"range": span(1, 3, 0, 3), "text": "-"}, version=9)  # the wrong way round
        assert client.text() == "one-\rthree"
        client.change({"range": span(0, 99, 99, 0), "text": "!"}, version=3)
        assert client.text() == "one-!"
        assert client.request("compatBpe/count", about())["version"] == 3
        client.change(insert(10**9, 10**9, "?"), version=-5)
        client.change(version=4)
        assert client.text() == "one-!?"


def test_a_vocabulary_that_fails_to_load(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text("{")
    rules = {"files": [{"pattern": "*.py", "path": str(path)}]}
    with client_of(rules) as client:
        client.open("one two three")
        assert client.count() == 3
        (message,) = client.shown()
        assert message.startswith("compat-bpe: the settings are not used: path: ")
        # A file that is damaged after the settings were taken.
        path.write_text(json.dumps({"model": {"type": "WordLevel", "vocab": {"one": 0}}}))
        client.configure(rules)
        assert client.count() == 3
        client.change(insert(0, 0, "four "))
        assert client.count() == 4


def test_a_vocabulary_without_a_token_for_a_byte(tmp_path: Path) -> None:
    """The document is counted by the default one from then on, and its text stays right."""
    few = Encoding("few", pat_str=r"\w+|\W", mergeable_ranks={b"a": 0, b" ": 1}, special_tokens={})
    loads = patch("compat_bpe.encodings.load.load", return_value=few)
    with loads, client_of({"path": "few.tiktoken"}) as client:
        client.open("a a a")
        assert client.count() == 5
        client.change(insert(0, 1, " a"), insert(0, 0, "b"), insert(0, 0, "a "))
        assert client.text() == "a ba a a a"
        assert client.count() == ENCODING.count("a ba a a a")
        client.open("b", "file:///work/other")
        assert client.count("file:///work/other") == 1
        assert len(client.shown()) == 2
        with pytest.raises(Failed, match="no token for the byte"):
            client.request("compatBpe/count", {"text": "b", "path": "few.tiktoken"})


def test_while_a_large_document_is_counted_others_are_answered() -> None:
    large = "file:///work/large.txt"
    with client_of() as client:
        text = "one two three\n" * 100_000
        client.open(text, large)
        number = client.ask("compatBpe/count", about(large))
        waiting = client.ask("compatBpe/count", about(large))
        client.change(insert(0, 0, "x "), uri=large)
        after = client.ask("compatBpe/count", about(large))
        assert client.request("compatBpe/count", {"text": "hello"}) == {"count": 1}
        assert number not in client._answers
        client.notify("$/cancelRequest", {"id": waiting})
        assert client.code_of(waiting) == rpc.REQUEST_CANCELLED
        assert number not in client._answers
        assert client.answer(number) == {"count": 400_000, "version": 1}
        assert client.answer(after) == {"count": 400_001, "version": 2}


def test_a_large_document_that_is_closed_before_it_is_counted() -> None:
    with client_of() as client:
        client.open("one two three\n" * 100_000)
        number = client.ask("compatBpe/count", about())
        client.change(insert(0, 0, "x "))
        client.close()
        assert client.code_of(number) == rpc.CONTENT_MODIFIED
        with patch.object(Encoding, "count", side_effect=AssertionError):
            # What is left of it is not worked on any more.
            for _ in range(20):
                assert client.code_of(client.ask("no/such")) == rpc.METHOD_NOT_FOUND
        assert client.shown("window/logMessage") == []
        client.open("one two")
        assert client.count() == 2
        assert client.request("textDocument/codeLens", about())  # nothing is taken for outdated


def test_a_large_document_that_is_opened_anew() -> None:
    with client_of() as client:
        client.open("one two three\n" * 50_000)
        client.change(insert(0, 0, "x "))
        client.open("one two three\n" * 20_000)
        client.change(insert(0, 0, "x "))
        client.open("one two")
        client.change(insert(0, 0, "x "))
        assert client.text() == "x one two"


def test_a_request_in_steps_is_cancelled() -> None:
    with client_of() as client:
        number = client.ask("compatBpe/count", {"text": "one two three\n" * 1_000_000})
        client.notify("$/cancelRequest", {"id": number})
        assert client.code_of(number) == rpc.REQUEST_CANCELLED
        assert client.request("compatBpe/count", {"text": "hello"}) == {"count": 1}


def test_requests_that_wait_are_cancelled() -> None:
    """They are not worked on at all."""
    worked = []

    def work(session: Session, params: Params) -> None:
        worked.append(params.number("number"))
        while len(session._cancelled) < 5:
            time.sleep(0.001)  # the others are read meanwhile

    with patch.dict(REQUESTS, {"test/work": work}), client_of() as client:
        numbers = [client.ask("test/work", {"number": number}) for number in range(10)]
        for number in numbers[5:]:
            client.notify("$/cancelRequest", {"id": number})
        codes = [client.code_of(number) for number in numbers]
        assert codes == [None] * 5 + [rpc.REQUEST_CANCELLED] * 5
        assert worked == list(range(5))


def test_messages_that_wait_take_bounded_memory() -> None:
    with patch.object(session_module, "_MOST_WAITING", 1000), client_of() as client:
        client.open("")
        for version in range(2, 302):
            client.change(insert(0, 0, "word " * 20), version=version)
        assert client.count() == 6001


def test_a_mistake_in_the_server_does_not_end_it(capfd: pytest.CaptureFixture[str]) -> None:
    with client_of() as client:
        client.open("one two")
        for name in ("compat_bpe.lsp.server.changing", "compat_bpe.lsp.session.diagnostics"):
            with patch(name, side_effect=KeyError("oops")):
                client.change(insert(0, 0, "x "))
                messages = client.shown("window/logMessage")
            assert messages[-1].endswith("KeyError: 'oops'")
        with patch("compat_bpe.lsp.shown.parts", side_effect=RecursionError):
            number = client.ask("textDocument/codeLens", about())
            assert client.code_of(number) == rpc.INTERNAL_ERROR
        assert client.count() == ENCODING.count(client.text())
    assert "KeyError" in capfd.readouterr().err


@pytest.mark.sweep
def test_a_file_of_50_mb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.lsp.client.PATIENCE", 1000)
    line = "{0} bottles of beer, 😀 {1}\n"
    text = "".join(line.format(number, number * number) for number in range(1_400_000))
    assert len(text.encode()) > 50_000_000
    with process() as (client, running):
        client.initialize()
        client.open(text)
        number = client.ask("compatBpe/count", about())
        assert client.request("compatBpe/count", {"text": "hello"}) == {"count": 1}
        assert number not in client._answers
        client.change(insert(800_000, 3, "x"))
        count = client.count()
        at = text.index(line.format(800_000, 800_000**2)) + 3
        assert count == ENCODING.count(text[:at] + "x" + text[at:])
        client.leave()
        assert running.wait() == 0
