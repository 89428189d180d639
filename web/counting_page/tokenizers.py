"""The tokenizers of the page: what ships, estimates, and the visitor's files; each has a key.

The key of an encoding that ships is its name, and its pack must have been fetched. That of an
estimate is ``≈`` and the model, that of dropped files ``file:`` and a number.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any, Literal, NamedTuple

import compat_bpe
from compat_bpe import Encoding, get_encoding
from compat_bpe.encodings.families import Family, NotPublic
from compat_bpe.encodings.published import DEEPSEEK_NAMES, PUBLISHED, all_encoding_names
from compat_bpe.encodings.resolve import Answer, Terms, UnresolvedError, resolve

ESTIMATED = "≈"
#: How the page writes what an error tells its visitors to give.
TERMS = Terms(
    "choose {}", "choose {}", "", listing="choose one from the list, or type its full name"
)


def packs() -> dict[str, str]:
    """Return the name of each shipped encoding, and that of its pack.

    >>> packs()["o200k_harmony"], packs()["deepseek_r1"]
    ('o200k_base', 'deepseek')
    """
    names = {name: published.pack for name, published in PUBLISHED.items()}
    return {**names, **dict.fromkeys(DEEPSEEK_NAMES, "deepseek")}


def find(name: str, field: Literal["model", "encoding", ""] = "") -> dict[str, Any]:
    """Return the tokenizer that a name means.

    Args:
        name: the name of a model or of an encoding.
        field: which of them it must be; empty if it may be either.

    Returns:
        ``name``, ``key``, ``field``, ``context`` (the most tokens that the model takes, None if
        that is not known), and ``rule``, why the model has this encoding.

    Raises:
        ValueError: it means none; with what to do.

    >>> find("gpt-4o")["key"], find("claude-sonnet-4-5")["key"]
    ('o200k_base', '≈claude-sonnet-4-5')
    """
    from compat_bpe.chat.limits import context_of

    field = field or ("encoding" if name in all_encoding_names() else "model")
    try:
        answer = resolve(name, field, files=False, estimate=True)
    except UnresolvedError as error:
        hint = "" if error.family is None else f"; {hint_of(error.family)}"
        raise ValueError(error.message(TERMS) + hint) from None
    context = context_of(name) if field == "model" else None
    key = answer.encoding_name if answer.estimate is None else ESTIMATED + name
    return {"name": name, "key": key, "field": field, "context": context, "rule": answer.rule}


def hint_of(family: Family) -> str:
    """Return what to do for the models of a family whose tokenizer does not ship.

    >>> from compat_bpe.encodings.families import family_of
    >>> hint_of(family_of("qwen3", "8b"))
    'drop tokenizer.json and tokenizer_config.json of https://huggingface.co/Qwen/Qwen3-8B here'
    """
    if isinstance(family, NotPublic):
        return family.counted_by
    return f"drop {family.where} here"


class Tokenizer(NamedTuple):
    """An encoding or an estimate that counts the tokens of a text.

    Args:
        encoding: the encoding; for an estimate, the one whose tokens it is made of.
        answer: what makes a number of tokens of what the encoding counts.
    """

    encoding: Encoding
    answer: Answer = Answer("")

    @property
    def is_estimate(self) -> bool:
        """True if there is a number of tokens, but no tokens."""
        return self.answer.estimate is not None

    @property
    def vocabulary(self) -> Encoding:
        """The encoding, for what only tokens have.

        Raises:
            ValueError: it is an estimate.
        """
        if self.is_estimate:
            raise ValueError(f"{self.answer.model} has no public tokenizer: no token can be shown")
        return self.encoding


class Tokenizers:
    """The tokenizers that the page can count by."""

    def __init__(self) -> None:
        self._dropped: dict[str, Encoding] = {}

    def get(self, key: str) -> Tokenizer:
        """Return a tokenizer by its key.

        Raises:
            OSError: its pack was not fetched.
            ValueError: there is no such tokenizer.
        """
        if key.startswith(ESTIMATED):
            answer = resolve(key[len(ESTIMATED) :], "model", files=False, estimate=True)
            return Tokenizer(get_encoding(answer.encoding_name), answer)
        return Tokenizer(self._dropped.get(key) or get_encoding(key))

    def load(self, folder: Path, pattern: str | None) -> str:
        """Load an encoding from files, and return its key.

        Args:
            folder: a folder with the files and nothing else.
            pattern: the pattern of a rank file, or the name of one.

        Raises:
            ValueError: they are not a vocabulary, or a damaged one; or one of them was removed.
        """
        names = sorted(os.listdir(folder))
        path = folder / names[0] if len(names) == 1 else folder
        try:
            encoding = compat_bpe.load(path, pattern=pattern, name=names[0])
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            reason = "cannot be read: was it changed or removed after it was chosen?"
            raise ValueError(f"{', '.join(names)}: {reason}") from None
        except ValueError as error:
            raise ValueError(str(error).replace(f"{folder}{os.sep}", "")) from None
        key = f"file:{len(self._dropped) + 1}"
        self._dropped[key] = encoding
        return key
