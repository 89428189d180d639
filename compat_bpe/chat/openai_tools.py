"""The tools of a request as OpenAI's chat models see them: functions of TypeScript.

OpenAI publishes no rule. This one is derived from recorded requests and the tokens that were billed
for them (``tests/usage``). The models of June 2023 had another style, with each property on a line.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from .messages import Plain

#: The depth to which types are shown within each other, and the letters of JSON that are shown for
#: the references in a request: a schema that refers to itself would have no end.
_DEEPEST = 50
_MOST_REFERRED = 1_000_000

_NAMES = {
    "string": "string",
    "number": "number",
    "integer": "number",
    "boolean": "boolean",
    "null": "null",
}

#: The members of a schema that are shown, and those that cost nothing in the recorded requests.
_SHOWN = frozenset(
    ("type", "enum", "const", "properties", "required", "items", "prefixItems", "anyOf", "oneOf")
    + ("allOf", "description", "default", "$ref", "$defs", "definitions", "patternProperties")
)
_FUNCTION = frozenset(("type", "name", "description", "parameters", "strict"))


class ToolsText(NamedTuple):
    """The text of the tools.

    Args:
        text: the text.
        left_out: the members of tools and schemas that are not in it.
    """

    text: str
    left_out: list[str]


def tools_text(functions: Sequence[Plain], *, by_lines: bool = False) -> ToolsText:
    """Return functions as OpenAI's models see them.

    Args:
        functions: the functions of the tools; each has a name.
        by_lines: True for the style of June 2023: each property on a line of its own, and only the
            outermost ones with their descriptions.

    >>> schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    >>> print(tools_text([{"name": "weather", "parameters": schema}]).text)
    namespace functions {
    <BLANKLINE>
    type weather = (_: { city?: string }) => any;
    <BLANKLINE>
    } // namespace functions
    """
    left_out: dict[str, None] = {}
    budget = _Budget()
    lines = ["namespace functions {", ""]
    for function in functions:
        left_out.update(dict.fromkeys(sorted(function.keys() - _FUNCTION)))
        if function.get("description"):
            lines.append(_comment(function["description"]))
        types = _Types(function.get("parameters") or {}, by_lines, left_out, budget)
        lines += [f"type {function['name']} = ({types.parameters()}) => any;", ""]
    return ToolsText("\n".join([*lines, "} // namespace functions"]), list(left_out))


class _Budget:
    """The letters that may still be shown for references, in all tools of a request."""

    def __init__(self) -> None:
        self.left = _MOST_REFERRED


class _Types:
    """The types of a function's parameters.

    Args:
        root: their schema.
        by_lines: as in ``tools_text``.
        left_out: the members of schemas that are not shown; they are added.
        budget: the letters that may still be shown for references.
    """

    def __init__(
        self, root: Plain, by_lines: bool, left_out: dict[str, None], budget: _Budget
    ) -> None:
        self._root = root
        self._by_lines = by_lines
        self._left_out = left_out
        self._budget = budget
        self._lengths: dict[str, int] = {}

    def parameters(self) -> str:
        """Return the parameters of the function."""
        root = self._resolved(self._root)
        shown = self._type(root, 0)
        if shown in ("any", "{}"):
            return ""
        described = root.get("description")
        if not isinstance(described, str) or self._by_lines:
            return f"_: {shown}"
        return f"_: {_comment(described)}\n{shown}"

    def _type(self, schema: Any, depth: int) -> str:
        schema = self._resolved(schema)
        if depth > _DEEPEST:
            self._left_out["types nested too deeply"] = None
            return "any"
        self._note(schema)
        unions = [
            self._union(schema[name], between, depth)
            for name, between in (("anyOf", " | "), ("oneOf", " | "), ("allOf", " & "))
            if isinstance(schema.get(name), list) and schema[name]
        ]
        if unions:
            if "properties" in schema:  # what stands beside the variants holds, too
                unions = [self._object(schema, depth), *(f"({one})" for one in unions)]
            return " & ".join(unions)
        enum = schema.get("enum")
        if isinstance(enum, list) and enum:
            return " | ".join(f'"{one}"' if isinstance(one, str) else _json(one) for one in enum)
        kind = schema.get("type")
        if isinstance(kind, list):
            return " | ".join(self._type({**schema, "type": one}, depth + 1) for one in kind)
        if kind == "array":
            return self._array(schema, depth)
        if kind == "object" or (kind is None and "properties" in schema):
            return self._object(schema, depth)
        if kind is None and "const" in schema:
            return _json(schema["const"])
        return _NAMES.get(kind, "any") if isinstance(kind, str) else "any"

    def _union(self, variants: list[Any], between: str, depth: int) -> str:
        shown = []
        for one in variants:
            described = self._resolved(one).get("description")
            has_text = isinstance(described, str) and described and not self._by_lines
            behind = f" {_comment(str(described))}\n" if has_text else ""
            shown.append(f"{self._type(one, depth + 1)}{behind}")
        return between.join(shown)

    def _array(self, schema: Plain, depth: int) -> str:
        first = schema.get("prefixItems")
        if isinstance(first, list) and first:
            return f"[{', '.join(self._type(one, depth + 1) for one in first)}]"
        if "items" not in schema:
            return "any[]"
        if isinstance(schema["items"], dict) and "description" in schema["items"]:
            self._left_out["description (of items)"] = None
        return f"{self._type(schema['items'], depth + 1)}[]"

    def _object(self, schema: Plain, depth: int) -> str:
        members = schema.get("properties")
        required = schema.get("required")
        needed = set(required) if isinstance(required, list) and _are_texts(required) else set()
        properties = [
            (name if name in needed else f"{name}?", self._resolved(one))
            for name, one in (members.items() if isinstance(members, dict) else ())
        ]
        patterns = schema.get("patternProperties")
        others = list(patterns.values()) if isinstance(patterns, dict) else []
        if isinstance(schema.get("additionalProperties"), dict):
            others.append(schema["additionalProperties"])
        properties += [("[key: string]", self._resolved(one)) for one in others]
        if not properties:
            return "{}"
        if self._by_lines:
            return self._lines(properties, depth)
        if not any(_text(one, "description") or "default" in one for _, one in properties):
            inner = ", ".join(f"{name}: {self._type(one, depth + 1)}" for name, one in properties)
            return f"{{ {inner} }}"
        lines = []
        for name, one in properties:
            if _text(one, "description"):
                lines.append(_comment(one["description"]))
            behind = f" // default: {_json(one['default'])}" if "default" in one else ""
            lines.append(f"{name}: {self._type(one, depth + 1)},{behind}")
        return "\n".join(["{", *lines, "}"])

    def _lines(self, properties: list[tuple[str, Plain]], depth: int) -> str:
        lines = []
        for name, one in properties:
            if _text(one, "description") and not depth:
                lines.append(f"// {one['description']}")
            lines.append(f"{name}: {self._type(one, depth + 2)},")
        return "\n".join(["{", *(" " * depth + line for line in lines), "}"])

    def _resolved(self, schema: Any) -> Plain:
        """Return a schema, or the one that it refers to with the members beside the reference."""
        beside: Plain = {}
        while isinstance(schema, dict) and isinstance(schema.get("$ref"), str):
            reference = schema["$ref"]
            beside = {**{name: schema[name] for name in schema if name != "$ref"}, **beside}
            if self._budget.left <= 0:
                self._left_out["references beyond a million letters"] = None
                return beside
            schema = self._target(reference)
            if reference not in self._lengths:
                self._lengths[reference] = len(_json(schema))
            self._budget.left -= self._lengths[reference] + 1
        return {**schema, **beside} if isinstance(schema, dict) else beside

    def _target(self, reference: str) -> Any:
        """Return the schema at a reference into the same schema, a JSON pointer behind ``#``."""
        found: Any = self._root if reference.startswith("#") else None
        for key in reference[1:].split("/")[1:]:
            key = key.replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, dict) else None
        if found is None:
            self._left_out[f"$ref to {reference[:60]}"] = None
        return found

    def _note(self, schema: Plain) -> None:
        for name in sorted(schema.keys() - _SHOWN):
            # False, as the service wants it, means nothing else; a schema is shown.
            if name != "additionalProperties" or schema[name] is True:
                self._left_out[name] = None


def schema_text(schema: Any) -> str:
    """Return a schema for the form of a reply as it is billed: JSON without two of its members.

    >>> schema_text({"type": "object", "additionalProperties": False, "required": []})
    '{"type":"object"}'
    """
    return json.dumps(_without(schema), separators=(",", ":"), ensure_ascii=False)


def _without(schema: Any, *, are_names: bool = False) -> Any:
    if isinstance(schema, (list, tuple)):
        return [_without(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: _without(one, are_names=name in ("properties", "$defs"))
        for name, one in schema.items()
        if are_names or name not in ("required", "additionalProperties")
    }


def _comment(text: str) -> str:
    """Return a text as a comment; its lines lose the space at their ends, as in billed requests."""
    return "// " + "\n".join(line.strip() for line in text.split("\n"))


def _text(schema: Plain, name: str) -> str:
    value = schema.get(name)
    return value if isinstance(value, str) else ""


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _are_texts(values: list[Any]) -> bool:
    return all(isinstance(one, str) for one in values)
