"""The tiny tokenizers of the fixtures, one of each kind, for tests of all kinds."""

from __future__ import annotations

import json
import tempfile
from base64 import b64decode
from functools import cache
from pathlib import Path

from compat_bpe import load
from compat_bpe.encodings.tokenizer import Tokenizer

FIXTURES = Path(__file__).parents[1] / "fixtures" / "kinds"
KINDS = sorted(path.stem for path in FIXTURES.glob("*.json"))

MODELS = FIXTURES.with_name("sentencepiece")
SMALL_MODELS = sorted(f"{path.stem}.model" for path in MODELS.glob("*.json"))


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


@cache
def kind_path(name: str) -> str:
    """The path of a ``tokenizer.json``."""
    path = Path(_folder().name, name, "tokenizer.json")
    path.parent.mkdir()
    content = json.loads((FIXTURES / f"{name}.json").read_bytes())["tokenizer"]
    path.write_text(json.dumps(content), "utf-8")
    return str(path)


@cache
def model_path(name: str) -> str:
    """The path of one of ``SMALL_MODELS``."""
    path = Path(_folder().name, name)
    content = json.loads(MODELS.joinpath(name).with_suffix(".json").read_bytes())["model"]
    path.write_bytes(b64decode(content))
    return str(path)


@cache
def of_kind(name: str) -> Tokenizer:
    found = load(kind_path(name))
    assert isinstance(found, Tokenizer)
    return found
