"""Mistral's files, loaded here and by mistral-common.

Run as ``test_clients.py``.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import compat_bpe
from tests.clients.environments import HERE, TEXTS, Environment, make_environment
from tools.reference_files import reference_file

pytestmark = pytest.mark.clients

REQUIREMENTS = ["mistral-common[sentencepiece]==1.13.1"]
#: The published files, and the endings of their names.
PUBLISHED = {
    "tekken_2407": "tekken.json",
    "tekken": "tekken.json",
    "mistral_v1": "tokenizer.model.v1",
    "mistral_v2": "tokenizer.model.v2",
    "mistral_v3": "tokenizer.model.v3",
    "mistral_v7": "tokenizer.model.v7m1",
}
#: Files that are together in a folder. The models of later versions differ from those of earlier.
FOLDERS = [
    {"tokenizer.model": "mistral_v1", "tokenizer.model.v3": "mistral_v3"},
    {"tokenizer.model": "mistral_v3", "tokenizer.model.v1": "mistral_v1"},
    {"tokenizer.model.v2": "mistral_v2", "tokenizer.model.v1": "mistral_v1"},
    {"tokenizer.model.v7": "mistral_v7", "tokenizer.model.v3m1": "mistral_v1"},
    {"tokenizer.model.v7m1": "mistral_v7", "tokenizer.model.v7": "mistral_v1"},
    {"tekken.json": "tekken", "tokenizer.model.v7": "mistral_v1"},
]
VERSIONS = ["v1", "v2", "v3", "v7", "v11", "v13", "v15", "v16", None]
LISTED = [None, 0, 1, 5, 20, 30]


def small_tekkens(folder: Path) -> list[Path]:
    """Files with the first tokens of the published one, of all versions and lists of names."""
    whole = json.loads(reference_file("tekken").read_bytes())
    paths = []
    for version in VERSIONS:
        for count in LISTED:
            config = {
                **whole["config"],
                "version": version,
                "default_num_special_tokens": 30,
                "default_vocab_size": 1030,
            }
            listed = [
                {"rank": number, "token_str": f"[{number}]", "is_control": True}
                for number in range(count or 0)
            ]
            path = folder / f"{version}_{count}" / "tekken.json"
            path.parent.mkdir()
            file: dict[str, Any] = {"config": config, "vocab": whole["vocab"][:1100]}
            if count is not None:
                file["special_tokens"] = listed
            path.write_text(json.dumps(file))
            paths.append(path)
    return paths


def test_files_in_mistral_common(environments: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts.json"
    texts.write_text(json.dumps(TEXTS))
    paths = small_tekkens(tmp_path)
    for name, called in PUBLISHED.items():
        paths.append(tmp_path / name / called)
        paths[-1].parent.mkdir()
        shutil.copy(reference_file(name), paths[-1])
    for number, files in enumerate(FOLDERS):
        paths.append(tmp_path / f"folder {number}")
        paths[-1].mkdir()
        for called, name in files.items():
            shutil.copy(reference_file(name), paths[-1] / called)
    python = make_environment(environments / "mistral", REQUIREMENTS)
    script = HERE / "scripts" / "mistral_common.py"
    lines = Environment(python, tmp_path).run("-I", script, texts, *paths, cwd=tmp_path)
    loaded = refused = 0
    for path, line in zip(paths, lines.splitlines()):
        expected = json.loads(line)
        if isinstance(expected, str):
            with pytest.raises(ValueError, match=r"tekken.json: "):
                compat_bpe.load(path)
            refused += 1
            continue
        name, size, special, ids = expected
        enc = compat_bpe.load(path)
        assert enc.n_vocab == size, path
        if special:
            assert enc._special_tokens == special, path
        assert [enc.encode(text, disallowed_special=()) for text in TEXTS] == ids, path
        if name:
            assert compat_bpe.load(path / name).encode("a") == enc.encode("a")
        loaded += 1
    # Those of unknown versions, and of later ones without a list.
    assert (loaded, refused) == (len(paths) - 15, 15)
