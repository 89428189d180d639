"""tools/build_packs.py, on files written back from what ships."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from compat_bpe.formats.pack import unpack
from compat_bpe.formats.tiktoken import format_ranks
from tools.reference_files import reference_file

SCRIPT = Path(__file__).parents[2] / "tools" / "build_packs.py"
SOURCE = format_ranks({**{bytes([byte]): byte for byte in range(256)}, b"ab": 256})


@pytest.fixture(scope="module")
def build_packs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_packs", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def small(build_packs: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, its table holding one small vocabulary."""
    table = {"small": ("small.tiktoken", hashlib.sha256(SOURCE).hexdigest())}
    monkeypatch.setattr(build_packs, "VOCABULARIES", table)
    return build_packs


@pytest.mark.sweep
def test_what_ships_is_what_would_be_built(build_packs: ModuleType) -> None:
    packs = build_packs.PACKS

    def source(file: str) -> bytes:
        if file == "tokenizer.json":
            return reference_file("deepseek_v4").read_bytes()
        name = file.partition(".")[0]
        return format_ranks(unpack((packs / f"{name}.pack").read_bytes(), name))

    assert build_packs.run(source, packs, check=True) == 0


def test_write_then_check(small: ModuleType, tmp_path: Path) -> None:
    sources = {"small.tiktoken": SOURCE}
    assert small.run(sources.__getitem__, tmp_path, check=True) == 1
    assert list(tmp_path.iterdir()) == []
    assert small.run(sources.__getitem__, tmp_path, check=False) == 0
    (path,) = tmp_path.iterdir()
    built = path.read_bytes()
    assert format_ranks(unpack(built, path.name)) == SOURCE
    assert small.run(sources.__getitem__, tmp_path, check=True) == 0

    path.write_bytes(built[:-1])
    assert small.run(sources.__getitem__, tmp_path, check=True) == 1
    assert path.read_bytes() == built[:-1]


def test_wrong_source_leaves_the_pack_alone(small: ModuleType, tmp_path: Path) -> None:
    small.run({"small.tiktoken": SOURCE}.__getitem__, tmp_path, check=False)
    (path,) = tmp_path.iterdir()
    built = path.read_bytes()
    with pytest.raises(ValueError, match=r"^small.tiktoken: sha256 is"):
        small.run({"small.tiktoken": SOURCE + b"YWJj 257\n"}.__getitem__, tmp_path, check=False)
    assert [entry.read_bytes() for entry in tmp_path.iterdir()] == [built]
