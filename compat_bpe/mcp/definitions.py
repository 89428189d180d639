"""The tool ``count_tool_definitions``: what the tools of a server cost an agent's context."""

from __future__ import annotations

import json

from ..chat.messages import plain
from .bounds import CallError
from .counting import request_tokens
from .encodings import CHOICE, COUNTED, Chosen, chosen
from .tool import Call, Json, Tool, list_of, number, object_of, said

#: A request that tools are added to.
_REQUEST: list[Json] = [{"role": "user", "content": "hi"}]

_AS_JSON = (
    "the tools cannot be counted as a request has them ({}); the names, descriptions and schemas "
    "are counted as JSON"
)

#: The most characters of the place of a fault.
_SHOWN = 200


def _run_definitions(arguments: Json, call: Call) -> Json:
    tools = [_function(tool, f"tools[{index}]") for index, tool in enumerate(arguments["tools"])]
    if len(tools) > call.bounds.tools:
        raise CallError(f"tools: more than {call.bounds.tools:,}")
    by = chosen(arguments, call)
    try:
        without = request_tokens(by, _REQUEST, None)
        alone = []
        for tool in tools:
            call.clock.check()
            alone.append(int(request_tokens(by, _REQUEST, [tool])) - without)
        together = request_tokens(by, _REQUEST, tools) if tools else without
        total, how = together - without, by.counted(together.note)
    except CallError as error:
        if by.answer.estimate is not None:
            raise
        call.clock.check()
        alone = [_json_tokens(by, tool, call) for tool in tools]
        total, how = sum(alone), by.counted(_AS_JSON.format(error))
    rows = [
        {"name": tool["function"]["name"], "tokens": tokens} for tool, tokens in zip(tools, alone)
    ]
    rows.sort(key=lambda row: (-int(row["tokens"]), str(row["name"])))
    return {"tokens": total, "tools": rows, **how}


def _function(tool: Json, place: str) -> Json:
    """Return a tool of MCP as that of a request.

    Raises:
        CallError: it has no name, its description or schema is of another kind, or it is nested
            too deeply.
    """
    if "function" in tool:
        return _function(_object(tool["function"], f"{place}.function"), f"{place}.function")
    name = tool.get("name")
    if not isinstance(name, str):
        raise CallError(f"{place}: there is no 'name' that is a string")
    function: Json = {"name": name}
    if tool.get("description") is not None:
        if not isinstance(tool["description"], str):
            raise CallError(f"{place}.description: must be a string")
        function["description"] = tool["description"]
    # MCP's name, Anthropic's, OpenAI's.
    for key in ("inputSchema", "input_schema", "parameters"):
        if tool.get(key) is not None:
            function["parameters"] = _object(tool[key], f"{place}.{key}")
            break
    try:
        plain(function, place)
    except ValueError as error:
        reason = str(error)
        start = reason[:_SHOWN] + "… " if len(reason) > 2 * _SHOWN else ""
        raise CallError(start + reason[-_SHOWN if start else 0 :]) from None
    return {"type": "function", "function": function}


def _object(value: object, place: str) -> Json:
    if not isinstance(value, dict):
        raise CallError(f"{place}: must be an object")
    return value


def _json_tokens(by: Chosen, tool: Json, call: Call) -> int:
    written = json.dumps(tool["function"], ensure_ascii=False, separators=(",", ":"))
    return by.count(written, call)


TOOLS = (
    Tool(
        "count_tool_definitions",
        "Count what the tools of an MCP server take of an agent's context, all and each.",
        {
            "tools": list_of(
                {"type": "object"}, "The tools, as the server's tools/list gives them."
            ),
            **CHOICE,
        },
        ("tools",),
        {
            "tokens": number("What they add to a request, all together."),
            "tools": list_of(
                object_of(
                    {
                        "name": said("string", "The name."),
                        "tokens": said("integer", "What it would add if it were the only one."),
                    }
                ),
                "The tools, the largest first; what frames them all is in each.",
            ),
            **COUNTED,
        },
        _run_definitions,
    ),
)
