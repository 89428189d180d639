"""Published ``tokenizer.json`` whose pattern is known not to be that of the model.

Mistral's were made by a converter of transformers that wrote Llama 3's pattern if it was given
none, for Mistral Small 3.1 and others (huggingface/transformers, pull requests 42131 and 42299).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping

from .published import PATTERNS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..formats.tokenizer_json import TokenizerDefinition

#: The types of models in whose files it is, as ``config.json`` names them, or in it
#: ``text_config``.
_MODEL_TYPES = frozenset(("ministral", "mistral", "mistral3", "pixtral", "voxtral"))
#: Their vocabularies have 131,072 tokens, and those of Mistral's earlier models 32,768.
_LARGE = 100_000
#: Ids of single bytes in all these vocabularies: 1,000 special tokens, then the bytes in order.
#: Other vocabularies, which models of these types may have, begin otherwise.
_BYTES = {"Ā": 1000, "A": 1065, "z": 1122, "ÿ": 1255}
#: Llama 3's pattern, which the files have.
_WRONG = PATTERNS["llama3"]


def warn_of_wrong_pattern(path: str, definition: TokenizerDefinition) -> None:
    """Warn if a ``tokenizer.json`` splits text otherwise than the model was trained with.

    Args:
        path: the file; the ``config.json`` beside it says the type of the model.
        definition: its content, of which an encoding has been made.
    """
    vocabulary = definition.vocabulary
    if (
        _is_split_wrong(definition.parts["pre_tokenizer"])
        and len(vocabulary) > _LARGE
        and all(vocabulary.get(byte) == id_ for byte, id_ in _BYTES.items())
        and not _MODEL_TYPES.isdisjoint(_model_types(path))
    ):
        warnings.warn(
            f"{path}: its pattern is Llama 3's, but its vocabulary and model are Mistral's: some "
            "texts get other tokens than the model was trained with. Load the model's tekken.json "
            "instead",
            stacklevel=4,  # the caller of `load`
        )


def _is_split_wrong(part: Mapping[str, Any] | None) -> bool:
    """Return True if the pre-tokenizer, or a step of it, splits by the wrong pattern."""
    if part is None:
        return False
    return any(
        step.get("pattern") == {"Regex": _WRONG} for step in part.get("pretokenizers", [part])
    )


def _model_types(path: str) -> list[str]:
    """Return the types of model that the ``config.json`` beside a file names, if it can be read."""
    from ..formats.checked_json import read_json

    config = os.path.join(os.path.dirname(path), "config.json")
    try:
        file = read_json(config)
        parts = [file, file.get("text_config")]
        named = [part.get("model_type") for part in parts if part is not None]
        return [name.text() for name in named if name is not None]
    except (OSError, ValueError):
        # The encoding does not need this file.
        return []
