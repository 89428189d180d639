"""What SECURITY.md promises: its tests are there, the attacks run, and work grows with the text."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

import pytest

import compat_bpe
from compat_bpe import fit
from tools.attack import _cases
from tools.attack.__main__ import NAMES
from tools.attack.growth import CHARS, ENCODINGS, FUNCTIONS, LENGTH, check

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "SECURITY.md").read_text("utf-8")

#: ``tests/a/test_b.py::test_c``, each once.
TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)))


@pytest.mark.parametrize(("path", "name"), TESTS)
def test_the_tests_named_exist(path: str, name: str) -> None:
    source = (ROOT / path).read_text("utf-8")
    assert not name or re.search(rf"^ *def {name}\(", source, re.MULTILINE)


def test_every_attack_is_named() -> None:
    named = set(re.findall(r"`tools/attack/(\w+)\.py`", PAGE))
    assert TESTS
    assert named == set(NAMES)


_MODULE = """
SECONDS = {seconds}
MEMORY = 1 << 30

def attack(random):
    if random.random() < 0.01:
        {hostile}
"""


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of attacks of our own."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    for name in [name for name in sys.modules if name.split(".")[0] == "hostile"]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("name", "does", "told"),
    [
        ("fails", "assert 1 > 2, random.getstate", "assert 1 > 2"),
        ("hangs", "while True: pass", "it takes more than 0.5 seconds"),
        ("grows", "bytearray(1 << 33)", "MemoryError"),
        ("dies", "__import__('os')._exit(0)", "the process died"),
    ],
)
def test_what_is_wrong_is_told_with_its_case(
    hostile: Path, name: str, does: str, told: str
) -> None:
    seconds = 0.5 if name == "hangs" else 60
    module = _MODULE.format(hostile=does, seconds=seconds)
    (hostile / f"{name}.py").write_text(module, "utf-8")
    right, wrong = _cases.attack(f"hostile.{name}", 1, 60)
    assert right > 0
    assert wrong is not None
    assert told in wrong
    if name == "fails":
        for number in range(right):
            _cases.try_case(f"hostile.{name}", 1, number)
        with pytest.raises(AssertionError):
            _cases.try_case(f"hostile.{name}", 1, right)


def test_what_is_right_ends_in_time(hostile: Path) -> None:
    (hostile / "right.py").write_text(_MODULE.format(hostile="pass", seconds=60), "utf-8")
    right, wrong = _cases.attack("hostile.right", 1, 0.2)
    assert right > 0
    assert wrong is None


@pytest.mark.parametrize("name", NAMES)
def test_each_module_is_an_attack(name: str) -> None:
    module = _cases.module_of(name)
    assert module.__doc__
    assert callable(module.attack)


#: What was quadratic once, or is hardest to bound, and the length from which on it is looked at.
HARDEST = [
    pytest.param("gpt2", "truncate", "lone surrogates", LENGTH, marks=pytest.mark.sweep),
    pytest.param("gpt2", "truncate, tail", "one letter", LENGTH, marks=pytest.mark.sweep),
    pytest.param("gpt2", "split_text", "spaces", LENGTH, marks=pytest.mark.sweep),
    ("gpt2", "split_text", "spaces", LENGTH // 4),
    ("deepseek_v3", "split_text in large parts", "digits", LENGTH // 2),
]


@pytest.mark.parametrize(("encoding", "function", "chars", "length"), HARDEST)
def test_work_grows_with_the_text(encoding: str, function: str, chars: str, length: int) -> None:
    check(encoding, function, chars, length)


@pytest.mark.sweep
@pytest.mark.parametrize("function", FUNCTIONS)
def test_work_of_all_grows_with_the_text(function: str) -> None:
    for chars in CHARS:
        check("gpt2", function, chars, LENGTH // 2)


@pytest.mark.sweep
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_work_with_each_encoding_grows_with_the_text(encoding: str) -> None:
    # Digits have tokens of several lengths; the attack draws all classes with all encodings.
    for function in FUNCTIONS:
        check(encoding, function, "digits", LENGTH // 2)


def test_all_functions_on_a_text_are_looked_at() -> None:
    names = {name for name in vars(fit) if isinstance(vars(fit)[name], FunctionType)}
    # Iterators that wait are the same ones, and a template of names is no text.
    names -= {"acount_stream", "adecode_iter", "aencode_iter", "fim_template"}
    encoding = compat_bpe.get_encoding("gpt2")
    for name in dir(encoding):
        if name.startswith(("encode", "decode_", "count", "truncate", "fits")):
            names.add(name)
    # These take one token.
    names -= {"decode_single_token_bytes", "encode_single_token"}
    assert names <= {function.split()[0].rstrip(",") for function in FUNCTIONS}
