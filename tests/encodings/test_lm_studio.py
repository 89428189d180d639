"""Names of models in LM Studio's folders."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from compat_bpe import load
from compat_bpe.encodings.local_stores import find_stored
from tests.encodings.stores import SMALL


@pytest.mark.parametrize("place", [".lmstudio/models", ".cache/lm-studio/models"])
def test_lm_studio(place: str, home: Path) -> None:
    folder = home / place / "acme" / "Small-GGUF"
    folder.mkdir(parents=True)
    for name in ("mmproj-Small-f16.gguf", "Small-Q4_K_M.gguf"):
        (folder / name).write_bytes(b"GGUF")
    path = str(folder / "Small-Q4_K_M.gguf")
    assert find_stored("lmstudio:acme/Small-GGUF") == (path, "Small-GGUF")
    assert find_stored("lmstudio:acme/Small-GGUF/Small-Q4_K_M.gguf").path == path
    (folder / "Small-Q8_0.gguf").write_bytes(b"GGUF")
    with pytest.raises(ValueError, match=r"Small-Q8_0.gguf: add .* lmstudio:acme/Small-GGUF/FILE"):
        load("lmstudio:acme/Small-GGUF")
    with pytest.raises(FileNotFoundError, match="`lms get acme/Other`"):
        load("lmstudio:acme/Other")


def test_a_model_of_lm_studio_in_parts(home: Path) -> None:
    folder = home / ".lmstudio" / "models" / "acme" / "Large"
    folder.mkdir(parents=True)
    for number in (1, 2, 3):
        (folder / f"Large-0000{number}-of-00003.gguf").write_bytes(b"GGUF")
    assert find_stored("lmstudio:acme/Large").path.endswith("Large-00001-of-00003.gguf")


def test_a_folder_of_lm_studio_with_another_vocabulary(home: Path) -> None:
    shutil.copytree(SMALL, home / ".lmstudio" / "models" / "acme" / "Small")
    text = "the tokens of a text"
    assert load("lmstudio:acme/Small").encode(text) == load(SMALL).encode(text)
