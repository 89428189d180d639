"""The rest of ``Encoding`` and of ``CoreBPE`` does what tiktoken's does."""

from __future__ import annotations

import copy
import inspect
import pickle
from array import array
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

import compat_bpe
from tests.differential.reference import Pair, outcome
from tests.examples import scaled

#: What tiktoken has and this package does not, and why.
MISSING: dict[str, str] = {}

TEXTS = st.text(
    st.sampled_from("aehlnorst AB.,'!\n\t1259é字 \u0301😀\u3000\x85<|>\ud83d") | st.characters(),
    max_size=12,
)
SMALL_RANKS = {
    **{bytes([byte]): byte for byte in range(256)},
    **{
        token: 256 + rank
        for rank, token in enumerate(
            [b"he", b"ll", b"hello", b" h", b"  ", b"\n\n", b" \n", b"\xc3\xa9", b"\xe5\xad"]
        )
    },
}


def small(pattern: str) -> Pair:
    special = {"<|a|>": 300, "<|ab|>": 301}
    ours = compat_bpe.Encoding(
        "small", pat_str=pattern, mergeable_ranks=SMALL_RANKS, special_tokens=special
    )
    theirs = tiktoken.Encoding(
        "small", pat_str=pattern, mergeable_ranks=SMALL_RANKS, special_tokens=special
    )
    return Pair(ours, theirs)


SMALL = small(r"\s+(?!\S)| ?\w+| ?[^\s\w]+|\s")


def as_sets(result: object) -> object:
    """Completions come in no order; they are compared as sets."""
    if isinstance(result, tuple):
        ids, found = result
        assert len(found) == len(set(map(tuple, found)))
        return ids, set(map(tuple, found))
    return result


def both(pair: Pair, method: str, *arguments: object, **options: object) -> tuple[Any, Any]:
    """What a method of each of the two returns, or the type of the error it raises."""

    def call(encoding: object) -> object:
        return outcome(lambda: getattr(encoding, method)(*arguments, **options))

    return call(pair.ours), call(pair.theirs)


@settings(max_examples=scaled(300))
@given(TEXTS, st.booleans())
def test_encode_with_unstable_small(text: str, special: bool) -> None:
    if special:
        text += "<|a|>"
    ours, theirs = both(
        SMALL, "encode_with_unstable", text, allowed_special={"<|a|>"}, disallowed_special=()
    )
    assert as_sets(ours) == as_sets(theirs)


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
@pytest.mark.parametrize(
    "text",
    [
        *(
            "hello fanta",
            "a \n\n",
            pytest.param("x  ", marks=pytest.mark.sweep),
            "def f(",
            "naïve caf",
            "字",
            "",
            "is 12",
            "a'",
        ),
        *("\u3000" * 2, *(pytest.param(char * 300, marks=pytest.mark.sweep) for char in " a\n字")),
    ],
)
def test_encode_with_unstable(name: str, text: str, get_pair: Callable[[str], Pair]) -> None:
    ours, theirs = (as_sets(encoding.encode_with_unstable(text)) for encoding in get_pair(name))
    assert ours == theirs


@pytest.mark.sweep
def test_what_most_attempts_begin_with_is_merged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    encoding = compat_bpe.get_encoding("gpt2")
    model = encoding.core.model
    merged: list[str] = []
    encode = model.encode

    def noted(text: str) -> Any:
        merged.append(text)
        return encode(text)

    monkeypatch.setattr(model, "encode", noted)
    assert len(encoding.encode_with_unstable(" " * 200)[1]) > 30_000
    assert merged.count(" " * 199) == 1


@settings(max_examples=scaled(300))
@given(TEXTS)
def test_encode_to_numpy(text: str) -> None:
    ours, theirs = both(SMALL, "encode_to_numpy", text)
    if isinstance(theirs, type):
        assert ours is theirs
        return
    assert (ours.dtype, ours.flags.writeable) == (theirs.dtype, theirs.flags.writeable)
    assert ours.tolist() == theirs.tolist()


@settings(max_examples=scaled(500))
@given(st.binary(max_size=12) | TEXTS.map(lambda text: text.encode("utf-8", "replace")), st.data())
def test_bytes(data: bytes, draw: st.DataObject) -> None:
    cut = data[: draw.draw(st.integers(0, len(data)))]
    methods = ["_encode_bytes", "encode_single_token"]
    if cut:  # of nothing tiktoken panics
        methods.append("_encode_single_piece")
    for method in methods:
        ours, theirs = both(SMALL, method, cut)
        assert ours == theirs, method


class _Bytes(bytes):
    """What subclasses of ``bytes`` are taken for."""


#: What methods that take bytes are given, and perhaps should not be.
ARGUMENTS: list[object] = [
    *(5, True, None, 1.5, "hi", "😀", "\ud800", b"hi", _Bytes(b"hi"), b"\xf0\x9f"),
    *([104, 105], (104, 105), [], [300], range(3), {104}, iter([104]), {104: 1}),
    *(bytearray(b"hi"), memoryview(b"hi"), array("B", b"hi"), array("I", [104])),
    np.array([104, 105], np.uint8),
]


@pytest.mark.parametrize("argument", ARGUMENTS, ids=lambda argument: type(argument).__name__)
@pytest.mark.parametrize("method", ["_encode_bytes", "_encode_single_piece", "encode_single_token"])
def test_what_is_no_bytes(method: str, argument: object) -> None:
    ours, theirs = both(SMALL, method, argument)
    assert ours == theirs
    # Of Rust's class, two of them have other names.
    if method == "_encode_single_piece":
        method = method[1:]
    found = [outcome(partial(getattr(e._core_bpe, method), argument)) for e in SMALL]
    assert found[0] == found[1]


@settings(max_examples=scaled(300))
@given(st.lists(st.integers(0, 270) | st.sampled_from([300, 301, 302, -1, 1 << 32]), max_size=8))
def test_decode_with_offsets(ids: list[int]) -> None:
    ours, theirs = both(SMALL, "decode_with_offsets", ids)
    assert ours == theirs


def test_batches() -> None:
    texts = ["hello", "he<|a|>", "", "\ud83d\ude00"]
    for method in ("encode_ordinary_batch", "encode_batch"):
        for threads in (1, 3, 8):
            ours, theirs = both(SMALL, method, texts, num_threads=threads)
            assert ours == theirs
    options: dict[str, Any] = {"allowed_special": {"<|a|>"}, "num_threads": 2}
    ours, theirs = both(SMALL, "encode_batch", texts, **options)
    assert ours == theirs == [[258], [256, 300], [], list("😀".encode())]
    for method in ("decode_batch", "decode_bytes_batch"):
        for ids in ([[256], [], [300, 195]], [[302]], [[-1]]):
            ours, theirs = both(SMALL, method, ids)
            assert ours == theirs


def test_vocabulary(get_pair: Callable[[str], Pair]) -> None:
    for name in ("gpt2", "o200k_harmony"):
        ours, theirs = get_pair(name)
        assert ours.token_byte_values() == theirs.token_byte_values()
        assert ours._special_token_values == theirs._special_token_values
        for token in (0, 50256, 199999, 200018, 5_000_000):
            assert ours.is_special_token(token) == theirs.is_special_token(token)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(protocol: int, get_pair: Callable[[str], Pair]) -> None:
    shipped = get_pair("cl100k_base").ours
    by_name = pickle.dumps(shipped, protocol)
    assert len(by_name) < 100
    assert pickle.loads(by_name)._core_bpe is shipped._core_bpe
    own = pickle.loads(pickle.dumps(SMALL.ours, protocol))
    assert own.encode("hello<|a|>", allowed_special="all") == [258, 300]
    assert SMALL.ours.__getstate__() == SMALL.theirs.__getstate__()


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy])
def test_copies(way: Callable[[Any], Any], get_pair: Callable[[str], Pair]) -> None:
    for encoding in (get_pair("gpt2").ours, SMALL.ours):
        assert way(encoding).encode("hello") == encoding.encode("hello")


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (compat_bpe.Encoding, tiktoken.Encoding),
        (type(SMALL.ours._core_bpe), type(SMALL.theirs._core_bpe)),
    ],
)
def test_every_public_name_is_here(ours: type, theirs: type) -> None:
    for name in dir(theirs):
        if name.startswith("__") or name in MISSING:
            continue
        assert hasattr(ours, name), name
        method = getattr(theirs, name)
        if inspect.isfunction(method):
            expected = inspect.signature(method).parameters
            found = inspect.signature(getattr(ours, name)).parameters
            assert list(found) == list(expected), name
            for key, parameter in expected.items():
                assert found[key].kind == parameter.kind, (name, key)
                # An empty set is an empty frozenset, which nobody can change by accident.
                assert found[key].default == parameter.default, (name, key)
