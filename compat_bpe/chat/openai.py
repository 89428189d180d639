"""The count of a request to OpenAI's chat models: the rules of models and endpoints, and their use.

The numbers for plain messages are those of OpenAI's notebook "How to count tokens with tiktoken".
All others are derived from recorded requests and the tokens that were billed for them, which are
the cases of ``tests/usage``; ``docs/billed.md`` shows how well they agree.

The text of the tools is that of ``openai_tools``. A call of a tool is a message to the tool, and
its result a message from it. At Chat Completions, several calls in one message are one call of
``multi_tool_use.parallel``; their results are then one list in JSON, in which every letter beyond
ASCII is written as ``\\uXXXX``.

https://github.com/openai/openai-cookbook/blob/main/examples/How_to_count_tokens_with_tiktoken.ipynb
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from ..encodings.encoding import Encoding
from .base import ChatFormat, Endpoint, MessageCount, Request, refuse_template_parts
from .images import is_image, part_tokens, rule_for_images
from .messages import (
    Plain,
    Value,
    arguments_text,
    checked_roles,
    content_texts,
    function_of,
    part_text,
    tool_calls,
)
from .openai_tools import schema_text, tools_text


class MessageRule(NamedTuple):
    """The tokens beside the texts of a request.

    Args:
        reply: those with which the reply begins.
        per_message: those of each message.
        per_name: those of each name.
        tools: those beside the text of the tools, without a message of the system's.
        tools_beside_system: the same with one; its text then ends in a line break if ``pads`` is
            True.
        pads: see above.
        no_parameters: the tokens added if no tool has parameters.
        by_lines: True if the tools are written in the style of June 2023.
        choice: True if ``tool_choice`` has tokens.
        call: those of each call of a tool.
        form: those beside the text of a ``response_format``.
        form_beside_tools: the same if there are tools.
        counts_system: False if messages of the system's are left out.
        per_answer: the tokens added for each text of the assistant's.
    """

    reply: int = 3
    per_message: int = 3
    per_name: int = 1
    tools: int = 9
    tools_beside_system: int = 5
    pads: bool = True
    no_parameters: int = 0
    by_lines: bool = False
    choice: bool = True
    call: int = 3
    form: int = 7
    form_beside_tools: int = 1
    counts_system: bool = True
    per_answer: int = 0


_CHAT = MessageRule()
_REASONING = MessageRule(
    reply=2, tools=10, tools_beside_system=9, choice=False, call=9, form=4, form_beside_tools=4
)
_SEARCH = MessageRule(reply=2, counts_system=False)


class Known(NamedTuple):
    """The models whose names a pattern matches.

    Args:
        models: the pattern.
        like: the model whose rule this is, for notes.
        chat, responses: the rule at each endpoint.
        recorded_in_chat: a pattern of those whose plain requests at Chat Completions are published
            or recorded; all others are estimates.
        recorded_in_responses: the same at Responses.
    """

    models: str
    like: str
    chat: MessageRule
    responses: MessageRule
    recorded_in_chat: str
    recorded_in_responses: str = r"(?!)"


_RESPONSES = MessageRule(tools=3, tools_beside_system=3, pads=False, call=1, form=1)
_REASONING_RESPONSES = _REASONING._replace(
    tools=6, tools_beside_system=6, pads=False, call=7, form=0, form_beside_tools=0
)
_GPT_5_RESPONSES = _REASONING_RESPONSES._replace(
    tools=9, tools_beside_system=9, no_parameters=-1, per_answer=2
)
_BY_LINES = _CHAT._replace(by_lines=True)
_DATE = r"(-20\d\d-\d\d-\d\d)?"

#: The first that fits is used.
_MODELS = (
    Known(
        r"gpt-(3\.5|35)-turbo-0301",
        "gpt-3.5-turbo-0301",
        MessageRule(per_message=4, per_name=-1, by_lines=True),
        _RESPONSES,
        r".*",
    ),
    # gpt-4 is another name of gpt-4-0613.
    Known(
        r"(ft:)?gpt-(3\.5|35)-turbo(-16k)?-0613.*|(ft:)?gpt-4(-32k)?(-0314|-0613)?(:.*)?",
        "gpt-4",
        _BY_LINES,
        _RESPONSES,
        r".*",
    ),
    Known(
        r"(ft:)?gpt-(3\.5|35|4-).*",
        "gpt-4",
        _CHAT,
        _RESPONSES,
        r"(ft:)?gpt-(3\.5|35)-turbo(-16k)?(-1106|-0125)?(:.*)?",
    ),
    Known(r"gpt-4o(-mini)?-search-.*", "gpt-4o-search-preview", _SEARCH, _SEARCH, r"(?!)"),
    Known(
        r"(ft:|chat)?gpt-4.*|gpt-5[^:]*-chat.*|gpt-(audio|realtime).*|",
        "gpt-4o",
        _CHAT,
        _RESPONSES,
        rf"((ft:)?gpt-4o(-mini)?{_DATE}(:.*)?|gpt-4\.1-(mini|nano){_DATE}|gpt-4\.5-preview{_DATE})",
        rf"(gpt-4o(-mini)?|gpt-4\.1(-mini|-nano)?){_DATE}",
    ),
    Known(
        r"gpt-5.*",
        "gpt-5",
        _REASONING._replace(tools=91, tools_beside_system=90, no_parameters=-1),
        _GPT_5_RESPONSES,
        rf"gpt-5(-mini|\.6-sol)?{_DATE}",
        rf"gpt-5(-mini|-pro|\.[2456]|\.6-sol)?{_DATE}",
    ),
    Known(
        r".*",
        "o4-mini",
        _REASONING,
        _REASONING_RESPONSES,
        rf"o[34]-mini{_DATE}",
        rf"o(3|3-mini|4-mini){_DATE}",
    ),
)


def rule_for(model: str, endpoint: Endpoint) -> tuple[MessageRule, str]:
    """Return the rule of a model, and the reason for which it is an estimate for plain messages.

    >>> rule_for("gpt-4o", "chat_completions")[1]
    ''
    >>> rule_for("o1", "responses")[1]
    'no request to o1 at Responses is published or recorded; the rule of o4-mini is used'
    """
    known = next(one for one in _MODELS if re.fullmatch(one.models, model))
    in_chat = endpoint == "chat_completions"
    recorded = known.recorded_in_chat if in_chat else known.recorded_in_responses
    rule = known.chat if in_chat else known.responses
    if re.fullmatch(recorded, model):
        return rule, ""
    where = "Chat Completions" if in_chat else "Responses"
    whose = known.like
    if model == known.like:
        if in_chat:  # gpt-4o-search-preview, the only one
            return rule, f"the rule of {model} comes from only 2 recorded requests"
        whose = "other models"
    none = f"no request to {model} at {where} is published or recorded"
    return rule, f"{none}; the rule of {whose} is used"


ROLES = ("system", "developer", "user", "assistant", "tool", "function")

#: The notes have how far recorded requests agree; ``tests/usage`` compares that with its cases.
_NO_RULE = "OpenAI publishes no rule for {}; the one used here agrees with recorded requests {}"
_TOOLS = _NO_RULE.format("tools", "within 1 token")
_CALLS = _NO_RULE.format("tool calls", "within 6 tokens")
_FORM = _NO_RULE.format("response_format", "to the token")
_CHOICE = _NO_RULE.format("tool_choice", "to the token")
_PARALLEL = (
    "the results of several calls in one message are counted as the service writes them: as ASCII "
    "JSON, with other characters as \\uXXXX"
)
_ROLE = "no request with the role {} is published or recorded for it"
_IMAGES = "images at Responses are counted as at Chat Completions"
_REFUSAL = "OpenAI publishes no rule for refusal; its text is counted"

_PARALLEL_NAME = "multi_tool_use.parallel"


class OpenAIFormat(ChatFormat):
    """The count of a request to one of OpenAI's chat models.

    Args:
        encoding: the model's encoding.
        model: its name; empty if only the encoding is known.
    """

    members = frozenset(
        ("role", "content", "name", "tool_calls", "tool_call_id", "function_call", "refusal")
    )
    knows_endpoints = True

    def __init__(self, encoding: Encoding, model: str) -> None:
        super().__init__(encoding)
        self._model = model
        self._images = rule_for_images(model)

    def count(self, request: Request) -> MessageCount:
        """Return the number of tokens of a request.

        Raises:
            ValueError: a role is not known, or a message has something that cannot be counted.
        """
        return self.counter(request)(request.messages)

    def counter(self, request: Request) -> Callable[[list[Plain]], MessageCount]:
        """Return a function that counts a request with other messages, again and again.

        The texts of a message are counted once.
        """
        refuse_template_parts(request, "OpenAI's format")
        if request.variables:
            raise ValueError("variables need a chat template; OpenAI's format has none")
        usual = "gpt-4" if self.encoding.name == "cl100k_base" else "gpt-4o"
        rule, note = rule_for(self._model or usual, request.endpoint)
        if not self._model:
            note = (
                f"no model is given; the rule of {usual} is used, and other models have other rules"
            )
        return _Counter(self, rule, note, request).count

    def adds_up(self, message: Plain) -> bool:
        return message["role"] == "user" and not message.get("tool_calls")

    def check_part(self, part: Any, place: str) -> None:
        """Raise ``Uncountable`` if a part of a message's content cannot be counted."""
        if is_image(part):
            part_tokens(part, self._images, place)
        else:
            part_text(part, place)

    def part(self, part: Any, place: str) -> MessageCount:
        """Return the number of tokens of a part of a message's content.

        Raises:
            ValueError: it is damaged, or cannot be counted.
        """
        if is_image(part):
            return part_tokens(part, self._images, place)
        return MessageCount(self.encoding.count(part_text(part, place)))


class _Counter:
    """The count of a request with one conversation after the other.

    Args:
        chat: the format.
        rule: the rule of the model.
        note: the reason for which even plain messages are an estimate.
        request: the request.
    """

    def __init__(self, chat: OpenAIFormat, rule: MessageRule, note: str, request: Request) -> None:
        self._chat = chat
        self._rule = rule
        self._note = note
        self._in_chat = request.endpoint == "chat_completions"
        #: Counts by the ids of messages, and the tool whose result they are; by the id alone for
        #: messages that are not calls or results, which count alike anywhere. The messages are
        #: kept, since an object that is gone may leave its id to another.
        self._known: dict[Any, tuple[list[Plain], int, list[str]]] = {}
        self._tools = bool(request.tools)
        self._beside, self._notes_beside = self._of_request(request)

    def count(self, messages: list[Plain]) -> MessageCount:
        """Return the number of tokens of the request with these messages."""
        notes = [self._note]
        tokens = self._beside + self._system_and_tools(messages)
        names: dict[str, str] = {}
        at = 0
        while at < len(messages):
            message = messages[at]
            at += 1
            known = self._known.get(id(message))
            if known is not None:
                tokens += known[1]
                if known[2]:
                    notes += known[2]
                continue
            if message["role"] not in ROLES:
                checked_roles(messages, ROLES)
            place = f"messages[{at - 1}]"
            calls = tool_calls(message, place)
            for call in calls:
                names[str(call.get("id"))] = call["function"]["name"]
            tool = names.get(str(message.get("tool_call_id")), "")
            taken = [message]
            if len(calls) > 1 and self._in_chat:
                while at < len(messages) and messages[at]["role"] == "tool":
                    taken.append(messages[at])
                    at += 1
            key = (tool, *map(id, taken))
            if key not in self._known:
                own: list[str] = []
                if len(calls) > 1 and self._in_chat:
                    more = self._parallel(message, calls, taken[1:], place, own)
                else:
                    more = self._message(message, calls, tool, place, own)
                self._known[key] = (taken, more, own)
                if not calls and message["role"] not in ("tool", "function"):
                    self._known[id(message)] = self._known[key]
            tokens += self._known[key][1]
            notes += self._known[key][2]
        notes += self._notes_beside
        return MessageCount(tokens, "; ".join(dict.fromkeys(filter(None, notes))))

    def _of_request(self, request: Request) -> tuple[int, list[str]]:
        """Return the tokens of a request beside its messages, and the notes on them."""
        count, rule = self._chat.encoding.count, self._rule
        notes = []
        tokens = rule.reply if request.add_generation_prompt else 0
        if request.tools:
            functions = request.functions()
            text, left_out = tools_text(functions, by_lines=rule.by_lines)
            tokens += count(text)
            if not any((one.get("parameters") or {}).get("properties") for one in functions):
                tokens += rule.no_parameters
            notes.append(_TOOLS)
            if left_out:
                notes.append(f"not counted in the tools: {', '.join(left_out)}")
        tokens += self._choice(request, notes)
        form = request.response_format
        if form is not None:
            notes.append(_FORM)
            if form.schema is not None:
                described = f"// {form.description}\n" if form.description else ""
                head = f"# Response Formats\n\n## {form.name or ''}\n\n{described}"
                tokens += count(head + schema_text(form.schema))
                tokens += rule.form_beside_tools if request.tools else rule.form
        return tokens, notes

    def _choice(self, request: Request, notes: list[str]) -> int:
        """Return the tokens of ``tool_choice``: none, one, or those of a call's beginning."""
        choice = request.tool_choice
        if choice in (None, "auto", "required"):
            return 0
        notes.append(_CHOICE)
        if not self._rule.choice:
            return 0
        if isinstance(choice, str):
            return int(choice == "none")
        function = choice.get("function", choice)
        name = function.get("name") if isinstance(function, dict) else None
        if not isinstance(name, str):
            notes.append("not counted: tool_choice")  # it chooses among several tools
            return 0
        # "function_call", from before there were tools, is the name alone.
        return self._chat.encoding.count(name) + (7 if choice.get("type") == "function" else 4)

    def _system_and_tools(self, messages: list[Plain]) -> int:
        """Return the tokens that depend on whether there is a message of the system's."""
        if not self._tools:
            return 0
        first = next((one for one in messages if one["role"] in ("system", "developer")), None)
        if first is None:
            return self._rule.tools
        content = first.get("content")
        if not self._rule.pads or not isinstance(content, str):
            return self._rule.tools_beside_system
        key = ("padding", id(first))
        if key not in self._known:
            count = self._chat.encoding.count
            self._known[key] = ([first], count(f"{content}\n") - count(content), [])
        return self._rule.tools_beside_system + self._known[key][1]

    def _content(self, message: Plain, place: str, notes: list[str]) -> int:
        content = message.get("content")
        if not isinstance(content, (list, tuple)):
            return sum(map(self._chat.encoding.count, content_texts(content, place)))
        parts = [self._chat.part(one, f"{place}[{at}]") for at, one in enumerate(content)]
        notes += [one.note for one in parts]
        if not self._in_chat and any(map(is_image, content)):
            notes.append(_IMAGES)
        return sum(parts)

    def _message(
        self, message: Plain, calls: list[Plain], tool: str, place: str, notes: list[str]
    ) -> int:
        """Return the tokens of a message, its calls one by one.

        Args:
            message, calls: the message, and its calls.
            tool: the tool whose result it is; empty if that is not known.
            place: where it is, for errors.
            notes: notes are added to them.
        """
        count, rule = self._chat.encoding.count, self._rule
        role, name = message["role"], Value(message, place).member("name").optional_text()
        texts = self._content(message, f"{place}.content", notes)
        if role == "system" and not rule.counts_system:
            return 0
        if role in ("tool", "function"):
            tool = tool or name or ""
            is_recorded = role == "tool" or rule.by_lines
            notes.append(_CALLS if is_recorded and tool else _ROLE.format(role))
            return rule.per_message + count(tool or role) + texts
        tokens = 0
        called = [one["function"] for one in calls]
        old_call = message.get("function_call")
        if old_call is not None:
            called.append(function_of(old_call, f"{place}.function_call"))
        for function in called:
            notes.append(_CALLS)
            arguments = count(arguments_text(function))
            if old_call is not None:
                begin = count(function["name"]) + 3
            else:
                begin = count(f" to=functions.{function['name']}") + rule.call
            tokens += rule.per_message + count(role) + begin + arguments
        if texts or not called:
            tokens += rule.per_message + count(role) + texts
            tokens += rule.per_answer if role == "assistant" else 0
        if name:
            tokens += rule.per_name + count(name)
        if message.get("refusal"):
            notes.append(_REFUSAL)
            tokens += count(str(message["refusal"]))
        if role == "developer" and self._in_chat:
            notes.append(_ROLE.format(role))
        return tokens

    def _parallel(
        self, message: Plain, calls: list[Plain], results: list[Plain], place: str, notes: list[str]
    ) -> int:
        """Return the tokens of a message with several calls, and of the results after it."""
        count, rule = self._chat.encoding.count, self._rule
        notes += [_CALLS, _PARALLEL]
        uses = [
            {
                "recipient_name": f"functions.{one['function']['name']}",
                "parameters": _parsed(arguments_text(one["function"])),
            }
            for one in calls
        ]
        tokens = rule.per_message + count("assistant") + count(f" to={_PARALLEL_NAME}") + rule.call
        tokens += count(json.dumps({"tool_uses": uses}, separators=(",", ":")))
        texts = self._content(message, f"{place}.content", notes)
        if texts:
            tokens += rule.per_message + count("assistant") + texts
        if results:
            contents = []
            for one in results:
                contents.append("".join(content_texts(one.get("content"), f"{place}: a result")))
            tokens += rule.per_message + count(_PARALLEL_NAME) + count(json.dumps(contents))
        return tokens


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
