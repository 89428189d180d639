"""The tools give what the library gives, within their bounds."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from jsonschema import Draft202012Validator

import compat_bpe
from compat_bpe import get_encoding, list_encoding_names
from compat_bpe.chat import context_limit, count_messages
from compat_bpe.fit import split_text
from compat_bpe.fit.split import iter_parts
from compat_bpe.mcp import server, tools
from compat_bpe.mcp.calls import (
    BOUNDS,
    LARGEST,
    LONGEST,
    Call,
    CallError,
    Chosen,
    Clock,
    Roots,
    chosen,
)
from compat_bpe.mcp.server import RESOURCES
from compat_bpe.mcp.tools import FUNCTIONS, TOOLS

TEXT = (
    "It's 12345 o'clock; the café's naïve “menu”…\r\n世界は広い 👩‍👩‍👧‍👦 " * 1_500
)  # several portions
O200K = get_encoding("o200k_base")
WEATHER = {
    "name": "weather",
    "description": "Get the weather.",
    "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}},
}


@pytest.fixture
def call(tmp_path: Path) -> Call:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "one.txt").write_text("hello world")
    (tmp_path / "a/two.txt").write_text("hello")
    (tmp_path / "a/b/three.txt").write_text("a b c")
    (tmp_path / "a/ignored.txt").write_text("ignored")
    (tmp_path / "a/.gitignore").write_text("ignored.txt\n")
    (tmp_path / "binary").write_bytes(b"\0\1")
    return Call(Roots([str(tmp_path)]))


def run(call: Call, name: str, **arguments: Any) -> dict[str, Any]:
    result: dict[str, Any] = FUNCTIONS[name](call, **arguments)
    schema = TOOLS[name].output_schema
    assert schema is not None
    Draft202012Validator(schema).validate(result)
    assert result.keys() == schema["properties"].keys()
    return result


def imports_of(tree: ast.AST) -> set[str]:
    """The packages that are imported by absolute names."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add((node.module or "").partition(".")[0])
    return names


def test_the_package_mcp_is_imported_by_the_server_alone_and_when_it_starts() -> None:
    extra = {"mcp", "mcp_types", "anyio", "jsonschema", "pydantic"}
    package = Path(compat_bpe.__file__).parent
    users = [
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        # To parse every file would take a second.
        if re.search(rf"\b({'|'.join(extra)})\b", source := path.read_text("utf-8"))
        if imports_of(ast.parse(source)) & extra
    ]
    assert sorted(users) == ["mcp/server.py", "mcp/tools.py"]
    body = ast.parse((package / "mcp/server.py").read_text("utf-8")).body
    outside = [one for one in body if not isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]
    imported = [one for one in outside if isinstance(one, ast.ImportFrom)]
    assert not imports_of(ast.Module(outside, [])) & extra
    assert "tools" not in [one.module for one in imported]


def test_without_the_package_the_command_says_what_to_install() -> None:
    script = (
        "import sys\n"
        "sys.modules['mcp'] = None\n"
        "sys.argv = ['compat-bpe', 'mcp']\n"
        "from compat_bpe.cli import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (
        2,
        "",
        "compat-bpe: the server needs Python 3.10 or later and the package mcp 2 or later: "
        "pip install '.[mcp]' in a checkout of compat-bpe\n",
    )


@pytest.mark.parametrize("name", list_encoding_names())
def test_a_text_is_counted_exactly(call: Call, name: str) -> None:
    counted = run(call, "count_tokens", text=TEXT, encoding=name)
    assert counted["tokens"] == get_encoding(name).count(TEXT)
    assert (counted["is_estimate"], counted["note"], counted["encoding"]) == (False, "", name)


def test_an_estimate_says_so(call: Call) -> None:
    counted = run(call, "count_tokens", text="a" * 35, model="claude-sonnet-4-5")
    assert (counted["tokens"], counted["is_estimate"], counted["encoding"]) == (10, True, "")
    assert "Anthropic says" in counted["note"]


def test_messages_are_those_of_the_library(call: Call) -> None:
    messages = [{"role": "user", "content": "hello"}]
    definitions = [{"type": "function", "function": {"name": "f", "description": "d"}}]
    for given in (None, definitions):
        expected = count_messages(messages, tools=given, model="gpt-4o")
        arguments = {} if given is None else {"tools": given}
        counted = run(call, "count_tokens", messages=messages, model="gpt-4o", **arguments)
        assert (counted["tokens"], counted["note"]) == (expected, expected.note)


def test_files_are_counted_one_by_one(call: Call) -> None:
    counted = run(call, "count_tokens", files=["one.txt", "a/two.txt"])
    assert counted["tokens"] == 3
    assert [file["tokens"] for file in counted["files"]] == [2, 1]


def test_what_fits(call: Call) -> None:
    assert run(call, "fits", text="hello world", limit=2)["fits"] is True
    over = run(call, "fits", text="hello world", limit=1)
    assert (over["fits"], over["left"]) == (False, -1)
    assert run(call, "fits", text="a", model="gpt-4o")["limit"] == context_limit("gpt-4o").input


def test_what_is_cut(call: Call) -> None:
    cut = O200K.truncate(TEXT, 100, keep="ends", boundary="word", marker="[…]")
    result = run(call, "truncate", text=TEXT, limit=100, keep="ends", boundary="word", marker="[…]")
    assert (result["text"], result["tokens"], result["was_cut"]) == (cut.text, cut.count, True)
    parts = split_text(O200K, TEXT[:5000], 50, 5, "word")
    result = run(call, "split", text=TEXT[:5000], limit=50, overlap=5, boundary="word")
    assert [(part["text"], part["tokens"]) for part in result["parts"]] == [
        (part.text, part.count) for part in parts
    ]
    places = run(call, "split", file="one.txt", limit=1, with_text=False)["parts"]
    assert places == [{"start": 0, "end": 5, "tokens": 1}, {"start": 5, "end": 11, "tokens": 1}]


def test_a_tree_has_the_sums_of_its_folders(call: Call) -> None:
    tree = run(call, "token_tree")
    rows = {row["path"]: (row["tokens"], row["files"]) for row in tree["entries"]}
    assert rows == {
        "a/": (4, 2),
        "a/b/": (3, 1),
        "a/b/three.txt": (3, 1),
        "a/two.txt": (1, 1),
        "one.txt": (2, 1),
    }
    assert (tree["tokens"], tree["files"], tree["not_counted"]) == (6, 3, 1)
    assert [problem["path"] for problem in tree["problems"]] == ["binary"]
    few = run(call, "token_tree", depth=1, rows=1, exclude=["binary"])
    assert [row["path"] for row in few["entries"]] == ["a/"]
    assert (few["more_entries"], few["not_counted"]) == (1, 0)
    assert run(call, "token_tree", ignore=False)["files"] == 4


def test_a_tree_is_counted_once(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPAT_BPE_CACHE_DIR", str(tmp_path / ".cache"))
    ways = [{}, {"encoding": "gpt2"}, {"model": "claude-sonnet-4-5"}, {"encoding": "words"}]
    trees = [run(call, "token_tree", **given) for given in ways]
    counted: list[str] = []
    count = Chosen._count

    def noted(self: Chosen, text: str, call: Call) -> int:
        counted.append(text)
        return count(self, text, call)

    monkeypatch.setattr(Chosen, "_count", noted)
    (tmp_path / "one.txt").rename(tmp_path / "new.txt")
    for given, tree in zip(ways, trees):
        again = run(call, "token_tree", **given)
        assert (again["tokens"], again["files"]) == (tree["tokens"], tree["files"])
    # By characters and words it is as quick to count.
    assert len(counted) == 3 * 2
    (tmp_path / "a/two.txt").write_text("hello world, hello")
    assert run(call, "token_tree")["tokens"] == trees[0]["tokens"] + 3
    assert counted[6:] == ["hello world, hello"]


def test_globs_are_those_of_the_directory(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder that the server runs in does not matter."""
    for here in (tmp_path, tmp_path / "a", tmp_path.parent):
        monkeypatch.chdir(here)
        found = [
            [row["path"] for row in run(call, "token_tree", **given)["entries"]]
            for given in (
                {"include": ["a/*.txt"]},
                {"include": ["/*.txt"]},
                {"exclude": ["a/b/", "binary"]},
                {"path": "a", "include": ["b/*"]},
                {"path": "a", "include": ["a/*"]},
                {"path": "a", "exclude": ["/b"]},
            )
        ]
        assert found == [
            ["a/", "a/two.txt"],
            ["one.txt"],
            ["one.txt", "a/", "a/two.txt"],
            ["b/", "b/three.txt"],
            [],
            ["two.txt"],
        ]


def test_a_tree_has_nothing_from_outside(call: Call, tmp_path: Path) -> None:
    inside = Call(Roots([str(tmp_path / "a")]))
    (tmp_path / "a/link.txt").symlink_to("../one.txt")
    (tmp_path / "a/folder").symlink_to("..", target_is_directory=True)
    assert run(inside, "token_tree")["files"] == 2
    for path in ("..", "folder", "link.txt"):
        with pytest.raises(CallError, match="outside the roots"):
            run(inside, "token_tree", path=path)


def test_encodings_are_compared(call: Call) -> None:
    result = run(call, "compare_encodings", text="hello", encodings=["gpt2", "bytes", "gpt2"])
    assert result["encodings"] == [
        {"encoding": "gpt2", "tokens": 1, "characters_per_token": 5.0},
        {"encoding": "bytes", "tokens": 5, "characters_per_token": 1.0},
    ]


def test_tools_of_a_server_are_counted(call: Call) -> None:
    function = {**WEATHER, "parameters": WEATHER["inputSchema"]}
    del function["inputSchema"]
    messages = [{"role": "user", "content": "hi"}]
    definitions = [{"type": "function", "function": function}]
    with_tools = count_messages(messages, tools=definitions, model="gpt-4o")
    expected = with_tools - count_messages(messages, model="gpt-4o")
    counted = run(call, "count_tool_definitions", tools=[WEATHER], model="gpt-4o")
    assert counted["tokens"] == expected
    assert counted["tools"] == [{"name": "weather", "tokens": expected}]
    assert (counted["is_estimate"], counted["note"]) == (True, with_tools.note)
    # Without a known format, the definitions are a text.
    plain = run(call, "count_tool_definitions", tools=[WEATHER], encoding="gpt2")
    assert plain["is_estimate"]
    assert "counted as JSON" in plain["note"]
    assert run(call, "count_tool_definitions", tools=[])["tokens"] == 0


@pytest.mark.parametrize("choice", [{"encoding": "gpt2"}, {"model": "gpt-4o"}])
def test_a_faulty_tool_is_an_error_by_every_format(call: Call, choice: dict[str, str]) -> None:
    schema: dict[str, Any] = {}
    for _ in range(500):
        schema = {"properties": {"a": schema}}
    for tool, reason in (
        ({"name": "x", "inputSchema": schema}, "nested too deeply"),
        ({"name": "x", "inputSchema": []}, r"tools\[1\].inputSchema: must be an object"),
        ({"name": 5}, r"tools\[1\]: there is no 'name'"),
    ):
        with pytest.raises(CallError, match=reason) as caught:
            run(call, "count_tool_definitions", tools=[WEATHER, tool], **choice)
        assert str(caught.value).startswith("tools[1]")
        assert len(str(caught.value)) < 500


def test_numbers_have_bounds() -> None:
    for tool in TOOLS.values():
        for schema in tool.input_schema["properties"].values():
            if schema["type"] == "integer":
                assert schema["minimum"] >= 0
                assert schema["maximum"] == LARGEST


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("count_tokens", {}, "give exactly one of text, messages, files; none is given"),
        ("count_tokens", {"text": "a", "files": []}, "files; text and files are given"),
        ("count_tokens", {"text": "a", "tools": []}, "tools need messages"),
        ("count_tokens", {"text": "a", "model": "m", "encoding": "e"}, "exclude each other"),
        ("count_tokens", {"text": "a", "encoding": "o200k"}, "unknown encoding 'o200k'.*o200k_b"),
        ("count_tokens", {"text": "a", "encoding": "one.txt"}, "unknown encoding"),
        ("count_tokens", {"text": "a", "model": "gpt-nope"}, "gpt-nope"),
        ("count_tokens", {"messages": [{}], "model": "gpt-4o"}, r"messages\[0\].*role"),
        ("count_tokens", {"files": ["binary"]}, "binary: NUL byte"),
        ("fits", {"text": "a"}, "give a limit, or a model"),
        ("split", {"text": "a", "limit": 1, "model": "doubao-pro"}, "no public tokenizer"),
        ("split", {"text": "a", "limit": 1, "overlap": 1}, "overlap"),
        ("split", {"text": "a", "limit": 5, "overlap": 6, "model": "claude-3-opus"}, "is 6; .* 5$"),
        ("token_tree", {"path": "one.txt"}, "not a folder"),
        ("count_tool_definitions", {"tools": [{}]}, r"tools\[0\]: there is no 'name'"),
        ("count_tool_definitions", {"tools": [{"name": "a", "inputSchema": 1}]}, "an object"),
    ],
)
def test_errors_are_sentences(call: Call, name: str, arguments: Any, message: str) -> None:
    with pytest.raises(CallError, match=message):
        run(call, name, **arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("count_tokens", {"text": 5}, "^text: 5 is not of type 'string'$"),
        ("count_tokens", {"text": None}, "^text: None is not of type 'string'$"),
        ("count_tokens", {"txt": "a"}, r"^Additional properties .*'txt' was unexpected"),
        ("truncate", {"text": "a", "limit": 2.5}, "^limit: 2.5 is not of type 'integer'$"),
        ("truncate", {"text": "a", "limit": 2.0}, "^limit: 2.0 is not of type 'integer'$"),
        ("truncate", {"text": "a", "limit": True}, "^limit: True is not of type 'integer'$"),
        ("truncate", {"text": "a"}, "^'limit' is a required property$"),
        ("truncate", {"text": "a", "limit": 1, "keep": "x" * 999}, "^keep: 'x{199}…$"),
        ("truncate", {"text": "a", "limit": 10**13}, "^limit: .* is greater than the maximum of"),
        ("split", {"text": "a", "limit": 0}, "^limit: 0 is less than the minimum of 1$"),
        ("token_tree", {"include": ["*"] * 101}, "^include: "),
        ("token_tree", {"path": "x" * 5000}, "^path: 'x{199}…$"),
        ("count_tokens", {"text": "a" * BOUNDS.text}, "have more than 4,000,000 characters; give"),
    ],
)
def test_arguments_are_checked(name: str, arguments: Any, message: str) -> None:
    with pytest.raises(CallError, match=message):
        server.check_arguments(TOOLS[name].input_schema, arguments, BOUNDS)


@pytest.mark.parametrize(
    ("bound", "name", "arguments", "message"),
    [
        ({"file": 10}, "count_tokens", {"files": ["one.txt"]}, "larger than 10 bytes"),
        ({"files": 1}, "count_tokens", {"files": ["one.txt"] * 2}, "files: more than 1"),
        ({"total": 12}, "count_tokens", {"files": ["one.txt"] * 2}, "more than 12 bytes"),
        ({"files": 1}, "token_tree", {}, "more than 1 files"),
        ({"total": 12}, "token_tree", {}, "more than 12 bytes"),
        ({"parts": 2}, "split", {"text": "a b c d", "limit": 1}, "more than 2 parts"),
        ({"parts": 1}, "split", {"text": "a b c d", "limit": 3, "overlap": 2}, "than 1 parts"),
        ({"total": 7}, "split", {"text": "a b c d", "limit": 3, "overlap": 2}, "reduce the over"),
        ({"tools": 1}, "count_tool_definitions", {"tools": [WEATHER] * 2}, "more than 1"),
    ],
)
def test_sizes_have_bounds(
    call: Call, bound: dict[str, int], name: str, arguments: Any, message: str
) -> None:
    run(call, name, **arguments)
    with pytest.raises(CallError, match=message):
        run(replace(call, bounds=BOUNDS._replace(**bound)), name, **arguments)


@pytest.mark.parametrize(
    ("name", "arguments"), [("count_tokens", {}), ("compare_encodings", {"encodings": ["gpt2"]})]
)
def test_files_are_measured_in_bytes(call: Call, tmp_path: Path, name: str, arguments: Any) -> None:
    (tmp_path / "wide.txt").write_text("世界は", encoding="utf-8")
    run(replace(call, bounds=BOUNDS._replace(total=9)), name, files=["wide.txt"], **arguments)
    with pytest.raises(CallError, match="more than 8 bytes"):
        run(replace(call, bounds=BOUNDS._replace(total=8)), name, files=["wide.txt"], **arguments)


def test_parts_without_their_texts_take_no_room(call: Call) -> None:
    bounded = replace(call, bounds=BOUNDS._replace(total=7))
    arguments = {"text": "a b c d", "limit": 3, "overlap": 2, "with_text": False}
    assert len(run(bounded, "split", **arguments)["parts"]) == 2


def test_too_many_parts_are_not_made(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    made = 0

    def counted(*arguments: Any) -> Any:
        nonlocal made
        for part in iter_parts(*arguments):
            made += 1
            yield part

    monkeypatch.setattr(tools, "iter_parts", counted)
    bounded = replace(call, bounds=BOUNDS._replace(parts=2))
    with pytest.raises(CallError, match="more than 2 parts"):
        run(bounded, "split", text=" a" * 99, limit=50, overlap=49)
    assert made == 3


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS.keys())
def test_only_texts_may_be_long(tool: types.Tool) -> None:
    for name, schema in tool.input_schema["properties"].items():
        inner = schema.get("items", schema)
        if inner["type"] == "string" and "enum" not in inner:
            assert inner.get("maxLength") == (None if name in ("text", "marker") else LONGEST)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("count_tokens", {"text": "a"}),
        ("count_tokens", {"files": ["one.txt"]}),
        ("token_tree", {}),
        ("token_tree", {"include": ["nothing"]}),
        ("split", {"text": "a", "limit": 1}),
        ("count_tool_definitions", {"tools": [WEATHER]}),
    ],
)
def test_time_has_a_bound(call: Call, name: str, arguments: Any) -> None:
    with pytest.raises(CallError, match="more than 0 s"):
        run(replace(call, clock=Clock(0)), name, **arguments)
    stopped = Clock(60)
    stopped.stop()
    with pytest.raises(CallError, match="more than 60 s"):
        run(replace(call, clock=stopped), name, **arguments)


def test_a_mistake_of_ours_is_an_answer_and_is_written_down(
    call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_call: Call) -> Any:
        raise ZeroDivisionError("secret")

    with pytest.raises(CallError, match="a mistake in compat-bpe: ZeroDivisionError; "):
        server.run(fail, {}, call)
    assert "secret" in capsys.readouterr().err


def test_resources_name_what_the_tools_take(call: Call) -> None:
    encodings, models = (json.loads(write()) for _, write in RESOURCES.values())
    for name in encodings["encodings"] + encodings["baselines"]:
        run(call, "count_tokens", text="a", encoding=name)
    for model in models["models"]:
        assert get_encoding(model["encoding"])


def test_a_vocabulary_of_the_server_s_own_is_loaded_once() -> None:
    path = Path(__file__).parents[2] / "fixtures/gpt2_small"
    call = Call(Roots(()), str(path))
    assert chosen(None, None, call).encoding is chosen(None, None, call).encoding
