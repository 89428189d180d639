"""Random folders without a ``tokenizer.json``, loaded here and by transformers.

Run as ``test_clients.py``. The same folders every time: 400 of a seed.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

import compat_bpe
from tests.clients.environments import HERE, Environment, make_environment
from tools.slow_tokenizers import random_folder

pytestmark = pytest.mark.clients
tokenizers = pytest.importorskip("tokenizers")

#: The version whose fast classes are followed; 5 makes other tokenizers of such folders.
REQUIREMENTS = ["transformers==4.57.6", "protobuf==6.33.2", "sacremoses==0.1.1"]
COUNT = 400
FLAGS = ("id", "content", "special", "normalized", "lstrip", "rstrip", "single_word")
TEXTS = ["h", "e", "he", " ", "  ", "hej hej", "hello", " he", "É", "<q>", "[X]", "<", "中"]


@pytest.fixture(scope="module")
def made(environments: Path, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, Any]]:
    """Each folder, and the ``tokenizer.json`` that transformers makes of it, or its error."""
    random, root = Random(2), tmp_path_factory.mktemp("folders")
    folders = [root / f"{number}" for number in range(COUNT)]
    for folder in folders:
        folder.mkdir()
        for name, text in random_folder(random)[1].items():
            (folder / name).write_text(text, "utf-8")
    python = make_environment(environments / "folders", REQUIREMENTS)
    printed = Environment(python, root).run(
        "-I", HERE / "scripts" / "folders.py", *folders, cwd=root
    )
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
        parts = [*TEXTS, *(token["content"] for token in content["added_tokens"])]
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
