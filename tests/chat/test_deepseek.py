"""DeepSeek's formats of V3, R1, V3.1 and V3.2, beside what the models' own programs write."""

from __future__ import annotations

from typing import Any

import pytest

from compat_bpe import get_encoding
from compat_bpe.chat import count_messages, load_chat_template
from compat_bpe.chat.base import Request
from compat_bpe.chat.deepseek import DeepSeekFormat, DeepSeekV32Format
from tests.chat.random_requests import request
from tools.reference_files import reference_file

SYSTEM = {"role": "system", "content": "Be brief."}
CHAT = [
    SYSTEM,
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "<think>hm</think>Hello!"},
    {"role": "user", "content": "Bye"},
]


def rendered(
    messages: list[dict[str, Any]], *, opens_thinking: bool = False, **arguments: Any
) -> str:
    chat = DeepSeekFormat(get_encoding("deepseek_v3"), opens_thinking=opens_thinking)
    return chat.render(Request(messages, **arguments))[0]


def as_the_template_takes_it(message: dict[str, Any]) -> dict[str, Any]:
    """R1's template knows no role "developer", and needs a content beside calls of tools."""
    role = "system" if message["role"] == "developer" else message["role"]
    return {**message, "role": role, "content": message["content"] or ""}


def test_the_template_of_r1() -> None:
    """But for several calls in one conversation, where the template forgets the first tokens."""
    template = load_chat_template(reference_file("deepseek_r1_config"))
    compared = 0
    for seed in range(300):
        messages = list(map(as_the_template_takes_it, request(seed)["messages"]))
        if sum("tool_calls" in message for message in messages) > 1:
            continue
        for add in (True, False):
            expected = template.render(messages, add_generation_prompt=add)
            assert rendered(messages, add_generation_prompt=add) == expected, seed
        compared += 1
    assert compared > 100


def test_each_version() -> None:
    first = "<｜begin▁of▁sentence｜>Be brief.<｜User｜>Hi<｜Assistant｜>"
    last = "Hello!<｜end▁of▁sentence｜><｜User｜>Bye<｜Assistant｜>"
    assert rendered(CHAT) == first + last
    assert rendered(CHAT, opens_thinking=True) == first + "</think>" + last + "</think>"
    thinking = rendered(CHAT, opens_thinking=True, variables={"thinking": True})
    assert thinking == first + "</think>" + last + "<think>"
    assert rendered(CHAT, opens_thinking=True, add_generation_prompt=False).endswith(
        "<｜User｜>Bye"
    )


def test_messages_of_the_user_in_a_row() -> None:
    chat = [{"role": "user", "content": "a"}, {"role": "developer", "content": "b"}]
    begin, end = "<｜begin▁of▁sentence｜>", "<｜Assistant｜>"
    assert rendered(chat) == f"{begin}b<｜User｜>a{end}"
    chat[1]["role"] = "user"
    assert rendered(chat) == f"{begin}<｜User｜>a<｜User｜>b{end}"


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("deepseek-v3", 14),
        ("deepseek-v3-0324", 14),
        ("deepseek-v3-250324", 14),  # a date, and no version
        ("deepseek-r1", 14),
        ("deepseek-v3.1", 16),
        ("deepseek-ai/DeepSeek-V3.2-Exp", 16),
        ("deepseek-ai/DeepSeek-V3.2", 19),  # since V3.2 nothing is left out of an answer
        ("deepseek-v4-flash", 19),
    ],
)
def test_each_model(model: str, tokens: int) -> None:
    found = count_messages(CHAT, model=model)
    assert found == tokens
    assert not found.is_estimate


@pytest.mark.parametrize(
    ("model", "as_of", "means", "thinks"),
    [
        ("deepseek-chat", None, "deepseek-v4-flash", False),
        ("deepseek-reasoner", None, "deepseek-v4-flash", True),
        ("deepseek-chat", "2026-04-23", "deepseek-v3.2", False),
        ("deepseek-reasoner", "2025-10-01", "deepseek-v3.2-exp", True),
        ("deepseek-reasoner", "2025-08-21", "deepseek-v3.1", True),
        ("deepseek-reasoner", "2025-08-20", "deepseek-r1", False),
        ("deepseek-chat", "2024-12-26", "deepseek-v3", False),
    ],
)
def test_names_of_the_service_mean_the_model_of_the_day(
    model: str, as_of: str | None, means: str, thinks: bool
) -> None:
    found = count_messages(CHAT, model=model, as_of=as_of)
    assert found == count_messages(CHAT, model=means, variables={"thinking": thinks})
    assert found.note.startswith(
        f"{model} has meant one model after the other; {means} is taken, since 202"
    )
    # A request may say otherwise.
    other = count_messages(CHAT, model=model, variables={"thinking": False})
    assert other == count_messages(CHAT, model="deepseek-v4-flash")


def test_a_day_that_no_name_had_a_meaning_on() -> None:
    with pytest.raises(ValueError, match="as_of: 'deepseek-chat' meant no model before 2024-12-26"):
        count_messages(CHAT, model="deepseek-chat", as_of="2024-01-01")
    for day in ("yesterday", 3):
        with pytest.raises(ValueError, match=r"as_of: .* is no date like 2025-06-30"):
            count_messages(CHAT, model="gpt-4o", as_of=day)  # type: ignore[arg-type]


def test_tools_are_estimates() -> None:
    tools = [{"type": "function", "function": {"name": "f"}}]
    bare = count_messages(CHAT, model="deepseek-v3")
    found = count_messages(CHAT, model="deepseek-v3", tools=tools)
    assert found > bare + 200
    assert found.note.startswith("DeepSeek publishes no form of tools for this model")
    form = {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}
    found = count_messages(CHAT, model="deepseek-v3", response_format=form)
    assert bare + 15 < found < bare + 40
    assert "no form of response_format" in found.note
    call = {"id": "1", "function": {"name": "f", "arguments": {"a": 1}}}
    chat: list[dict[str, Any]] = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "tool_calls": [call, call]},
        {"role": "tool", "content": "y", "tool_call_id": "1"},
    ]
    assert "calls of tools" in count_messages(chat, model="deepseek-v3").note
    one = '<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{"a": 1}\n```<｜tool▁call▁end｜>'
    assert rendered(chat) == (
        "<｜begin▁of▁sentence｜><｜User｜>x<｜Assistant｜><｜tool▁calls▁begin｜>"
        f"{one}\n{one}<｜tool▁calls▁end｜><｜end▁of▁sentence｜>"
        "<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>y<｜tool▁output▁end｜><｜tool▁outputs▁end｜>"
    )


def test_variables() -> None:
    with pytest.raises(ValueError, match=r"^variables has \['x'\]; DeepSeek's format takes think"):
        count_messages(CHAT, model="deepseek-v3", variables={"x": 1})
    with pytest.raises(ValueError, match=r"^variables.thinking: must be true or false"):
        count_messages(CHAT, model="deepseek-v3", variables={"thinking": 1})


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


def rendered_v32(messages: list[dict[str, Any]], **arguments: Any) -> str:
    request = Request.checked(messages, **arguments)
    return DeepSeekV32Format(get_encoding("deepseek_v3")).render(request)


def test_calls_and_results() -> None:
    asked = f"{BEGIN}{USER}q{ASSISTANT}"
    said = f"{CALLED}{END}{RESULTS}"
    assert rendered_v32(CALLING) == f"{asked}</think>{said}\n\n</think>"
    thinking = {"thinking": True}
    assert rendered_v32(CALLING, variables=thinking) == (f"{asked}<think></think>{said}\n\n<think>")
    assert rendered_v32(CALLING, add_generation_prompt=False) == f"{asked}</think>{said}"
    thought = [CALLING[0], {**CALLING[1], "reasoning_content": "hm"}, *CALLING[2:]]
    assert f"{ASSISTANT}<think>hm</think>" in rendered_v32(thought, variables=thinking)


def test_tools_and_schema_stand_behind_what_the_system_says() -> None:
    tools = [{"type": "function", "function": {"name": "f"}}, {"name": "g", "strict": True}]
    form = {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}
    chat = [{"role": "user", "content": "q"}]
    for system in ([], [{"role": "system", "content": "S"}]):
        text = rendered_v32([*system, *chat], tools=tools, response_format=form)
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
    assert rendered_v32(chat) == f"{BEGIN}{USER}a{ASSISTANT}</think>{told}</think>"
    assert rendered_v32(chat, add_generation_prompt=False).endswith(": b")
    # Who thinks forgets what developers said before.
    thinking = rendered_v32([*chat, chat[0]], variables={"thinking": True})
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
        rendered_v32(messages, variables={"thinking": thinking})


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
