"""The tools of Kimi's models since K2.5, as types of TypeScript.

The chat template of these models shows the variable ``tools_ts_str`` if there is one. Their
tokenizer sets it, by its file ``tool_declaration_ts.py``; the text is that of this file, oddities
included. Tools that the file refuses are shown as JSON, as by the tokenizer.

https://huggingface.co/moonshotai/Kimi-K2.5/blob/main/tool_declaration_ts.py
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Callable, NamedTuple

from .messages import Plain

_INDENT = "  "

#: The types of a list of types. They differ from those of one type.
_IN_LIST = {
    "string": "string",
    "number": "number",
    "integer": "number",
    "boolean": "boolean",
    "null": "null",
    "object": "{}",
    "array": "Array<any>",
}
_CONSTRAINTS = {
    "string": ("maxLength", "minLength", "pattern"),
    "number": ("maximum", "minimum"),
    "integer": ("maximum", "minimum"),
    "array": ("maxItems", "minItems"),
}
_CLASSES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
}


class _NotShown(Exception):
    """A tool that Kimi's tokenizer does not show as a type."""


def in_order(value: Any) -> Any:
    """Return a value with the members of its objects in the order of their names, at all depths.

    >>> in_order([{"b": 1, "a": {"d": 2, "c": 3}}])
    [{'a': {'c': 3, 'd': 2}, 'b': 1}]
    """
    if isinstance(value, dict):
        return {name: in_order(value[name]) for name in sorted(value)}
    return [in_order(one) for one in value] if isinstance(value, list) else value


def declared(tools: Sequence[Plain]) -> str | None:
    """Return the declaration of tools; None if one of them is shown as JSON.

    Args:
        tools: the tools as in a request, with their members in order.

    >>> schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    >>> tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    >>> print(declared([tool]))
    # Tools
    <BLANKLINE>
    ## functions
    namespace functions {
    type f = (_: {
      a?: number
    }) => any;
    }
    <BLANKLINE>
    """
    functions = [one.get("function") for one in tools if one.get("type") == "function"]
    try:
        types = [_Function().declared(one) for one in functions if one]
    except _NotShown:
        return None
    if not types:
        return ""
    return "# Tools\n\n## functions\nnamespace functions {\n" + "\n".join(types) + "\n}\n"


class _Type(NamedTuple):
    """A type that a schema describes.

    Args:
        described: returns the lines above it, each with its end, for an indent.
        written: returns the type itself, for an indent.
    """

    described: Callable[[str], str]
    written: Callable[[str], str]


class _Member(NamedTuple):
    """A member of an object.

    Args:
        name: its name.
        is_optional: True if it may be left out.
        written: returns its text, for an indent.
    """

    name: str
    is_optional: bool
    written: Callable[[str], str]


class _Function:
    """A tool as a type, with the interfaces that its schema defines.

    A schema is read before it is written: a reference is to a definition before it in the schema,
    while the members are written in another order.
    """

    def __init__(self) -> None:
        self._definitions: dict[str, Any] = {}
        self._refers_to_itself = False

    def declared(self, function: Any) -> str:
        """Return the text of the tool.

        Raises:
            _NotShown: Kimi's tokenizer does not show it as a type.
        """
        parameters = _mapping(_mapping(function).get("parameters") or {})
        members, written = self._object(parameters)
        lines = []
        takes = "parameters"
        if self._refers_to_itself:
            inner = _inside([one.written(_INDENT) for one in members])
            lines.append(f"interface parameters {{{inner}}}")
        else:
            takes = written("")
        for name, schema in list(self._definitions.items()):
            as_type = self._type(schema)
            lines += _comment(_mapping(schema).get("description"), "")
            lines.append(f"interface {name} {as_type.written('')}")
        lines += _comment(function.get("description"), "")
        name = function.get("name", "function")
        return "\n".join([*lines, f"type {name} = (_: {takes}) => any;"])

    def _type(self, schema: Any) -> _Type:
        """Return the type that a schema describes.

        Raises:
            _NotShown: it describes none that is shown.
        """
        if isinstance(schema, bool):
            return _Type(lambda indent: "", lambda indent: "any" if schema else "null")
        kind = _mapping(schema).get("type")
        constraints: tuple[str, ...] = ()
        if "$ref" in schema:
            written = _always(self._referred(schema["$ref"]))
        elif "anyOf" in schema:
            written = self._any_of(schema["anyOf"])
        elif "enum" in schema:
            written = _always(_choices(schema["enum"], schema))
        elif "type" not in schema:
            if schema:
                raise _NotShown
            written = _always("any")
        elif isinstance(kind, list):
            if any(not isinstance(one, str) or one not in _IN_LIST for one in kind):
                raise _NotShown
            written = _always(" | ".join(_IN_LIST[one] for one in kind))
        elif kind == "object":
            _, written = self._object(schema)
        elif kind == "array":
            constraints, written = _CONSTRAINTS[kind], self._array(schema)
        else:
            constraints = _CONSTRAINTS.get(kind, ()) if isinstance(kind, str) else ()
            written = _always("number" if kind == "integer" else str(kind))
        return _Type(lambda indent: _described(schema, constraints, indent), written)

    def _referred(self, reference: Any) -> str:
        if reference == "#":
            self._refers_to_itself = True
            return "parameters"
        if not isinstance(reference, str) or not reference.startswith("#/$defs/"):
            raise _NotShown
        name = reference.rpartition("/")[2]
        if name not in self._definitions:
            raise _NotShown
        return name

    def _any_of(self, schemas: Any) -> Callable[[str], str]:
        types = [self._type(one) for one in _items(schemas)]
        return lambda indent: " | ".join(one.written(indent) for one in types)

    def _array(self, schema: Plain) -> Callable[[str], str]:
        item = self._type(schema.get("items") or True)

        def written(indent: str) -> str:
            inner = indent + _INDENT
            described = item.described(inner)
            if not described:
                return f"Array<{item.written(indent)}>"
            return f"Array<\n{described}{inner}{item.written(inner)}\n{indent}>"

        return written

    def _object(self, schema: Plain) -> tuple[list[_Member], Callable[[str], str]]:
        """Return the members of an object, and the way in which it is written."""
        self._definitions.update(_mapping(schema.get("$defs") or {}))
        others = schema.get("additionalProperties")
        other = self._type(others) if isinstance(others, (dict, bool)) else None
        members = [] if "properties" not in schema else self._members(schema)
        in_order = sorted(members, key=lambda one: (one.is_optional, one.name))

        def written(indent: str) -> str:
            inner = indent + _INDENT
            lines = [one.written(inner) for one in in_order]
            if others is not None:
                if other is None:
                    raise _NotShown
                shown = "never" if others is False else other.written(inner)
                lines.append(f"{inner}[k: string]: {shown}")
            return f"{{{_inside(lines)}{indent if lines else ''}}}"

        return members, written

    def _members(self, schema: Plain) -> list[_Member]:
        needed = _items(schema.get("required", []))
        if any(isinstance(one, (dict, list)) for one in needed):
            raise _NotShown
        return [
            self._member(name, name not in needed, one)
            for name, one in _mapping(schema["properties"]).items()
        ]

    def _member(self, name: str, is_optional: bool, schema: Any) -> _Member:
        as_type = self._type(schema)
        default = schema.get("default") if isinstance(schema, dict) else None

        def written(indent: str) -> str:
            comment = "" if default is None else f"{indent}// Default: {_default(default)}\n"
            mark = "?" if is_optional else ""
            above = as_type.described(indent)
            return f"{above}{comment}{indent}{name}{mark}: {as_type.written(indent)}"

        return _Member(name, is_optional, written)


def _always(text: str) -> Callable[[str], str]:
    return lambda indent: text


def _mapping(value: Any) -> Plain:
    if not isinstance(value, dict):
        raise _NotShown
    return value


def _items(value: Any) -> list[Any]:
    """Return the items of a list, or those of a loop of Python's over a text or an object."""
    if not isinstance(value, (list, str, dict)):
        raise _NotShown
    return list(value)


def _inside(lines: list[str]) -> str:
    """Return the lines of an object, as they are between its braces."""
    return "\n" + ",\n".join(lines) + "\n" if lines else ""


def _comment(description: Any, indent: str) -> list[str]:
    """Return a description as comments, in a list; an empty one if there is none."""
    if not description:
        return []
    if not isinstance(description, str):
        raise _NotShown
    lines = description.split("\n")
    return ["\n".join(f"{indent}// {line}" if line else "" for line in lines)]


def _described(schema: Plain, constraints: Sequence[str], indent: str) -> str:
    """Return the description and the constraints of a schema."""
    lines = _comment(schema.get("description"), indent)
    found = [f"{name}: {schema[name]}" for name in sorted(constraints) if name in schema]
    if found:
        lines.append(f"{indent}// {', '.join(found)}")
    return "".join(f"{line}\n" for line in lines)


def _choices(values: Any, schema: Plain) -> str:
    """Return the values of an enumeration, which must be of its type."""
    values = _items(values)
    kind = schema.get("type")
    if isinstance(kind, list):
        others = [one for one in kind if one != "null"]
        if len(kind) == 2 and "null" in kind:
            kind = others[0] if others else "null"
        elif len(kind) == 1:
            kind = kind[0]
        else:
            raise _NotShown
    allowed = _CLASSES.get(kind) if isinstance(kind, str) else None
    if allowed and not all(one is None or isinstance(one, allowed) for one in values):
        raise _NotShown
    return " | ".join(f'"{one}"' if isinstance(one, str) else str(one) for one in values)


def _default(value: Any) -> str:
    if isinstance(value, (int, float)):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)
