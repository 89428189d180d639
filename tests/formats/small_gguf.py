"""A writer of GGUF files, and small tokenizers in them, one of each kind."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Union

import compat_bpe
from compat_bpe.formats.gguf.container import ARRAY, BOOL, NUMBERS, STRING
from compat_bpe.formats.gguf.merges import PRE
from compat_bpe.pipeline.byte_level import BYTE_TO_UNICODE

U8, I8, U16, I16, U32, I32, F32 = range(7)
U64, I64, F64 = 10, 11, 12
CODES = {**NUMBERS, BOOL: "?"}


class Typed(NamedTuple):
    """A value and its type; that of an array is the type of its items."""

    kind: int
    value: Any


class Items(NamedTuple):
    """An array: the type of its items, and these; those of an array of arrays are ``Items``."""

    kind: int
    items: Sequence[Any]


#: A value: text, a truth, a typed number, or an array.
Written = Union[str, bytes, bool, Typed, Items]


def strings(*items: str) -> Items:
    return Items(STRING, items)


def gguf(
    entries: Mapping[str, Written] | Sequence[tuple[str, Written]],
    *,
    version: int = 3,
    order: str = "<",
    tensors: int = 0,
) -> bytes:
    """Return a file; ``order`` is the byte order as ``struct`` writes it."""
    pairs = list(entries.items()) if isinstance(entries, Mapping) else list(entries)
    head = b"GGUF" + struct.pack(order + "IQQ", version, tensors, len(pairs))
    return head + b"".join(_string(key, order) + _typed(value, order) for key, value in pairs)


def write(path: Path, entries: Mapping[str, Written], **options: Any) -> Path:
    path.write_bytes(gguf(entries, **options))
    return path


def _string(text: str | bytes, order: str) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    return struct.pack(order + "Q", len(data)) + data


def _typed(value: Written, order: str) -> bytes:
    if isinstance(value, bool):
        value = Typed(BOOL, value)
    if isinstance(value, Items):
        return struct.pack(order + "I", ARRAY) + _array(value, order)
    if isinstance(value, (str, bytes)):
        return struct.pack(order + "I", STRING) + _string(value, order)
    return struct.pack(order + "I" + CODES[value.kind], value.kind, value.value)


def _array(value: Items, order: str) -> bytes:
    head = struct.pack(order + "IQ", value.kind, len(value.items))
    if value.kind == STRING:
        return head + b"".join(_string(item, order) for item in value.items)
    if value.kind == ARRAY:
        return head + b"".join(_array(item, order) for item in value.items)
    return head + struct.pack(f"{order}{len(value.items)}{CODES[value.kind]}", *value.items)


def with_hole(path: Path, data: bytes, size: int) -> Path:
    """Write a file that goes on with zeros which take no room on the disk."""
    path.write_bytes(data)
    if sys.platform == "win32":
        subprocess.run(["fsutil", "sparse", "setflag", str(path)], check=True)
    with path.open("r+b") as file:
        file.truncate(size)
    return path


NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = range(1, 7)

Entries = Mapping[str, Written]


def vocabulary(model: str, tokens: Mapping[str, int], **more: Written) -> dict[str, Written]:
    """The entries of a file; ``tokens`` has the type of each, and ``more`` the rest."""
    return {
        "general.architecture": "small",
        "tokenizer.ggml.model": model,
        "tokenizer.ggml.tokens": strings(*tokens),
        "tokenizer.ggml.token_type": Items(I32, list(tokens.values())),
        **{f"tokenizer.ggml.{key}": value for key, value in more.items()},
    }


ALPHABET = list(BYTE_TO_UNICODE.values())
MERGES = ["h e", "l l", "he ll", "hell o", "Ġ t"]


def gpt2(
    *, pre: str | None = "gpt-2", special: Mapping[str, int] | None = None, **more: Any
) -> Any:
    made = [merge.replace(" ", "") for merge in MERGES]
    tokens = {**dict.fromkeys([*ALPHABET, *made], NORMAL), **(special or {"<|end|>": CONTROL})}
    named = {} if pre is None else {"pre": pre}
    return vocabulary("gpt2", tokens, **{"merges": strings(*MERGES), **named, **more})


#: Numbers are exact in 32 bits.
PIECES = {
    "<unk>": (UNKNOWN, 0.0),
    "<s>": (CONTROL, 0.0),
    "</s>": (CONTROL, 0.0),
    "▁": (NORMAL, -3.0),
    "a": (NORMAL, -4.0),
    "b": (NORMAL, -5.0),
    "▁a": (NORMAL, -1.0),
    "ab": (NORMAL, -2.0),
    "<x>": (USER, -1000.0),
}


def pieces(model: str, **more: Written) -> dict[str, Written]:
    return vocabulary(
        model,
        {piece: kind for piece, (kind, _) in PIECES.items()},
        scores=Items(F32, [score for _, score in PIECES.values()]),
        **more,
    )


BERT = {
    **dict.fromkeys(("[PAD]", "[UNK]", "[CLS]", "[SEP]"), CONTROL),
    **dict.fromkeys(("[unused0]", "▁hello", "s", "▁!"), NORMAL),
}
BERT_IDS = {
    "unknown_token_id": Typed(U32, 1),
    "cls_token_id": Typed(U32, 2),
    "seperator_token_id": Typed(U32, 3),
}


def bert(tokens: Mapping[str, int] = BERT, **more: Written) -> dict[str, Written]:
    return vocabulary("bert", tokens, **BERT_IDS, **more)


SPELLED = {
    "<unk>": UNKNOWN,
    "<bos>": CONTROL,
    **dict.fromkeys(("a", "▁", "▁a"), NORMAL),
    **{f"<0x{byte:02X}>": BYTE for byte in range(256)},
}


def gemma4(model: str = "gemma4", **more: Written) -> dict[str, Written]:
    return vocabulary(model, SPELLED, merges=strings("▁ a"), unknown_token_id=Typed(U32, 0), **more)


def load(folder: Path, entries: Entries, pattern: str | None = None, **options: Any) -> Any:
    return compat_bpe.load(write(folder / "model.gguf", entries, **options), pattern=pattern)


#: The names that mean something of their own.
DISTINCT = list({id(pre): name for name, pre in reversed(PRE.items())}.values())


SMALL = {
    "gpt2": vocabulary(
        "gpt2",
        {"a": NORMAL, "b": NORMAL, "ab": NORMAL, "<x>": CONTROL},
        merges=strings("a b"),
        pre="gpt-2",
        bos_token_id=Typed(U32, 3),
        add_bos_token=True,
    ),
    "llama": pieces("llama", bos_token_id=Typed(U32, 1), add_space_prefix=True),
    "t5": pieces("t5", unknown_token_id=Typed(U32, 0), remove_extra_whitespaces=True),
    "bert": bert(),
    "gemma4": vocabulary(
        "gemma4", {"a": NORMAL, "▁": NORMAL, "▁a": NORMAL, "<unk>": UNKNOWN}, merges=strings("▁ a")
    ),
}
