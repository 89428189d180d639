"""DeepSeek-V4 and V4.1, by texts made by hand; tests/clients compares them with deepseek-recipe."""

from __future__ import annotations

from typing import Any

import pytest

from compat_bpe import get_encoding
from compat_bpe.chat import count_messages
from compat_bpe.chat.base import Request
from compat_bpe.chat.deepseek_v4 import DeepSeekV4Format, Version

BEGIN, END = "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"
SYSTEM, USER, ASSISTANT = "<｜System｜>", "<｜User｜>", "<｜Assistant｜>"
BOTH = (Version.V4, Version.V4_1)
TOOLS = [{"type": "function", "function": {"name": "f", "strict": False}}]


def rendered(version: Version, messages: list[dict[str, Any]], **arguments: Any) -> str:
    request = Request.checked(messages, **arguments)
    return DeepSeekV4Format(get_encoding("deepseek_v4"), version).render(request)


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: str | None, **members: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **members}


def call(identity: str, arguments: Any) -> dict[str, Any]:
    return {"id": identity, "function": {"name": f"f{identity}", "arguments": arguments}}


def test_what_the_user_says_in_a_row_is_one_message() -> None:
    parts = [{"type": "text", "text": "b"}, {"type": "text", "text": "c"}]
    for version in BOTH:
        chat = [user("a"), user(parts), said("d"), said("e")]
        assert rendered(version, chat, add_generation_prompt=False) == (
            f"{BEGIN}{USER}a\n\nb\n\nc{ASSISTANT}</think>d{END}{ASSISTANT}</think>e{END}"
        )
        chat = [user("a"), {"role": "developer", "content": "b"}]
        assert rendered(version, chat) == f"{BEGIN}{USER}a{USER}b{ASSISTANT}</think>"


def test_the_system() -> None:
    chat = [{"role": "system", "content": "s"}, user("a"), {"role": "system", "content": "t"}]
    end = f"{ASSISTANT}</think>"
    assert rendered(Version.V4, chat) == f"{BEGIN}s\n\nt{USER}a{end}"
    assert rendered(Version.V4_1, chat) == f"{BEGIN}{SYSTEM}s{USER}a{SYSTEM}t{end}"
    nothing = [{"role": "system", "content": ""}]
    assert rendered(Version.V4_1, nothing) == f"{BEGIN}{end}"
    assert rendered(Version.V4_1, nothing, tools=TOOLS).startswith(f"{BEGIN}{SYSTEM}\n\n## Tools")
    empty = [user("a"), {"role": "system", "content": ""}, user("b")]
    for version in BOTH:
        assert rendered(version, empty) == f"{BEGIN}{USER}a\n\nb{end}"


def test_calls_and_results() -> None:
    calls = [call("1", '{"a": 1e-7, "b": "x"}'), call("2", "no JSON"), call("3", "{}")]
    chat = [
        user("q"),
        said("say", tool_calls=calls),
        {"role": "tool", "content": "third", "tool_call_id": "3"},
        user("and"),
        {"role": "tool", "content": "first", "tool_call_id": "1"},
    ]
    results = "<tool_result>first</tool_result>\n\nand\n\n<tool_result>third</tool_result>"
    for version, names, number, empty in (
        (Version.V4, ("tool_calls", "invoke", "parameter"), "1e-7", ""),
        (Version.V4_1, (" calls", " invoke", " parameter"), "1e-07", "\n"),
    ):
        all_, one, part = (f"｜DSML｜{name}" for name in names)
        written = (
            f'\n\n<{all_}>\n<{one} name="f1">\n<{part} name="a" string="false">{number}</{part}>\n'
            f'<{part} name="b" string="true">x</{part}>\n</{one}>\n<{one} name="f2">\n'
            f'<{part} name="arguments" string="true">no JSON</{part}>\n</{one}>\n'
            f'<{one} name="f3">\n{empty}</{one}>\n</{all_}>'
        )
        assert rendered(version, chat) == (
            f"{BEGIN}{USER}q{ASSISTANT}</think>say{written}{END}{USER}{results}{ASSISTANT}</think>"
        )


def test_thoughts_are_kept_beside_tools() -> None:
    chat = [user("a"), said("b", reasoning_content="hm"), user("c")]
    low: dict[str, Any] = {"thinking": True, "reasoning_effort": "low"}
    end = f"{END}{USER}c{ASSISTANT}<think>"
    asked = f"{USER}a{ASSISTANT}"
    assert rendered(Version.V4, chat, variables=low) == f"{BEGIN}{asked}</think>b{end}"
    beside = rendered(Version.V4, chat, variables=low, tools=TOOLS)
    assert beside.endswith(f"{asked}<think>hm</think>b{end}")
    assert "<think>hm" not in rendered(Version.V4, chat, tools=TOOLS)
    goes_on = rendered(Version.V4, chat[:2], variables=low, add_generation_prompt=False)
    assert goes_on == f"{BEGIN}{asked}<think>hm</think>b{END}"


def test_tools_and_the_form_of_the_reply() -> None:
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}
    shown = '{"name": "f", "description": "", "parameters": {}}'
    for version, begin in ((Version.V4, BEGIN), (Version.V4_1, BEGIN + SYSTEM)):
        text = rendered(version, [user("a")], tools=TOOLS, response_format=form)
        assert text.startswith(f"{begin}\n\n## Tools\n\nYou have access to a set of tools to help")
        assert f"### Available Tool Schemas\n\n{shown}\n\nYou MUST strictly follow" in text
        assert text.endswith(
            "\n\n\n## Response Format:\n\nYou MUST strictly adhere to the following schema to "
            f'reply:\n{{"type": "object"}}{USER}a{ASSISTANT}</think>'
        )
    any_json = {"type": "json_object"}
    assert "Reply with JSON object ONLY." in rendered(
        Version.V4, [user("a")], response_format=any_json
    )
    assert '{"type": "json_object"}' in rendered(
        Version.V4_1, [user("a")], response_format=any_json
    )
    assert rendered(Version.V4, [user("a")], response_format={"type": "text"}) == rendered(
        Version.V4, [user("a")]
    )


def test_efforts() -> None:
    def begin(version: Version, effort: str | None) -> str:
        variables: dict[str, Any] = {"thinking": True}
        if effort is not None:
            variables["reasoning_effort"] = effort
        return rendered(version, [user("a")], variables=variables)

    assert begin(Version.V4, None) == begin(Version.V4, "low")
    assert begin(Version.V4, "high").startswith(f"{BEGIN}Reasoning Effort: Absolute maximum with")
    assert begin(Version.V4, "max").startswith(f"{BEGIN}Reasoning Effort: Beyond maximum — exh")
    assert begin(Version.V4_1, None) == begin(Version.V4_1, "high")
    for version in BOTH:
        assert begin(version, "minimal") == begin(version, "low")
        assert begin(version, "medium") == begin(version, "xhigh") == begin(version, "high")
        assert begin(version, "ultra") == begin(version, "max")
    assert begin(Version.V4_1, "low").startswith(f"{BEGIN}{SYSTEM}Reasoning Effort: 50 (range")
    variables = {"reasoning_effort": "max"}  # without thinking, it changes nothing
    assert rendered(Version.V4, [user("a")], variables=variables) == rendered(
        Version.V4, [user("a")]
    )


def test_notes() -> None:
    def note(model: str, **variables: Any) -> str:
        return count_messages([user("a")], model=model, tools=TOOLS, variables=variables).note

    assert note("deepseek-v4-pro") == ""
    assert note("deepseek-v4-flash", thinking=True, reasoning_effort="max") == ""
    assert "give reasoning_effort" in note("deepseek-v4-flash", thinking=True)
    assert "vocabulary of V4 is taken" in note("deepseek-v4.1-flash")
    strict = [{"name": "f", "strict": True}]
    strictly = count_messages([user("a")], model="deepseek-v4-pro", tools=strict)
    assert strictly.note.startswith("DeepSeek's service rewrites the schema of a strict tool")


def test_a_call_without_arguments() -> None:
    text = rendered(Version.V4, [said(None, tool_calls=[{"function": {"name": "f"}}])])
    assert 'parameter name="arguments" string="true"></' in text


def test_a_mark_of_the_system_is_a_token_of_v4_1() -> None:
    system = [{"role": "system", "content": "s"}, user("a")]
    assert count_messages(system, model="deepseek-v4.1-flash") == 1 + count_messages(
        system, model="deepseek-v4-flash"
    )


def test_variables() -> None:
    with pytest.raises(ValueError, match=r"^variables has \['x'\]; DeepSeek's format takes think"):
        count_messages([user("a")], model="deepseek-v4-pro", variables={"x": 1})
    with pytest.raises(ValueError, match=r"^variables.thinking: must be true or false"):
        count_messages([user("a")], model="deepseek-v4-pro", variables={"thinking": 1})
    efforts: list[Any] = ["odd", 1, None, []]
    for effort in efforts:
        with pytest.raises(ValueError, match=r"^variables.reasoning_effort: must be one of low, h"):
            count_messages(
                [user("a")], model="deepseek-v4-pro", variables={"reasoning_effort": effort}
            )
    with pytest.raises(ValueError, match=r"^variables has \['reasoning_effort'\]"):
        count_messages([user("a")], model="deepseek-v3", variables={"reasoning_effort": "low"})
