"""A plug-in copies the folder under a name of its own, and all of it works there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import compat_bpe
from compat_bpe.formats.protobuf import BYTES, VARINT, write_field
from tests.alone import run_alone
from tests.portable.run import TESTS

PACKAGE = Path(compat_bpe.__file__).parent
FIXTURE = Path(__file__).parents[1] / "fixtures" / "gpt2_small"
TEXT = "Hello, wörld! 世界 12345\n\n  def f(x):\n\treturn x 😀<|endoftext|>"

_IDS = """
names = tokens.list_encoding_names()
print(json.dumps({name: tokens.get_encoding(name).encode_ordinary(TEXT) for name in names}))
"""

_LOAD = """
enc = tokens.load(FIXTURE)
print(json.dumps(enc.encode_ordinary(TEXT)))
"""

_KINDS = """
import pickle
from pathlib import Path
found = []
for path in sorted(Path(KINDS).iterdir()):
    enc = tokens.load(path)
    again = pickle.loads(pickle.dumps(enc))
    found.append([type(enc).__name__, enc.encode("ab a\u0301 x"), again.decode([1, 2, 1])])
print(json.dumps(found))
"""

#: A small vocabulary of each kind, by the name of its file.
KINDS: dict[str, str | bytes] = {
    "vocab.txt": "[UNK]\n[CLS]\n[SEP]\na\n##b\n[PAD]\n[MASK]\n",
    **{
        f"{name}/tokenizer.json": json.dumps({"model": model, "added_tokens": []})
        for name, model in {
            "unigram": {
                "type": "Unigram",
                "unk_id": 0,
                "vocab": [["x", -1], ["a", -2], ["ab", -1]],
            },
            "words": {"type": "WordLevel", "unk_token": "x", "vocab": {"x": 0, "a": 1, "ab": 2}},
            "bpe": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]},
        }.items()
    },
}


_FIT = """
from plugin._vendor.tokens.fit import Document, encode_iter, fit_prompt, split_text
enc = tokens.get_encoding("cl100k_base")
doc = Document(enc, TEXT)
doc.replace(0, 5, "Bye")
print(json.dumps([
    doc.count,
    enc.truncate(TEXT, 5).text,
    fit_prompt(enc, TEXT, TEXT, limit=20).ids,
    [part.text for part in split_text(enc, TEXT, 5)],
    list(encode_iter(enc, [TEXT], disallowed_special=())),
]))
"""

_PICKLE = """
import copy, pickle
enc, own = tokens.get_encoding("deepseek_v3"), tokens.load(FIXTURE)
loaded = [pickle.loads(pickle.dumps(one)) for one in (enc, own)] + [copy.deepcopy(own)]
print(json.dumps([one.encode_ordinary(TEXT) for one in loaded]))
"""

_WORKERS = """
from plugin._vendor.tokens.encodings import batch, encoding
from plugin._vendor.tokens.train import train_bpe
batch.WORTH_WORKERS = 0
batch.processors = lambda: 2
encoding.map_in_order = None  # so that it is done by workers, or not at all
enc = tokens.get_encoding("gpt2")
print(json.dumps([
    enc.encode_ordinary_batch([TEXT] * 4),
    [enc.decode([id]) for id in train_bpe([TEXT] * 9, 262, workers=2).encode_ordinary(TEXT)],
]))
"""

_TIKTOKEN = """
tokens.install_as_tiktoken()
import tiktoken, tiktoken.core, tiktoken_ext.openai_public
print(json.dumps([
    tiktoken.get_encoding("gpt2").encode_ordinary(TEXT),
    tiktoken.core.Encoding.__module__,
    tiktoken.__name__,
]))
tokens.uninstall_as_tiktoken()
assert tokens.Encoding.__module__.startswith("plugin._vendor.tokens."), tokens.Encoding.__module__
"""


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a package ``plugin`` that has the copy in it."""
    root = tmp_path_factory.mktemp("site")
    vendor = root / "plugin" / "_vendor"
    shutil.copytree(PACKAGE, vendor / "tokens", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (root / "plugin", vendor):
        (folder / "__init__.py").write_bytes(b"")
    return root


def run(plugin: Path, script: str) -> Any:
    """Run a script in a Python that has the plug-in and no compat_bpe, and read what it prints."""
    code = (
        "import json\n"
        "from plugin._vendor import tokens\n"
        f"TEXT, FIXTURE, KINDS = {TEXT!r}, {str(FIXTURE)!r}, {str(plugin / 'kinds')!r}\n"
        f"{script}\n"
        "assert not [name for name in sys.modules if name.startswith('compat_bpe')]\n"
    )
    return json.loads(run_alone(code, plugin, "-W", "error"))


def test_every_encoding(plugin: Path) -> None:
    names = compat_bpe.list_encoding_names()
    ids = {name: compat_bpe.get_encoding(name).encode_ordinary(TEXT) for name in names}
    assert run(plugin, _IDS) == ids


def test_load(plugin: Path) -> None:
    assert run(plugin, _LOAD) == compat_bpe.load(FIXTURE).encode_ordinary(TEXT)


def test_every_kind(plugin: Path) -> None:
    expected = []
    pieces = [(b"<unk>", 2), ("▁".encode(), 1), (b"a", 1), (b"ab", 1)]
    fields = [
        write_field(1, BYTES, write_field(1, BYTES, piece) + write_field(3, VARINT, kind))
        for piece, kind in pieces
    ]
    for name, content in {**KINDS, "sp/spiece.model": b"".join(fields)}.items():
        path = plugin / "kinds" / (name if "/" in name else f"txt/{name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for folder in sorted((plugin / "kinds").iterdir()):
        enc = compat_bpe.load(folder)
        ids = enc.encode("ab a\u0301 x")
        expected.append([type(enc).__name__, ids, enc.decode([1, 2, 1])])
    assert len(expected) == 5
    assert run(plugin, _KINDS) == expected


def test_fit(plugin: Path) -> None:
    count, head, ids, parts, streamed = run(plugin, _FIT)
    enc = compat_bpe.get_encoding("cl100k_base")
    assert count == enc.count("Bye" + TEXT[5:])
    assert head == enc.truncate(TEXT, 5).text
    assert isinstance(ids, list)
    assert len(ids) <= 20
    assert isinstance(parts, list)
    assert "".join(parts) == TEXT
    assert streamed == enc.encode_ordinary(TEXT)


def test_pickles(plugin: Path) -> None:
    small = compat_bpe.load(FIXTURE).encode_ordinary(TEXT)
    deepseek = compat_bpe.get_encoding("deepseek_v3").encode_ordinary(TEXT)
    assert run(plugin, _PICKLE) == [deepseek, small, small]


def test_worker_processes(plugin: Path) -> None:
    batch, learned = run(plugin, _WORKERS)
    assert batch == [compat_bpe.get_encoding("gpt2").encode_ordinary(TEXT)] * 4
    assert learned


def test_in_place_of_tiktoken(plugin: Path) -> None:
    ids, module, name = run(plugin, _TIKTOKEN)
    assert ids == compat_bpe.get_encoding("gpt2").encode_ordinary(TEXT)
    assert (module, name) == ("tiktoken.core", "plugin._vendor.tokens.tiktoken")


#: The rooms that encoding, fitting and the drop-in do without, and the modules that hand them on.
ABOVE = {"cli", "pyinstaller", "spark", "lsp", "mcp", "train", "report", "check", "corpus"}
ABOVE |= {"columns", "chat", "__main__.py", "pandas.py", "polars.py", "sql.py"}
#: The portable tests of these rooms.
OF_ABOVE = ("command.", "training.", "files.trained", "fitting.prompts", "workers.processes")


def test_the_core_by_itself(tmp_path: Path) -> None:
    assert all((PACKAGE / name).exists() for name in ABOVE)
    left_out = shutil.ignore_patterns("__pycache__", *ABOVE)
    shutil.copytree(PACKAGE, tmp_path / "compat_bpe", ignore=left_out)
    size = sum(path.stat().st_size for path in (tmp_path / "compat_bpe").rglob("*.*"))
    assert size < 5_000_000  # as docs/guide-editors.md says
    names = [name for name in TESTS if not name.startswith(OF_ABOVE)]
    done = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "portable"), "--every", "64", *names],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        check=False,
    )
    assert b" answers, 0 wrong" in done.stdout, done.stdout.decode()
