"""The ids that the real libraries gave for hard texts, stored by ``tools/build_golden.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import compat_bpe
from compat_bpe import get_encoding, list_encoding_names
from compat_bpe.encodings.tokenizer import Tokenizer

GOLDEN = Path(__file__).parents[1] / "fixtures" / "golden"


def load(name: str) -> Any:
    return json.loads((GOLDEN / f"{name}.json").read_bytes())


def repaired(text: str) -> str:
    """What is left of a text: surrogates joined, lone ones replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def test_each_encoding_has_its_file() -> None:
    assert sorted(path.stem for path in GOLDEN.glob("*")) == sorted(list_encoding_names())


@pytest.mark.parametrize("name", list_encoding_names())
def test_ordinary(name: str) -> None:
    encoding = get_encoding(name)
    cases = load(name)["ordinary"]
    assert len(cases) > 300
    for text, ids in cases:
        assert encoding.encode_ordinary(text) == ids, ascii(text)
        assert encoding.encode(text, disallowed_special=()) == ids, ascii(text)
        assert encoding.count(text) == len(ids), ascii(text)
        assert encoding.decode(ids) == repaired(text)


@pytest.mark.parametrize("name", list_encoding_names())
def test_special(name: str) -> None:
    encoding = get_encoding(name)
    cases = load(name)["special"]
    assert len(cases) > 40, len(cases)
    for text, allowed, ids in cases:
        chosen: Any = "all" if allowed == "all" else set(allowed)
        got = encoding.encode(text, allowed_special=chosen, disallowed_special=())
        assert got == ids, (ascii(text), allowed)
        assert encoding.decode(ids) == repaired(text)


KINDS = sorted((GOLDEN.parent / "kinds").glob("*.json"))


@pytest.mark.parametrize("path", KINDS, ids=lambda path: str(path.stem))
def test_kinds(path: Path, tmp_path: Path) -> None:
    stored = json.loads(path.read_bytes())
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps(stored["tokenizer"]), "utf-8")
    encoding = compat_bpe.load(file)
    assert isinstance(encoding, Tokenizer)
    assert len(stored["cases"]) > 20
    for case in stored["cases"]:
        text, ids = case["text"], case["ids"]
        assert encoding.encode(text, allowed_special="all") == ids, ascii(text)
        found = encoding.encode_with_offsets(text, allowed_special="all")
        assert (found.ids, found.tokens) == (ids, case["tokens"]), ascii(text)
        assert found.offsets == list(map(tuple, case["offsets"])), ascii(text)
        with_special = encoding.encode(text, allowed_special="all", add_special_tokens=True)
        assert with_special == case["with_special"], ascii(text)
        assert encoding.decode(ids) == case["decoded"], ascii(text)
        without = encoding.decode(ids, skip_special_tokens=True)
        assert without == case["decoded_without_special"], ascii(text)


def test_kinds_of_every_model() -> None:
    assert {json.loads(path.read_bytes())["tokenizer"]["model"]["type"] for path in KINDS} == {
        *("BPE", "Unigram", "WordLevel", "WordPiece")
    }
