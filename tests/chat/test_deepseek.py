"""DeepSeek's formats from V3 to V4.1, by texts made by hand and by the models' own programs."""

from __future__ import annotations

from typing import Any

import pytest

from compat_bpe import get_encoding
from compat_bpe.chat import count_messages, load_chat_template
from compat_bpe.chat.base import Request
from compat_bpe.chat.deepseek import DeepSeekFormat, DeepSeekV32Format
from compat_bpe.chat.deepseek_v4 import DeepSeekV4Format, Version
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
        f"{model} has meant different models over time; it is counted as {means}, its "
        "meaning since 202"
    )
    # A request may say otherwise.
    other = count_messages(CHAT, model=model, variables={"thinking": False})
    assert other == count_messages(CHAT, model="deepseek-v4-flash")


def test_tools_are_estimates() -> None:
    tools = [{"type": "function", "function": {"name": "f"}}]
    bare = count_messages(CHAT, model="deepseek-v3")
    found = count_messages(CHAT, model="deepseek-v3", tools=tools)
    assert found > bare + 200
    assert found.note.startswith("DeepSeek does not publish how this model receives tools")
    form = {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}
    found = count_messages(CHAT, model="deepseek-v3", response_format=form)
    assert bare + 15 < found < bare + 40
    assert "how this model receives response_format" in found.note
    call = {"id": "1", "function": {"name": "f", "arguments": {"a": 1}}}
    chat: list[dict[str, Any]] = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "tool_calls": [call, call]},
        {"role": "tool", "content": "y", "tool_call_id": "1"},
    ]
    assert "tool calls" in count_messages(chat, model="deepseek-v3").note
    one = '<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{"a": 1}\n```<｜tool▁call▁end｜>'
    assert rendered(chat) == (
        "<｜begin▁of▁sentence｜><｜User｜>x<｜Assistant｜><｜tool▁calls▁begin｜>"
        f"{one}\n{one}<｜tool▁calls▁end｜><｜end▁of▁sentence｜>"
        "<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>y<｜tool▁output▁end｜><｜tool▁outputs▁end｜>"
    )


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
    assert rendered_v32(chat, variables={"thinking": True}) == (
        f"{BEGIN}{USER}a{ASSISTANT}</think>{told}<think>"
    )


def test_counts_are_exact_but_for_any_json() -> None:
    model = "deepseek-ai/DeepSeek-V3.2"
    tools = [{"type": "function", "function": {"name": "f"}}]
    form = {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}
    found = count_messages(CALLING, model=model, tools=tools, response_format=form)
    assert not found.is_estimate
    bare = count_messages(CALLING, model=model)
    any_json = count_messages(CALLING, model=model, response_format={"type": "json_object"})
    assert any_json == bare
    assert "not publish V3.2's instruction for json_object" in any_json.note


SYSTEM_MARK = "<｜System｜>"
BOTH = (Version.V4, Version.V4_1)
TOOLS = [{"type": "function", "function": {"name": "f", "strict": False}}]


def rendered_v4(version: Version, messages: list[dict[str, Any]], **arguments: Any) -> str:
    request = Request.checked(messages, **arguments)
    return DeepSeekV4Format(get_encoding("deepseek_v4"), version).render(request)


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: str | None, **members: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **members}


def call_of_v4(identity: str, arguments: Any) -> dict[str, Any]:
    return {"id": identity, "function": {"name": f"f{identity}", "arguments": arguments}}


def test_what_the_user_says_in_a_row_is_one_message() -> None:
    parts = [{"type": "text", "text": "b"}, {"type": "text", "text": "c"}]
    for version in BOTH:
        chat = [user("a"), user(parts), said("d"), said("e")]
        assert rendered_v4(version, chat, add_generation_prompt=False) == (
            f"{BEGIN}{USER}a\n\nb\n\nc{ASSISTANT}</think>d{END}{ASSISTANT}</think>e{END}"
        )
        chat = [user("a"), {"role": "developer", "content": "b"}]
        assert rendered_v4(version, chat) == f"{BEGIN}{USER}a{USER}b{ASSISTANT}</think>"


def test_the_system() -> None:
    chat = [{"role": "system", "content": "s"}, user("a"), {"role": "system", "content": "t"}]
    end = f"{ASSISTANT}</think>"
    assert rendered_v4(Version.V4, chat) == f"{BEGIN}s\n\nt{USER}a{end}"
    assert rendered_v4(Version.V4_1, chat) == f"{BEGIN}{SYSTEM_MARK}s{USER}a{SYSTEM_MARK}t{end}"
    nothing = [{"role": "system", "content": ""}]
    assert rendered_v4(Version.V4_1, nothing) == f"{BEGIN}{end}"
    assert rendered_v4(Version.V4_1, nothing, tools=TOOLS).startswith(
        f"{BEGIN}{SYSTEM_MARK}\n\n## Tools"
    )
    empty = [user("a"), {"role": "system", "content": ""}, user("b")]
    for version in BOTH:
        assert rendered_v4(version, empty) == f"{BEGIN}{USER}a\n\nb{end}"


def test_calls_and_results_of_v4() -> None:
    calls = [
        call_of_v4("1", '{"a": 1e-7, "b": "x"}'),
        call_of_v4("2", "no JSON"),
        call_of_v4("3", "{}"),
    ]
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
        assert rendered_v4(version, chat) == (
            f"{BEGIN}{USER}q{ASSISTANT}</think>say{written}{END}{USER}{results}{ASSISTANT}</think>"
        )


def test_thoughts_are_kept_beside_tools() -> None:
    chat = [user("a"), said("b", reasoning_content="hm"), user("c")]
    low: dict[str, Any] = {"thinking": True, "reasoning_effort": "low"}
    end = f"{END}{USER}c{ASSISTANT}<think>"
    asked = f"{USER}a{ASSISTANT}"
    assert rendered_v4(Version.V4, chat, variables=low) == f"{BEGIN}{asked}</think>b{end}"
    beside = rendered_v4(Version.V4, chat, variables=low, tools=TOOLS)
    assert beside.endswith(f"{asked}<think>hm</think>b{end}")
    assert "<think>hm" not in rendered_v4(Version.V4, chat, tools=TOOLS)
    goes_on = rendered_v4(Version.V4, chat[:2], variables=low, add_generation_prompt=False)
    assert goes_on == f"{BEGIN}{asked}<think>hm</think>b{END}"


def test_tools_and_the_form_of_the_reply() -> None:
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}
    shown = '{"name": "f", "description": "", "parameters": {}}'
    for version, begin in ((Version.V4, BEGIN), (Version.V4_1, BEGIN + SYSTEM_MARK)):
        text = rendered_v4(version, [user("a")], tools=TOOLS, response_format=form)
        assert text.startswith(f"{begin}\n\n## Tools\n\nYou have access to a set of tools to help")
        assert f"### Available Tool Schemas\n\n{shown}\n\nYou MUST strictly follow" in text
        assert text.endswith(
            "\n\n\n## Response Format:\n\nYou MUST strictly adhere to the following schema to "
            f'reply:\n{{"type": "object"}}{USER}a{ASSISTANT}</think>'
        )
    any_json = {"type": "json_object"}
    assert "Reply with JSON object ONLY." in rendered_v4(
        Version.V4, [user("a")], response_format=any_json
    )
    assert '{"type": "json_object"}' in rendered_v4(
        Version.V4_1, [user("a")], response_format=any_json
    )
    assert rendered_v4(Version.V4, [user("a")], response_format={"type": "text"}) == rendered_v4(
        Version.V4, [user("a")]
    )


def test_efforts() -> None:
    def begin(version: Version, effort: str | None) -> str:
        variables: dict[str, Any] = {"thinking": True}
        if effort is not None:
            variables["reasoning_effort"] = effort
        return rendered_v4(version, [user("a")], variables=variables)

    assert begin(Version.V4, None) == begin(Version.V4, "low")
    assert begin(Version.V4, "high").startswith(f"{BEGIN}Reasoning Effort: Absolute maximum with")
    assert begin(Version.V4, "max").startswith(f"{BEGIN}Reasoning Effort: Beyond maximum — exh")
    assert begin(Version.V4_1, None) == begin(Version.V4_1, "high")
    for version in BOTH:
        assert begin(version, "minimal") == begin(version, "low")
        assert begin(version, "medium") == begin(version, "xhigh") == begin(version, "high")
        assert begin(version, "ultra") == begin(version, "max")
    assert begin(Version.V4_1, "low").startswith(f"{BEGIN}{SYSTEM_MARK}Reasoning Effort: 50 (range")
    variables = {"reasoning_effort": "max"}  # without thinking, it changes nothing
    assert rendered_v4(Version.V4, [user("a")], variables=variables) == rendered_v4(
        Version.V4, [user("a")]
    )


def test_notes() -> None:
    def note(model: str, **variables: Any) -> str:
        return count_messages([user("a")], model=model, tools=TOOLS, variables=variables).note

    assert note("deepseek-v4-pro") == ""
    assert note("deepseek-v4-flash", thinking=True, reasoning_effort="max") == ""
    assert "give reasoning_effort" in note("deepseek-v4-flash", thinking=True)
    assert "vocabulary of V4 is used" in note("deepseek-v4.1-flash")
    strict = [{"name": "f", "strict": True}]
    strictly = count_messages([user("a")], model="deepseek-v4-pro", tools=strict)
    assert strictly.note.startswith("DeepSeek's service rewrites the schema of a strict tool")


def test_a_call_without_arguments() -> None:
    text = rendered_v4(Version.V4, [said(None, tool_calls=[{"function": {"name": "f"}}])])
    assert 'parameter name="arguments" string="true"></' in text


def test_a_mark_of_the_system_is_a_token_of_v4_1() -> None:
    system = [{"role": "system", "content": "s"}, user("a")]
    assert count_messages(system, model="deepseek-v4.1-flash") == 1 + count_messages(
        system, model="deepseek-v4-flash"
    )
