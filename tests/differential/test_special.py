"""Special tokens in text: what is allowed, what is not, and what overlaps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.differential.reference import BYTES, Pair, outcome, pair
from tests.examples import scaled

END, PREFIX = "<|endoftext|>", "<|fim_prefix|>"
PATTERN = r"\w+|\s+|[^\w\s]+"


def assert_same(encodings: Pair, text: Any, **arguments: Any) -> None:
    ours = outcome(lambda: encodings.ours.encode(text, **arguments))
    theirs = outcome(lambda: encodings.theirs.encode(text, **arguments))
    assert ours == theirs


def own(*names: str) -> Pair:
    return pair(BYTES, PATTERN, {name: 1000 + number for number, name in enumerate(names)})


TEXTS = ["", "a", END, f"a{END}b", END * 3, f"{END}{PREFIX}", END[:-1], f"<|{END}|>"]
ONE = {END: 0}.keys()
#: Sets of names that are allowed, with the usual set of disallowed ones; and with none of these.
ALLOWED: list[Any] = [
    *("all", {END}, frozenset({END}), {PREFIX, "no special token"}, [END], (END,), {END: 0}, ONE),
    *(END, None, {1}),
]
ALLOWED_ALONE: list[Any] = [
    *({"a", ""}, [END], (END,), ONE, END, "", None, {1}, {"\ud83d"}),
]
DISALLOWED: list[Any] = [
    *((), [], set(), None, "", "all", "b", [END], (END,), {END}, ONE, {PREFIX}, {"a"}, {""}, {1}),
    {"\ud83d"},
]
BOTH: list[tuple[Any, Any]] = [([END], {END}), ({END}, {END}), ("all", {END}), ({END}, {"b"})]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        *({"allowed_special": allowed} for allowed in ALLOWED),
        *({"allowed_special": allowed, "disallowed_special": ()} for allowed in ALLOWED_ALONE),
        *({"disallowed_special": disallowed} for disallowed in DISALLOWED),
        *({"allowed_special": one, "disallowed_special": other} for one, other in BOTH),
    ],
)
def test_arguments(cl100k: Pair, arguments: dict[str, Any]) -> None:
    for text in (*TEXTS, f"{END}\ud83d"):
        assert_same(cl100k, text, **arguments)


@pytest.mark.parametrize("number", [4, pytest.param(20, marks=pytest.mark.sweep)])
def test_all_special_tokens_of_each_encoding(shipped: Pair, number: int) -> None:
    assert shipped.ours.special_tokens_set == shipped.theirs.special_tokens_set
    names = sorted(shipped.theirs.special_tokens_set)
    for text in ("".join(names), " \n".join(names), "a".join(reversed(names))):
        assert_same(shipped, text, allowed_special="all")
        assert_same(shipped, text, allowed_special=set(names[::2]), disallowed_special=())
        assert_same(shipped, text, allowed_special=set(names[::2]))
    # o200k_harmony has 1,091, and each set of them is a pattern to compile.
    for name in names[:: len(names) // number + 1]:
        assert_same(shipped, f" {name} ", allowed_special={name})
        assert_same(shipped, f" {name} ", allowed_special=set(names) - {name})
        assert_same(shipped, f" {name} ", disallowed_special={name})


def test_the_error_names_the_token_and_says_what_clients_look_for(shipped: Pair) -> None:
    for encoding in shipped:
        with pytest.raises(ValueError, match=r"disallowed special token '<.endoftext.>'"):
            encoding.encode(f"one {END} two")


@pytest.mark.parametrize("text", [b"bytes", b"", None, 1, ["a"], bytearray(b"a")], ids=repr)
def test_texts_that_are_none(cl100k: Pair, text: Any) -> None:
    assert_same(cl100k, text)
    assert_same(cl100k, text, disallowed_special=())
    ours = outcome(lambda: cl100k.ours.encode_ordinary(text))
    assert ours == outcome(lambda: cl100k.theirs.encode_ordinary(text))


@pytest.mark.parametrize(
    ("names", "text", "allowed"),
    [
        *((("aa", "ab"), "aab", {name}) for name in ("ab", "aa")),
        (("aa", "ab"), "aaab", {"aa", "ab"}),
        (("aa",), "aaaaa", {"aa"}),
        *((("aba", "bab"), "ababab", {name}) for name in ("bab", "aba")),
        (("éa", "aé"), "éaéaé", {"aé"}),
        (("\U0001f600!", "!\U0001f600"), "\U0001f600!\U0001f600!", {"!\U0001f600"}),
        ((".*", "a+"), "aa+.*a", {".*", "a+"}),
        (("[a", "b]"), "[ab]", {"[a", "b]"}),
        ((" ",), "a b  c", {" "}),
        (("\n",), "a\nb\n\n", {"\n"}),
        (("\ufffd",), "a\ud83d\ufffdb", {"\ufffd"}),
        (("#x", "-y", "~z", "&&"), "#x-y~z&&", {"#x", "-y", "~z", "&&"}),
    ],
)
def test_names_that_overlap(names: tuple[str, ...], text: str, allowed: set[str]) -> None:
    assert_same(own(*names), text, allowed_special=allowed, disallowed_special=())
    assert_same(own(*names), text, allowed_special=allowed)


@st.composite
def special_cases(draw: st.DrawFn) -> tuple[list[str], set[str], str]:
    """Names none of which begins another, since there tiktoken promises no order."""
    alphabet = draw(st.sampled_from(["ab", "aé", "<>|", ".*", "a\U0001f600"]))
    names: list[str] = []
    for name in draw(st.lists(st.text(alphabet, min_size=1, max_size=4), min_size=1, max_size=5)):
        if not any(name.startswith(other) or other.startswith(name) for other in names):
            names.append(name)
    allowed = draw(st.sets(st.sampled_from(names)))
    return names, allowed, draw(st.text(alphabet, max_size=30))


@pytest.mark.hypothesis
@pytest.mark.parametrize("number", [200, pytest.param(600, marks=pytest.mark.sweep)])
def test_random_names(number: int) -> None:
    @settings(max_examples=scaled(number))
    @given(special_cases())
    def run(case: tuple[list[str], set[str], str]) -> None:
        names, allowed, text = case
        encodings = own(*names)
        assert_same(encodings, text, allowed_special=allowed, disallowed_special=())
        assert_same(encodings, text, allowed_special=allowed)
        assert_same(encodings, text, disallowed_special=allowed)

    run()


def test_encode_single_token_of_special_names(shipped: Pair) -> None:
    for name in shipped.theirs.special_tokens_set:
        expected = shipped.theirs.encode_single_token(name)
        assert shipped.ours.encode_single_token(name) == expected
        assert shipped.ours.encode_single_token(name.encode()) == expected


def test_a_token_that_is_mergeable_and_special() -> None:
    encodings = pair({**BYTES, b"ab": 256}, PATTERN, {"ab": 300, "c": 301})
    for text in ("ab", "abc", "cab", "c"):
        for allowed in (set(), {"ab"}, {"c"}, {"ab", "c"}):
            assert_same(encodings, text, allowed_special=allowed, disallowed_special=())
    for token in ("ab", "c", b"ab", b"c"):
        ours, theirs = (encoding.encode_single_token(token) for encoding in encodings)
        assert ours == theirs
    for number in (256, 300, 301, 99):
        assert encodings.ours.decode([number]) == encodings.theirs.decode([number])


def test_an_id_that_is_mergeable_and_special() -> None:
    encodings = pair({**BYTES, b"ab": 256}, PATTERN, {"<x>": 256, "<y>": 97})
    assert_same(encodings, "a<x>ab<y>", allowed_special="all")
    assert encodings.ours.decode([256, 97]) == encodings.theirs.decode([256, 97])


def test_no_special_tokens_at_all(get_pair: Callable[[str], Pair]) -> None:
    theirs = get_pair("r50k_base").theirs
    encodings = pair(theirs._mergeable_ranks, theirs._pat_str, {})
    for text in ("", "hello <|endoftext|>"):
        for arguments in ({}, {"allowed_special": "all"}, {"allowed_special": {END}}):
            assert_same(encodings, text, **arguments)
        assert_same(encodings, text, disallowed_special={END})
    for encoding in encodings:
        with pytest.raises(KeyError):
            _ = encoding.eot_token


def test_properties(shipped: Pair) -> None:
    for name in ("name", "max_token_value", "n_vocab", "eot_token", "special_tokens_set"):
        assert getattr(shipped.ours, name) == getattr(shipped.theirs, name)
    assert repr(shipped.ours) == repr(shipped.theirs)
    assert isinstance(shipped.theirs, tiktoken.Encoding)
