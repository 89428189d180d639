"""``context_limit``: the limits of a model's requests and replies, in tokens.

The table has the limits as they were read at an address on a day. Most are those of the table in
litellm 1.109.1. Services change: the maker of a model has the last word.

Limits on which sources disagree are left out: those of a model that only other services offer, and
an output that two of them limit differently. Names such as ``qwen-plus``, which mean a new model
every few months, are left out, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, Optional

from ..encodings.model_names import plain_model_name, resolve_model, spelling_of
from ..unicode.text import did_you_mean

#: The day on which the table was last compared with its sources.
DATE = "2026-11-26"

_Row = tuple[int, int, Optional[int], str]

_LITELLM = "https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json"
_GPT_OSS = (
    "https://github.com/huggingface/transformers/blob/main/src/transformers/models/gpt_oss/"
    "configuration_gpt_oss.py"
)

#: Anthropic's pages have the same limits for the newer ones, such as
#: https://platform.claude.com/docs/en/models/sonnet-4-6/overview; those before 4.5 are litellm's
#: rows for Amazon Bedrock, as Anthropic no longer offers these models itself.
_CLAUDE: tuple[_Row, ...] = (
    (1_000_000, 1_000_000, 128_000, "claude-opus-5-5 claude-opus-5 claude-opus-4-8"),
    (1_000_000, 1_000_000, 128_000, "claude-opus-4-7 claude-opus-4-6 claude-sonnet-5-5"),
    (1_000_000, 1_000_000, 128_000, "claude-sonnet-5 claude-sonnet-4-6 claude-haiku-5-5"),
    (1_000_000, 1_000_000, 128_000, "claude-fable-5-1 claude-fable-5 claude-mythos-5-1"),
    (1_000_000, 1_000_000, 128_000, "claude-mythos-5 claude-mythos-preview"),
    (200_000, 200_000, 64_000, "claude-opus-4-5 claude-sonnet-4-5 claude-haiku-4-5"),
    (200_000, 200_000, 64_000, "claude-sonnet-4"),
    (200_000, 200_000, 32_000, "claude-opus-4-1 claude-opus-4"),
    (200_000, 200_000, 8_192, "claude-3-5-sonnet-20241022 claude-3-5-haiku"),
    (200_000, 200_000, 4_096, "claude-3-opus claude-3-haiku"),
)

#: Google calls the most tokens of a request the context window of a model
#: (https://ai.google.dev/gemini-api/docs/tokens). In Gemini 4 Argon both share it
#: (https://ai.google.dev/gemini-api/docs/generate-content/latest-model). The rows are those of the
#: Gemini API; in some of them Vertex AI allows one token less in a reply.
_GEMINI: tuple[_Row, ...] = (
    (1_048_576, 1_048_576, None, "gemini-4-argon"),
    (1_048_576, 1_048_576, 65_536, "gemini-3.8-flash gemini-3.7-flash gemini-3.6-flash"),
    (1_048_576, 1_048_576, 65_536, "gemini-3.5-flash gemini-3.5-flash-lite gemini-3.1-pro-preview"),
    (1_048_576, 1_048_576, 65_536, "gemini-3.1-flash-lite gemini-3-flash-preview"),
    (1_048_576, 1_048_576, 65_536, "gemini-2.5-pro gemini-2.5-flash gemini-2.5-flash-lite"),
)

#: xAI limits the context alone, as in https://docs.x.ai/developers/grok-4-6.
_GROK: tuple[_Row, ...] = (
    (500_000, 500_000, None, "grok-4.7 grok-4.6 grok-4.5"),
    (1_000_000, 1_000_000, None, "grok-4.3 grok-4.20 grok-4.20-reasoning"),
    (1_000_000, 1_000_000, None, "grok-4.20-non-reasoning grok-4.20-multi-agent"),
    (256_000, 256_000, None, "grok-4 grok-code-fast-1"),
    (131_072, 131_072, None, "grok-3 grok-3-mini"),
)

#: Requests and replies are those of Alibaba's service, the context that of litellm's other rows.
_QWEN: tuple[_Row, ...] = (
    (1_000_000, 991_808, 131_072, "qwen3.8-max"),
    (1_000_000, 991_808, 65_536, "qwen3.7-max"),
    (262_144, 258_048, 65_536, "qwen3-max"),
)

#: The address of a source → its rows.
TABLE: dict[str, tuple[_Row, ...]] = {
    _LITELLM: (
        (1_050_000, 1_050_000, 128_000, "gpt-5.5 gpt-5.5-pro gpt-5.4 gpt-5.4-pro"),
        (400_000, 272_000, 128_000, "gpt-5.4-mini gpt-5.4-nano gpt-5.3-codex gpt-5.2 gpt-5.2-pro"),
        (400_000, 272_000, 128_000, "gpt-5.2-codex gpt-5.1 gpt-5-codex gpt-5 gpt-5-mini"),
        (400_000, 272_000, 128_000, "gpt-5-nano"),
        (400_000, 400_000, 128_000, "gpt-5.1-codex gpt-5.1-codex-max gpt-5.1-codex-mini"),
        (128_000, 128_000, 16_384, "gpt-5.3-chat-latest gpt-5.2-chat-latest gpt-5.1-chat-latest"),
        (128_000, 128_000, 16_384, "gpt-5-chat-latest gpt-4o gpt-4o-mini gpt-4o-search-preview"),
        (128_000, 128_000, 16_384, "gpt-4o-mini-search-preview"),
        (128_000, 128_000, 4_096, "gpt-4o-2024-05-13 gpt-4-turbo gpt-4-1106-preview"),
        (1_047_576, 1_047_576, 32_768, "gpt-4.1 gpt-4.1-mini gpt-4.1-nano"),
        (200_000, 200_000, 100_000, "o1 o1-pro o3 o3-pro o3-mini o4-mini o3-deep-research"),
        (200_000, 200_000, 100_000, "o4-mini-deep-research"),
        (8_192, 8_192, 4_096, "gpt-4"),
        (16_385, 16_385, 4_096, "gpt-3.5-turbo gpt-3.5-turbo-16k"),
        (8_192, 8_192, 4_096, "gpt-3.5-turbo-instruct"),
        (16_384, 16_384, 4_096, "davinci-002 babbage-002"),
        (8_191, 8_191, 0, "text-embedding-3-small text-embedding-3-large text-embedding-ada-002"),
        (1_000_000, 1_000_000, 393_216, "deepseek-v4-flash deepseek-v4-pro"),
        *_CLAUDE,
        *_GEMINI,
        *_GROK,
        *_QWEN,
    ),
    _GPT_OSS: ((131_072, 131_072, None, "gpt-oss-120b gpt-oss-20b"),),
    "https://github.com/openai/gpt-2/blob/master/src/model.py": (
        (1_024, 1_024, None, "gpt2 gpt-2"),
    ),
    "https://ai.google.dev/gemini-api/docs/models/gemini-2.0-flash": (
        (1_048_576, 1_048_576, 8_192, "gemini-2.0-flash gemini-2.0-flash-001"),
    ),
    "https://ai.google.dev/gemini-api/docs/models/gemini-2.0-flash-lite": (
        (1_048_576, 1_048_576, 8_192, "gemini-2.0-flash-lite gemini-2.0-flash-lite-001"),
    ),
    "https://openrouter.ai/x-ai/grok-4-fast": ((2_000_000, 2_000_000, None, "grok-4-fast"),),
    # The context of the model as it is, without YaRN.
    "https://huggingface.co/Qwen/Qwen3-30B-A3B-Instruct-2507": (
        (262_144, 262_144, None, "qwen3-30b-a3b-instruct-2507"),
    ),
}


class ContextLimit(NamedTuple):
    """The limits of a model, in tokens.

    Args:
        model: the name in the table, without the date of a version unless that has its own limits.
        context: the most tokens of a request and its reply together, with the model's thoughts.
        input: the most tokens of a request.
        output: the most tokens of a reply; None if a reply may fill the rest of the context.
        source: the address at which they were read.
        date: the day on which they were last read there, as ``YYYY-MM-DD``.
    """

    model: str
    context: int
    input: int
    output: int | None
    source: str
    date: str


#: The date of a version after a model's name: as in gpt-4o-2024-11-20, or as in gpt-4-0613.
_DATED = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{4})$")


def context_limit(model: str) -> ContextLimit:
    """Return the limits of a model's requests and replies, in tokens.

    A version with a date has the limits of the model, unless it has its own; a fine-tuned model
    (``ft:MODEL:…``) has those of the model that it was made of. Prefixes and suffixes that services
    add to a name are ignored; a service may have limits of its own.

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
        f"the table is from {DATE}"
    )


def context_of(model: str) -> int | None:
    """Return the context of a model, in tokens; None if that is not known."""
    try:
        return context_limit(model).context
    except KeyError:
        return None


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
