"""The models ``gpt-oss``, by the harmony format that they were trained with.

The ids are those of the package ``openai-harmony`` 0.0.8. A request becomes harmony's messages by
OpenAI's guide: the instructions and tools are a developer message; the model's thoughts are on the
channel ``analysis``, its answers on ``final``, and calls of tools and the text before them on
``commentary``. Tools are shown as types of TypeScript, with the whitespace and oddities of the
package, since the tokens depend on them.

https://github.com/openai/harmony/blob/main/docs/format.md
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Any, NamedTuple

from .base import ChatFormat, MessageCount, Request, json_text, refuse_template_parts, rust_number
from .messages import (
    MEMBERS,
    Plain,
    Value,
    arguments_text,
    checked_roles,
    content_texts,
    fail,
    reasoning_of,
    tool_calls,
)

_NAMES = {"number": "number", "integer": "number", "boolean": "boolean"}


def type_of(schema: Any, indent: str = "") -> str:
    """Return the type that a schema describes.

    Args:
        schema: the schema; any other value than an object is ``any``.
        indent: the spaces at the beginning of each line.

    >>> type_of({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}})
    '"a" | "b"[]'
    """
    if not isinstance(schema, dict):
        return "any"
    variants = schema.get("oneOf")
    if isinstance(variants, list):
        return "".join(f"\n{indent} | {_variant(one, indent)}" for one in variants)
    kind = schema.get("type")
    if isinstance(kind, list):
        kinds = [_NAMES.get(one, one) if one == "integer" else one for one in _texts(kind)]
        if kinds:
            return " | ".join(kinds)
    if kind == "object":
        return _object(schema, indent)
    if kind == "string":
        return " | ".join(f'"{one}"' for one in _texts(schema.get("enum"))) or "string"
    if kind == "array":
        return f"{type_of(schema['items'], indent)}[]" if "items" in schema else "Array<any>"
    return _NAMES.get(kind, "any") if isinstance(kind, str) else "any"


def _variant(schema: Any, indent: str) -> str:
    """Return one of the types of a schema, with its description and default after it."""
    return _nullable(schema, f"{indent}   ") + _behind(
        _text(schema, "description"), _default(schema, quoted=True)
    )


def _object(schema: Plain, indent: str) -> str:
    described = _text(schema, "description")
    lines = [f"{indent}// {described}\n"] if described is not None else []
    lines.append("{\n")
    required = set(_texts(schema.get("required")))
    properties = schema.get("properties")
    for name, one in properties.items() if isinstance(properties, dict) else ():
        lines += _property(name if name in required else f"{name}?", one, indent)
    return "".join([*lines, indent, "}"])


def _property(name: str, schema: Any, indent: str) -> Iterator[str]:
    """Yield the text of a property; ``name`` has a question mark if it may be left out."""
    has_variants = isinstance(schema, dict) and "oneOf" in schema
    title, described = _text(schema, "title"), _text(schema, "description")
    if title is not None:
        yield f"{indent}// {title}\n{indent}//\n"
    if described is not None and not has_variants:
        yield f"{indent}// {described}\n"
    examples = schema.get("examples") if isinstance(schema, dict) else None
    if isinstance(examples, list) and examples:
        yield f"{indent}// Examples:\n"
        for one in _texts(examples):
            yield f'{indent}// - "{one}"\n'
    variants = schema["oneOf"] if has_variants else None
    if isinstance(variants, list):
        yield from _variants(name, schema, variants, indent)
        return
    comment = _behind(None if has_variants else _default(schema))
    yield f"{indent}{name}: {_nullable(schema, indent + '    ')},{comment}\n"


def _variants(name: str, schema: Plain, variants: list[Any], indent: str) -> Iterator[str]:
    """Yield the text of a property that has one of several types, each on a line."""
    described = _text(schema, "description")
    is_above = described is not None and (
        not variants or _text(variants[0], "description") != described
    )
    if is_above:
        yield f"{indent}// {described}\n"
    default = _default(schema)
    if default is not None:
        yield f"{indent}// {default}\n"
    yield f"{indent}{name}:\n"
    for index, one in enumerate(variants):
        comment = _text(one, "description")
        if comment == described or (is_above and not index):
            comment = None
        behind = _behind(comment, _default(one))
        yield f"{indent} | {_nullable(one, indent + '   ')}{behind}\n"
    yield f"{indent},\n"


def _nullable(schema: Any, indent: str) -> str:
    written = type_of(schema, indent)
    may_be_null = isinstance(schema, dict) and schema.get("nullable") is True
    return f"{written} | null" if may_be_null and "null" not in written else written


def _default(schema: Any, *, quoted: bool = False) -> str | None:
    """Return the words about a default; that of an enumeration has quotes only if ``quoted``."""
    if not isinstance(schema, dict) or "default" not in schema:
        return None
    default = schema["default"]
    if not isinstance(default, str):
        return f"default: {_json(default)}"
    if not (isinstance(schema.get("enum"), list) and schema["enum"]):
        return f'default: "{default}"'
    return f"default: {_json(default) if quoted else default}"


def _behind(*comments: str | None) -> str:
    given = [one for one in comments if one is not None]
    return f" // {' '.join(given)}" if given else ""


def _text(schema: Any, name: str) -> str | None:
    text = schema.get(name) if isinstance(schema, dict) else None
    return text if isinstance(text, str) else None


def _texts(values: Any) -> list[str]:
    return [one for one in values if isinstance(one, str)] if isinstance(values, list) else []


def _json(value: Any) -> str:
    """Return JSON without spaces, its numbers as Rust writes them."""
    return json_text(value, spaced=False, number=rust_number)


ROLES = ("system", "developer", "user", "assistant", "tool", "function")
EFFORTS = ("low", "medium", "high")

_FORM = "response_format is counted by OpenAI's guide to harmony; servers may leave it out"

_CHANNELS = "# Valid channels: analysis, commentary, final. Channel must be included for every "
_CALLS = "Calls to these tools must go to the commentary channel: 'functions'."

#: The words of the first message unless variables give others. Servers insert the date of the day;
#: all dates have the same number of tokens.
_SETTINGS: dict[str, str | None] = {
    "model_identity": "You are ChatGPT, a large language model trained by OpenAI.",
    "knowledge_cutoff": "2024-06",
    "conversation_start_date": None,
    "reasoning_effort": "medium",
}


class Message(NamedTuple):
    """A message of harmony's.

    Args:
        author: the role, or the name of a tool.
        texts: the content; each text has tokens of its own.
        channel: the channel, for messages of the model and results of tools.
        recipient: the tool that is called, or who gets its result.
        is_call: True if a tool is called.
        name: the name after the role.
    """

    author: str
    texts: Sequence[str]
    channel: str | None = None
    recipient: str | None = None
    is_call: bool = False
    name: str | None = None


class HarmonyFormat(ChatFormat):
    """The count of a request to ``gpt-oss``.

    Args:
        encoding: ``o200k_harmony``, or another encoding with its special tokens.
    """

    members = MEMBERS
    service_variables = ("reasoning_effort",)

    def count(self, request: Request) -> MessageCount:
        """Return the number of tokens of a request.

        Raises:
            ValueError: as in ``ids``.
        """
        note = "" if request.response_format is None else _FORM
        return MessageCount(len(self.ids(request)), note)

    def ids(self, request: Request) -> list[int]:
        """Return the ids of a request.

        Raises:
            ValueError: a role or variable is not known, a message has something that cannot be
                counted, or a tool's result names no tool.
        """
        refuse_template_parts(request, "the harmony format")
        checked_roles(request.messages, ROLES)
        messages = [_system(request), *_developer(request)]
        names: dict[str, str] = {}
        for index, message in enumerate(request.messages):
            if index or message["role"] not in ("system", "developer"):
                messages += _translated(message, f"messages[{index}]", names)
        ids: list[int] = []
        for one in _without_old_thoughts(messages):
            ids += self._rendered(one)
        if request.add_generation_prompt:
            ids += [self._special("<|start|>"), *self.encoding.encode_ordinary("assistant")]
        return ids

    def _rendered(self, message: Message) -> Iterator[int]:
        encode = self.encoding.encode_ordinary
        yield self._special("<|start|>")
        yield from encode(message.author)
        if message.name is not None:
            yield from encode(f":{message.name}")
        if message.recipient is not None:
            yield from encode(f" to={message.recipient}")
        if message.channel is not None:
            yield self._special("<|channel|>")
            yield from encode(message.channel)
        if message.is_call:
            yield from encode(" ")
            yield self._special("<|constrain|>")
            yield from encode("json")
        yield self._special("<|message|>")
        for text in message.texts:
            yield from encode(text)
        yield self._special("<|call|>" if message.is_call else "<|end|>")

    def _special(self, name: str) -> int:
        return self.encoding.encode_single_token(name)


def _without_old_thoughts(messages: list[Message]) -> Iterable[Message]:
    """Leave out the thoughts before the first answer, if the last message is an answer."""
    said = [one.channel for one in messages if one.author == "assistant"]
    if not said or said[-1] != "final":
        return messages
    first = next(at for at, one in enumerate(messages) if one.channel == "final")
    return [one for at, one in enumerate(messages) if at >= first or one.channel != "analysis"]


def _system(request: Request) -> Message:
    """Return the system message, which describes the model."""
    unknown = sorted(request.variables.keys() - _SETTINGS.keys())
    if unknown:
        known = ", ".join(_SETTINGS)
        fail("variables", f"has {', '.join(unknown)}; the harmony format accepts {known}")
    settings = {**_SETTINGS, **request.variables}
    if "conversation_start_date" not in request.variables:
        settings["conversation_start_date"] = date.today().isoformat()
    for name, value in settings.items():
        Value(value, f"variables.{name}").optional_text()
    effort = settings["reasoning_effort"]
    if effort is not None and effort.lower() not in EFFORTS:
        fail("variables.reasoning_effort", f"must be one of {', '.join(EFFORTS)}, not {effort!r}")
    top = [
        form.format(settings[name])
        for name, form in (
            ("model_identity", "{}"),
            ("knowledge_cutoff", "Knowledge cutoff: {}"),
            ("conversation_start_date", "Current date: {}"),
        )
        if settings[name] is not None
    ]
    sections = ["\n".join(top)] if top else []
    if effort is not None:
        sections.append(f"Reasoning: {effort.lower()}")
    sections.append(_CHANNELS + "message." + (f"\n{_CALLS}" if request.tools else ""))
    return Message("system", ["\n\n".join(sections)])


def _developer(request: Request) -> list[Message]:
    """Return the message with the instructions, the tools and the form of the reply, if any."""
    first = request.messages[0]
    is_there = first["role"] in ("system", "developer")
    sections = _instructions(first, "messages[0]") if is_there else []
    if request.tools:
        sections.append("# Tools\n\n## functions\n\nnamespace functions {\n")
        sections[-1] += "".join(f"\n{_declared(one)}\n" for one in request.functions())
        sections[-1] += "\n} // namespace functions"
    form = request.response_format
    if form is not None and form.schema is not None:
        described = "" if form.description is None else f"// {form.description}\n"
        schema = json_text(form.schema, spaced=False, number=rust_number)
        sections.append(f"# Response Formats\n\n## {form.name or ''}\n\n{described}{schema}")
    name = Value(first, "messages[0]").member("name").optional_text() if is_there else None
    return [Message("developer", ["\n\n".join(sections)], name=name)] if sections else []


def _instructions(message: Plain, place: str) -> list[str]:
    return ["# Instructions", "".join(content_texts(message.get("content"), f"{place}.content"))]


def _declared(function: Plain) -> str:
    """Return a tool as a type of TypeScript, with its description above it."""
    lines = [f"// {line}" for line in _lines(function.get("description") or "")]
    parameters = function.get("parameters")
    takes = "()" if parameters is None else f"(_: {type_of(parameters)})"
    return "\n".join([*lines, f"type {function['name']} = {takes} => any;"])


def _lines(text: str) -> list[str]:
    r"""Return the lines of a text as Rust's ``lines`` does: they end in ``\n`` or ``\r\n``."""
    *lines, last = text.split("\n")
    return [*(line.removesuffix("\r") for line in lines), *([last] if last else [])]


def _translated(message: Plain, place: str, names: dict[str, str]) -> list[Message]:
    """Return the messages of harmony's for a message.

    Args:
        message: the message.
        place: its place, for messages about it.
        names: the tools by the ids of calls; those of this message are added.
    """
    role, name = message["role"], Value(message, place).member("name").optional_text()
    if role in ("system", "developer"):
        return [Message("developer", ["\n\n".join(_instructions(message, place))], name=name)]
    texts = list(content_texts(message.get("content"), f"{place}.content"))
    if role == "user":
        return [Message("user", texts, name=name)]
    if role in ("tool", "function"):
        tool = _tool_name(message, place, names)
        return [Message(tool, texts, "commentary", "assistant")]
    translated = []
    thought = reasoning_of(message)
    if thought is not None:
        thoughts = list(content_texts(thought, f"{place}.reasoning_content"))
        translated.append(Message("assistant", thoughts, "analysis", name=name))
    calls = tool_calls(message, place)
    if not calls:
        translated.append(Message("assistant", texts, "final", name=name))
    elif any(texts):
        translated.append(Message("assistant", texts, "commentary", name=name))
    for call in calls:
        function = call["function"]
        tool = _full_name(function["name"])
        if isinstance(call.get("id"), str):
            names[call["id"]] = tool
        arguments = [arguments_text(function)]
        translated.append(Message("assistant", arguments, "commentary", tool, True, name))
    return translated


def _tool_name(message: Plain, place: str, names: dict[str, str]) -> str:
    """Return the tool whose result a message is."""
    call = message.get("tool_call_id")
    if isinstance(call, str) and call in names:
        return names[call]
    if message.get("name"):
        return _full_name(message["name"])
    return fail(place, "needs the name of a tool, or the id of an earlier tool call")


def _full_name(tool: str) -> str:
    return tool if tool.startswith("functions.") else f"functions.{tool}"
