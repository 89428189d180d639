"""The resources: what encodings and models there are, as JSON."""

from __future__ import annotations

import json
from typing import Callable, NamedTuple

from ..chat.limits import known_limits
from ..encodings.model_names import BASELINES, list_encoding_names, model_names, resolve_model


class Resource(NamedTuple):
    """A resource: its address, what it is, and the function that writes it."""

    uri: str
    name: str
    description: str
    write: Callable[[], str]


def _encodings() -> str:
    return json.dumps({"encodings": list_encoding_names(), "baselines": list(BASELINES)})


def _models() -> str:
    limits = known_limits()
    models = []
    for name in model_names():
        limit = limits.get(name)
        models.append(
            {
                "model": name,
                "encoding": resolve_model(name),
                "context": limit and limit.context,
                "input": limit and limit.input,
                "output": limit and limit.output,
            }
        )
    return json.dumps({"models": models})


RESOURCES = (
    Resource(
        "compat-bpe://encodings",
        "encodings",
        "The encodings that tools take, and the baselines that split text by a rule.",
        _encodings,
    ),
    Resource(
        "compat-bpe://models",
        "models",
        "The known models with their encodings and limits in tokens; other spellings work, too.",
        _models,
    ),
)
