"""``response_format``: the form that a request asks a reply to have."""

from __future__ import annotations

from typing import Any, NamedTuple

from .messages import Plain, fail, plain

_KINDS = ("text", "json_object", "json_schema")


class ResponseFormat(NamedTuple):
    """The form of a reply.

    Args:
        kind: ``"json_object"`` for any JSON, or ``"json_schema"``.
        schema: the schema; None for any JSON.
        name, description: what a request calls the schema; None if it does not say.
        given: the value as it is in the request.
    """

    kind: str
    schema: Plain | None
    name: str | None
    description: str | None
    given: Plain


def checked_response_format(value: Any) -> ResponseFormat | None:
    """Return the form that a ``response_format`` asks for; None if the reply is a text.

    Raises:
        ValueError: it is no object of a known type, or has no schema where there must be one.

    >>> checked_response_format({"type": "text"})
    >>> wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": {}}}
    >>> checked_response_format(wanted).name
    'n'
    """
    if value is None:
        return None
    given = plain(value, "response_format")
    if not isinstance(given, dict) or given.get("type") not in _KINDS:
        fail("response_format", f"must be an object whose type is {', '.join(_KINDS)}")
    if given["type"] != "json_schema":
        is_text = given["type"] == "text"
        return None if is_text else ResponseFormat("json_object", None, None, None, given)
    place = "response_format.json_schema"
    inner = given.get("json_schema")
    if not isinstance(inner, dict):
        fail(place, "must be an object")
    if not isinstance(inner.get("schema"), dict):
        fail(f"{place}.schema", "must be an object")
    for name in ("name", "description"):
        if inner.get(name) is not None and not isinstance(inner[name], str):
            fail(f"{place}.{name}", "must be a string")
    return ResponseFormat(
        "json_schema", inner["schema"], inner.get("name"), inner.get("description"), given
    )
