"""The tools that count: ``count_tokens``, ``fits``, ``compare_encodings``."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..chat.count import count_messages
from ..chat.limits import context_limit
from .bounds import LONGEST, CallError
from .encodings import CHOICE, COUNTED, Chosen, chosen, named_encoding
from .texts import FILES, read_text
from .tool import Call, Json, Tool, list_of, number, object_of, one_of, said

#: The arguments that give what is counted.
_INPUT: dict[str, Json] = {
    "text": said("string", "A text."),
    "messages": list_of(
        {"type": "object"}, "The messages of a request, as OpenAI's protocol has them."
    ),
    "tools": list_of({"type": "object"}, "The tools of that request, beside the messages."),
    "files": FILES,
}

_FILE = object_of({"path": said("string", "The path."), "tokens": number("Its tokens.")})


class _Counted(NamedTuple):
    tokens: int
    how: Json
    files: list[Json]


def _count(arguments: Json, call: Call) -> _Counted:
    """Return the tokens of what the arguments give.

    Raises:
        CallError: none or several are given, or something in them cannot be counted.
    """
    given = one_of(arguments, "text", "messages", "files")
    if "tools" in arguments and given != "messages":
        raise CallError(
            "tools go beside messages; count_tool_definitions counts the tools of an MCP server"
        )
    by = chosen(arguments, call)
    if given == "text":
        return _Counted(by.count(arguments["text"], call), by.counted(), [])
    if given == "messages":
        count = request_tokens(by, arguments["messages"], arguments.get("tools"))
        return _Counted(int(count), by.counted(count.note), [])
    files = [
        {"path": path, "tokens": by.count(text, call)}
        for path, text in _texts(arguments["files"], call)
    ]
    return _Counted(sum(file["tokens"] for file in files), by.counted(), files)


def _texts(paths: list[str], call: Call) -> Any:
    """Yield each path with the text of its file."""
    if len(paths) > call.bounds.files:
        raise CallError(f"files: more than {call.bounds.files:,}")
    left = call.bounds.total
    for path in paths:
        text = read_text(path, call)
        left -= len(text.encode())
        if left < 0:
            raise CallError(f"the files have more than {call.bounds.total:,} bytes together")
        yield path, text


def request_tokens(by: Chosen, messages: list[Json], tools: list[Json] | None) -> Any:
    """Return the ``MessageCount`` of a request.

    Raises:
        CallError: it is wrong, with its place; or nothing says the format.
    """
    try:
        return count_messages(
            messages,
            model=by.model,
            encoding=None if by.model else by.encoding,
            tools=tools,
            estimate=True,
        )
    except KeyError as error:
        raise CallError(str(error.args[0])) from None
    except (ImportError, OSError, ValueError) as error:
        raise CallError(str(error)) from None


def _run_count(arguments: Json, call: Call) -> Json:
    counted = _count(arguments, call)
    return {"tokens": counted.tokens, **counted.how, "files": counted.files}


def _run_fits(arguments: Json, call: Call) -> Json:
    limit = arguments.get("limit")
    if limit is None:
        model = arguments.get("model")
        if model is None:
            raise CallError("give a limit, or a model, whose limit is taken")
        try:
            limit = context_limit(model).input
        except KeyError as error:
            raise CallError(f"{error.args[0]}; give a limit") from None
    counted = _count(arguments, call)
    return {
        "fits": counted.tokens <= limit,
        "tokens": counted.tokens,
        "limit": limit,
        "left": limit - counted.tokens,
        **counted.how,
    }


def _run_compare(arguments: Json, call: Call) -> Json:
    given = one_of(arguments, "text", "files")
    if given == "text":
        texts = [arguments["text"]]
    else:
        texts = [text for _, text in _texts(arguments["files"], call)]
    characters = sum(map(len, texts))
    rows = []
    for name in dict.fromkeys(arguments["encodings"]):
        by = named_encoding(name)
        tokens = sum(by.count(text, call) for text in texts)
        rows.append(
            {
                "encoding": name,
                "tokens": tokens,
                "characters_per_token": round(characters / tokens, 3) if tokens else None,
            }
        )
    return {"characters": characters, "encodings": rows}


_TOKENS = number("The number of tokens.")

TOOLS = (
    Tool(
        "count_tokens",
        "Count the tokens of a text, of a request's messages and tools, or of files in the roots.",
        {**_INPUT, **CHOICE},
        (),
        {
            "tokens": _TOKENS,
            **COUNTED,
            "files": list_of(_FILE, "The tokens of each file, if files were given."),
        },
        _run_count,
    ),
    Tool(
        "fits",
        "Say if a text, messages or files fit in a number of tokens, or in a model's context.",
        {
            **_INPUT,
            **CHOICE,
            "limit": number("The number of tokens; else what the model takes as input."),
        },
        (),
        {
            "fits": said("boolean", "True if the tokens are at most the limit."),
            "tokens": _TOKENS,
            "limit": number("The limit."),
            "left": said("integer", "The tokens that are left; below 0 if it does not fit."),
            **COUNTED,
        },
        _run_fits,
    ),
    Tool(
        "compare_encodings",
        "Count the same text or files by several encodings.",
        {
            "text": _INPUT["text"],
            "files": FILES,
            "encodings": {
                **list_of({"type": "string", "maxLength": LONGEST}, "The names of the encodings."),
                "minItems": 1,
            },
        },
        ("encodings",),
        {
            "characters": number("The characters of all texts."),
            "encodings": list_of(
                object_of(
                    {
                        "encoding": said("string", "The name."),
                        "tokens": _TOKENS,
                        "characters_per_token": {"type": ["number", "null"]},
                    }
                )
            ),
        },
        _run_compare,
    ),
)
