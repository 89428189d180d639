"""The tool ``token_tree``: the tokens of the files and folders in a directory."""

from __future__ import annotations

import os

from ..files.walk import Walk
from .bounds import LONGEST, CallError
from .encodings import CHOICE, COUNTED, chosen
from .texts import read_text
from .tool import Call, Json, Tool, list_of, named, number, object_of, said

#: The rows that are given unless the call says how many.
_ROWS = 100

#: The most names of files that could not be counted.
_NAMES = 100


def _run_tree(arguments: Json, call: Call) -> Json:
    by = chosen(arguments, call)
    given = arguments.get("path", ".")
    top = call.roots.resolve(given)
    if not os.path.isdir(top):
        raise CallError(f"{given}: no folder; count_tokens counts files")
    walk = Walk(
        hidden=arguments.get("hidden", False),
        ignore=arguments.get("ignore", True),
        include=arguments.get("include", ()),
        exclude=arguments.get("exclude", ()),
        globs_from=top,
        before_each=call.clock.check,
    )
    rows: dict[str, Json] = {}
    problems: list[Json] = []
    tokens = files = not_counted = size = 0
    for found in walk.find([top]):
        call.clock.check()
        shown = os.path.relpath(found.path, top)
        try:
            if found.problem:
                raise CallError(found.problem)
            if files == call.bounds.files:
                raise _too_much(f"there are more than {files:,} files")
            size += min(found.size or 0, call.bounds.file)
            if size > call.bounds.total:
                raise _too_much(f"the files have more than {call.bounds.total:,} bytes together")
            count = by.count(read_text(found.path, call), call)
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
        _add(rows, shown, count, arguments.get("depth"))
    most = arguments.get("rows", _ROWS)
    largest = sorted(rows.values(), key=lambda row: (-row["tokens"], row["path"]))
    return {
        "path": call.roots.shown(top),
        "tokens": tokens,
        "files": files,
        **by.counted(),
        "entries": largest[:most],
        "more_entries": max(len(largest) - most, 0),
        "not_counted": not_counted,
        "problems": problems,
    }


class _TooMuch(CallError):
    """The directory is beyond the bounds."""


def _too_much(reason: str) -> _TooMuch:
    return _TooMuch(f"{reason}; give a path further down, include or exclude")


def _add(rows: dict[str, Json], path: str, tokens: int, depth: int | None) -> None:
    """Add the tokens of a file to its row, and to those of the folders it is in."""
    parts = path.split(os.sep)
    for level in range(1, len(parts) + 1):
        if depth is not None and level > depth:
            return
        is_folder = level < len(parts)
        name = "/".join(parts[:level]) + "/" * is_folder
        row = rows.setdefault(name, {"path": name, "tokens": 0, "files": 0})
        row["tokens"] += tokens
        row["files"] += 1


def _globs(description: str) -> Json:
    """Return the schema of globs."""
    globs = list_of(
        {"type": "string", "maxLength": LONGEST},
        f"{description}, as in a .gitignore of the directory.",
    )
    return {**globs, "maxItems": 100}


TOOLS = (
    Tool(
        "token_tree",
        "Count the tokens of the files in a directory, with the sum of each folder; "
        "what git ignores and hidden files are left out. The largest come first.",
        {
            "path": named("The directory, in a root; the first root unless given."),
            **CHOICE,
            "depth": number("The levels of folders that get a row; all unless given.", 1),
            "rows": number(f"The most rows; {_ROWS} unless given."),
            "include": _globs("Only files that match one, such as *.py or src/"),
            "exclude": _globs("No files or folders that match one"),
            "hidden": said("boolean", "True to count hidden files, too."),
            "ignore": said("boolean", "False to count what git and .ignore files ignore, too."),
        },
        (),
        {
            "path": said("string", "The directory."),
            "tokens": number("The tokens of all files in it."),
            "files": number("The number of files that were counted."),
            **COUNTED,
            "entries": list_of(
                object_of(
                    {
                        "path": said("string", "The path in the directory; a folder ends in /."),
                        "tokens": number("Its tokens."),
                        "files": number("The files in it; 1 for a file."),
                    }
                ),
                "Files and folders, the largest first.",
            ),
            "more_entries": number("The number of those that have no row."),
            "not_counted": number("The files that could not be counted, as binary ones."),
            "problems": list_of(
                object_of({"path": said("string", "A path."), "reason": said("string", "Why.")}),
                f"The first {_NAMES} of these.",
            ),
        },
        _run_tree,
    ),
)
