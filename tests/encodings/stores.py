"""Stores of other programs, as these lay them out: Hugging Face's cache, Ollama's models."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SMALL = ROOT / "fixtures" / "gpt2_small"
FIRST, SECOND = "1" * 40, "2" * 40

#: All that says where a store is.
VARIABLES = ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "OLLAMA_MODELS")


def move_home(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Let a folder be the home and no variable name a store: none of this machine is read."""
    for variable in VARIABLES:
        patch.delenv(variable, raising=False)
    for variable in ("HOME", "USERPROFILE"):
        patch.setenv(variable, str(folder))


def link_or_copy(source: Path, target: Path) -> None:
    """Link as huggingface_hub does; it copies where links cannot be made."""
    try:
        target.symlink_to(os.path.relpath(source, target.parent))
    except OSError:
        shutil.copyfile(source, target)


def cached(
    cache: Path,
    repository: str = "acme/Small",
    commit: str = FIRST,
    ref: str | None = "main",
    files: Path = SMALL,
) -> Path:
    """A repository as huggingface_hub lays it out: blobs, links to them, the commit of a ref."""
    folder = cache / "--".join(["models", *repository.split("/")])
    snapshot = folder / "snapshots" / commit
    snapshot.mkdir(parents=True)
    (folder / "blobs").mkdir(exist_ok=True)
    for file in files.iterdir():
        data = file.read_bytes()
        blob = folder / "blobs" / hashlib.sha256(data).hexdigest()
        blob.write_bytes(data)
        link_or_copy(blob, snapshot / file.name)
    if ref is not None:
        path = folder / "refs" / ref
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(commit)
    return snapshot


def manifest(
    root: Path, place: str, *, digest: str | None = None, layers: object = None, size: int = 4
) -> Path:
    """A model as Ollama stores it: a manifest, and a blob by its digest."""
    blob = b"GGUF"[:size]
    hexadecimal = hashlib.sha256(blob).hexdigest()
    (root / "blobs").mkdir(parents=True, exist_ok=True)
    (root / "blobs" / f"sha256-{hexadecimal}").write_bytes(blob)
    path = root / "manifests" / place
    path.parent.mkdir(parents=True, exist_ok=True)
    model = {
        "mediaType": "application/vnd.ollama.image.model",
        "digest": digest or f"sha256:{hexadecimal}",
        "size": len(blob),
    }
    other = {**model, "mediaType": "application/vnd.ollama.image.template", "digest": "sha256:0"}
    body = {"schemaVersion": 2, "layers": [other, model] if layers is None else layers}
    path.write_text(json.dumps(body))
    return root / "blobs" / f"sha256-{hexadecimal}"


needs_links = pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
