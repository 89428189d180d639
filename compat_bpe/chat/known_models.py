"""``known_models``: every model that the package knows by name, and the answer that counts it.

The page and the editors offer this list, and decide nothing about names themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..encodings.families import FAMILIES, Family, NeedsFile
from ..encodings.model_names import model_names
from ..encodings.resolve import Answer, UnresolvedError, resolve
from .limits import context_of, known_limits

#: A group of models, and how their names begin; the first one that fits counts.
_GROUPS = (
    ("GPT-5", r"gpt-5"),
    ("GPT-4.1", r"gpt-4\.1"),
    ("GPT-4o", r"gpt-4o|chatgpt-4o|gpt-realtime|gpt-audio"),
    ("o1, o3, o4-mini", r"o\d"),
    ("GPT-4, GPT-3.5", r"gpt-4|gpt-3"),
    ("gpt-oss", r"gpt-oss"),
    ("DeepSeek", r"deepseek"),
    ("Claude", r"claude"),
    ("Gemini", r"gemini"),
    ("Embeddings", r"text-embedding"),
    ("Older and others", r""),
)
#: The groups in which the newest model has the last name; it is listed first.
_NEWEST_LAST = ("Claude", "Gemini")
_WITH_FILE, _WITH_SERVICE = "With a file of yours", "No public tokenizer"
#: Versions that the tables know by the beginning of their names only.
_BY_BEGINNING = ("deepseek-v3", "deepseek-v4")


class KnownModel(NamedTuple):
    """A model, or a family of models whose tokenizer is not included.

    Args:
        name: its name.
        group: the models that it is listed with.
        answer: the encoding or estimate that counts its tokens; None if a file or a service must.
        context: its context, in tokens; None if that is not known.
        family: if there is no answer, the family with the file or service.
    """

    name: str
    group: str
    answer: Answer | None = None
    context: int | None = None
    family: Family | None = None


def known_models() -> list[KnownModel]:
    """Return all models by their groups; then the families that need a file, or a service.

    >>> models = {one.name: one for one in known_models()}
    >>> models["gpt-4o"].answer.encoding_name, models["gpt-4o"].context
    ('o200k_base', 128000)
    >>> models["claude-sonnet-4-5"].answer.note.partition(" (")[0]
    'Anthropic says a token is approximately 3.5 English characters'
    >>> models["Qwen 3"].family.where
    'tokenizer.json and tokenizer_config.json of https://huggingface.co/Qwen/Qwen3-8B'
    """
    counted = sorted(_counted(), key=lambda one: one.name)
    found: list[KnownModel] = []
    for group, _ in _GROUPS:
        models = [one for one in counted if one.group == group]
        found += reversed(models) if group in _NEWEST_LAST else models
    names = {one.name for one in counted}
    files, services = [], []
    for family in FAMILIES:
        if isinstance(family, NeedsFile):
            files.append(KnownModel(family.name, _WITH_FILE, family=family))
        elif names.isdisjoint(family.examples):
            services.append(KnownModel(family.name, _WITH_SERVICE, family=family))
    return [*found, *files, *services]


def _counted() -> Iterator[KnownModel]:
    examples = [one for family in FAMILIES for one in getattr(family, "examples", ())]
    for name in {*model_names(), *known_limits(), *examples, *_BY_BEGINNING}:
        try:
            answer = resolve(name, "model", files=False, estimate=True)
        except UnresolvedError:
            continue  # its family is listed
        group = next(group for group, beginning in _GROUPS if re.match(beginning, name))
        yield KnownModel(name, group, answer, context_of(name))
