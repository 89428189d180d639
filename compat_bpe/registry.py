"""The encodings by name, each loaded when first asked for."""

from __future__ import annotations

import threading

from compat_bpe.encoding import Encoding
from compat_bpe.encodings.openai import PUBLISHED, load_ranks
from compat_bpe.models import encoding_name_for_model

_lock = threading.RLock()
_loaded: dict[str, Encoding] = {}


def list_encoding_names() -> list[str]:
    """The names that ``get_encoding`` knows.

    >>> "o200k_base" in list_encoding_names()
    True
    """
    return list(PUBLISHED)


def get_encoding(encoding_name: str) -> Encoding:
    """The encoding of a name, from the package's own files; always the same object.

    Safe to call from several threads.

    Raises:
        ValueError: there is no such encoding; the message lists those there are.

    >>> get_encoding("gpt2").encode("hello world")
    [31373, 995]
    """
    found = _loaded.get(encoding_name) if isinstance(encoding_name, str) else None
    if found is not None:
        return found
    if not isinstance(encoding_name, str) or encoding_name not in PUBLISHED:
        known = ", ".join(PUBLISHED)
        raise ValueError(f"unknown encoding {encoding_name!r}; there are {known}")
    with _lock:
        if encoding_name not in _loaded:
            published = PUBLISHED[encoding_name]
            _loaded[encoding_name] = Encoding._of_shipped(
                encoding_name,
                published.pattern,
                load_ranks(published.pack),
                dict(published.special_tokens),
            )
        return _loaded[encoding_name]


def is_registered(encoding: Encoding) -> bool:
    """Whether ``get_encoding`` gives this very object for its name."""
    return _loaded.get(encoding.name) is encoding


def encoding_for_model(model_name: str) -> Encoding:
    """The encoding that a model uses.

    Raises:
        KeyError: the model is not known.

    >>> encoding_for_model("gpt-4o").name
    'o200k_base'
    """
    return get_encoding(encoding_name_for_model(model_name))
