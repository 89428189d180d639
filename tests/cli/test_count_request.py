"""``compat-bpe count --messages`` and ``--context``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from compat_bpe import get_encoding
from compat_bpe.chat import count_messages, count_parts, load_chat_template
from compat_bpe.save import save_tokenizer_json
from compat_bpe.train import train_bpe
from tests.cli.running import TextResult, cases, command, write

MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "naïve?"}]
TOOLS = [{"type": "function", "function": {"name": "f", "description": "Does it."}}]
BODY = {"model": "gpt-4o", "messages": MESSAGES, "tools": TOOLS, "temperature": 0}


def count(body: Any, line: str = "", name: str = "chat.json") -> TextResult:
    """Count a request, or a file of several if it is a list of lines."""
    write({name: "\n".join(body) if name.endswith("l") else json.dumps(body)})
    return command(f"count --messages {name} {line}")


def expected(**arguments: Any) -> Any:
    return count_messages(MESSAGES, **{"model": "gpt-4o", **arguments})


def test_a_request() -> None:
    tokens = expected(tools=TOOLS)
    done = (0, f"{tokens}\n", f"compat-bpe: an estimate: {tokens.note}\n")
    assert count(BODY) == done
    assert command("count --messages chat.json --quiet") == (0, f"{tokens}\n", "")
    assert command("count --messages -", stdin=json.dumps(BODY)) == done


def test_the_options_have_the_last_word() -> None:
    for options, arguments in (
        ("", {"model": "gpt-4"}),
        ("-m gpt-oss-20b", {"model": "gpt-oss-20b"}),
        ("-e deepseek_v3", {"model": None, "encoding": "deepseek_v3"}),
    ):
        found = count({"model": "gpt-4", "messages": MESSAGES}, options)
        assert found.out == f"{expected(**arguments)}\n"
    # Messages alone are counted by the default encoding.
    tokens = count_messages(MESSAGES, encoding="o200k_base")
    note = f"compat-bpe: an estimate: {tokens.note}\n"
    assert count(MESSAGES) == (0, f"{tokens}\n", note)


def test_a_vocabulary_with_a_chat_template(tmp_path: Path) -> None:
    save_tokenizer_json(train_bpe(["some text"], 258), tmp_path / "tokenizer.json")
    template = "{% for m in messages %}{{ m.role }}{{ m.content }}{{ end }}{% endfor %}"
    write({"chat_template.jinja": template})
    text = "systemBe brief.!!!usernaïve?!!!"
    assert load_chat_template(tmp_path).render(MESSAGES, variables={"end": "!!!"}) == text
    tokens = count_messages(MESSAGES, encoding=tmp_path, variables={"end": "!!!"})
    assert 0 < tokens <= len(text.encode())
    body = {"messages": MESSAGES, "chat_template_kwargs": {"end": "!!!"}}
    assert count(body, "-e .").out == f"{tokens}\n"


def test_what_a_request_has_beside_the_messages() -> None:
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}
    tokens = expected(tools=TOOLS, response_format=form)
    status, out, err = count({**BODY, "response_format": form})
    assert (status, out) == (0, f"{tokens}\n")
    assert "no rule for response_format" in err
    functions = [one["function"] for one in TOOLS]
    old = {**BODY, "tools": None, "functions": functions, "response_format": form}
    assert count(old).out == f"{tokens}\n"
    wrong = count({**BODY, "response_format": {"type": "odd"}})
    assert wrong[:2] == (2, "")
    assert "response_format: must be an object whose type is" in wrong.err
    # A named tool.
    bare = expected(tools=TOOLS)
    choice = {"type": "function", "function": {"name": "f"}}
    assert count({**BODY, "tool_choice": choice}).out == f"{bare + 8}\n"
    # A member of another service is no text.
    assert count({**BODY, "thinking": "?", "reasoning_effort": "high"}).out == f"{bare}\n"


def test_how_a_model_is_to_think() -> None:
    body = {**BODY, "model": "deepseek-v4-pro"}
    variables = {"thinking": True, "reasoning_effort": "max"}
    tokens = expected(model="deepseek-v4-pro", tools=TOOLS, variables=variables)
    as_service = {"thinking": {"type": "enabled"}, "reasoning_effort": "max"}
    for members in ({"chat_template_kwargs": variables}, as_service):
        assert count({**body, **members}) == (0, f"{tokens}\n", "")
    other = {"chat_template_kwargs": {"reasoning_effort": "low"}}  # it has the last word
    assert int(count({**body, **as_service, **other}).out) < tokens
    wrong = count({**BODY, "model": "deepseek-v3.2", "thinking": {"type": True}})
    must = "thinking: must be an object whose type is enabled or disabled\n"
    assert wrong.err.endswith(must)
    asked = count({"model": "deepseek-reasoner", "messages": MESSAGES}, "--as-of 2025-09-30")
    assert "counted as deepseek-v3.2-exp, its meaning since 2025-09-29" in asked.err


def test_a_limit() -> None:
    body, tokens = {**BODY, "tools": None}, expected()
    assert count(body, f"--max {tokens}").status == 0
    over = f"compat-bpe: {tokens} tokens, over the limit of {tokens - 1}\n"
    assert count(body, f"--max {tokens - 1}") == (1, f"{tokens}\n", over)


def test_json() -> None:
    tokens = expected()
    context = {"model": "gpt-4o", "tokens": 128_000, "share": tokens / 128_000}
    counted = {"model": "gpt-4o", "tokens": tokens, "estimate": None, "context": context}
    done = count({**BODY, "tools": []}, "--json --context")
    assert (json.loads(done.out), done[::2]) == (counted, (0, ""))


def test_the_share_of_the_context() -> None:
    text = "word " * 1279 + "word"
    assert get_encoding("o200k_base").count(text) == 1280
    write({"a.txt": text})
    share = "1.0% of the context of gpt-4o, 128,000 tokens"
    found = command("count -m gpt-4o-2024-11-20 --context a.txt")
    assert found == (0, f"1280 a.txt\n{share}\n", "")
    context = json.loads(command("count -m gpt-4o --context --json a.txt").out)["context"]
    assert context == {"model": "gpt-4o", "tokens": 128_000, "share": 0.01}
    assert "context" not in json.loads(command("count --json a.txt").out)


def test_parts_of_a_request() -> None:
    parts = count_parts(MESSAGES, model="gpt-4o", tools=TOOLS)
    total = expected(tools=TOOLS)
    names = ("system (messages[0])", "user (messages[1])", "tools", "reply")
    assert count(BODY, "--parts").out.splitlines() == [
        *(f"{part.tokens:2} {name}" for part, name in zip(parts, names)),
        f"{total} total",
    ]
    result = json.loads(count(BODY, "--parts --json").out)
    assert result["parts"][1] == {"name": "user", "messages": [1], "tokens": parts[1].tokens}
    assert sum(part["tokens"] for part in result["parts"]) == result["tokens"] == total
    assert "parts" not in json.loads(count(BODY, "--json").out)
    out = count({"model": "claude-sonnet-4-5", "messages": MESSAGES}, "--parts --estimate").out
    assert [line.split()[0][0] for line in out.splitlines()] == ["≈"] * 4
    assert "0 reply" in out


def test_a_request_to_responses() -> None:
    call = {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "1", "output": "yes"}
    said = [{"role": "user", "content": [{"type": "input_text", "text": "naïve?"}]}, call, output]
    tool = {"type": "function", "name": "f", "description": "Does it."}
    form = {"type": "json_schema", "name": "n", "schema": {"type": "object"}}
    body = {"model": "gpt-5", "instructions": "Be brief.", "input": said, "tools": [tool]}
    calls = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    messages: list[dict[str, Any]] = [
        *MESSAGES,
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "1", "content": "yes"},
    ]
    options: Any = {"response_format": {"type": "json_schema", "json_schema": form}}
    tokens = count_messages(messages, model="gpt-5", tools=TOOLS, endpoint="responses", **options)
    status, out, err = count({**body, "text": {"format": form}})
    assert (status, out) == (0, f"{tokens}\n")
    assert "not counted" not in err
    lines = command("count --messages chat.json --parts").out.splitlines()
    names = [line.split(maxsplit=1)[1] for line in lines]
    assert names[:4] == ["system", "user (input[0])", "assistant (input[1])", "tool (input[2])"]
    plain = count({**body, "input": "naïve?", "tools": [], "model": "gpt-4o"})
    assert plain == (0, f"{expected(endpoint='responses')}\n", "")


def test_a_request_of_anthropics() -> None:
    parts = [{"type": "text", "text": "naïve?"}, {"type": "image"}]
    said: dict[str, Any] = {"role": "user", "content": parts}
    body = {"model": "gpt-4o", "system": "Be brief.", "messages": [said]}
    note = "1 image not counted, so the number is a lower bound: messages[0].content[1] (image)"
    out = f" 7 system\n 8 user (messages[0])\n 3 reply\n{expected()} total\n"
    assert count(body, "--parts") == (0, out, f"compat-bpe: an estimate: {note}\n")
    assert json.loads(count(body, "--json").out)["estimate"] == note
    said["content"] = 3
    assert "chat.json: messages[0].content: must be a" in count(body).err


def test_what_is_not_in_a_request_is_named() -> None:
    said = [{"role": "user", "content": "x"}, {"type": "reasoning", "summary": []}]
    body = {"model": "gpt-5", "input": said, "previous_response_id": "r"}
    note = "an estimate: not counted: previous_response_id, input[1] (reasoning)"
    assert count(body) == (0, "7\n", f"compat-bpe: {note}\n")
    reason = "previous_response_id: cannot be counted, nor can 1 more"
    assert count(body, "--strict") == (2, "", f"compat-bpe: chat.json: {reason}\n")


def test_a_file_of_requests() -> None:
    example: dict[str, Any] = {"messages": [*MESSAGES, {"role": "assistant", "content": "Yes."}]}
    batched = {"model": "gpt-4o", "input": "naïve?"}
    of_a_batch = {"custom_id": "b", "method": "POST", "url": "/v1/responses", "body": batched}
    lines = [json.dumps(example), json.dumps(of_a_batch), "", json.dumps(MESSAGES)]
    tokens = [
        count_messages(example["messages"], model="gpt-4o"),
        count_messages(MESSAGES[1:], model="gpt-4o", endpoint="responses"),
        expected(),
    ]
    out = f"{tokens[0]} line 1\n{tokens[1]:2} line 2 (b)\n{tokens[2]} line 4\n{sum(tokens)} total\n"
    assert count(lines, "-m gpt-4o", "ft.jsonl") == (0, out, "")
    found = json.loads(count(lines, "-m gpt-4o --json", "ft.jsonl").out)
    assert found["total"] == {"tokens": sum(tokens)}
    one = {"name": "line 2 (b)", "model": "gpt-4o", "tokens": tokens[1], "estimate": None}
    assert found["requests"][1] == one
    assert count(lines, f"-m gpt-4o --max {sum(tokens) - 1}", "ft.jsonl").status == 1
    two = count([json.dumps(MESSAGES)] * 2, "-m gpt-4o --parts", "a.jsonl")
    assert "--parts is for a single request" in two.err


def test_a_damaged_line_does_not_stop_the_others() -> None:
    lines = [json.dumps({"messages": MESSAGES}), json.dumps({"messages": []})]
    reason = "messages is empty: there must be at least one message"
    tokens = expected()
    done = count(lines, "-m gpt-4o", "a.jsonl")
    assert done[:2] == (2, f"{tokens} line 1\n{tokens} total\n")
    assert done.err == f"compat-bpe: a.jsonl: line 2: {reason}\n"
    made = json.loads(count(lines, "-m gpt-4o --json", "a.jsonl").out)
    assert made["errors"] == [{"path": "a.jsonl", "name": "line 2", "error": reason}]
    damaged = count([lines[0], "{"], "-m gpt-4o", "a.jsonl")
    assert damaged[:2] == (2, "")
    assert "a.jsonl: line 2: not JSON" in damaged.err


def test_a_transcript_is_one_request() -> None:
    said: Any = {"role": "assistant", "content": "Yes\u2028no.", "id": "m", "usage": {"x": 1}}
    session = [
        {"type": "user", "message": MESSAGES[1]},
        {"type": "summary"},
        {"type": "assistant", "message": said, "uuid": "u"},
    ]
    lines = [json.dumps(one, ensure_ascii=False) for one in session]
    messages: Any = [MESSAGES[1], {"role": "assistant", "content": said["content"]}]
    tokens = count_messages(messages, model="gpt-4o")
    found = count(lines, "-m gpt-4o", "a.jsonl")
    assert found == (0, f"{tokens}\n", "compat-bpe: an estimate: not counted: line 2\n")
    plain = count([*map(json.dumps, MESSAGES), ""], "-m gpt-4o", "a.jsonl")
    assert plain == (0, f"{expected()}\n", "")


@cases(
    r"""
gpt-4o → 1.5 → times the tokens of the request\n
claude-sonnet-4-5 → 2 → times the tokens of the request; Anthropic
""",
    "model factor note",
)
def test_a_factor_of_ones_own(model: str, factor: str, note: str) -> None:
    tokens = expected(model=model, estimate=True)
    status, out, err = count({"model": model, "messages": MESSAGES}, f"--factor {factor}")
    assert (status, out) == (0, f"≈{-int(-tokens * float(factor) // 1)}\n")
    assert err.startswith(f"compat-bpe: an estimate: your factor of {factor} {note}")
