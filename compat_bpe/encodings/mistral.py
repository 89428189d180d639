"""What is known of the files of Mistral's models."""

from __future__ import annotations

import re

#: The name of a model of SentencePiece with the version of the messages that it is for, and, if
#: they may have images, the version of these (``is_sentencepiece`` in mistral-common 1.13.1).
_VERSIONED = re.compile(r"(.*\.model)\.v([0-9]{1,3})(?:m([0-9]{1,3}))?", re.DOTALL)


def is_versioned(name: str) -> bool:
    """Return True if a file has the name of a model with a version.

    >>> is_versioned("tokenizer.model.v7m1"), is_versioned("tokenizer.model")
    (True, False)
    """
    return _VERSIONED.fullmatch(name) is not None


def newest(names: list[str]) -> list[str]:
    """Return the name with the highest version if all are versions of one model; else all names.

    mistral-common 1.13.1 takes the last name in alphabetical order, which is the same one of those
    that there are.

    >>> newest(["tokenizer.model.v3", "tokenizer.model.v7m1", "tokenizer.model.v7"])
    ['tokenizer.model.v7m1']
    >>> newest(["a.model.v3", "b.model.v7"])
    ['a.model.v3', 'b.model.v7']
    """
    versions = {}
    models = set()
    for name in names:
        match = _VERSIONED.fullmatch(name)
        models.add(match and match[1])
        if match:
            versions[name] = (int(match[2]), int(match[3] or 0))
    if len(models) != 1 or not versions:
        return names
    return [max(names, key=versions.__getitem__)]
