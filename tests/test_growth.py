"""The work of each function grows with the text, whatever the text is made of."""

from __future__ import annotations

from types import FunctionType

import pytest

import compat_bpe
from compat_bpe import fit
from tools.attack.growth import CHARS, ENCODINGS, FUNCTIONS, LENGTH, check

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
