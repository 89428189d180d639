"""The encodings by name, each loaded when first asked for."""

from __future__ import annotations

from .encoding import Encoding
from .loaded import ENCODINGS, LOCK
from .model_names import encoding_name_for_model
from .openai import PUBLISHED
from .vocabularies import load_ranks

#: The shipped encodings that are loaded as ``Tokenizer``.
DEEPSEEK = ("deepseek_v3", "deepseek_r1", "deepseek_v4")
#: Encodings by a rule, without a vocabulary that was learned; see ``baselines.Baseline``.
BASELINES = ("bytes", "characters", "words", "words_and_punctuation", "categories")


def list_encoding_names() -> list[str]:
    """Return the names of the encodings that ship with their vocabularies.

    ``get_encoding`` also knows the baselines: bytes, characters, words, words_and_punctuation and
    categories.

    >>> "o200k_base" in list_encoding_names()
    True
    """
    return [*PUBLISHED, *DEEPSEEK]


def get_encoding(encoding_name: str) -> Encoding:
    """Return the encoding of a name, from the package's own files; always the same object.

    Several threads may call it at the same time.

    Raises:
        ValueError: there is no such encoding; the message lists the known names.

    >>> get_encoding("gpt2").encode("hello world")
    [31373, 995]
    """
    if isinstance(encoding_name, str):
        encoding: Encoding | None = ENCODINGS.get(encoding_name)
        if encoding is not None:
            return encoding
    if not isinstance(encoding_name, str) or encoding_name not in _known():
        known = ", ".join(_known())
        raise ValueError(f"unknown encoding {encoding_name!r}; there are {known}")
    with LOCK:
        encoding = ENCODINGS.get(encoding_name)
        if encoding is None:
            # An encoding that is unpickled meanwhile may have got there first.
            encoding = ENCODINGS.setdefault(encoding_name, make_encoding(encoding_name))
        return encoding


def _known() -> list[str]:
    return [*list_encoding_names(), *BASELINES]


def make_encoding(name: str) -> Encoding:
    """Return a new object for a shipped encoding; encodings of one vocabulary share its ranks."""
    if name in DEEPSEEK:
        from .tokenizer import Tokenizer  # most programs need no tokenizer of several steps

        return Tokenizer.shipped(name)
    if name in BASELINES:
        from .baselines import Baseline

        return Baseline.shipped(name)
    return Encoding.shipped(name)


def unload() -> None:
    """Forget all encodings and vocabularies; their memory is free once nothing uses them.

    >>> unload()
    """
    with LOCK:
        ENCODINGS.clear()
        load_ranks.cache_clear()


def encoding_for_model(model_name: str) -> Encoding:
    """Return the encoding that a model uses.

    Args:
        model_name: as in ``encoding_name_for_model``.

    Raises:
        KeyError: the model is not known, or its vocabulary does not ship; the message says what
            counts its tokens.

    >>> encoding_for_model("gpt-4o").name
    'o200k_base'
    """
    return get_encoding(encoding_name_for_model(model_name))
