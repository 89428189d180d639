"""The tools: functions, from which the package ``mcp`` makes schemas.

This module is imported when the server starts: it needs that package and pydantic.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Callable, Literal

import mcp_types as types
from mcp.server.mcpserver.tools import Tool
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema
from typing_extensions import NotRequired, TypedDict

from ..chat.base import MessageCount
from ..chat.count import count_messages
from ..chat.limits import context_limit
from ..chat.messages import Value, plain
from ..files.walk import Walk
from ..fit.split import check_sizes, iter_parts
from .calls import LARGEST, LONGEST, Call, CallError, Chosen, Json, chosen, read_text

#: The most names of files that ``token_tree`` gives of those that it could not count.
_NAMES = 100

#: The most characters of the place of a fault that a message shows.
_SHOWN = 200


def _about(description: str) -> Any:
    return Field(description=description)


# The kinds of arguments and results. An argument that may be left out is None then; to give null
# is an error.
if TYPE_CHECKING:
    from typing_extensions import TypeAlias

    _Omitted: TypeAlias = None
else:
    _Omitted = SkipJsonSchema[None]
_Name = Annotated[str, Field(max_length=LONGEST)]
_Names = list[_Name]
_Globs = Annotated[_Names, Field(max_length=100)]
_Objects = list[dict[str, Any]]
_Number = Annotated[int, Field(ge=0, le=LARGEST)]
_Positive = Annotated[int, Field(ge=1, le=LARGEST)]

# The arguments that several tools have.
_Model = Annotated[_Name | _Omitted, _about("The model whose tokens are counted, such as gpt-4o.")]
_Encoding = Annotated[
    _Name | _Omitted,
    _about(
        "The encoding, such as o200k_base, instead of a model; compat-bpe://encodings lists them."
    ),
]
_Text = Annotated[str | _Omitted, _about("A text.")]
_File = Annotated[
    _Name | _Omitted, _about("The path of a text file in the roots, instead of the text.")
]
_Files = Annotated[
    _Names | _Omitted,
    _about("The paths of text files in the roots; a relative path starts at a root."),
]
_Messages = Annotated[
    _Objects | _Omitted, _about("The messages of a request, as OpenAI's protocol has them.")
]
_Tools = Annotated[_Objects | _Omitted, _about("The tools of that request, beside the messages.")]
_Boundary = Annotated[
    Literal["char", "word", "line"],
    _about(
        "Where the text may be cut: anywhere, between words, or at the ends of lines. A line "
        "or a word that does not fit is cut anyway."
    ),
]

_Tokens = Annotated[_Number, _about("The number of tokens.")]
_Its = Annotated[_Number, _about("The number of its tokens.")]


class _Counted(TypedDict):
    encoding: Annotated[
        str,
        _about("The encoding that counted; empty if no public tokenizer of the model is known."),
    ]
    is_estimate: Annotated[bool, _about("False if the tokens are exactly those of the model.")]
    note: Annotated[
        str, _about("The basis of an estimate, with its source; empty if the count is exact.")
    ]


def _how(by: Chosen, note: str = "") -> _Counted:
    name = "" if by.answer.estimate else by.encoding.name
    note = note or by.answer.note
    return {"encoding": name, "is_estimate": bool(note), "note": note}


class _CountedFile(TypedDict):
    path: Annotated[str, _about("The path.")]
    tokens: _Its


class _CountTokens(_Counted):
    tokens: _Tokens
    files: Annotated[list[_CountedFile], _about("The tokens of each file, if files were given.")]


def count_tokens(
    call: Call,
    text: _Text = None,
    messages: _Messages = None,
    tools: _Tools = None,
    files: _Files = None,
    model: _Model = None,
    encoding: _Encoding = None,
) -> _CountTokens:
    """Count the tokens of a text, of a request's messages and tools, or of files in the roots."""
    given = _one_of(text=text, messages=messages, files=files)
    if tools is not None and given != "messages":
        raise CallError(
            "tools need messages; count_tool_definitions counts the tools of an MCP server"
        )
    by = chosen(model, encoding, call)
    rows: list[_CountedFile] = []
    note = ""
    if text is not None:
        tokens = by.count(text, call)
    elif messages is not None:
        request = _request_tokens(by, messages, tools)
        tokens, note = int(request), request.note
    else:
        for path, content in _texts(files or [], call):
            rows.append({"path": path, "tokens": by.count(content, call)})
        tokens = sum(row["tokens"] for row in rows)
    return _CountTokens(tokens=tokens, **_how(by, note), files=rows)


class _Fits(_Counted):
    fits: Annotated[bool, _about("True if the tokens are at most the limit.")]
    tokens: _Tokens
    limit: Annotated[_Number, _about("The limit.")]
    left: Annotated[int, _about("The tokens that are left; below 0 if it does not fit.")]


def fits(
    call: Call,
    text: _Text = None,
    messages: _Messages = None,
    tools: _Tools = None,
    files: _Files = None,
    model: _Model = None,
    encoding: _Encoding = None,
    limit: Annotated[
        _Number | _Omitted, _about("The most tokens; by default those of the model's input.")
    ] = None,
) -> _Fits:
    """Check whether a text, messages or files fit in a limit, or in a model's context."""
    if limit is None:
        if model is None:
            raise CallError("give a limit, or a model, whose limit is used")
        with _as_call_error("; give a limit"):
            limit = context_limit(model).input
    counted = count_tokens(call, text, messages, tools, files, model, encoding)
    tokens = counted["tokens"]
    return {
        "fits": tokens <= limit,
        "tokens": tokens,
        "limit": limit,
        "left": limit - tokens,
        "encoding": counted["encoding"],
        "is_estimate": counted["is_estimate"],
        "note": counted["note"],
    }


class _Truncated(_Counted):
    text: Annotated[str, _about("The text that fits.")]
    tokens: _Its
    was_cut: Annotated[bool, _about("False if the whole text fits.")]


def truncate(
    call: Call,
    limit: Annotated[_Number, _about("The most tokens of the result.")],
    text: _Text = None,
    file: _File = None,
    model: _Model = None,
    encoding: _Encoding = None,
    keep: Annotated[Literal["head", "tail", "ends"], _about("The part to keep.")] = "head",
    boundary: _Boundary = "char",
    marker: Annotated[
        str | _Omitted, _about("The text put where something was cut; it counts, too.")
    ] = None,
) -> _Truncated:
    """Cut a text to at most the given number of tokens; no character is cut in two."""
    text = _text_of(text, file, call)
    by = chosen(model, encoding, call)
    most = by.answer.limit(limit)
    with _as_call_error():
        cut = by.encoding.truncate(text, most, keep=keep, boundary=boundary, marker=marker)
    tokens = by.answer.tokens(cut.count)
    return _Truncated(text=cut.text, tokens=tokens, was_cut=cut.was_cut, **_how(by))


class _Part(TypedDict):
    start: Annotated[_Number, _about("The place of its first character in the text.")]
    end: Annotated[_Number, _about("The place after its last character.")]
    tokens: _Its
    text: NotRequired[Annotated[str, _about("Its text, unless with_text is false.")]]


class _Split(_Counted):
    parts: Annotated[list[_Part], _about("The parts, in order.")]


def split(
    call: Call,
    limit: Annotated[_Positive, _about("The most tokens of a part.")],
    text: _Text = None,
    file: _File = None,
    model: _Model = None,
    encoding: _Encoding = None,
    overlap: Annotated[
        _Number, _about("The most tokens that a part shares with the one before.")
    ] = 0,
    boundary: _Boundary = "char",
    with_text: Annotated[bool, _about("False to get only places and numbers of tokens.")] = True,
) -> _Split:
    """Split a text into consecutive parts of at most the given number of tokens each."""
    text = _text_of(text, file, call)
    by = chosen(model, encoding, call)
    with _as_call_error():
        check_sizes(limit, overlap)  # in the caller's tokens, also where these are estimated
    limit, overlap = by.answer.limit(limit), by.answer.limit(overlap)
    most = call.bounds.parts
    too_many = CallError(f"there would be more than {most:,} parts; give a larger limit")
    # Refused before any part is made.
    if by.encoding.count(text) > most * limit:
        raise too_many
    parts: list[_Part] = []
    characters = 0
    with _as_call_error():
        for part in iter_parts(by.encoding, text, limit, overlap, boundary):
            call.clock.check()
            if len(parts) == most:
                raise too_many
            tokens = by.answer.tokens(part.count)
            row: _Part = {"start": part.start, "end": part.end, "tokens": tokens}
            if with_text:
                row["text"] = part.text
                # With overlap, the parts may be far longer together than the text.
                characters += len(part.text)
            if characters > call.bounds.total:
                raise CallError(
                    f"the parts have more than {call.bounds.total:,} characters together; reduce "
                    "the overlap, or set with_text to false"
                )
            parts.append(row)
    return _Split(parts=parts, **_how(by))


class _Entry(TypedDict):
    path: Annotated[str, _about("The path in the directory; a folder ends in /.")]
    tokens: _Its
    files: Annotated[_Number, _about("The files in it; 1 for a file.")]


class _Problem(TypedDict):
    path: Annotated[str, _about("A path.")]
    reason: Annotated[str, _about("The reason.")]


class _Tree(_Counted):
    path: Annotated[str, _about("The directory.")]
    tokens: Annotated[_Number, _about("The tokens of all files in it.")]
    files: Annotated[_Number, _about("The number of files that were counted.")]
    entries: Annotated[list[_Entry], _about("Files and folders, the largest first.")]
    more_entries: Annotated[_Number, _about("The number of entries without a row.")]
    not_counted: Annotated[_Number, _about("The files not counted, such as binary ones.")]
    problems: Annotated[list[_Problem], _about(f"The first {_NAMES} of these.")]


class _TooMuch(CallError):
    """The directory exceeds the bounds."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}; give a subfolder, include or exclude")


def token_tree(
    call: Call,
    path: Annotated[_Name, _about("The directory, in a root; the first root by default.")] = ".",
    model: _Model = None,
    encoding: _Encoding = None,
    depth: Annotated[
        _Positive | _Omitted, _about("The levels of folders that get a row; all by default.")
    ] = None,
    rows: Annotated[_Number, _about("The most rows.")] = 100,
    include: Annotated[
        _Globs | _Omitted,
        _about(
            "Count only files that match a glob, such as *.py or src/, as in a .gitignore there."
        ),
    ] = None,
    exclude: Annotated[
        _Globs | _Omitted,
        _about("Leave out files and folders that match a glob, as in a .gitignore there."),
    ] = None,
    hidden: Annotated[bool, _about("True to count hidden files, too.")] = False,
    ignore: Annotated[
        bool, _about("False to count files that git or .ignore files ignore, too.")
    ] = True,
) -> _Tree:
    """Count the tokens of the files in a directory, with the sum of each folder. Hidden files and
    files that git ignores are left out. The largest come first."""
    by = chosen(model, encoding, call)
    top = call.roots.resolve(path)
    if not os.path.isdir(top):
        raise CallError(f"{path}: not a folder; count_tokens counts files")
    walk = Walk(
        hidden=hidden,
        ignore=ignore,
        include=include or (),
        exclude=exclude or (),
        globs_from=top,
        before_each=call.clock.check,
    )
    entries: dict[str, _Entry] = {}
    problems: list[_Problem] = []
    tokens = files = not_counted = size = 0
    with by.cache() as cache:
        for found in walk.find([top]):
            call.clock.check()
            shown = os.path.relpath(found.path, top)
            try:
                if found.problem:
                    raise CallError(found.problem)
                if files == call.bounds.files:
                    raise _TooMuch(f"there are more than {files:,} files")
                size += min(found.size or 0, call.bounds.file)
                if size > call.bounds.total:
                    raise _TooMuch(f"the files have more than {call.bounds.total:,} bytes together")
                count = by.count_cached(read_text(found.path, call), call, cache)
            except _TooMuch:
                raise
            except CallError as error:
                call.clock.check()
                not_counted += 1
                if len(problems) < _NAMES:
                    problems.append({"path": shown, "reason": str(error)})
                continue
            tokens += count
            files += 1
            parts = shown.split(os.sep)
            for level in range(1, len(parts) + 1)[:depth]:
                name = "/".join(parts[:level]) + "/" * (level < len(parts))
                entry = entries.setdefault(name, {"path": name, "tokens": 0, "files": 0})
                entry["tokens"] += count
                entry["files"] += 1
    largest = sorted(entries.values(), key=lambda entry: (-entry["tokens"], entry["path"]))
    return _Tree(
        path=call.roots.shown(top),
        tokens=tokens,
        files=files,
        **_how(by),
        entries=largest[:rows],
        more_entries=max(len(largest) - rows, 0),
        not_counted=not_counted,
        problems=problems,
    )


class _Comparison(TypedDict):
    encoding: Annotated[str, _about("The name.")]
    tokens: _Tokens
    characters_per_token: float | None


class _Compared(TypedDict):
    characters: Annotated[_Number, _about("The characters of all texts.")]
    encodings: list[_Comparison]


def compare_encodings(
    call: Call,
    encodings: Annotated[_Names, Field(min_length=1, description="The names of the encodings.")],
    text: _Text = None,
    files: _Files = None,
) -> _Compared:
    """Count the same text or files by several encodings."""
    _one_of(text=text, files=files)
    texts = [text] if text is not None else [one for _, one in _texts(files or [], call)]
    characters = sum(map(len, texts))
    rows: list[_Comparison] = []
    for name in dict.fromkeys(encodings):
        by = chosen(None, name, call)
        tokens = sum(by.count(one, call) for one in texts)
        ratio = round(characters / tokens, 3) if tokens else None
        rows.append({"encoding": name, "tokens": tokens, "characters_per_token": ratio})
    return {"characters": characters, "encodings": rows}


class _Definition(TypedDict):
    name: Annotated[str, _about("The name.")]
    tokens: Annotated[int, _about("The tokens that it would add as the only tool.")]


class _Definitions(_Counted):
    tokens: Annotated[_Number, _about("The tokens that all of them add to a request.")]
    tools: Annotated[
        list[_Definition], _about("The tools, the largest first; each includes their common frame.")
    ]


#: A request that tools are added to.
_REQUEST: list[Json] = [{"role": "user", "content": "hi"}]

_AS_JSON = (
    "the tools cannot be counted as in a request ({}); their names, descriptions and schemas are "
    "counted as JSON"
)


def count_tool_definitions(
    call: Call,
    tools: Annotated[_Objects, _about("The tools, as the server's tools/list gives them.")],
    model: _Model = None,
    encoding: _Encoding = None,
) -> _Definitions:
    """Count the tokens of an MCP server's tools in an agent's context, each and in total."""
    functions = [_function(tool, f"tools[{index}]") for index, tool in enumerate(tools)]
    if len(functions) > call.bounds.tools:
        raise CallError(f"tools: more than {call.bounds.tools:,}")
    by = chosen(model, encoding, call)
    alone = []
    try:
        without = _request_tokens(by, _REQUEST, None)
        for function in functions:
            call.clock.check()
            alone.append(int(_request_tokens(by, _REQUEST, [function])) - without)
        together = _request_tokens(by, _REQUEST, functions) if functions else without
        total, how = together - without, _how(by, together.note)
    except CallError as error:
        if by.answer.estimate is not None:
            raise
        call.clock.check()
        alone = [
            by.count(json.dumps(one["function"], ensure_ascii=False, separators=(",", ":")), call)
            for one in functions
        ]
        total, how = sum(alone), _how(by, _AS_JSON.format(error))
    rows: list[_Definition] = [
        {"name": function["function"]["name"], "tokens": tokens}
        for function, tokens in zip(functions, alone)
    ]
    rows.sort(key=lambda row: (-row["tokens"], row["name"]))
    return _Definitions(tokens=total, tools=rows, **how)


def _one_of(**arguments: object) -> str:
    """Return the name of the only argument that is given.

    Raises:
        CallError: none or several are.
    """
    given = [name for name, value in arguments.items() if value is not None]
    if len(given) != 1:
        what = f"{' and '.join(given)} are given" if given else "none is given"
        raise CallError(f"give exactly one of {', '.join(arguments)}; {what}")
    return given[0]


def _text_of(text: str | None, file: str | None, call: Call) -> str:
    """Return a text that is given itself or by its file.

    Raises:
        CallError: both or none are given, or the file cannot be read.
    """
    _one_of(text=text, file=file)
    return read_text(file, call) if file is not None else text or ""


def _texts(paths: list[str], call: Call) -> Iterator[tuple[str, str]]:
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


def _request_tokens(by: Chosen, messages: list[Json], tools: list[Json] | None) -> MessageCount:
    """Return the number of tokens of a request.

    Raises:
        CallError: it is wrong, with its place; or its format is not known.
    """
    model = by.answer.model
    with _as_call_error():
        return count_messages(
            messages,
            model=model,
            encoding=None if model else by.encoding,
            tools=tools,
            estimate=True,
        )


@contextmanager
def _as_call_error(hint: str = "") -> Iterator[None]:
    """Turn an error of the library that a caller can cause into the answer to the call."""
    try:
        yield
    except (ImportError, KeyError, OSError, ValueError) as error:
        reason = error.args[0] if isinstance(error, KeyError) else error
        raise CallError(f"{reason}{hint}") from None


def _function(tool: Json, place: str) -> Json:
    """Return a tool of MCP as that of a request.

    Raises:
        CallError: it has no name, its description or schema is of another kind, or it is nested
            too deeply.
    """
    part = Value(tool, place)
    try:
        while "function" in part.mapping():
            part = part.member("function")
        name = part.member("name").value
        if not isinstance(name, str):
            part.fail("there is no 'name' that is a string")
        function: Json = {"name": name}
        if part.value.get("description") is not None:
            function["description"] = part.member("description").text()
        # MCP's name, Anthropic's, OpenAI's.
        for key in ("inputSchema", "input_schema", "parameters"):
            if part.value.get(key) is not None:
                function["parameters"] = part.member(key).mapping()
                break
        plain(function, place)
    except ValueError as error:
        reason = str(error)
        start = reason[:_SHOWN] + "… " if len(reason) > 2 * _SHOWN else ""
        raise CallError(start + reason[-_SHOWN if start else 0 :]) from None
    return {"type": "function", "function": function}


def _tidy(schema: Any) -> Any:
    """Return a schema without titles, and without null for arguments that may be left out."""
    if isinstance(schema, list):
        return [_tidy(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: _tidy(one)
        for name, one in schema.items()
        if not (name == "title" and isinstance(one, str)) and (name, one) != ("default", None)
    }


def _tool(function: Callable[..., Any]) -> types.Tool:
    tool = Tool.from_function(function, context_kwarg="call")
    return types.Tool(
        name=tool.name,
        description=" ".join(tool.description.split()),
        input_schema={**_tidy(tool.parameters), "additionalProperties": False},
        output_schema=_tidy(tool.output_schema),
        annotations=types.ToolAnnotations(
            read_only_hint=True, idempotent_hint=True, open_world_hint=False
        ),
    )


FUNCTIONS: dict[str, Callable[..., Any]] = {
    one.__name__: one
    for one in (
        count_tokens,
        fits,
        compare_encodings,
        truncate,
        split,
        token_tree,
        count_tool_definitions,
    )
}
TOOLS = {name: _tool(function) for name, function in FUNCTIONS.items()}
