"""The kinds of files that an encoding is loaded from, by which each is recognised."""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


#: How the names begin that stand for files of other programs; see ``local_stores``.
STORES = ("hf:", "ollama:", "lmstudio:")


def recognise(path: str | os.PathLike[str], beginning: bytes) -> str:
    """Return the kind of a file: one of ``_KINDS``.

    Args:
        path: the file.
        beginning: its first bytes, some thousands.

    Raises:
        ValueError: it is none of these.
    """
    for kind, fits in _KINDS.items():
        if fits(os.path.basename(path), beginning):
            return kind
    reason = "it is no vocabulary of a kind known here"
    if _is_pointer(beginning):
        reason = "it is a pointer of Git LFS; fetch the file itself (git lfs pull)"
    raise ValueError(f"{os.fspath(path)}: {reason}")


def _is_json(_: str, beginning: bytes) -> bool:
    return beginning.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def _is_ranks(name: str, beginning: bytes) -> bool:
    # One of that name that is damaged: its reader says in which line.
    return name.endswith(".tiktoken") or bool(
        re.fullmatch(rb"[A-Za-z0-9+/=]+[ \t]+[0-9]+[ \t]*", _first_line(beginning))
    )


def _is_merges(name: str, beginning: bytes) -> bool:
    return name in ("merges.txt", "vocab.bpe") or _first_line(beginning).startswith(b"#version")


def _is_vocab_txt(name: str, beginning: bytes) -> bool:
    return name.endswith("vocab.txt") or {b"[UNK]", b"[CLS]"} <= set(beginning.splitlines())


def _is_rwkv(name: str, beginning: bytes) -> bool:
    is_list = re.match(rb"1 b?(['\"]).{1,9}\1 [0-9]+\r?(\n|$)", beginning)
    return is_list is not None or re.fullmatch(r"rwkv_vocab_v[0-9]+\.txt", name) is not None


def _is_clip_merges(name: str, beginning: bytes) -> bool:
    is_packed = name.endswith("bpe_simple_vocab_16e6.txt.gz") and beginning[:2] == b"\x1f\x8b"
    return is_packed or beginning.startswith(b'"bpe_simple_vocab_16e6.txt#version')


def _is_sentencepiece(name: str, beginning: bytes) -> bool:
    if _is_pointer(beginning):
        return False
    # The first field is mostly a piece: its text, then its score.
    text = beginning[3] if len(beginning) > 3 else 0
    is_piece = beginning[:3:2] == b"\n\n" and beginning[4 + text : 5 + text] == b"\x15"
    return is_piece or name.endswith(".model") or is_versioned(name)


def _is_gguf(name: str, beginning: bytes) -> bool:
    # One of that name that is damaged: its reader says where.
    return beginning.startswith(b"GGUF") or (name.endswith(".gguf") and not _is_pointer(beginning))


def _is_pointer(beginning: bytes) -> bool:
    return beginning.startswith(b"version https://git-lfs")


def _first_line(beginning: bytes) -> bytes:
    """Return the first line that is not empty."""
    return next(filter(None, beginning.splitlines()), b"")


#: Each kind, with what recognises it by the name of a file and its first bytes. The first one that
#: fits is taken.
_KINDS: dict[str, Callable[[str, bytes], bool]] = {
    "gguf": _is_gguf,
    "json": _is_json,
    "rwkv": _is_rwkv,
    "vocab.txt": _is_vocab_txt,
    "ranks": _is_ranks,
    "merges": _is_merges,
    "clip": _is_clip_merges,
    "sentencepiece": _is_sentencepiece,
}


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
