"""``compat-bpe shim-wheel``, and importing what it writes; installing it is in tests/clients."""

from __future__ import annotations

import base64
import csv
import errno
import hashlib
import io
import os
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest

import compat_bpe
from compat_bpe.tiktoken.shim_wheel import write_shim_wheel
from tests.cli.running import Run, runner

ROOT = Path(compat_bpe.__file__).parents[2]
VERSION = f"0.14.0+compat.{compat_bpe.__version__}"
NAME = f"tiktoken-{VERSION}-py3-none-any.whl"
INFO = f"tiktoken-{VERSION}.dist-info"
TIMEOUT = 120  # seconds; only a process that hangs takes so long


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run ``compat-bpe shim-wheel`` in a folder of its own."""
    return runner("shim-wheel", tmp_path, monkeypatch)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with the wheel unpacked in it, as pip would."""
    folder = tmp_path / "site"
    with zipfile.ZipFile(write_shim_wheel(tmp_path)) as wheel:
        wheel.extractall(folder)
    return folder


def python(script: str, *path: Path) -> str:
    """What a script prints in a new interpreter that finds these folders and this package."""
    folders = os.pathsep.join(map(str, [*path, ROOT]))
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": folders, "PYTHONWARNINGS": "error"},
        capture_output=True,
        timeout=TIMEOUT,
    )
    assert (done.returncode, done.stderr.decode()) == (0, "")
    return done.stdout.decode().strip()


def test_path_is_printed_and_the_folder_made(run: Run) -> None:
    path = os.path.join("a", "b", NAME)
    assert run(os.path.join("a", "b")) == (0, f"{path}\n", "")
    assert os.listdir(os.path.join("a", "b")) == [NAME]


def test_the_same_bytes_each_time(run: Run) -> None:
    run("a")
    run("b")
    expected = Path("a", NAME).read_bytes()
    assert Path("b", NAME).read_bytes() == expected
    assert run("a").status == 0
    assert Path("a", NAME).read_bytes() == expected
    assert os.listdir("a") == [NAME]


def test_another_file_of_that_name_is_not_overwritten_unasked(run: Run) -> None:
    # A wheel, but not of this program; and what has its words in it, but is no wheel.
    with zipfile.ZipFile(NAME, "w") as wheel:
        wheel.writestr("tiktoken/__init__.py", "mine")
    words = b'"""compat_bpe, standing in for tiktoken."""'
    for content in (Path(NAME).read_bytes(), b"something else", words, b"PK"):
        Path(NAME).write_bytes(content)
        path = os.path.join(".", NAME)
        assert run(".") == (2, "", f"compat-bpe: {path}: it exists; --force overwrites it\n")
        assert Path(NAME).read_bytes() == content
    assert run(".", "--force").status == 0
    assert len(Path(NAME).read_bytes()) > 1000
    # One of an earlier version, by a name that it had then.
    content = Path(NAME).read_bytes()
    Path(NAME).write_bytes(content[:-1] + b"\0")
    assert run(".").status == 0
    assert Path(NAME).read_bytes() == content


def test_record_is_right(run: Run) -> None:
    run(".")
    with zipfile.ZipFile(NAME) as wheel:
        assert wheel.testzip() is None
        files = {name: wheel.read(name) for name in wheel.namelist()}
    assert len(files) == len(wheel.namelist())
    rows = list(csv.reader(io.StringIO(files[f"{INFO}/RECORD"].decode())))
    assert [name for name, _, _ in rows] == list(files)
    assert rows[-1] == [f"{INFO}/RECORD", "", ""]
    for name, digest, size in rows[:-1]:
        expected = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).decode()
        assert (digest, size) == (f"sha256={expected.rstrip('=')}", str(len(files[name])))
    assert "tiktoken/py.typed" in files
    assert "tiktoken_ext/__init__.py" not in files


def test_metadata(run: Run) -> None:
    run(".")
    with zipfile.ZipFile(NAME) as wheel:
        metadata = message_from_bytes(wheel.read(f"{INFO}/METADATA"))
        tags = message_from_bytes(wheel.read(f"{INFO}/WHEEL"))
    assert (metadata["Name"], metadata["Version"]) == ("tiktoken", VERSION)
    assert metadata["Requires-Python"] == ">=3.9"
    assert metadata.get_all("Requires-Dist") == [
        f"compat-bpe>={compat_bpe.__version__}",
        'blobfile>=3; extra == "blobfile"',
    ]
    assert (tags["Root-Is-Purelib"], tags["Tag"]) == ("true", "py3-none-any")


def test_version_with_a_local_label(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("compat_bpe.version.__version__", "1.2.dev3+local.4")
    path = write_shim_wheel(tmp_path)
    assert os.path.basename(path) == "tiktoken-0.14.0+compat.1.2.dev3.local.4-py3-none-any.whl"
    with zipfile.ZipFile(path) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith("/METADATA"))
        # ">=" takes no local label.
        assert b"Requires-Dist: compat-bpe>=1.2.dev3\n" in wheel.read(name)


def test_a_file_in_place_of_the_folder(run: Run) -> None:
    Path("file").touch()
    assert run("file") == (2, "", "compat-bpe: file: Not a directory\n")
    below = os.path.join("file", "folder")
    status, out, err = run(below)
    assert (status, out) == (2, "")
    assert err.startswith(f"compat-bpe: {below}: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("function", ["makedirs", "replace"])
def test_what_cannot_be_written_is_one_line_and_leaves_nothing(
    run: Run, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    os.mkdir("wheels")
    monkeypatch.setattr(os, function, fail)
    assert run("wheels") == (2, "", "compat-bpe: wheels: Permission denied\n")
    assert os.listdir("wheels") == []


@pytest.mark.parametrize(
    "first",
    [
        "import tiktoken",
        "from tiktoken.core import Encoding",
        "import tiktoken.model as m; assert m.encoding_name_for_model('gpt-4') == 'cl100k_base'",
        "import tiktoken_ext.openai_public as p; assert 'gpt2' in p.ENCODING_CONSTRUCTORS",
        pytest.param(
            "import tiktoken_ext.openai_public; assert tiktoken_ext.openai_public.gpt2",
            marks=pytest.mark.sweep,
        ),
        pytest.param(
            "from importlib.util import find_spec; assert find_spec('tiktoken').origin",
            marks=pytest.mark.sweep,
        ),
        pytest.param(
            "from importlib.util import find_spec; assert find_spec('tiktoken.core').origin",
            marks=pytest.mark.sweep,
        ),
        pytest.param(
            "from importlib.util import find_spec; assert find_spec('tiktoken_ext.openai_public')",
            marks=pytest.mark.sweep,
        ),
        "import threading as t; a = [t.Thread(target=__import__, args=['tiktoken']) for _ in 'ab']"
        "; [b.start() for b in a]; [b.join() for b in a]",
    ],
)
def test_whatever_is_imported_first(site: Path, first: str) -> None:
    script = f"""{first}
import sys, importlib.metadata, importlib.util
import tiktoken
import compat_bpe.tiktoken
assert tiktoken is compat_bpe.tiktoken
assert tiktoken.model is sys.modules["tiktoken.model"] is compat_bpe.tiktoken.model
from tiktoken.core import Encoding
assert Encoding is compat_bpe.Encoding
assert Encoding.__module__ == "tiktoken.core"
import tiktoken_ext.openai_public
assert tiktoken_ext.openai_public is compat_bpe.tiktoken.openai_public
assert importlib.util.find_spec("tiktoken").origin == compat_bpe.tiktoken.__file__
assert importlib.util.find_spec("tiktoken.core")
assert importlib.metadata.version("tiktoken") == {VERSION!r}
print(tiktoken.get_encoding("gpt2").encode("hello world"))
"""
    assert python(script, site) == "[31373, 995]"


def test_the_module_that_a_second_thread_may_get_works(site: Path) -> None:
    # CPython hands it out if tiktoken was being imported when the thread asked for it.
    script = """
import importlib.util, sys
spec = importlib.util.find_spec("tiktoken")
module = importlib.util.module_from_spec(spec)
sys.modules["tiktoken"] = module
spec.loader.exec_module(module)
import tiktoken
assert tiktoken is not module
assert {name for name in vars(tiktoken) if name[0] != "_"} <= set(vars(module))
assert module.__version__ == tiktoken.__version__
print(module.get_encoding("gpt2").encode("hello world"))
"""
    assert python(script, site) == "[31373, 995]"


def test_plug_ins_in_another_folder(site: Path, tmp_path: Path) -> None:
    folder = tmp_path / "plug-ins" / "tiktoken_ext"
    folder.mkdir(parents=True)
    (folder / "mine.py").write_text(
        "import tiktoken_ext.openai_public\n"
        "def mine():\n"
        "    return {**tiktoken_ext.openai_public.gpt2(), 'name': 'mine'}\n"
        "ENCODING_CONSTRUCTORS = {'mine': mine}\n"
    )
    script = """
import tiktoken
assert {"mine", "gpt2"} <= set(tiktoken.list_encoding_names())
print(tiktoken.get_encoding("mine").encode("hello world"))
"""
    for path in ([site, folder.parent], [folder.parent, site]):
        assert python(script, *path) == "[31373, 995]"


def test_type_checkers_find_every_module(site: Path) -> None:
    expected = {path.name for path in (Path(compat_bpe.__file__).parent / "tiktoken").glob("*.py")}
    assert {path.name for path in (site / "tiktoken").glob("*.py")} == expected - {
        "openai_public.py"
    }
