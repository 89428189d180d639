"""The encodings by name, each loaded when first asked for."""

from __future__ import annotations

from .encoding import Encoding
from .loaded import ENCODINGS, LOCK
from .model_names import BASELINES, DEEPSEEK, all_encoding_names
from .model_names import list_encoding_names as list_encoding_names
from .resolve import Answer, encoding_name_for_model, resolve
from .vocabularies import load_ranks


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
    if not isinstance(encoding_name, str) or encoding_name not in all_encoding_names():
        resolve(encoding_name, files=False)
    with LOCK:
        encoding = ENCODINGS.get(encoding_name)
        if encoding is None:
            # An encoding that is unpickled meanwhile may have got there first.
            encoding = ENCODINGS.setdefault(encoding_name, make_encoding(encoding_name))
        return encoding


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


def encoding_of(answer: Answer, pattern: str | None = None) -> Encoding:
    """Return the encoding that ``resolve`` answered.

    Args:
        answer: the answer.
        pattern: as in ``load``, for a file.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is damaged or not supported.
    """
    if answer.path is None:
        return get_encoding(answer.encoding_name)
    from .load import load  # imported here: encodings by name do not need it

    return load(answer.path, pattern=pattern)
