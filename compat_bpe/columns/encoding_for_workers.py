"""Encodings on their way from the driver to the workers."""

from __future__ import annotations

import os
import pickle
from hashlib import sha256
from typing import Union

from ..encodings.encoding import Encoding
from ..encodings.load import load
from ..encodings.registry import get_encoding
from ..encodings.resolve import Terms, UnresolvedError, resolve

#: An encoding, its name, or the path of its file or folder, as ``load`` takes it.
AnyEncoding = Union[Encoding, str, "os.PathLike[str]"]

#: How columns and SQL write what an error tells their users to give: they have one argument.
TERMS = Terms("", "{!r}", "{!r}")

#: The most encodings given by value that a worker keeps.
_KEPT = 8

#: The encodings that a worker has been given by value, the latest last.
_known: dict[bytes, Encoding] = {}


def has_fixed_ids(encoding: Encoding) -> bool:
    """Return True if the ids of an encoding are the same in every process.

    Baselines such as words number what they meet, in the order in which they do.

    >>> has_fixed_ids(get_encoding("gpt2")), has_fixed_ids(get_encoding("words"))
    (True, False)
    """
    return encoding.reference != "baseline" or encoding.core.model.is_text


def check_fixed_ids(encoding: Encoding) -> None:
    """Raise ``ValueError`` if the ids of an encoding are not the same in every process."""
    if not has_fixed_ids(encoding):
        raise ValueError(
            f"{encoding.name!r} numbers words as they come, so each worker has other ids; it can "
            "only count"
        )


class Carried:
    """An encoding that can be pickled cheaply with every task.

    A shipped one travels by its name. Another travels by value: as bytes, which Spark sends to
    each executor once, since it broadcasts functions of more than a megabyte. A worker process
    makes the encoding of them once, and later tasks find it by its digest.

    Args:
        encoding: the encoding, its name, or the path of its file or folder, which is read here,
            as ``load`` does: ``hf:OWNER/NAME`` is a model in the cache of the driver's machine.

    Raises:
        ValueError: there is no encoding and no file of this name, or the file is damaged.
        OSError: the file cannot be read.
        TypeError: it is none of these.

    >>> Carried("gpt2").get().encode("hello world")
    [31373, 995]
    >>> Carried("gpt3")
    Traceback (most recent call last):
    ValueError: unknown encoding 'gpt3' (did you mean 'gpt2'?); no file has this name either
    """

    def __init__(self, encoding: AnyEncoding) -> None:
        if isinstance(encoding, str):
            try:
                answer = resolve(encoding)
            except UnresolvedError as error:
                raise ValueError(error.message(TERMS)) from None
            if answer.path is None:
                self.name = encoding
                self._data = b""
                self._digest = b""
                return
        if isinstance(encoding, (str, os.PathLike)):
            encoding = load(encoding)
        if not isinstance(encoding, Encoding):
            raise TypeError(
                f"an encoding is an Encoding, its name or its path, not {type(encoding).__name__}"
            )
        self.name = encoding.name
        self._data = pickle.dumps(encoding, protocol=4)
        self._digest = sha256(self._data).digest()

    def get(self) -> Encoding:
        """Return the encoding: the same object as long as the process keeps it."""
        if not self._data:
            return get_encoding(self.name)
        encoding = _known.get(self._digest)
        if encoding is None:
            encoding = pickle.loads(self._data)
            # Of threads that ask together each may make one; all get the one that is kept.
            encoding = _known.setdefault(self._digest, encoding)
        else:
            _known.pop(self._digest, None)
            _known[self._digest] = encoding  # the last to be given up
        for oldest in list(_known)[:-_KEPT]:
            _known.pop(oldest, None)
        return encoding
