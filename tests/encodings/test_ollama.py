"""Names of models in Ollama's store: manifests and blobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat_bpe import load
from compat_bpe.encodings.local_stores import find_stored
from tests.encodings.stores import manifest, needs_links


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("ollama:llama3.2", "registry.ollama.ai/library/llama3.2/latest"),
        ("ollama:llama3.2:1b", "registry.ollama.ai/library/llama3.2/1b"),
        ("ollama:acme/llama3.2", "registry.ollama.ai/acme/llama3.2/latest"),
        ("ollama:hf.co/acme/Small-GGUF:Q4_K_M", "hf.co/acme/Small-GGUF/Q4_K_M"),
    ],
)
def test_ollama(name: str, place: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blob = manifest(home / ".ollama" / "models", place)
    expected = name.split(":")[1].split("/")[-1]
    assert find_stored(name) == (str(blob), expected)
    monkeypatch.setenv("OLLAMA_MODELS", str(home / "models"))
    with pytest.raises(FileNotFoundError, match="`ollama pull "):
        find_stored(name)
    assert find_stored_path(home, name, place).is_file()


def find_stored_path(home: Path, name: str, place: str) -> Path:
    manifest(home / "models", place)
    return Path(find_stored(name).path)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"digest": "sha256:" + "0" * 64}, "is not there"),
        ({"digest": "sha256:../../x"}, r"layers\[1\].digest: must be sha256: and 64 digits"),
        ({"digest": "sha256:" + "A" * 64}, "64 digits"),
        ({"layers": []}, "layers: none is a model"),
        ({"layers": {}}, "layers: must be a list"),
        ({"layers": ["x"]}, r"layers\[0\]: must be an object"),
        ({"layers": [{}]}, "there is no 'mediaType'"),
        ({"layers": [{"mediaType": 1}]}, "must be a string"),
    ],
)
def test_damaged_manifests_of_ollama(changes: dict[str, object], reason: str, home: Path) -> None:
    manifest(
        home / ".ollama" / "models",
        "registry.ollama.ai/library/m/latest",
        **changes,  # type: ignore[arg-type]
    )
    with pytest.raises((OSError, ValueError), match=reason):
        load("ollama:m")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b" " * (2 << 20)])
def test_files_that_are_no_manifests(content: bytes, home: Path) -> None:
    root = home / ".ollama" / "models"
    manifest(root, "registry.ollama.ai/library/m/latest")
    (root / "manifests" / "registry.ollama.ai" / "library" / "m" / "latest").write_bytes(content)
    with pytest.raises(ValueError, match="latest"):
        load("ollama:m")


@needs_links
def test_a_blob_or_manifest_that_is_a_link_out_is_refused(home: Path) -> None:
    root = home / ".ollama" / "models"
    blob = manifest(root, "registry.ollama.ai/library/m/latest")
    blob.unlink()
    (home / "secret").write_text("x")
    blob.symlink_to(home / "secret")
    with pytest.raises(ValueError, match="is a link to"):
        load("ollama:m")
    path = root / "manifests" / "registry.ollama.ai" / "library" / "n"
    path.mkdir()
    (path / "latest").symlink_to(home / "secret")
    with pytest.raises(ValueError, match="is a link to"):
        load("ollama:n")
