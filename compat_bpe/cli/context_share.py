"""The share of a model's context that a text takes."""

from __future__ import annotations

from typing import Any

from .output import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..chat.limits import ContextLimit


def limit_of(model: str | None) -> ContextLimit:
    """Return the limits of a model.

    Raises:
        CommandError: no model is given, or its limits are not known.
    """
    if model is None:
        raise CommandError("--context needs --model: an encoding has no context")
    from ..chat.limits import context_limit  # only this option needs it

    try:
        return context_limit(model)
    except KeyError as error:
        raise CommandError(str(error.args[0])) from None


def share(tokens: int, limit: ContextLimit) -> str:
    """Return the words about the share of a model's context that some tokens take.

    >>> share(1280, limit_of("gpt-4o"))
    '1.0% of the context of gpt-4o, 128,000 tokens'
    """
    return f"{tokens / limit.context:.1%} of the context of {limit.model}, {limit.context:,} tokens"


def share_as_json(tokens: int, limit: ContextLimit) -> dict[str, Any]:
    """Return the same as an object."""
    return {"model": limit.model, "tokens": limit.context, "share": tokens / limit.context}
