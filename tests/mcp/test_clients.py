"""The server with the official client, and with the inspector's command-line mode.

Run with ``pytest -m clients tests/mcp``; ``COMPAT_BPE_CLIENTS`` names a folder that keeps the
environment for the next time.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import get_encoding, list_encoding_names
from compat_bpe.mcp.calls import BOUNDS
from compat_bpe.mcp.tools import TOOLS
from tests.clients.environments import ROOT, RUNNING, make_environment
from tests.clients.environments import run as run_command

pytestmark = pytest.mark.clients

SESSION = Path(__file__).parent / "scripts/session.py"
NEWEST = Path(__file__).parent / "scripts/newest.py"
GUIDE = (ROOT / "docs/guide-agents.md").read_text("utf-8")
INSPECTOR = "@modelcontextprotocol/inspector@0.15.0"
REQUIREMENTS = ["mcp==2.3.0", "click==8.5.1", "pathspec==1.1.1"]


@pytest.fixture(scope="session")
def python(environments: Path) -> Path:
    """The Python of an environment with the package ``mcp``, and the command in its folder."""
    made = make_environment(environments / "mcp", REQUIREMENTS)
    command = made.with_name("compat-bpe")
    command.write_text(f"#!{made}\nfrom compat_bpe.cli import main\n\nmain()\n")
    command.chmod(0o755)
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/a.txt").write_text("hello world")
    (tmp_path / "secret.txt").write_text("secret")
    return tmp_path / "project"


def run(
    python: Path, *command: str, cwd: Path, given: str = ""
) -> subprocess.CompletedProcess[str]:
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": path}
    return run_command(command, cwd, environment, RUNNING, given)


def session(
    python: Path,
    cwd: Path,
    *calls: tuple[str, dict[str, Any]],
    command: tuple[str, ...] = ("compat-bpe", "mcp", "--root", "."),
    roots: list[str] | None = None,
) -> dict[str, Any]:
    given = json.dumps([command, calls, roots])
    done = run(python, str(python), str(SESSION), cwd=cwd, given=given)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.smoke
def test_a_session(python: Path, folder: Path) -> None:
    definitions = [
        {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
        for tool in TOOLS.values()
    ]
    messages = [{"role": "user", "content": "hello"}]
    good: list[tuple[str, dict[str, Any]]] = [
        ("count_tokens", {"text": "hello world"}),
        ("count_tokens", {"messages": messages, "model": "gpt-4o"}),
        ("count_tokens", {"files": ["a.txt"], "encoding": "gpt2"}),
        ("fits", {"text": "hello world", "limit": 1}),
        ("truncate", {"file": "a.txt", "limit": 1}),
        ("split", {"text": "hello world", "limit": 1}),
        ("token_tree", {}),
        ("compare_encodings", {"text": "hello", "encodings": ["gpt2", "o200k_base"]}),
        ("count_tool_definitions", {"tools": definitions, "model": "gpt-4o"}),
    ]
    bad: list[tuple[str, dict[str, Any], str]] = [
        ("nothing", {}, "there is no tool 'nothing'"),
        ("count_tokens", {"text": 5}, "text: 5 is not of type 'string'"),
        ("count_tokens", {"files": ["../secret.txt"]}, "../secret.txt: outside the roots"),
        ("token_tree", {"path": "/"}, "/: outside the roots"),
        ("count_tokens", {"text": "a" * (BOUNDS.text + 1)}, "more than 4,000,000 characters"),
    ]
    found = session(python, folder, *good, *((name, given) for name, given, _ in bad))
    assert found["name"] == "compat-bpe"
    assert found["tools"] == list(TOOLS)
    assert {name for name, _ in good} == TOOLS.keys()
    answers = found["answers"]
    assert not [one["text"] for one in answers[: len(good)] if one["is_error"]]
    assert [one["result"]["tokens"] for one in answers[:4]] == [2, 8, 2, 2]
    assert answers[4]["result"]["text"] == "hello"
    assert answers[6]["result"]["entries"] == [{"path": "a.txt", "tokens": 2, "files": 1}]
    for one, (_, _, message) in zip(answers[len(good) :], bad):
        assert one["is_error"]
        assert message in one["text"]
        assert len(one["text"]) < 400
    encodings = found["resources"]["compat-bpe://encodings"]["encodings"]
    assert encodings == list_encoding_names()
    assert {"model", "encoding", "context", "input", "output"} == set(
        found["resources"]["compat-bpe://models"]["models"][0]
    )


@pytest.mark.skipif(os.name == "nt", reason="names of files are Unicode on Windows")
def test_a_name_that_is_not_utf_8_is_sent_escaped(python: Path, folder: Path) -> None:
    (folder / os.fsdecode(b"caf\xe9.txt")).write_text("hello world")
    (folder / os.fsdecode(b"b\xff.bin")).write_bytes(b"\0")
    found = session(python, folder, ("token_tree", {}), ("count_tokens", {"text": "hello"}))
    tree, count = (answer["result"] for answer in found["answers"])
    assert [row["path"] for row in tree["entries"]] == ["a.txt", r"caf\udce9.txt"]
    assert [one["path"] for one in tree["problems"]] == [r"b\udcff.bin"]
    assert count["tokens"] == 1


def test_the_roots_of_the_client(python: Path, folder: Path) -> None:
    calls = [("count_tokens", {"files": [path]}) for path in ("a.txt", "../secret.txt")]
    bare = ("compat-bpe", "mcp")
    inside, outside = session(python, folder, *calls, command=bare, roots=[str(folder)])["answers"]
    assert inside["result"]["tokens"] == 2
    assert "outside the roots" in outside["text"]
    empty: list[list[str] | None] = [[], None]
    for roots in empty:
        for answer in session(python, folder, *calls, command=bare, roots=roots)["answers"]:
            assert "the client names no roots; start the server with" in answer["text"]
    # What the server was started with counts, not what the client says.
    told = session(python, folder, calls[1], roots=[str(folder.parent)])["answers"]
    assert "outside the roots" in told[0]["text"]


def test_a_client_of_the_newest_protocol(python: Path, folder: Path) -> None:
    """From 2026-07-28 on a client has no roots to name."""
    calls = [("count_tokens", {"text": "hello"}), ("count_tokens", {"files": ["a.txt"]})]

    def answers(*options: str) -> list[dict[str, Any]]:
        given = json.dumps([["compat-bpe", "mcp", *options], calls])
        done = run(python, str(python), str(NEWEST), cwd=folder, given=given)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert found["protocol"] >= "2026-07-28"
        assert found["tools"] == list(TOOLS)
        return list(found["answers"])

    text, file = answers("--root", ".")
    assert (text["result"]["tokens"], file["result"]["tokens"]) == (1, 2)
    text, file = answers()
    assert text["result"]["tokens"] == 1
    assert file["is_error"]
    assert "start the server with compat-bpe mcp --root FOLDER" in file["text"]


@pytest.mark.parametrize(
    ("name", "unit"),
    [("count_tokens", "a"), ("count_tokens", " "), ("count_tokens", "世界は"), ("split", "word ")],
)
def test_the_largest_texts_take_less_than_the_time(
    python: Path, folder: Path, name: str, unit: str
) -> None:
    text = (unit * BOUNDS.text)[: BOUNDS.text - 100]
    arguments: dict[str, Any] = {"text": text, **({"limit": 1000} if name == "split" else {})}
    (answer,) = session(python, folder, (name, arguments))["answers"]
    assert not answer["is_error"], answer["text"]
    print(f"{answer['seconds']:.1f} s")
    assert answer["seconds"] < BOUNDS.seconds / 2
    if name == "count_tokens":
        assert answer["result"]["tokens"] == get_encoding("o200k_base").count(text)


def test_a_call_that_takes_too_long_is_answered_in_time(python: Path, folder: Path) -> None:
    server = (
        "from compat_bpe.mcp.server import BOUNDS, serve_stdio\n"
        "serve_stdio((), 'o200k_base', BOUNDS._replace(seconds=0.5))\n"
    )
    slow = {"text": "a" * (BOUNDS.text - 100)}  # some seconds, and nowhere to stop
    calls = [("count_tokens", slow), ("count_tokens", {"text": "a"})]
    command = (str(python), "-c", server)
    first, second = session(python, folder, *calls, command=command)["answers"]
    assert first["text"] == "this takes more than 0.5 s: give less text or fewer files"
    assert first["seconds"] < 2
    assert second["result"]["tokens"] == 1


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", blocks("json"))
def test_each_configuration_starts_a_server(python: Path, folder: Path, block: str) -> None:
    (servers,) = json.loads(block).values()
    server = servers["compat-bpe"]
    places = {"${workspaceFolder}": str(folder), "/path/to/project": str(folder)}
    command = (server["command"], *(places.get(one, one) for one in server["args"]))
    call = ("count_tokens", {"files": ["a.txt"]})
    (answer,) = session(python, folder, call, command=command)["answers"]
    assert answer["result"]["tokens"] == 2


def test_the_inspector(python: Path, folder: Path) -> None:
    npx = shutil.which("npx")
    assert npx is not None, "apt-get install npm"
    (shown,) = [one for one in blocks("console") if "inspector" in one]
    _, _, _, *arguments = shown.strip().removeprefix("$ ").split()
    inspect = (npx, "-y", INSPECTOR, "--cli")
    done = run(python, *inspect, *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["structuredContent"]["tokens"] == 1
    listed = run(python, *inspect, "compat-bpe", "mcp", "--method", "tools/list", cwd=folder)
    assert [tool["name"] for tool in json.loads(listed.stdout)["tools"]] == list(TOOLS)
    read = ("--method", "resources/list")
    listed = run(python, *inspect, "compat-bpe", "mcp", *read, cwd=folder)
    assert len(json.loads(listed.stdout)["resources"]) == 2


def test_hostile_lines_do_not_end_the_server(python: Path, folder: Path) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    arguments = {"text": "hello"}
    call = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "count_tokens", "arguments": arguments},
    }

    def other(number: int | None, params: str) -> str:
        return f'{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{params}}}'

    lines = [
        *map(json.dumps, (hello, ready)),
        *("", "{", "[]", '{"jsonrpc": "2.0", "id": 9}', "[" * 100_000, "\0", "9" * 10_000),
        # Requests, which the package itself would not answer.
        other(10, '"x"'),
        other(11, '{"name": "count_tokens", "arguments": {"text": "\\ud800"}}'),
        other(12, f'{{"a": {"[" * 300}{"]" * 300}}}'),
        json.dumps(call),
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [str(python.with_name("compat-bpe")), "mcp"],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n".join([*lines, ""]))
        process.stdin.flush()
        errors = {}
        for line in process.stdout:
            answer = json.loads(line)
            if answer.get("id") == 2:
                break
            errors[answer["id"]] = answer.get("error", {}).get("message")
        assert answer["result"]["structuredContent"]["tokens"] == 1
        assert errors.keys() == {1, None, 10, 11, 12}
        assert errors[10] == "not a request of JSON-RPC 2.0"
        assert "hex escape" in errors[11]  # of a lone surrogate
        assert "recursion limit exceeded" in errors[12]
        process.stdin.close()
        assert process.wait(30) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--root", "nothing"), "compat-bpe: root 'nothing': no such folder\n"),
        (("-e", "nothing"), "unknown encoding 'nothing'"),
    ],
)
def test_wrong_options_are_an_error(
    python: Path, folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = run(python, "compat-bpe", "mcp", *arguments, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
