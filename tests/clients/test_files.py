"""Files and folders, loaded here and by transformers and mistral-common."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest

import compat_bpe
from tests.clients.environments import TEXTS, Environment, make_environment
from tools.reference_files import reference_file
from tools.slow_tokenizers import random_folder

pytestmark = pytest.mark.clients
tokenizers = pytest.importorskip("tokenizers")

#: The version whose fast classes are followed; 5 makes other tokenizers of such folders.
TRANSFORMERS = ["transformers==4.57.6", "protobuf==6.33.2", "sacremoses==0.1.1"]
COUNT = 400
FLAGS = ("id", "content", "special", "normalized", "lstrip", "rstrip", "single_word")
PARTS = ["h", "e", "he", " ", "  ", "hej hej", "hello", " he", "É", "<q>", "[X]", "<", "中"]


@pytest.fixture(scope="module")
def made(environments: Path, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, Any]]:
    """Each folder, and the ``tokenizer.json`` that transformers makes of it, or its error."""
    random, root = Random(2), tmp_path_factory.mktemp("folders")
    folders = [root / f"{number}" for number in range(COUNT)]
    for folder in folders:
        folder.mkdir()
        for name, text in random_folder(random)[1].items():
            (folder / name).write_text(text, "utf-8")
    python = make_environment(environments / "folders", TRANSFORMERS)
    printed = Environment(python, root).script("auto_tokenizer", "classes", *folders, cwd=root)
    return [(folder, json.loads(line)) for folder, line in zip(folders, printed.splitlines())]


def test_folders_of_classes_in_transformers(made: list[tuple[Path, Any]]) -> None:
    random, compared = Random(3), 0
    assert len(made) == COUNT
    for folder, content in made:
        if isinstance(content, str):
            continue  # transformers fails; load refuses some of these, and reads others
        ours: Any = compat_bpe.load(folder)
        theirs: Any = tokenizers.Tokenizer.from_str(json.dumps(content))
        assert [
            tuple(getattr(token, flag) for flag in FLAGS)
            for token in sorted(ours.added_tokens, key=lambda token: token.id)
        ] == [tuple(token[flag] for flag in FLAGS) for token in content["added_tokens"]], folder
        parts = [*PARTS, *(token["content"] for token in content["added_tokens"])]
        for _ in range(20):
            text = "".join(random.choices(parts, k=6))
            for whole in (False, True):
                compare(ours, theirs, text, whole)
        compared += 1
    assert compared > COUNT * 0.9


def compare(ours: Any, theirs: Any, text: str, whole: bool) -> None:
    try:
        expected = theirs.encode(text, add_special_tokens=whole)
    except Exception as error:
        assert "unk" in str(error).lower()  # noqa: PT017
        with pytest.raises(ValueError, match="unknown"):
            ours.encode(text, allowed_special="all")
        return
    found = ours.encode_with_offsets(text, allowed_special="all", add_special_tokens=whole)
    assert (found.ids, found.offsets) == (expected.ids, expected.offsets), text


MISTRAL = ["mistral-common[sentencepiece]==1.13.1"]
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
MISTRAL_FOLDERS = [
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
    for number, files in enumerate(MISTRAL_FOLDERS):
        paths.append(tmp_path / f"folder {number}")
        paths[-1].mkdir()
        for called, name in files.items():
            shutil.copy(reference_file(name), paths[-1] / called)
    python = make_environment(environments / "mistral", MISTRAL)
    lines = Environment(python, tmp_path).script("mistral_common", texts, *paths, cwd=tmp_path)
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
