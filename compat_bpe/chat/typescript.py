"""JSON schemas as types of TypeScript, in the way in which harmony shows tools to a model.

The form is that of the package ``openai-harmony`` 0.0.8, whitespace and oddities included, since
the tokens depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .json_text import json_text, rust_number
from .messages import Plain

_NAMES = {"number": "number", "integer": "number", "boolean": "boolean"}


def type_of(schema: Any, indent: str = "") -> str:
    """Return the type that a schema describes.

    Args:
        schema: the schema; what is no object is ``any``.
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
    """Return one of the types of a schema, with its description and default behind it."""
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
