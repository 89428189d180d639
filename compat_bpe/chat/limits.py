"""``context_limit``: the tokens that a model takes and gives."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from ..encodings.model_names import did_you_mean, plain_model_name
from .limit_table import DATE, TABLE


class ContextLimit(NamedTuple):
    """The limits of a model, in tokens.

    Args:
        model: the name in the table, without the date of a version unless that has its own limits.
        context: the most tokens of a request and its reply together, with what the model thinks.
        input: the most tokens of a request.
        output: the most tokens of a reply; None if it is what the context leaves.
        source: the address at which they were read.
        date: the day on which they were last read there, as ``YYYY-MM-DD``.
    """

    model: str
    context: int
    input: int
    output: int | None
    source: str
    date: str


#: The date of a version behind a model's name: as in gpt-4o-2024-11-20, or as in gpt-4-0613.
_DATED = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{4})$")


def context_limit(model: str) -> ContextLimit:
    """Return the tokens that a model takes and gives.

    A version with a date has the limits of the model, unless it has its own; a fine-tuned model
    (``ft:MODEL:…``) has those of the model that it was made of. What services add to a name is
    left out; a service may have limits of its own.

    Args:
        model: the name of the model, such as ``"gpt-4o"`` or ``"gpt-4o-2024-11-20"``.

    Raises:
        KeyError: the limits of the model are not known; the message lists similar names.

    >>> limit = context_limit("gpt-4o-2024-11-20")
    >>> limit.model, limit.context, limit.output
    ('gpt-4o', 128000, 16384)
    """
    name = plain_model_name(model)
    if name.startswith("ft:"):
        name = name[3:].partition(":")[0]
    if name.startswith("deepseek-ai/"):
        name = name.partition("/")[2].lower()
    limits = known_limits()
    limit = limits.get(name) or limits.get(_DATED.sub("", name))
    if limit is None:
        raise KeyError(
            f"the limits of model {model!r} are not known{did_you_mean(name, limits)}; "
            f"the table is of {DATE}"
        )
    return limit


@lru_cache(maxsize=1)
def known_limits() -> dict[str, ContextLimit]:
    """Return the limits of all models in the table, by name."""
    return {
        name: ContextLimit(name, context, most, output, source, DATE)
        for source, rows in TABLE.items()
        for context, most, output, names in rows
        for name in names.split()
    }
