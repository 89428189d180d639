"""The tools that cut: ``truncate`` and ``split``."""

from __future__ import annotations

from ..fit.split import split_text
from .bounds import CallError
from .encodings import CHOICE, exact
from .texts import ONE_TEXT, text_of
from .tool import Call, Json, Tool, list_of, number, object_of, said

_BOUNDARY: Json = {
    "type": "string",
    "enum": ["char", "word", "line"],
    "description": "Where it may be cut: anywhere, between words, or at the ends of lines.",
}


def _run_truncate(arguments: Json, call: Call) -> Json:
    text = text_of(arguments, call)
    encoding = exact(arguments, call)
    try:
        cut = encoding.truncate(
            text,
            arguments["limit"],
            keep=arguments.get("keep", "head"),
            boundary=arguments.get("boundary", "char"),
            marker=arguments.get("marker"),
        )
    except ValueError as error:
        raise CallError(str(error)) from None
    return {
        "text": cut.text,
        "tokens": cut.count,
        "was_cut": cut.was_cut,
        "encoding": encoding.name,
    }


def _run_split(arguments: Json, call: Call) -> Json:
    text = text_of(arguments, call)
    encoding = exact(arguments, call)
    most, limit = call.bounds.parts, arguments["limit"]
    # A token is a byte or more, but for names that stand for nothing: too many parts are found out
    # before they are made.
    if encoding.count(text) > most * limit:
        raise CallError(f"there would be more than {most:,} parts; give a larger limit")
    try:
        parts = split_text(
            encoding,
            text,
            limit,
            arguments.get("overlap", 0),
            arguments.get("boundary", "char"),
        )
    except ValueError as error:
        raise CallError(str(error)) from None
    if len(parts) > most:
        raise CallError(f"there would be more than {most:,} parts; give a larger limit")
    with_text = arguments.get("with_text", True)
    return {
        "parts": [
            {
                "start": part.start,
                "end": part.end,
                "tokens": part.count,
                **({"text": part.text} if with_text else {}),
            }
            for part in parts
        ],
        "encoding": encoding.name,
    }


_PART = object_of(
    {
        "start": number("The character of the text that it begins at."),
        "end": number("The character that it ends before."),
        "tokens": number("Its tokens."),
    }
)
_PART["properties"]["text"] = said("string", "Its text, unless with_text is false.")

TOOLS = (
    Tool(
        "truncate",
        "Cut a text so that it has at most a number of tokens; no character is cut in two.",
        {
            **ONE_TEXT,
            **CHOICE,
            "limit": number("The most tokens of the result."),
            "keep": {
                "type": "string",
                "enum": ["head", "tail", "ends"],
                "description": "What is kept; head unless given.",
            },
            "boundary": _BOUNDARY,
            "marker": said("string", "What is put where something was cut; it counts, too."),
        },
        ("limit",),
        {
            "text": said("string", "The text that fits."),
            "tokens": number("Its tokens."),
            "was_cut": said("boolean", "False if it is all of the text."),
            "encoding": said("string", "The encoding that counted."),
        },
        _run_truncate,
    ),
    Tool(
        "split",
        "Split a text into consecutive parts that each have at most a number of tokens.",
        {
            **ONE_TEXT,
            **CHOICE,
            "limit": number("The most tokens of a part.", 1),
            "overlap": number("The most tokens that a part shares with the one before."),
            "boundary": _BOUNDARY,
            "with_text": said("boolean", "False to get only the places and the tokens."),
        },
        ("limit",),
        {
            "parts": list_of(_PART, "The parts, in order."),
            "encoding": said("string", "The encoding that counted."),
        },
        _run_split,
    ),
)
