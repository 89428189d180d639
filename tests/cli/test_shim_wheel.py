"""``compat-bpe shim-wheel``, and importing what it writes; installing it is in tests/clients."""

from __future__ import annotations

import base64
import csv
import errno
import hashlib
import io
import os
import zipfile
from email import message_from_bytes
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import compat_bpe
from compat_bpe.tiktoken.shim_wheel import write_shim_wheel
from tests.cli.running import ROOT, command, environment, refused, run_process, sweep, write

VERSION = f"0.14.0+compat.{compat_bpe.__version__}"
NAME = f"tiktoken-{VERSION}-py3-none-any.whl"
INFO = f"tiktoken-{VERSION}.dist-info"


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
    done = run_process(code=script, env=environment(PYTHONPATH=folders))
    assert (done.returncode, done.stderr.decode()) == (0, "")
    return done.stdout.decode().strip()


def shim_wheel(line: str) -> Any:
    return command(f"shim-wheel {line}")


def test_the_same_bytes_each_time_in_a_folder_that_is_made() -> None:
    assert shim_wheel("a/b") == (0, f"a/b/{NAME}\n", "")
    expected = Path("a/b", NAME).read_bytes()
    for folder in ("a/b", "b"):
        assert shim_wheel(folder).status == 0
        assert Path(folder, NAME).read_bytes() == expected
        assert os.listdir(folder) == [NAME]


def test_another_file_of_that_name_is_not_overwritten_unasked() -> None:
    # A wheel, but not of this program; and what has its words in it, but is no wheel.
    with zipfile.ZipFile(NAME, "w") as wheel:
        wheel.writestr("tiktoken/__init__.py", "mine")
    words = b'"""compat_bpe, standing in for tiktoken."""'
    exists = f"compat-bpe: ./{NAME}: the file exists; --force overwrites it\n"
    for content in (Path(NAME).read_bytes(), b"something else", words, b"PK"):
        write({NAME: content})
        assert shim_wheel(".") == (2, "", exists)
        assert Path(NAME).read_bytes() == content
    assert shim_wheel(". --force").status == 0
    assert len(Path(NAME).read_bytes()) > 1000
    # One of an earlier version, by a name that it had then.
    content = Path(NAME).read_bytes()
    write({NAME: content[:-1] + b"\0"})
    assert shim_wheel(".").status == 0
    assert Path(NAME).read_bytes() == content


def test_record_is_right() -> None:
    shim_wheel(".")
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


def test_metadata() -> None:
    shim_wheel(".")
    with zipfile.ZipFile(NAME) as wheel:
        metadata = message_from_bytes(wheel.read(f"{INFO}/METADATA"))
        tags = message_from_bytes(wheel.read(f"{INFO}/WHEEL"))
    assert (metadata["Name"], metadata["Version"]) == ("tiktoken", VERSION)
    assert metadata["Requires-Python"] == ">=3.9"
    needed = [f"compat-bpe>={compat_bpe.__version__}", 'blobfile>=3; extra == "blobfile"']
    assert metadata.get_all("Requires-Dist") == needed
    assert (tags["Root-Is-Purelib"], tags["Tag"]) == ("true", "py3-none-any")


def test_version_with_a_local_label(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("compat_bpe.version.__version__", "1.2.dev3+local.4")
    path = write_shim_wheel(tmp_path)
    assert os.path.basename(path) == "tiktoken-0.14.0+compat.1.2.dev3.local.4-py3-none-any.whl"
    with zipfile.ZipFile(path) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith("/METADATA"))
        # ">=" takes no local label.
        assert b"Requires-Dist: compat-bpe>=1.2.dev3\n" in wheel.read(name)


def test_what_cannot_be_written_is_one_line_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write({"file": ""})
    assert shim_wheel("file") == (2, "", "compat-bpe: file: Not a directory\n")
    err = refused("shim-wheel file/folder")
    assert err.startswith("compat-bpe: file/folder: ")
    assert err.count("\n") == 1
    os.mkdir("wheels")
    for function in ("makedirs", "replace"):
        denied = mock.Mock(side_effect=PermissionError(errno.EACCES, "Permission denied"))
        with monkeypatch.context() as patch:
            patch.setattr(os, function, denied)
            assert shim_wheel("wheels") == (2, "", "compat-bpe: wheels: Permission denied\n")
        assert os.listdir("wheels") == []


_FOUND = "from importlib.util import find_spec; assert find_spec"
FIRST = [
    "import tiktoken",
    "from tiktoken.core import Encoding",
    "import tiktoken.model as m; assert m.encoding_name_for_model('gpt-4') == 'cl100k_base'",
    "import tiktoken_ext.openai_public as p; assert 'gpt2' in p.ENCODING_CONSTRUCTORS",
    "import threading as t; a = [t.Thread(target=__import__, args=['tiktoken']) for _ in 'ab']"
    "; [b.start() for b in a]; [b.join() for b in a]",
    sweep("import tiktoken_ext.openai_public; assert tiktoken_ext.openai_public.gpt2"),
    sweep(f"{_FOUND}('tiktoken').origin"),
    sweep(f"{_FOUND}('tiktoken.core').origin"),
    sweep(f"{_FOUND}('tiktoken_ext.openai_public')"),
]


@pytest.mark.parametrize("first", FIRST)
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
    plug_in = (
        "import tiktoken_ext.openai_public\n"
        "def mine():\n"
        "    return {**tiktoken_ext.openai_public.gpt2(), 'name': 'mine'}\n"
        "ENCODING_CONSTRUCTORS = {'mine': mine}\n"
    )
    write({"plug-ins/tiktoken_ext/mine.py": plug_in})
    script = """
import tiktoken
assert {"mine", "gpt2"} <= set(tiktoken.list_encoding_names())
print(tiktoken.get_encoding("mine").encode("hello world"))
"""
    folder = tmp_path / "plug-ins"
    for path in ([site, folder], [folder, site]):
        assert python(script, *path) == "[31373, 995]"


def test_type_checkers_find_every_module(site: Path) -> None:
    expected = {path.name for path in (Path(compat_bpe.__file__).parent / "tiktoken").glob("*.py")}
    found = {path.name for path in (site / "tiktoken").glob("*.py")}
    assert found == expected - {"openai_public.py"}
