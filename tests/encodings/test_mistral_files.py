"""The files of Mistral's models, by name, by content and in a folder."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from compat_bpe import load
from compat_bpe.encodings.local_stores import recognise
from compat_bpe.encodings.sentencepiece import SentencePiece

FIXTURES = Path(__file__).parents[2] / "fixtures" / "sentencepiece"


def model(name: str) -> bytes:
    return base64.b64decode(json.loads((FIXTURES / f"{name}.json").read_bytes())["model"])


#: Two models that give different ids, and the ids of ``TEXT``.
NEW, OLD = model("bpe_bytes"), model("unigram")
TEXT = "an old text"
VERSIONS = [f"v{number}" for number in (1, 2, 3, 7)] + ["v2m1", "v3m1", "v7m1"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("by", ["file", "folder"])
def test_a_model_with_its_version(tmp_path: Path, version: str, by: str) -> None:
    path = tmp_path / f"tokenizer.model.{version}"
    path.write_bytes(NEW)
    enc = load(path if by == "file" else tmp_path)
    assert isinstance(enc, SentencePiece)
    assert enc.name == tmp_path.name
    (tmp_path / "plain.model").write_bytes(NEW)
    assert enc.encode(TEXT) == load(tmp_path / "plain.model").encode(TEXT)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_damaged_model_is_known_by_its_name(tmp_path: Path, version: str) -> None:
    name = f"mistral_instruct_tokenizer_240323.model.{version}"
    assert recognise(name, b"") == "sentencepiece"
    (tmp_path / name).write_bytes(b"\xff" * 9)
    with pytest.raises(ValueError, match=rf"{name}: byte "):
        load(tmp_path)


@pytest.mark.parametrize("name", ["x.model.v", "x.model.vocab", "x.model.v3m", "x.model.v3.bak"])
def test_other_names_are_no_models(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="no vocabulary of a kind known"):
        recognise(name, b"")
    (tmp_path / name).write_bytes(NEW)
    with pytest.raises(ValueError, match="no vocabulary is in it"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        (".v3", ""),
        (".v3", ".v1"),
        (".v7", ".v3"),
        (".v7m1", ".v7"),
        (".v7", ".v3m1"),
        (".v11", ".v3"),
    ],
)
def test_of_several_versions_the_newest_is_taken(tmp_path: Path, newer: str, older: str) -> None:
    expected = []
    for version, data in ((newer, NEW), (older, OLD)):
        (tmp_path / f"tokenizer.model{version}").write_bytes(data)
        expected.append(load(tmp_path / f"tokenizer.model{version}").encode(TEXT))
    assert expected[0] != expected[1]
    assert load(tmp_path).encode(TEXT) == expected[0]


def test_a_name_of_its_own_comes_after_tokenizer_model(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.model").write_bytes(OLD)
    (tmp_path / "mistral.model.v3").write_bytes(NEW)
    assert load(tmp_path).encode(TEXT) == load(tmp_path / "tokenizer.model").encode(TEXT)


def test_versions_of_different_models_cannot_be_compared(tmp_path: Path) -> None:
    for name in ("a.model.v3", "b.model.v7"):
        (tmp_path / name).write_bytes(NEW)
    with pytest.raises(ValueError, match=r"there are a.model.v3, b.model.v7: name the file"):
        load(tmp_path)
