"""``tiktoken.model``: the encoding of a model, by the model's name."""

from __future__ import annotations

from ..encodings.encoding import Encoding
from ..encodings.model_names import MODEL_PREFIX_TO_ENCODING as MODEL_PREFIX_TO_ENCODING
from ..encodings.model_names import MODEL_TO_ENCODING as MODEL_TO_ENCODING
from ..encodings.model_names import openai_encoding_name
from .registry import get_encoding as get_encoding


def encoding_name_for_model(model_name: str) -> str:
    """Return the name of the encoding that a model of OpenAI uses.

    Raises:
        KeyError: the model is not known.

    >>> encoding_name_for_model("gpt-4")
    'cl100k_base'
    """
    return openai_encoding_name(model_name)


def encoding_for_model(model_name: str) -> Encoding:
    """Return the encoding that a model uses, plug-ins included.

    Raises:
        KeyError: the model is not known.

    >>> encoding_for_model("gpt-4").name
    'cl100k_base'
    """
    return get_encoding(encoding_name_for_model(model_name))
