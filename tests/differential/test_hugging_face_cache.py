"""``hf:`` names against the cache of ``huggingface_hub``, which tokenizers brings along."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from huggingface_hub import try_to_load_from_cache

from compat_bpe.encodings.local_stores import find_stored
from tests.encodings.stores import FIRST, SECOND, VARIABLES, cached

_WHERE = "from huggingface_hub import constants; print(constants.HF_HUB_CACHE)"
_OURS = (
    "from compat_bpe.encodings.local_stores import find_stored\n"
    "try: find_stored('hf:acme/none')\n"
    "except OSError as error: print(error.strerror.partition(', ')[2].partition(';')[0])\n"
)


@pytest.mark.parametrize("revision", [None, "main", "v1", "refs/pr/1", FIRST, SECOND, "none"])
def test_the_same_snapshot(
    revision: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached(tmp_path)
    cached(tmp_path, commit=SECOND, ref="v1")
    cached(tmp_path, commit="3" * 40, ref="refs/pr/1")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    reference = try_to_load_from_cache(
        "acme/Small", "vocab.bpe", cache_dir=tmp_path, revision=revision
    )
    name = "hf:acme/Small" + (f"@{revision}" if revision else "")
    if not isinstance(reference, str):
        with pytest.raises(FileNotFoundError):
            find_stored(name)
    else:
        assert find_stored(name).path == os.path.dirname(reference)


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"XDG_CACHE_HOME": "/x"},
        {"XDG_CACHE_HOME": "/x", "HF_HOME": "~/h"},
        {"HF_HOME": "/h", "HUGGINGFACE_HUB_CACHE": "$HOME/old"},
        {"HUGGINGFACE_HUB_CACHE": "/old", "HF_HUB_CACHE": "/new"},
    ],
)
def test_the_same_folder(variables: dict[str, str], tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    environment.update(variables, HOME=str(tmp_path), USERPROFILE=str(tmp_path))
    found = [
        subprocess.run(
            [sys.executable, "-c", script],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for script in (_WHERE, _OURS)
    ]
    assert found[0] == found[1] != ""
