"""tools/reference_files.py and what reads the files it fetches, on files made here."""

from __future__ import annotations

import hashlib
import io
import shutil
import struct
import subprocess
import tarfile
import zipfile
from array import array
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from threading import Barrier

import pytest

from tools import fetch_package, reference_files
from tools.gguf import read_entries, read_vocabulary
from tools.reference_files import FILES, Published, prefetch, reference_file
from tools.reference_spm import spm_merges
from tools.reference_tokenizers import reference_tokenizer
from tools.sentencepiece_model import Model, Piece


def string(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def listed(kind: int, size: int, data: bytes) -> bytes:
    return struct.pack("<IIQ", 9, kind, size) + data


def gguf(entries: dict[str, bytes], version: int = 3) -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", version, 0, len(entries))
    return head + b"".join(string(key) + value for key, value in entries.items())


TOKENS = listed(8, 3, string("<unk>") + string("▁a") + string("é"))
WHOLE = {
    "general.name": struct.pack("<I", 8) + string("Small"),
    "general.flag": struct.pack("<I?", 7, True),
    "general.size": struct.pack("<Iq", 11, -5),
    "tokenizer.ggml.tokens": TOKENS,
    "tokenizer.ggml.scores": listed(6, 3, struct.pack("<3f", 0.0, -1.5, -2.25)),
    "tokenizer.ggml.token_type": listed(5, 3, struct.pack("<3i", 2, 1, 6)),
    "tokenizer.ggml.merges": listed(8, 1, string("a b")),
    "tokenizer.ggml.precompiled_charsmap": listed(1, 3, b"\x01\xff\x00"),
}


def test_gguf_is_read(tmp_path: Path) -> None:
    path = tmp_path / "small.gguf"
    path.write_bytes(gguf(WHOLE) + b"tensors, which are not read")
    found = read_vocabulary(path)
    assert found.tokens == ["<unk>", "▁a", "é"]
    assert list(found.scores) == [0.0, -1.5, -2.25]
    assert list(found.types) == [2, 1, 6]
    assert found.merges == ["a b"]
    assert found.charsmap == b"\x01\xff\x00"
    entries = read_entries(path.read_bytes())
    assert [entries[f"general.{key}"] for key in ("name", "flag", "size")] == ["Small", True, -5]
    assert entries["tokenizer.ggml.token_type"] == array("i", [2, 1, 6])


def test_gguf_with_tokens_only_has_the_rest_empty(tmp_path: Path) -> None:
    path = tmp_path / "small.gguf"
    path.write_bytes(gguf({"tokenizer.ggml.tokens": TOKENS}, version=2))
    found = read_vocabulary(path)
    assert (len(found.tokens), *map(len, found[1:])) == (3, 0, 0, 0, 0)


def test_gguf_cut_anywhere_is_an_error() -> None:
    data = gguf(WHOLE)
    for size in range(len(data)):
        with pytest.raises(ValueError, match=r"no GGUF file|ends in the middle"):
            read_entries(data[:size])


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({}, "has no vocabulary"),
        ({"tokenizer.ggml.tokens": struct.pack("<II", 4, 1)}, "has no vocabulary"),
        ({**WHOLE, "tokenizer.ggml.scores": listed(6, 1, bytes(4))}, "one score and one type"),
        ({**WHOLE, "tokenizer.ggml.token_type": listed(6, 3, bytes(12))}, "of the right kind"),
        ({**WHOLE, "tokenizer.ggml.merges": struct.pack("<II", 4, 1)}, "merges are not strings"),
        ({"a": struct.pack("<II", 13, 0)}, "of no known type: 13"),
        ({"a": listed(9, 1, listed(0, 1, b"a"))}, "of no known type: 9"),
        ({"a": struct.pack("<IQ", 8, 1) + b"\xff"}, "is not UTF-8"),
        ({"a": listed(6, 2**62, b"")}, "ends in the middle"),
        ({"a": listed(8, 2**62, b"")}, "ends in the middle"),
    ],
)
def test_damaged_gguf_is_an_error(entries: dict[str, bytes], message: str, tmp_path: Path) -> None:
    path = tmp_path / "damaged.gguf"
    path.write_bytes(gguf(entries))
    with pytest.raises(ValueError, match=message) as caught:
        read_vocabulary(path)
    assert "damaged.gguf" in str(caught.value)


def test_other_version_of_gguf_is_an_error() -> None:
    with pytest.raises(ValueError, match="version 1 of GGUF"):
        read_entries(gguf(WHOLE, version=1))


def wheel(members: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as zipped:
        for name, member in members.items():
            zipped.writestr(name, member)
    return data.getvalue()


def source(members: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as tar:
        for name, member in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(member)
            tar.addfile(entry, io.BytesIO(member))
    return data.getvalue()


PUBLISHED = {"a/one.json": b"1", "a/two.json": b"2"}


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that are run; they leave an archive of ``PUBLISHED``. The folder is empty."""
    commands = []

    def run(command: list[str], cwd: Path, **_: object) -> subprocess.CompletedProcess[bytes]:
        commands.append(command)
        if "missing" in command[-1]:
            return subprocess.CompletedProcess(command, 1, b"")
        if "--no-binary" in command or "pip" not in command:
            (cwd / "small.tar.gz").write_bytes(source(PUBLISHED))
        else:
            (cwd / "small.whl").write_bytes(wheel(PUBLISHED))
        return subprocess.CompletedProcess(command, 0, b"")

    one, two = (hashlib.sha256(data).hexdigest() for data in PUBLISHED.values())
    files = {
        "one": Published("small==1", "a/one.json", one),
        "two": Published("small==1", "a/two.json", two),
        "source": Published("small==1 (sdist)", "a/one.json", one),
        "npm": Published("@scope/small@1", "a/two.json", two),
        "other": Published("other==1", "a/two.json", one),
        "absent": Published("absent==1", "a/three.json", one),
        "missing": Published("missing==1", "a/one.json", one),
    }
    monkeypatch.setattr(reference_files, "FILES", files)
    monkeypatch.setenv("COMPAT_BPE_REFERENCES", str(tmp_path))
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(shutil, "which", lambda name: name)
    return commands


def test_package_is_fetched_once_for_all_its_files(fetched: list[list[str]]) -> None:
    assert reference_file("one").read_bytes() == b"1"
    assert reference_file("two").read_bytes() == b"2"
    assert [command[-1] for command in fetched] == ["small==1"]
    reference_file("one").write_bytes(b"damaged")
    assert reference_file("one").read_bytes() == b"1"
    assert len(fetched) == 2


def test_two_at_once_fetch_once(fetched: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_files, "_is_there", after_both(reference_files._is_there))
    with ThreadPoolExecutor(2) as pool:
        paths = list(pool.map(reference_file, ["one", "two"]))
    assert [path.read_bytes() for path in paths] == [b"1", b"2"]
    assert len(fetched) == 1


def after_both(function: Callable[[str], bool]) -> Callable[[str], bool]:
    """The function, its first two calls not before both are made."""
    barrier = Barrier(2)
    calls = count()

    def called(name: str) -> bool:
        if next(calls) < 2:
            barrier.wait(timeout=60)
        return function(name)

    return called


def test_merges_of_a_model_are_ordered_by_score_then_length_then_id() -> None:
    texts = {"b": 0.0, "a": 0.0, "aa": -2.0, "ab": -1.0, "aab": -1.0, "ba": -1.0}
    model = Model([Piece(*piece, 1) for piece in texts.items()], 2, False, 0, b"")
    assert [" ".join(pair) for pair in spm_merges(model)] == ["aa b", "a ab", "a b", "b a", "a a"]


def test_each_registry_has_its_client(fetched: list[list[str]]) -> None:
    paths = prefetch(["source", "npm"])
    assert [path.read_bytes() for path in paths.values()] == [b"1", b"2"]
    assert "--no-binary" in fetched[0]
    assert fetched[0][-1] == "small==1"
    assert (fetched[1][0], fetched[1][-1]) == ("npm", "@scope/small@1")


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("other", ValueError, "other==1: a/two.json is another file"),
        ("absent", ValueError, "absent==1 has no a/three.json"),
        ("missing", OSError, "missing==1 cannot be fetched"),
    ],
)
def test_failure_names_the_package(
    name: str, error: type[Exception], message: str, fetched: list[list[str]]
) -> None:
    with pytest.raises(error, match=message):
        prefetch([name])


def test_npm_that_is_not_there_is_an_error(
    fetched: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(OSError, match=r"@scope/small@1 is fetched by npm.*install Node.js"):
        reference_file("npm")


def test_every_row_is_of_a_pinned_package() -> None:
    for file in FILES.values():
        name, _, version = file.package.rpartition("==" if "==" in file.package else "@")
        assert name
        assert version[0].isdigit()
        assert len(file.sha256) == 64


@pytest.mark.sweep
@pytest.mark.parametrize(
    "system",
    [
        b"",
        b'[build-system]\nrequires = ["none"]\nbuild-backend = "setuptools.build_meta"\n',
        b'[build-system]\nrequires = ["none"]\nbuild-backend = "scikit_build_core.build"\n',
    ],
)
def test_source_is_fetched_and_not_built(
    system: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = tmp_path / "built"
    members = {
        "PKG-INFO": b"Metadata-Version: 2.1\nName: to-be-built\nVersion: 1.0\n",
        "setup.py": f"open({str(built)!r}, 'w').close()".encode(),
        "data.txt": b"published",
        **({"pyproject.toml": system} if system else {}),
    }
    links = tmp_path / "links"
    links.mkdir()
    named = {f"to_be_built-1.0/{name}": data for name, data in members.items()}
    (links / "to_be_built-1.0.tar.gz").write_bytes(source(named))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    folder = tmp_path / "folder"
    folder.mkdir()
    archive = fetch_package.fetch_package("to-be-built==1.0 (sdist)", folder)
    member = "to_be_built-1.0/data.txt"
    assert fetch_package.read_members(archive, [member, "absent"]) == {member: b"published"}
    assert not built.exists()


def test_bert_vocabulary_is_the_published_one() -> None:
    data = reference_tokenizer("bert_vocab").read_bytes()
    assert hashlib.sha256(data).hexdigest() == (
        "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
    )
