"""Standing in for tiktoken, each case in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import compat_bpe

ROOT = Path(compat_bpe.__file__).parent.parent


def run(code: str, *paths: Path) -> str:
    """What a script prints, with this package and some folders on its path."""
    head = f"import sys; sys.path[:0] = {list(map(str, [ROOT, *paths]))!r}\n"
    result = subprocess.run(
        [sys.executable, "-c", head + textwrap.dedent(code)], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_every_way_of_importing() -> None:
    printed = run(
        """
        import compat_bpe
        compat_bpe.install_as_tiktoken()
        import importlib.util
        assert importlib.util.find_spec("tiktoken") is not None
        assert importlib.util.find_spec("tiktoken.core") is not None
        import tiktoken
        assert tiktoken.model.MODEL_TO_ENCODING["gpt-4"] == "cl100k_base"
        import tiktoken.load
        from tiktoken.core import Encoding
        from tiktoken import _educational, registry
        from tiktoken._tiktoken import CoreBPE
        import tiktoken_ext.openai_public
        enc = tiktoken.encoding_for_model("gpt-4")
        assert isinstance(enc, Encoding) and Encoding is compat_bpe.Encoding
        assert registry.ENCODINGS["cl100k_base"] is enc is compat_bpe.get_encoding("cl100k_base")
        int | Encoding if sys.version_info >= (3, 10) else None
        print(tiktoken.__version__, type(enc), enc.encode("hello world"))
        """
    )
    assert printed == "0.14.0 <class 'tiktoken.core.Encoding'> [15339, 1917]"


def test_a_changed_vocabulary_with_a_new_core() -> None:
    printed = run(
        """
        import compat_bpe
        compat_bpe.install_as_tiktoken()
        import tiktoken
        import tiktoken_ext.openai_public
        enc = tiktoken.Encoding(**tiktoken_ext.openai_public.gpt2())
        enc._mergeable_ranks[b"hello world"] = 60000
        enc._core_bpe = tiktoken._tiktoken.CoreBPE(
            enc._mergeable_ranks, enc._special_tokens, r".*")
        print(enc.encode("hello world"), compat_bpe.get_encoding("gpt2").encode("hello world"))
        """
    )
    assert printed == "[60000] [31373, 995]"


def test_it_can_be_undone() -> None:
    printed = run(
        """
        import compat_bpe
        compat_bpe.install_as_tiktoken()
        compat_bpe.install_as_tiktoken()
        compat_bpe.uninstall_as_tiktoken()
        compat_bpe.uninstall_as_tiktoken()
        print([n for n in sys.modules if n.partition(".")[0] == "tiktoken"], compat_bpe.Encoding)
        """
    )
    assert printed == "[] <class 'compat_bpe.encodings.encoding.Encoding'>"


def fake_tiktoken(folder: Path) -> Path:
    (folder / "tiktoken").mkdir()
    (folder / "tiktoken" / "__init__.py").write_text("from . import _tiktoken\n")
    (folder / "tiktoken" / "_tiktoken.py").write_text("")
    return folder


def test_it_refuses_once_the_real_one_is_imported(tmp_path: Path) -> None:
    printed = run(
        """
        import tiktoken, compat_bpe
        try:
            compat_bpe.install_as_tiktoken()
        except RuntimeError as error:
            print(error)
        compat_bpe.install_as_tiktoken(force=True)
        real = tiktoken
        import tiktoken
        assert tiktoken is not real
        compat_bpe.uninstall_as_tiktoken()
        import tiktoken
        assert tiktoken is real
        """,
        fake_tiktoken(tmp_path),
    )
    assert "has been imported already" in printed


PLUGIN = """
def mine():
    return {"name": "mine", "pat_str": ".", "special_tokens": {},
            "mergeable_ranks": {bytes([i]): 255 - i for i in range(256)}}
ENCODING_CONSTRUCTORS = {"mine": mine}
"""
USE = """
import compat_bpe
compat_bpe.install_as_tiktoken()
import pickle, tiktoken
try:
    enc = tiktoken.get_encoding("mine")
    assert pickle.loads(pickle.dumps(enc))._core_bpe is enc._core_bpe
    print(enc.encode("a"), tiktoken.list_encoding_names()[-1])
except ValueError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("plugins", "expected"),
    [
        ({"mine.py": PLUGIN}, "[158] mine"),
        ({"broken.py": ""}, "plugin tiktoken_ext.broken does not define ENCODING_CONSTRUCTORS"),
        ({"a.py": PLUGIN, "b.py": PLUGIN}, "Duplicate encoding name mine in tiktoken plugin"),
        ({}, "Unknown encoding mine"),
    ],
)
def test_plugins(plugins: dict[str, str], expected: str, tmp_path: Path) -> None:
    (tmp_path / "tiktoken_ext").mkdir()
    for name, content in plugins.items():
        (tmp_path / "tiktoken_ext" / name).write_text(content)
    assert expected in run(USE, tmp_path)


def test_pickles_of_the_real_one_load_here() -> None:
    # As tiktoken 0.14.0 writes them: the class by name, the state as the name of an encoding.
    printed = run(
        """
        import compat_bpe, pickle
        compat_bpe.install_as_tiktoken()
        data = (b"\\x80\\x02ctiktoken.core\\nEncoding\\nq\\x00)\\x81"
                b"q\\x01X\\x04\\x00\\x00\\x00gpt2q\\x02b.")
        print(pickle.loads(data))
        assert b"ctiktoken.core\\nEncoding" in pickle.dumps(compat_bpe.get_encoding("gpt2"), 2)
        """
    )
    assert printed == "<Encoding 'gpt2'>"
