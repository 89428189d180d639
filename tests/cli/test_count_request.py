"""``compat-bpe count --messages`` and ``--context``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import get_encoding
from compat_bpe.chat import count_messages, count_parts, load_chat_template
from compat_bpe.save import save_tokenizer_json
from compat_bpe.train import train_bpe
from tests.cli.running import run

MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "naïve?"}]
TOOLS = [{"type": "function", "function": {"name": "f", "description": "Does it."}}]
BODY = {"model": "gpt-4o", "messages": MESSAGES, "tools": TOOLS, "temperature": 0}


def write(folder: Path, body: Any, name: str = "chat.json") -> str:
    path = folder / name
    path.write_text(json.dumps(body), encoding="utf-8")
    return str(path)


def test_a_request(tmp_path: Path) -> None:
    path = write(tmp_path, BODY)
    expected = count_messages(MESSAGES, model="gpt-4o", tools=TOOLS)
    status, out, err = run("count", "--messages", path)
    assert (status, out) == (0, b"%d\n" % expected)
    assert err == f"compat-bpe: an estimate: {expected.note}\n"
    assert run("count", "--messages", path, "--quiet") == (0, out, "")
    with open(path, "rb") as file:
        assert run("count", "--messages", "-", stdin=file.read()) == (0, out, err)


def test_the_options_have_the_last_word(tmp_path: Path) -> None:
    path = write(tmp_path, {"model": "gpt-4", "messages": MESSAGES})
    for options, arguments in (
        ([], {"model": "gpt-4"}),
        (["-m", "gpt-oss-20b"], {"model": "gpt-oss-20b"}),
        (["-e", "deepseek_v3"], {"encoding": "deepseek_v3"}),
    ):
        expected = count_messages(MESSAGES, **arguments)  # type: ignore[arg-type]
        assert run("count", "--messages", path, *options).out == b"%d\n" % expected


def test_messages_alone_are_counted_by_the_default_encoding(tmp_path: Path) -> None:
    path = write(tmp_path, MESSAGES)
    expected = count_messages(MESSAGES, encoding="o200k_base")
    message = f"compat-bpe: an estimate: {expected.note}\n"
    assert run("count", "--messages", path) == (0, b"%d\n" % expected, message)


def test_a_vocabulary_with_a_chat_template(tmp_path: Path) -> None:
    save_tokenizer_json(train_bpe(["some text"], 258), tmp_path / "tokenizer.json")
    (tmp_path / "chat_template.jinja").write_text(
        "{% for m in messages %}{{ m.role }}{{ m.content }}{{ end }}{% endfor %}"
    )
    path = write(tmp_path, {"messages": MESSAGES, "chat_template_kwargs": {"end": "!!!"}})
    text = "systemBe brief.!!!usernaïve?!!!"
    assert load_chat_template(tmp_path).render(MESSAGES, variables={"end": "!!!"}) == text
    expected = count_messages(MESSAGES, encoding=tmp_path, variables={"end": "!!!"})
    assert 0 < expected <= len(text.encode())
    assert run("count", "--messages", path, "-e", str(tmp_path)).out == b"%d\n" % expected


def test_what_a_request_has_beside_the_messages(tmp_path: Path) -> None:
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}
    expected = count_messages(MESSAGES, model="gpt-4o", tools=TOOLS, response_format=form)
    path = write(tmp_path, {**BODY, "response_format": form})
    status, out, err = run("count", "--messages", path)
    assert (status, out) == (0, b"%d\n" % expected)
    assert "no rule for response_format" in err
    functions = [one["function"] for one in TOOLS]
    path = write(tmp_path, {**BODY, "tools": None, "functions": functions, "response_format": form})
    assert run("count", "--messages", path).out == b"%d\n" % expected
    variables = {"thinking": True, "reasoning_effort": "max"}
    path = write(tmp_path, {**BODY, "model": "deepseek-v4-pro", "chat_template_kwargs": variables})
    expected = count_messages(MESSAGES, model="deepseek-v4-pro", tools=TOOLS, variables=variables)
    assert run("count", "--messages", path) == (0, b"%d\n" % expected, "")
    as_service = {"thinking": {"type": "enabled"}, "reasoning_effort": "max"}
    path = write(tmp_path, {**BODY, "model": "deepseek-v4-pro", **as_service})
    assert run("count", "--messages", path) == (0, b"%d\n" % expected, "")
    other = {"chat_template_kwargs": {"reasoning_effort": "low"}}  # it has the last word
    path = write(tmp_path, {**BODY, "model": "deepseek-v4-pro", **as_service, **other})
    assert int(run("count", "--messages", path).out) < expected
    # A member of another service is no text.
    path = write(tmp_path, {**BODY, "model": "gpt-4o", "thinking": "?", "reasoning_effort": "high"})
    expected = count_messages(MESSAGES, model="gpt-4o", tools=TOOLS)
    assert run("count", "--messages", path).out == b"%d\n" % expected
    path = write(tmp_path, {**BODY, "model": "deepseek-v3.2", "thinking": {"type": True}})
    assert run("count", "--messages", path).err.endswith(
        "thinking: must be an object whose type is enabled or disabled\n"
    )
    path = write(tmp_path, {**BODY, "response_format": {"type": "odd"}})
    status, out, err = run("count", "--messages", path)
    assert (status, out) == (2, b"")
    assert "response_format: must be an object whose type is" in err


def test_a_limit(tmp_path: Path) -> None:
    path = write(tmp_path, {**BODY, "tools": None})
    tokens = count_messages(MESSAGES, model="gpt-4o")
    assert run("count", "--messages", path, "--max", str(tokens)).status == 0
    status, out, err = run("count", "--messages", path, "--max", str(tokens - 1))
    assert (status, out) == (1, b"%d\n" % tokens)
    assert err == f"compat-bpe: {tokens} tokens, over the limit of {tokens - 1}\n"


def test_json(tmp_path: Path) -> None:
    path = write(tmp_path, {**BODY, "tools": []})
    tokens = count_messages(MESSAGES, model="gpt-4o")
    status, out, err = run("count", "--messages", path, "--json", "--context")
    assert (status, err) == (0, "")
    assert json.loads(out) == {
        "model": "gpt-4o",
        "tokens": tokens,
        "estimate": None,
        "context": {"model": "gpt-4o", "tokens": 128_000, "share": tokens / 128_000},
    }


def test_the_share_of_the_context(tmp_path: Path) -> None:
    text = "word " * 1279 + "word"
    (tmp_path / "a.txt").write_text(text)
    assert get_encoding("o200k_base").count(text) == 1280
    name = str(tmp_path / "a.txt")
    status, out, err = run("count", "-m", "gpt-4o-2024-11-20", "--context", name)
    assert (status, err) == (0, "")
    assert out.decode().splitlines() == [
        f"1280 {name}",
        "1.0% of the context of gpt-4o, 128,000 tokens",
    ]
    found = json.loads(run("count", "-m", "gpt-4o", "--context", "--json", name).out)
    assert found["context"] == {"model": "gpt-4o", "tokens": 128_000, "share": 0.01}
    assert "context" not in json.loads(run("count", "--json", name).out)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--context", "-c", "x"], "--context needs --model: an encoding has no context"),
        (["--context", "-c", "x", "-m", "o1-x"], "the limits of model 'o1-x' are not known"),
        (["--context", "--total-only", "-m", "gpt-4o"], "--total-only and --context exclude"),
        (["--messages", "-", "a.txt"], "--messages and PATH exclude each other."),
        (["--messages", "-", "--tree"], "--messages and --tree exclude each other."),
        (["--messages", "no-such-file"], "no-such-file: No such file or directory"),
    ],
)
def test_wrong_options(options: list[str], reason: str) -> None:
    status, out, err = run("count", *options)
    assert (status, out) == (2, b"")
    assert reason in err


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "standard input: not JSON: "),
        (b"\n", "standard input: not JSON: "),
        (b"{", "standard input: not JSON: "),
        ("[é]".encode(), "standard input: not JSON: "),
        (b"\xef\xbb\xbf{\xff", "standard input: not UTF-8: byte 0xff at offset 4; convert it"),
        ("{}".encode("utf-16"), "standard input: not UTF-8: UTF-16 byte-order mark at offset 0; "),
        (b"[" * 100_000, "standard input: nested too deeply"),
        (b"3", "standard input: must be an object with messages, or a list of them"),
        (b"{}", "standard input: must be an object with messages, or a list of them"),
        (b"[]", "standard input: messages is empty: there must be at least one message"),
        (b'{"messages": {}}', "standard input: messages: must be a list, not an object"),
        (b'{"messages": [], "model": 3}', "standard input: model: must be a string"),
        (b'[{"role": "user", "content": 3}]', "messages[0].content: must be a string or a list"),
        (b'{"messages": [], "model": "gpt9"}', "standard input: unknown model 'gpt9'"),
    ],
)
def test_damaged_requests(body: bytes, reason: str) -> None:
    status, out, err = run("count", "--messages", "-", stdin=body)
    assert (status, out) == (2, b"")
    assert reason in err
    assert err.count("\n") == 1


def test_parts_of_a_request(tmp_path: Path) -> None:
    path = write(tmp_path, BODY)
    parts = count_parts(MESSAGES, model="gpt-4o", tools=TOOLS)
    status, out, _ = run("count", "--messages", path, "--parts")
    total = count_messages(MESSAGES, model="gpt-4o", tools=TOOLS)
    assert (status, out.decode().splitlines()) == (
        0,
        [
            f"{parts[0].tokens:2} system (messages[0])",
            f"{parts[1].tokens:2} user (messages[1])",
            f"{parts[2].tokens:2} tools",
            f"{parts[3].tokens:2} reply",
            f"{total} total",
        ],
    )
    result = json.loads(run("count", "--messages", path, "--parts", "--json").out)
    assert result["parts"][1] == {"name": "user", "messages": [1], "tokens": parts[1].tokens}
    assert sum(part["tokens"] for part in result["parts"]) == result["tokens"] == total
    assert "parts" not in json.loads(run("count", "--messages", path, "--json").out)


def test_parts_of_an_estimate(tmp_path: Path) -> None:
    path = write(tmp_path, {"model": "claude-sonnet-4-5", "messages": MESSAGES})
    out = run("count", "--messages", path, "--parts", "--estimate").out.decode()
    assert [line.split()[0][0] for line in out.splitlines()] == ["≈"] * 4
    assert "0 reply" in out


def test_parts_are_of_a_request(tmp_path: Path) -> None:
    status, _, err = run("count", "--parts", write(tmp_path, BODY))
    assert status == 2
    assert "--parts needs --messages" in err


def test_a_request_to_responses(tmp_path: Path) -> None:
    call = {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "1", "output": "yes"}
    said = [{"role": "user", "content": [{"type": "input_text", "text": "naïve?"}]}, call, output]
    tool = {"type": "function", "name": "f", "description": "Does it."}
    form = {"type": "json_schema", "name": "n", "schema": {"type": "object"}}
    body = {"model": "gpt-5", "instructions": "Be brief.", "input": said, "tools": [tool]}
    path = write(tmp_path, {**body, "text": {"format": form}})
    calls = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    messages: list[dict[str, Any]] = [
        *MESSAGES,
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "1", "content": "yes"},
    ]
    expected = count_messages(
        messages,
        model="gpt-5",
        tools=TOOLS,
        response_format={"type": "json_schema", "json_schema": form},
        endpoint="responses",
    )
    status, out, err = run("count", "--messages", path)
    assert (status, out) == (0, b"%d\n" % expected)
    assert "not counted" not in err
    lines = run("count", "--messages", path, "--parts").out.decode().splitlines()
    names = [line.split(maxsplit=1)[1] for line in lines]
    assert names[:4] == ["system", "user (input[0])", "assistant (input[1])", "tool (input[2])"]
    body["input"] = "naïve?"
    path = write(tmp_path, {**body, "tools": [], "model": "gpt-4o"})
    expected = count_messages(MESSAGES, model="gpt-4o", endpoint="responses")
    assert run("count", "--messages", path) == (0, b"%d\n" % expected, "")


def test_a_request_of_anthropics(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "naïve?"}, {"type": "image"}]
    said: dict[str, Any] = {"role": "user", "content": parts}
    path = write(tmp_path, {"model": "gpt-4o", "system": "Be brief.", "messages": [said]})
    expected = count_messages(MESSAGES, model="gpt-4o")
    note = "1 image not counted, so the number is a lower bound: messages[0].content[1] (image)"
    status, out, err = run("count", "--messages", path, "--parts")
    assert (status, out.decode().splitlines()) == (
        0,
        [" 7 system", " 8 user (messages[0])", " 3 reply", f"{expected} total"],
    )
    assert err == f"compat-bpe: an estimate: {note}\n"
    assert json.loads(run("count", "--messages", path, "--json").out)["estimate"] == note
    said["content"] = 3
    path = write(tmp_path, {"model": "gpt-4o", "system": "Be brief.", "messages": [said]})
    assert f"{path}: messages[0].content: must be a" in run("count", "--messages", path).err


def test_what_is_not_in_a_request_is_named(tmp_path: Path) -> None:
    body = {
        "model": "gpt-5",
        "input": [{"role": "user", "content": "x"}, {"type": "reasoning", "summary": []}],
        "previous_response_id": "r",
    }
    path = write(tmp_path, body)
    status, out, err = run("count", "--messages", path)
    assert (status, out) == (0, b"7\n")
    assert err == (
        "compat-bpe: an estimate: not counted: previous_response_id, input[1] (reasoning)\n"
    )
    status, out, err = run("count", "--messages", path, "--strict")
    assert (status, out) == (2, b"")
    reason = "previous_response_id: cannot be counted, nor can 1 more"
    assert err == f"compat-bpe: {path}: {reason}\n"


def test_a_named_tool_and_the_day_of_a_request(tmp_path: Path) -> None:
    choice = {"type": "function", "function": {"name": "f"}}
    path = write(tmp_path, {**BODY, "tool_choice": choice})
    bare = count_messages(MESSAGES, model="gpt-4o", tools=TOOLS)
    assert int(run("count", "--messages", path).out) == bare + 8
    path = write(tmp_path, {"model": "deepseek-reasoner", "messages": MESSAGES})
    err = run("count", "--messages", path, "--as-of", "2025-09-30").err
    assert "deepseek-v3.2-exp is taken, since 2025-09-29" in err
    status, out, err = run("count", "--messages", path, "--as-of", "soon")
    assert (status, out) == (2, b"")
    assert "as_of: 'soon' is no date like 2025-06-30" in err
    assert "--as-of needs --messages" in run("count", "--as-of", "2025-06-30", path).err


def test_a_file_of_requests(tmp_path: Path) -> None:
    example: dict[str, Any] = {"messages": [*MESSAGES, {"role": "assistant", "content": "Yes."}]}
    of_a_batch = {
        "custom_id": "b",
        "method": "POST",
        "url": "/v1/responses",
        "body": {"model": "gpt-4o", "input": "naïve?"},
    }
    lines = [json.dumps(example), json.dumps(of_a_batch), "", json.dumps(MESSAGES)]
    path = tmp_path / "ft.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    tokens = [
        count_messages(example["messages"], model="gpt-4o"),
        count_messages(MESSAGES[1:], model="gpt-4o", endpoint="responses"),
        count_messages(MESSAGES, model="gpt-4o"),
    ]
    status, out, err = run("count", "--messages", str(path), "-m", "gpt-4o")
    assert (status, err) == (0, "")
    assert out.decode().splitlines() == [
        f"{tokens[0]} line 1",
        f"{tokens[1]:2} line 2 (b)",
        f"{tokens[2]} line 4",
        f"{sum(tokens)} total",
    ]
    found = json.loads(run("count", "--messages", str(path), "-m", "gpt-4o", "--json").out)
    assert found["total"] == {"tokens": sum(tokens)}
    assert found["requests"][1] == {
        "name": "line 2 (b)",
        "model": "gpt-4o",
        "tokens": tokens[1],
        "estimate": None,
    }
    limit = str(sum(tokens) - 1)
    assert run("count", "--messages", str(path), "-m", "gpt-4o", "--max", limit).status == 1


def test_a_damaged_line_does_not_stop_the_others(tmp_path: Path) -> None:
    lines = [json.dumps({"messages": MESSAGES}), json.dumps({"messages": []})]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    status, out, err = run("count", "--messages", str(path), "-m", "gpt-4o")
    assert status == 2
    tokens = count_messages(MESSAGES, model="gpt-4o")
    assert out.decode().splitlines() == [f"{tokens} line 1", f"{tokens} total"]
    assert err == (
        f"compat-bpe: {path}: line 2: messages is empty: there must be at least one message\n"
    )
    made = json.loads(run("count", "--messages", str(path), "-m", "gpt-4o", "--json").out)
    reason = "messages is empty: there must be at least one message"
    assert made["errors"] == [{"path": str(path), "name": "line 2", "error": reason}]
    path.write_text(lines[0] + "\n{", encoding="utf-8")
    status, out, err = run("count", "--messages", str(path), "-m", "gpt-4o")
    assert (status, out) == (2, b"")
    assert f"{path}: line 2: not JSON" in err
    assert "--parts is for a single request" in (
        run("count", "--messages", write_lines(tmp_path), "-m", "gpt-4o", "--parts").err
    )


def test_a_transcript_is_one_request(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    lines = [{"type": "user", "message": MESSAGES[1]}, {"type": "summary"}]
    said = {"role": "assistant", "content": "Yes\u2028no.", "id": "m", "usage": {"x": 1}}
    lines.append({"type": "assistant", "message": said, "uuid": "u"})
    path.write_text("\n".join(json.dumps(one, ensure_ascii=False) for one in lines), "utf-8")
    expected = count_messages(
        [MESSAGES[1], {"role": "assistant", "content": said["content"]}], model="gpt-4o"
    )
    status, out, err = run("count", "--messages", str(path), "-m", "gpt-4o")
    assert (status, out) == (0, b"%d\n" % expected)
    assert err == "compat-bpe: an estimate: not counted: line 2\n"
    path.write_text("\n".join(map(json.dumps, MESSAGES)) + "\n", "utf-8")
    expected = count_messages(MESSAGES, model="gpt-4o")
    assert run("count", "--messages", str(path), "-m", "gpt-4o") == (0, b"%d\n" % expected, "")


def write_lines(folder: Path) -> str:
    path = folder / "two.jsonl"
    path.write_text(f"{json.dumps(MESSAGES)}\n{json.dumps(MESSAGES)}\n", encoding="utf-8")
    return str(path)


def test_a_factor_of_ones_own(tmp_path: Path) -> None:
    path = write(tmp_path, {"model": "gpt-4o", "messages": MESSAGES})
    tokens = count_messages(MESSAGES, model="gpt-4o")
    status, out, err = run("count", "--messages", path, "--factor", "1.5")
    assert (status, out.decode()) == (0, f"≈{-(-tokens * 3 // 2)}\n")
    assert err == "compat-bpe: an estimate: your factor of 1.5 times the tokens of the request\n"
    path = write(tmp_path, {"model": "claude-sonnet-4-5", "messages": MESSAGES})
    estimate = count_messages(MESSAGES, model="claude-sonnet-4-5", estimate=True)
    out = run("count", "--messages", path, "--factor", "2").out
    assert out.decode() == f"≈{estimate * 2}\n"
    assert "exclude each other" in run("count", "--messages", path, "--factor", "2", "--parts").err
