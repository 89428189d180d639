"""Parts of messages: errors as they are sent, numbers of requests, and the document meant."""

from __future__ import annotations

import sys
import traceback
from typing import Any

from ..unicode.text import brief
from .errors import INTERNAL_ERROR, RpcError


def error_as_json(error: Exception) -> dict[str, Any]:
    """Return an error as it is sent; one that is a mistake of the server is also printed."""
    if isinstance(error, RpcError):
        return {"code": error.code, "message": brief(error.message)}
    print(
        "".join(traceback.format_exception(type(error), error, error.__traceback__)),
        file=sys.stderr,
    )
    return {"code": INTERNAL_ERROR, "message": brief(f"{type(error).__name__}: {error}")}


def is_id(number: object) -> bool:
    """Return True if a value can be the number of a request."""
    return isinstance(number, (int, str)) and not isinstance(number, bool)


def uri_in(params: Any) -> Any:
    """Return the URI of the document that parameters are about, if there is one."""
    if isinstance(params, dict):
        identifier = params.get("textDocument")
        if isinstance(identifier, dict) and isinstance(identifier.get("uri"), str):
            return identifier["uri"]
        arguments = params.get("arguments")
        if isinstance(arguments, list) and arguments and isinstance(arguments[0], str):
            return arguments[0]
    return None
