"""DeepSeek-V3.2, by texts made by hand; tests/clients compares it with the published file."""

from __future__ import annotations

from typing import Any

import pytest

from compat_bpe import get_encoding
from compat_bpe.chat import count_messages
from compat_bpe.chat.base import Request
from compat_bpe.chat.deepseek_v32 import DeepSeekV32Format

BEGIN, END = "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"
USER, ASSISTANT = "<｜User｜>", "<｜Assistant｜>"
CALL = {"id": "1", "function": {"name": "f", "arguments": '{"a": "x", "b": [1, 2.5]}'}}
CALLING: list[dict[str, Any]] = [
    {"role": "user", "content": "q"},
    {"role": "assistant", "tool_calls": [CALL, {**CALL, "function": {"name": "g"}}]},
    {"role": "tool", "content": "r", "tool_call_id": "1"},
    {"role": "tool", "content": "s", "tool_call_id": "2"},
]
CALLING[1]["tool_calls"][1]["function"]["arguments"] = {}
#: How the calls and their results are written.
CALLED = (
    '\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n'
    '<｜DSML｜parameter name="a" string="true">x</｜DSML｜parameter>\n'
    '<｜DSML｜parameter name="b" string="false">[1, 2.5]</｜DSML｜parameter>\n'
    '</｜DSML｜invoke>\n<｜DSML｜invoke name="g">\n\n</｜DSML｜invoke>\n</｜DSML｜function_calls>'
)
RESULTS = "\n\n<function_results>\n<result>r</result>\n<result>s</result>\n</function_results>"


def rendered(messages: list[dict[str, Any]], **arguments: Any) -> str:
    request = Request.checked(messages, **arguments)
    return DeepSeekV32Format(get_encoding("deepseek_v3")).render(request)


def test_calls_and_results() -> None:
    asked = f"{BEGIN}{USER}q{ASSISTANT}"
    said = f"{CALLED}{END}{RESULTS}"
    assert rendered(CALLING) == f"{asked}</think>{said}\n\n</think>"
    thinking = {"thinking": True}
    assert rendered(CALLING, variables=thinking) == (f"{asked}<think></think>{said}\n\n<think>")
    assert rendered(CALLING, add_generation_prompt=False) == f"{asked}</think>{said}"
    thought = [CALLING[0], {**CALLING[1], "reasoning_content": "hm"}, *CALLING[2:]]
    assert f"{ASSISTANT}<think>hm</think>" in rendered(thought, variables=thinking)


def test_tools_and_schema_stand_behind_what_the_system_says() -> None:
    tools = [{"type": "function", "function": {"name": "f"}}, {"name": "g", "strict": True}]
    form = {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}
    chat = [{"role": "user", "content": "q"}]
    for system in ([], [{"role": "system", "content": "S"}]):
        text = rendered([*system, *chat], tools=tools, response_format=form)
        begins = f"{BEGIN}{'S' if system else ''}\n\n## Tools\nYou have access to a set of tools"
        assert text.startswith(begins)
        assert '<functions>\n{"name": "f"}\n{"name": "g", "strict": true}\n</functions>\n' in text
        assert text.endswith(
            "\n\n\n## Response Format:\n\nYou MUST strictly adhere to the following schema to "
            f'reply:\n{{"type": "object"}}{USER}q{ASSISTANT}</think>'
        )


def test_each_message_of_the_user_is_answered() -> None:
    chat = [{"role": "user", "content": "a"}, {"role": "developer", "content": "b"}]
    told = f"{USER}\n\n# The user's message is: b{ASSISTANT}"
    assert rendered(chat) == f"{BEGIN}{USER}a{ASSISTANT}</think>{told}</think>"
    assert rendered(chat, add_generation_prompt=False).endswith(": b")
    # Who thinks forgets what developers said before.
    thinking = rendered([*chat, chat[0]], variables={"thinking": True})
    assert thinking == f"{BEGIN}{USER}a{ASSISTANT}</think>{USER}a{ASSISTANT}<think>"


@pytest.mark.parametrize(
    ("messages", "thinking", "reason"),
    [
        (CALLING[2:], False, r"^messages\[0\]: a tool's result without a call of the tool"),
        ([*CALLING, CALLING[3]], False, r"^messages\[4\]: a tool's result without a call"),
        (
            [{"role": "developer", "content": ""}],
            False,
            r"^messages\[0\].content: a developer's message must have a text",
        ),
        (
            [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
            True,
            r"^messages\[1\]: there is no 'reasoning_content'",
        ),
        (
            [{"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]}],
            False,
            r"^messages\[0\].tool_calls\[0\].function.arguments: must be an object of JSON",
        ),
        (
            [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": 1}}]}],
            False,
            r"function.arguments: must be a string or an object",
        ),
        (
            [
                {
                    "role": "assistant",
                    "tool_calls": [{"function": {"name": "f", "arguments": "[" * 100_000}}],
                }
            ],
            False,
            r"function.arguments: (nested too deeply|must be an object of JSON)",
        ),
        (
            [
                {
                    "role": "assistant",
                    "tool_calls": [
                        {"function": {"name": "f", "arguments": '{"a":' * 300 + "1" + "}" * 300}}
                    ],
                }
            ],
            False,
            r"function.arguments[.a]*: nested too deeply",
        ),
    ],
)
def test_what_it_does_not_take(messages: list[dict[str, Any]], thinking: bool, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        rendered(messages, variables={"thinking": thinking})


def test_counts_are_exact_but_for_any_json() -> None:
    model = "deepseek-ai/DeepSeek-V3.2"
    tools = [{"type": "function", "function": {"name": "f"}}]
    form = {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}
    found = count_messages(CALLING, model=model, tools=tools, response_format=form)
    assert not found.is_estimate
    bare = count_messages(CALLING, model=model)
    any_json = count_messages(CALLING, model=model, response_format={"type": "json_object"})
    assert any_json == bare
    assert "no words of V3.2 for a reply in any JSON" in any_json.note
