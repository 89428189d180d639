"""The tools that cut: ``truncate`` and ``split``."""

from __future__ import annotations

from ..fit.split import iter_parts
from .bounds import CallError
from .encodings import CHOICE, exact
from .texts import ONE_TEXT, text_of
from .tool import Call, Json, Tool, list_of, number, object_of, said

_BOUNDARY: Json = {
    "type": "string",
    "enum": ["char", "word", "line"],
    "description": "Where it may be cut: anywhere, between words, or at the ends of lines. A line "
    "or a word that does not fit is cut all the same.",
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
    # Refused before any part is made.
    if encoding.count(text) > most * limit:
        raise CallError(f"there would be more than {most:,} parts; give a larger limit")
    overlap, boundary = arguments.get("overlap", 0), arguments.get("boundary", "char")
    with_text = arguments.get("with_text", True)
    parts: list[Json] = []
    characters = 0
    try:
        for part in iter_parts(encoding, text, limit, overlap, boundary):
            call.clock.check()
            if len(parts) == most:
                raise CallError(f"there would be more than {most:,} parts; give a larger limit")
            row: Json = {"start": part.start, "end": part.end, "tokens": part.count}
            if with_text:
                row["text"] = part.text
                # With overlap, the parts may be far longer together than the text.
                characters += len(part.text)
            if characters > call.bounds.total:
                raise CallError(
                    f"the parts have more than {call.bounds.total:,} characters together; give "
                    "less overlap, or with_text false"
                )
            parts.append(row)
    except ValueError as error:
        raise CallError(str(error)) from None
    return {"parts": parts, "encoding": encoding.name}


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
