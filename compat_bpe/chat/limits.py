"""``context_limit``: the tokens that a model takes and gives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from ..encodings.model_names import plain_model_name, resolve_model
from ..unicode.text import did_you_mean
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
    limits = known_limits()
    names = list(_names(model))
    for name in names:
        if name in limits:
            return limits[name]
    raise KeyError(
        f"the limits of model {model!r} are not known{did_you_mean(names[0], limits)}; "
        f"the table is of {DATE}"
    )


def _names(model: str) -> Iterator[str]:
    """Yield the names by which the table may know a model, the nearest first."""
    name = plain_model_name(model)
    if name.startswith("ft:"):
        name = name[3:].partition(":")[0]
    if name.startswith("deepseek-ai/"):
        name = name.partition("/")[2].lower()
    yield name
    yield _DATED.sub("", name)
    if isinstance(resolve_model(model), (str, type(None))):
        return
    # Imported here, as in model_names.
    from ..encodings.model_spellings import spelling_of

    spelling = spelling_of(model)
    # Ollama, whose names have tags, sets a context of its own.
    if spelling is not None and not spelling.tag:
        for name in (spelling.model, spelling.undated, _DATED.sub("", spelling.model)):
            # Other services write claude-sonnet-4.5.
            yield name.replace(".", "-") if name.startswith("claude-") else name


@lru_cache(maxsize=1)
def known_limits() -> dict[str, ContextLimit]:
    """Return the limits of all models in the table, by name."""
    return {
        name: ContextLimit(name, context, most, output, source, DATE)
        for source, rows in TABLE.items()
        for context, most, output, names in rows
        for name in names.split()
    }
