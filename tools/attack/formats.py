"""Damaged and hostile files of every format that ``load`` reads.

Each case changes a small file: its bytes, or the members of its JSON, which become huge, deep, odd
or repeated. What loads must encode, place and decode a text. All else is a ``ValueError``, a
``KeyError`` or an ``OSError``, within the time and the memory of a case.
"""

from __future__ import annotations

import base64
import copy
import gzip
import json
import struct
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import compat_bpe
from tests.formats import small_files
from tests.kinds import KINDS, SMALL_MODELS, kind_path, model_path

from ..slow_tokenizers import random_folder

SECONDS = 30
MEMORY = 3 << 30

_TEXTS = ["", "a", "ab " * 40, "Hello, wörld! 中文 😀\n\n", "a" * 300, "<s>x</s>", "e\u0301\r\n\0"]
_REFUSED = (ValueError, KeyError, OSError)

#: Values that take the place of a member.
_VALUES: list[Callable[[Random], Any]] = [
    lambda _: None,
    lambda _: True,
    lambda random: random.choice([0, -1, 1 << 31, 1 << 40, 1 << 60, (1 << 62) + 1, 10**400]),
    lambda random: random.choice([0.5, 1e308, -1e308, 5e-324]),
    lambda random: random.choice("aé▁ \0\U0001f600") * random.choice([0, 1, 9, 1000, 100_000]),
    lambda random: [0] * random.choice([0, 1, 100_000]),
    lambda _: {},
    lambda _: _DEEP,
]
#: It stands for a value that is nested too deeply to be written by ``json``.
_DEEP = "nested deeply"


def _replace(random: Random) -> dict[str, Any]:
    old = random.choice([{"String": "a"}, {"Regex": ""}, {"Regex": "."}, {"Regex": "a*"}])
    new = random.choice(["aa", "", "a" * 60, "b" * 5000, "a" * 200_000])
    return {"type": "Replace", "pattern": old, "content": new}


def _charsmap(random: Random) -> dict[str, Any]:
    """Return a map with random units; many share their nodes."""
    blocks = random.randint(1, 24)
    units = array("I", [random.choice((0, 0xFF)) for _ in range(256 * blocks)])
    units[0] = 256 << 10
    for block in range(1, blocks):
        below = 256 * random.choice([min(block + 1, blocks - 1), random.randrange(blocks)])
        first = random.choice([0x00, 0x61, 0x80, 0xC2, 0xE1, 0xF0])
        for byte in range(first, random.randint(first, 255) + 1):
            place = block * 256 + byte
            units[place] = (place ^ below) << 10 | random.choice((0, 0, 256)) | byte
        if random.random() < 0.5:
            units[block * 256] = 1 << 31 | random.randrange(9)
    text = random.choice([b"x\0", b"x" * 70_000 + b"\0", "é\0".encode() * 9])
    blob = (4 * len(units)).to_bytes(4, "little") + units.tobytes() + text
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(blob).decode()}


def _template(random: Random) -> dict[str, Any]:
    count = random.choice([1, 30, 3000, 100_000])
    ids = random.choice([1, 30, 3000])
    text, token = (
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "t", "type_id": 0}},
    )
    tokens = {"t": {"id": "t", "ids": [0] * ids, "tokens": ["a"] * ids}}
    single = [random.choice([text, token])] * count
    return {"type": "TemplateProcessing", "single": single, "pair": [], "special_tokens": tokens}


def _bomb(random: Random, file: dict[str, Any]) -> None:
    """Make a part of a file one that asks for far more than it is."""
    count = random.choice([1, 3, 40, 400])
    replaced = [_replace(random)] * count
    prepend = {"type": "Prepend", "prepend": "a" * random.choice([0, 1, 9, 50_000])}
    kind = random.randrange(8)
    if kind == 0:
        file["normalizer"] = {"type": "Sequence", "normalizers": replaced}
    elif kind == 1:
        file["normalizer"] = {"type": "Sequence", "normalizers": [prepend, *replaced] * count}
    elif kind == 2:
        file["normalizer"] = _charsmap(random)
    elif kind == 3:
        file["decoder"] = {"type": "Sequence", "decoders": replaced}
    elif kind == 4:
        file["post_processor"] = _template(random)
    elif kind == 5:
        file["padding"] = {
            "strategy": random.choice(["BatchLongest", {"Fixed": random.choice([9, 1 << 60])}]),
            "direction": "Right",
            "pad_to_multiple_of": random.choice([None, 0, 8, 1 << 60]),
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "a",
        }
    elif kind == 6:
        beginning = "a" * random.choice([1, 40])
        ends = ["a" * count for count in range(random.choice([9, 300, 1100]))]
        ends += [f"{number}" for number in range(random.choice([0, 2000]))]
        vocab = [["<unk>", -9.0], *([beginning + end, -1.0 - random.random()] for end in ends)]
        file["model"] = {"type": "Unigram", "unk_id": 0, "vocab": vocab}
    else:
        part = random.choice(["normalizer", "pre_tokenizer", "decoder", "post_processor"])
        names = {"pre_tokenizer": "pretokenizers", "post_processor": "processors"}
        value: Any = {"type": "Fuse"}
        times = random.choice([1, 2])
        for _ in range(random.choice([3, 60, 120]) // times**4):
            value = {"type": "Sequence", names.get(part, f"{part}s"): [value] * times}
        file[part] = value


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    items: Any = value.items() if isinstance(value, dict) else ()
    for key, item in enumerate(value[:50]) if isinstance(value, list) else items:
        yield from _places(item, (*path, key))


def _changed(random: Random, content: Any) -> Any:
    """Return JSON with some members that are others, missing or repeated."""
    found = copy.deepcopy(content)
    for _ in range(random.randint(1, 3)):
        places = list(_places(found))
        if not places:
            break
        *path, last = random.choice(places)
        parent: Any = found
        for key in path:
            parent = parent[key]
        how = random.random()
        if how < 0.2:
            del parent[last]
        elif how < 0.3 and isinstance(parent, list) and len(parent) < 100:
            parent += parent * random.choice([1, 100])
        else:
            parent[last] = random.choice(_VALUES)(random)
    return found


def _damaged(random: Random, data: bytes) -> bytes:
    """Return a file with some bytes that are others, missing, repeated or more."""
    found = bytearray(data)
    for _ in range(random.choice([0, 1, 1, 2, 8])):
        start = random.randrange(len(found) + 1)
        end = min(len(found), start + random.choice([1, 1, 4, 100]))
        odd = [b"\xff", b"\0", b"\n", b"9" * 5000, b"1e999", b'"\\ud800"', b"[" * 3000, b"\x80\xff"]
        new = random.choice([b"", random.randbytes(3), *odd, bytes(found[start:end]) * 50])
        found[start:end] = new
        if random.random() < 0.1:
            del found[random.randrange(len(found) + 1) :]
    return bytes(found)


def _gguf(random: Random) -> bytes:
    """Return a file whose one value is an array of arrays, which are empty at last."""
    count, depth = random.choice([9, 65_536, 1_000_000]), random.choice([1, 2, 3])
    key = random.choice([b"general.x", b"tokenizer.ggml.tokens"])
    empty = struct.pack("<IQ", 9, 1) * (depth - 1) + struct.pack("<IQ", 8, 0)
    head = b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, len(key)) + key
    return head + struct.pack("<IIQ", 9, 9, count) + empty * count


def _gzip(random: Random) -> bytes:
    """Return a vocabulary in a gzip with a long name, or long zeros after it."""
    size = random.choice([9, 10_000_000])
    packed = gzip.compress(b'"bpe_simple_vocab_16e6.txt#version: 0.2\na b\n')
    named = packed[:3] + b"\x08" + packed[4:10] + b"n" * size + b"\0" + packed[10:]
    return random.choice([named, packed + bytes(size), packed * (size // 9000), named[:-9]])


def _folder(random: Random) -> dict[str, bytes]:
    """Return the files of a folder."""
    kind = random.randrange(8)
    if kind <= 1:
        file = json.loads(Path(kind_path(random.choice(KINDS))).read_bytes())
        if kind:
            _bomb(random, file)
        return {"tokenizer.json": _written(random, file)}
    if kind == 2:
        file = small_files.tekken(random.choice([4, 10, 0, 1 << 40]))
        return {"tekken.json": _written(random, file)}
    if kind == 3:
        model = Path(model_path(random.choice(SMALL_MODELS))).read_bytes()
        return {"tokenizer.model": _damaged(random, model)}
    if kind == 4:
        _, files = random_folder(random)
        changed = random.choice(sorted(files))
        return {
            name: _damaged(random, text.encode()) if name == changed else text.encode()
            for name, text in files.items()
        }
    if kind == 5:
        return {"a.gguf": _gguf(random)}
    if kind == 6:
        return {"bpe_simple_vocab_16e6.txt.gz": _gzip(random)}
    ranks = b"".join(base64.b64encode(bytes([n])) + f" {n}\n".encode() for n in range(256))
    return random.choice(
        [
            {"own.tiktoken": _damaged(random, ranks)},
            {small_files.NAME: _damaged(random, small_files.WHOLE)},
            {"tokenizer.tok.json": _written(random, small_files.grok())},
        ]
    )


def _written(random: Random, content: Any) -> bytes:
    if random.random() < 0.7:
        content = _changed(random, content)
    depth = random.choice([40, 90, 900, 5000])
    opened, closed = random.choice([("[", "]"), ('{"a":', "}")])
    deep = opened * depth + "1" + closed * depth
    data = json.dumps(content).replace(f'"{_DEEP}"', deep).encode()
    return _damaged(random, data) if random.random() < 0.3 else data


def attack(random: Random) -> None:
    """Load one folder and use what it gives."""
    with TemporaryDirectory() as name:
        for file, data in _folder(random).items():
            Path(name, file).write_bytes(data)
        pattern = "gpt2" if Path(name, "own.tiktoken").exists() else None
        try:
            loaded: Any = compat_bpe.load(name, pattern=pattern)
        except _REFUSED as error:
            assert str(error).strip(), "an error says what is wrong"  # noqa: PT017
            return
        for text in random.sample(_TEXTS, 3):
            try:
                ids = loaded.encode(text, allowed_special="all")
                loaded.decode(ids)
                loaded.count(text)
                if hasattr(loaded, "encode_with_offsets"):
                    loaded.encode_with_offsets(
                        text,
                        allowed_special="all",
                        add_special_tokens=True,
                        truncation=getattr(loaded, "truncation", None),
                        padding=getattr(loaded, "padding", None),
                    )
            except _REFUSED:
                pass
