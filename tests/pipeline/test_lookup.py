"""Where threads run in parallel, no text is encoded with ``dict.get``, which is slow there."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import compat_bpe
from compat_bpe import Encoding, get_encoding, load, load_gpt2
from compat_bpe.encodings import batch
from compat_bpe.pipeline import lookup
from compat_bpe.pipeline.lookup import getter, shareable
from compat_bpe.pipeline.models.sentencepiece.base import (
    NORMAL,
    UNKNOWN,
    SentencePieceBase,
    SentencePieceVocabulary,
)
from tests.kinds import KINDS, kind_path
from tests.pipeline.models.drawn import SENTENCEPIECES

PACKAGE = str(Path(compat_bpe.__file__).parent)
SMALL = Path(__file__).parents[2] / "fixtures" / "gpt2_small"

FIRST = "the newest lower hugs, 12 naïve cafés in 中国人 हिन्दी! " * 20
#: Other chunks than those of the first text, so that these are merged, too.
SECOND = (
    "widest slowest hugged 34 unhugs, naïvest 中人国 दीहिन् lowerer, and that which from other time"
)

Encode = Callable[[str], object]


def slow_look_ups(encode: Encode, text: str) -> Counter[str]:
    """The places of this package at which a text is looked up with ``dict.get``."""
    found: Counter[str] = Counter()

    def see(frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call" and isinstance(getattr(called, "__self__", None), dict):
            file = frame.f_code.co_filename
            if called.__name__ == "get" and file.startswith(PACKAGE):
                found[f"{file}:{frame.f_lineno}"] += 1

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        encode(text)
    finally:
        sys.setprofile(before)
    return found


def by_ranks() -> Encode:
    known = get_encoding("gpt2")
    ranks, special = known._mergeable_ranks, known._special_tokens
    pattern = known._pat_str
    made = Encoding("own", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)
    return made.encode_ordinary


def by_merges() -> Encode:
    return load_gpt2(SMALL / "encoder.json", SMALL / "vocab.bpe", name="small").encode_ordinary


def of_kind(name: str) -> Callable[[], Encode]:
    return lambda: load(kind_path(name)).encode


def of_sentencepiece(model: Callable[[SentencePieceVocabulary], SentencePieceBase]) -> Encode:
    words = ("hug", "lower", "new", "est", "low", "中国", "unhug", "न्द")
    pieces = dict.fromkeys(
        ["<unk>", "▁", *(word[:end] for word in words for end in range(1, len(word) + 1)), *FIRST]
    )
    types = bytes([UNKNOWN] + [NORMAL] * (len(pieces) - 1))
    scores = [-float(number) for number in range(len(pieces))]
    return model(SentencePieceVocabulary(list(pieces), scores, types, byte_fallback=False)).encode


MAKERS: dict[str, Callable[[], Encode]] = {
    "by ranks": by_ranks,
    "by merges": by_merges,
    **{name: of_kind(name) for name in KINDS},
    **{model.__name__: lambda model=model: of_sentencepiece(model) for model in SENTENCEPIECES},  # type: ignore[misc]
}


@pytest.mark.skipif(
    sys.implementation.name != "cpython", reason="only CPython has builds without a global lock"
)
@pytest.mark.parametrize("name", MAKERS)
def test_threads_look_nothing_up_slowly(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = MAKERS[name]()
    ids = expected(FIRST), expected(SECOND)
    monkeypatch.setattr(lookup, "has_gil", lambda: False)
    encode = MAKERS[name]()
    assert encode(FIRST) == ids[0]
    assert not slow_look_ups(encode, SECOND)
    assert encode(SECOND) == ids[1]


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="PyPy tells of no such calls")
def test_that_such_a_look_up_is_seen() -> None:
    def encode(text: str) -> object:
        return known.get(text)

    known = {"a": 1}
    assert not slow_look_ups(encode, "a")  # not of this package
    code = compile("lambda known, text: known.get(text)", f"{PACKAGE}/some.py", "eval")
    look_up = eval(code)
    assert slow_look_ups(lambda text: look_up(known, text), "a") == {f"{PACKAGE}/some.py:1": 1}


@pytest.mark.parametrize("locked", [True, False])
def test_tables_are_dictionaries(locked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "has_gil", lambda: locked)
    table = shareable([("a", 1), ("b", 2)])
    for get in (table.get, getter(table), getter({"a": 1, "b": 2})):
        assert (get("a"), get("c"), get("c", 3), get("b", 3)) == (1, None, 3, 2)
    assert table == {"a": 1, "b": 2}
    assert shareable() == {}
    assert shareable(table) == table
    assert (shareable(table) is table) is locked
    table["c"] = 4
    assert getter(table)("c") == 4


def test_with_a_global_lock_all_is_as_ever() -> None:
    table = {"a": 1}
    assert shareable(table) is table
    assert type(shareable(zip("ab", "cd"))) is dict
    assert getter(table) == table.get


def test_threads_are_no_more_than_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "has_gil", lambda: False)
    seen: list[str] = []

    def look(text: str) -> str:
        seen.append(text)
        if len(text) == 1000:
            raise ValueError("cut in two")
        return text

    texts = ["a" * 2000, "b", "c"]
    monkeypatch.setattr(batch, "processors", lambda: 1)
    assert batch.map_in_order(look, texts, 8) == texts
    assert seen == texts  # no thread, and nothing set up beforehand
    seen.clear()
    monkeypatch.setattr(batch, "processors", lambda: 2)
    assert batch.map_in_order(look, texts, 8) == texts
    assert seen[0] == "a" * 1000
    assert sorted(seen[1:]) == sorted(texts)
