"""``Tool``: the name, schemas and function of a tool, and what its calls share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Callable

from .bounds import BOUNDS, LARGEST, LONGEST, Bounds, CallError, Clock
from .roots import Roots

#: JSON: a schema, the arguments of a call, or its result.
Json = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """The circumstances of a call, beside its arguments.

    Args:
        roots: the folders that it may read.
        default: the encoding that is taken unless the arguments say one.
        bounds: the most that it may take.
        clock: its time.
    """

    roots: Roots
    default: str = "o200k_base"
    bounds: Bounds = BOUNDS
    clock: Clock = field(default_factory=lambda: Clock(BOUNDS.seconds))


@dataclass(frozen=True)
class Tool:
    """A tool.

    Args:
        name: its name.
        description: what it does, for the model that may call it.
        properties: the schemas of its arguments, by name.
        required: the arguments that must be given.
        result: the schemas of the members of its result; all are always there.
        run: the function.
    """

    name: str
    description: str
    properties: Mapping[str, Json]
    required: tuple[str, ...]
    result: Mapping[str, Json]
    run: Callable[[Json, Call], Json]

    @property
    def input_schema(self) -> Json:
        """The schema of its arguments."""
        schema: Json = {
            "type": "object",
            "properties": dict(self.properties),
            "additionalProperties": False,
        }
        if self.required:
            schema["required"] = list(self.required)
        return schema

    @property
    def output_schema(self) -> Json:
        """The schema of its result."""
        return object_of(self.result)


def object_of(properties: Mapping[str, Json]) -> Json:
    """Return the schema of an object with these members."""
    return {"type": "object", "properties": dict(properties), "required": list(properties)}


def list_of(item: Json, description: str = "") -> Json:
    """Return the schema of a list."""
    schema: Json = {"type": "array", "items": item}
    return {**schema, "description": description} if description else schema


def said(kind: str, description: str) -> Json:
    """Return the schema of a value of a kind, such as ``string``."""
    return {"type": kind, "description": description}


def named(description: str) -> Json:
    """Return the schema of a name or a path, which is never long."""
    return {**said("string", description), "maxLength": LONGEST}


def number(description: str, least: int = 0) -> Json:
    """Return the schema of a whole number, which is never huge."""
    return {
        "type": "integer",
        "minimum": least,
        "maximum": LARGEST,
        "description": description,
    }


def one_of(arguments: Json, *names: str) -> str:
    """Return the one of some arguments that is given.

    Raises:
        CallError: none or several are.
    """
    given = [name for name in names if name in arguments]
    if len(given) != 1:
        what = " and ".join(given) if given else "none of them"
        raise CallError(f"give one of {', '.join(names)}; here is {what}")
    return given[0]
