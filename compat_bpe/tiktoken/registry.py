"""``tiktoken.registry``: the encodings by name, those of plug-ins included.

A plug-in is a module in the namespace package ``tiktoken_ext`` with a dictionary
``ENCODING_CONSTRUCTORS``, from the name to a function that returns the arguments of ``Encoding``.
Programs replace the names of this module, so each is looked up at each use.
"""

from __future__ import annotations

import functools
import importlib
import os
import pkgutil
import threading
from collections.abc import Callable, Sequence
from typing import Any

from ..encodings import published
from ..encodings import registry as shipped
from ..encodings.encoding import Encoding
from . import openai_public

_OWN = "tiktoken_ext.openai_public"

_lock = threading.RLock()


def _renew_lock() -> None:
    """Make a new lock in the child of a fork, where the thread that held the old one is gone."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    # A fork does not wait for this lock: the constructor of a plug-in may take long.
    os.register_at_fork(after_in_child=_renew_lock)

#: The encodings that have been loaded; shared with ``compat_bpe.get_encoding``.
ENCODINGS: dict[str, Encoding] = published.ENCODINGS
ENCODING_CONSTRUCTORS: dict[str, Callable[[], dict[str, Any]]] | None = None


@functools.cache
def _available_plugin_modules() -> Sequence[str]:
    """Return the names of the modules in ``tiktoken_ext``, always with this package's own."""
    try:
        extension = importlib.import_module("tiktoken_ext")
    except ImportError:
        return [_OWN]
    modules = pkgutil.iter_modules(extension.__path__, "tiktoken_ext.")
    return [_OWN, *(name for _, name, _ in modules if name != _OWN)]


def _find_constructors() -> None:
    """Fill ``ENCODING_CONSTRUCTORS``; after an error it stays None."""
    global ENCODING_CONSTRUCTORS
    with _lock:
        if ENCODING_CONSTRUCTORS is not None:
            return
        known: dict[str, Callable[[], dict[str, Any]]] = {}
        for name in _available_plugin_modules():
            module = openai_public if name == _OWN else importlib.import_module(name)
            try:
                constructors = module.ENCODING_CONSTRUCTORS
            except AttributeError as error:
                raise ValueError(
                    f"tiktoken plugin {name} does not define ENCODING_CONSTRUCTORS"
                ) from error
            for encoding_name, constructor in constructors.items():
                if encoding_name in known:
                    raise ValueError(
                        f"Duplicate encoding name {encoding_name} in tiktoken plugin {name}"
                    )
                known[encoding_name] = constructor
        ENCODING_CONSTRUCTORS = known


def _constructors() -> dict[str, Callable[[], dict[str, Any]]]:
    if ENCODING_CONSTRUCTORS is None:
        _find_constructors()
    assert ENCODING_CONSTRUCTORS is not None
    return ENCODING_CONSTRUCTORS


def get_encoding(encoding_name: str) -> Encoding:
    """Return an encoding by its name, a shipped one or a plug-in's.

    Raises:
        ValueError: the name is not known, or a plug-in is broken.

    >>> get_encoding("gpt2").encode("hello world")
    [31373, 995]
    """
    if not isinstance(encoding_name, str):
        raise ValueError(f"Expected a string in get_encoding, got {type(encoding_name)}")
    if encoding_name in ENCODINGS:
        return ENCODINGS[encoding_name]
    with _lock:
        if encoding_name in ENCODINGS:
            return ENCODINGS[encoding_name]
        constructors = _constructors()
        if encoding_name not in constructors:
            raise ValueError(
                f"Unknown encoding {encoding_name}: there are {', '.join(constructors)}. "
                f"Plugins found: {_available_plugin_modules()}"
            )
        constructor = constructors[encoding_name]
        if constructor is openai_public.ENCODING_CONSTRUCTORS.get(encoding_name):
            # Encodings with the same vocabulary share it.
            with published.LOCK:
                encoding = shipped.make_encoding(encoding_name)
        else:
            encoding = Encoding(**constructor())
        return ENCODINGS.setdefault(encoding_name, encoding)


def list_encoding_names() -> list[str]:
    """Return the names that ``get_encoding`` knows.

    >>> "cl100k_base" in list_encoding_names()
    True
    """
    with _lock:
        return list(_constructors())


# A plug-in's encoding is found by its name when it is unpickled, too.
published.FINDERS.append(lambda name: get_encoding(name))
