"""The ids that the real libraries gave, for encodings and small tokenizers of every kind."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

from .place import Check, Place


def repaired(text: str) -> str:
    """Return a text with its surrogates joined, and the single ones replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def encodings(place: Place) -> Iterator[Check]:
    tokens = place.module()
    names = tokens.list_encoding_names()
    stored = [name.rpartition("/")[2] for name in place.names("golden/*.json")]
    yield Check("names", sorted(f"{name}.json" for name in names), stored)
    for name in names:
        encoding = tokens.get_encoding(name)
        cases = place.fixture(f"golden/{name}.json")
        for text, ids in cases["ordinary"][:: place.every]:
            found = [encoding.encode_ordinary(text), encoding.count(text), encoding.decode(ids)]
            yield Check(f"{name} {text!a}", found, [ids, len(ids), repaired(text)])
        for text, allowed, ids in cases["special"][:: place.every]:
            chosen = "all" if allowed == "all" else set(allowed)
            given = encoding.encode(text, allowed_special=chosen, disallowed_special=())
            yield Check(f"{name} {text!a} {allowed}", given, ids)
        tokens.unload()


def tokenizers(place: Place) -> Iterator[Check]:
    for name in place.names("kinds/*.json"):
        stored = place.fixture(name)
        encoding = place.module().load(place.write(f"{name}/tokenizer.json", stored["tokenizer"]))
        for case in stored["cases"]:
            yield Check(f"{name} {case['text']!a}", _answers(encoding, case), case)


def _answers(encoding: Any, case: dict[str, Any]) -> dict[str, Any]:
    """Return what a tokenizer makes of the text of a case."""
    text = case["text"]
    found = encoding.encode_with_offsets(text, allowed_special="all")
    return {
        "text": text,
        "ids": encoding.encode(text, allowed_special="all"),
        "tokens": found.tokens,
        "offsets": [list(place) for place in found.offsets],
        "with_special": encoding.encode(text, allowed_special="all", add_special_tokens=True),
        "decoded": encoding.decode(case["ids"]),
        "decoded_without_special": encoding.decode(case["ids"], skip_special_tokens=True),
    }


def sentencepiece(place: Place) -> Iterator[Check]:
    for name in place.names("sentencepiece/*.json"):
        stored = place.fixture(name)
        model = place.write(f"{name}/my.model", base64.b64decode(stored["model"]))
        encoding = place.module().load(model)
        for case in stored["cases"]:
            text = case["text"]
            answers = {
                "text": text,
                "ids": encoding.encode(text),
                "pieces": encoding.encode_as_pieces(text),
                "decoded": encoding.decode(case["ids"]),
            }
            yield Check(f"{name} {text!a}", answers, case)
