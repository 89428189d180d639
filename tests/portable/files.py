"""Files of every format, read and written; and the bytes of what is written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .place import CORPUS, TEXT, Check, Place, digest


def loaded(place: Place) -> Iterator[Check]:
    tokens = place.module()
    gpt2 = tokens.load(place.fixtures / "gpt2_small")
    yield Check("folder of gpt2", gpt2.encode_ordinary(TEXT))
    pair = [place.fixtures / "gpt2_small" / name for name in ("encoder.json", "vocab.bpe")]
    by_hand = tokens.load_gpt2(*pair, pattern=r"\w+|\W+")
    yield Check("load_gpt2", by_hand.encode_ordinary(TEXT))
    bert = tokens.load(place.fixtures / "docs" / "my-bert" / "vocab.txt")
    yield Check("vocab.txt", bert.encode("Zoë was a puppeteer."))
    for number, stored in enumerate(place.fixture("slow_tokenizers.json")):
        for name, content in stored["files"].items():
            path = place.write(f"slow/{number}/{name}", content)
        ids = _ids_or_error(tokens, path.parent)
        yield Check(f"slow_tokenizers {number} {stored['class']}", ids)


def _ids_or_error(tokens: Any, folder: Path) -> object:
    """Return the ids of a text; or an error, without the path in it."""
    try:
        return tokens.load(folder).encode("hello low  Zoë", disallowed_special=())
    except ValueError as error:
        return str(error).replace(str(folder), "").replace("\\", "/").lstrip("/")


def saved(place: Place) -> Iterator[Check]:
    tokens, save = place.module(), place.module("save")
    # The large one takes seconds; where few golden cases are taken, it is left out.
    for name in ("gpt2_small", "r50k_base")[: 2 if place.every < 64 else 1]:
        small = name == "gpt2_small"
        encoding = tokens.load(place.fixtures / name) if small else tokens.get_encoding(name)
        ids = encoding.encode_ordinary(TEXT)
        path = place.folder / name / "tokenizer.json"
        path.parent.mkdir()
        save.save_tokenizer_json(encoding, path)
        yield Check(f"{name} tokenizer.json", digest(path.read_bytes()))
        yield Check(f"{name} read again", tokens.load(path).encode_ordinary(TEXT), ids)
    encoding = tokens.get_encoding("cl100k_base")
    path = place.folder / "cl100k_base.tiktoken"
    save.save_tiktoken(encoding, path)
    # The beginning of the SHA-256 that tiktoken itself checks.
    yield Check("the published file", digest(path.read_bytes()), "223921b76ee99bde")
    own = tokens.load_tiktoken(path, pattern="cl100k_base")
    yield Check("read again", own.encode_ordinary(TEXT), encoding.encode_ordinary(TEXT))
    pair = [place.folder / name for name in ("vocab.json", "merges.txt")]
    save.save_gpt2(tokens.load(place.fixtures / "gpt2_small"), *pair)
    yield Check("gpt2", [digest(path.read_bytes()) for path in pair])


def trained(place: Place) -> Iterator[Check]:
    """A vocabulary as ``train`` writes it: the same bytes everywhere."""
    encoding = place.module("train").train_bpe(CORPUS, 300)
    written = place.folder / "vocabulary"
    written.mkdir()
    place.module("train.write").write_vocabulary(written, encoding, pattern="gpt2")
    for path in sorted(written.iterdir()):
        if path.name != "manifest.json":  # it has the version of the package in it
            yield Check(path.name, digest(path.read_bytes()))
    again = place.module().load(written)
    yield Check("read again", again.encode_ordinary(TEXT), encoding.encode_ordinary(TEXT))
