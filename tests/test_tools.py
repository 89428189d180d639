"""Tools of maintainers: reference files, mutants, and the places where the tests run."""

from __future__ import annotations

import ast
import doctest
import hashlib
import io
import re
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from threading import Barrier

import pytest

from compat_bpe.formats.sentencepiece import SentencePieceModel
from tools import fetch_package, mutants, reference_files
from tools.places import kit
from tools.places.kit import PAGE, PlaceError, Row, parsed, with_row
from tools.places.table import PLACES
from tools.reference_files import FILES, Published, prefetch, reference_file
from tools.reference_tokenizers import reference_tokenizer, spm_merges


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
    model = SentencePieceModel([*texts], [*texts.values()], bytes(6))
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


SOURCE = 'é = [1 < 2, "é", not é]\nif é:\n    é: int | None = 7\n'


@pytest.mark.sweep
def test_changes() -> None:
    found = list(mutants.mutants(SOURCE))
    assert {(mutant.line, mutant.text) for mutant in found} == {
        *((1, text) for text in ("(1 <= 2)", "(é)", "2", "0", "3", "1")),
        *((2, text) for text in ("True", "False")),
        *((3, text) for text in ("8", "6")),
    }
    for mutant in found:
        after = mutants.changed(SOURCE, mutant)
        assert ast.dump(ast.parse(after)) != ast.dump(ast.parse(SOURCE))
        assert mutants.changed(after, mutant).count("\n") == SOURCE.count("\n")


@pytest.mark.sweep
@pytest.mark.parametrize("value", [1, 2])
def test_survivors(tmp_path: Path, value: int) -> None:
    (tmp_path / "module.py").write_text(f"VALUE = {value}\n")
    (tmp_path / "test_it.py").write_text(
        "from module import VALUE\ndef test_value(): assert VALUE == 1\n"
    )
    assert mutants.survives(tmp_path, "module.py", ["test_it.py"]) == (value == 1)


@pytest.mark.sweep
def test_tests_see_the_module_that_the_package_has(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("from .module import value as value\n")
    (package / "module.py").write_text("LIMIT = 2\ndef value(): return LIMIT\n")
    (tmp_path / "test_it.py").write_text(
        "import package\n"
        "from package import module\n"
        "def test_value(monkeypatch):\n"
        "    monkeypatch.setattr(module, 'LIMIT', 5)\n"
        "    assert package.value() == 5\n"
    )
    tests = ["--import-mode=importlib", "--doctest-modules", "test_it.py"]  # as in pyproject.toml
    assert mutants.survives(tmp_path, "package/module.py", tests)


ROWS = [line.split(" | ") for line in PAGE.read_text("utf-8").splitlines() if line[:2] == "| "]


def test_examples() -> None:
    failed, tried = doctest.testmod(kit)
    assert (failed, tried > 0) == (0, True)


def test_each_row_can_be_written() -> None:
    page = PAGE.read_text("utf-8")
    for place, *_ in ROWS[1:]:
        written = with_row(page, Row(place[2:], "x", "y"), "z")
        assert len(written.splitlines()) == len(page.splitlines())
        assert f"\n{place} | x | y | z |\n" in written
    with pytest.raises(ValueError, match="no row"):
        with_row(page, Row("no such place", "x", "y"), "z")


def test_each_row_has_a_date() -> None:
    assert len(ROWS) > 25
    for place, had, ran, date in ROWS[1:]:
        assert re.fullmatch(r"\d{4}-\d\d-\d\d \|", date), place
        assert had
        assert ran


@pytest.mark.parametrize(
    "printed", ["", "x\n12 answers, 1 wrong\n", "x\n12 answers, 0 wrong\nthen a crash\n"]
)
def test_a_run_that_did_not_end_well(printed: str) -> None:
    with pytest.raises(PlaceError, match="did not end well"):
        parsed(printed)


def test_what_runs_anywhere_takes_nothing_from_debian() -> None:
    anywhere = [place for place in PLACES.values() if place.anywhere]
    assert len(anywhere) > 5
    for place in anywhere:
        for function in filter(None, (place.rows, place.fetched)):
            assert not {"debian", "_MOUNT"} & {*function.__code__.co_names}
