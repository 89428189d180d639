"""Attack what is built when it is first used: several threads are the first at once.

An encoding is made anew, and the tables that are remembered for the whole process are forgotten.
Then threads that are switched all the time do the same random calls in random orders.  Each must
get what one thread alone gets.  The numbers of an open vocabulary depend on who comes first, so
there each word must have one number, and be what that number decodes to.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

from compat_bpe import Encoding, load
from compat_bpe.encodings.registry import make_encoding
from compat_bpe.fit import Document, split_text

SECONDS = 60
MEMORY = None  # threads reserve more addresses than they use

_FIXTURES = Path(__file__).parents[2] / "fixtures"
_OPEN = ("words", "words_and_punctuation", "categories")
_SHIPPED = ("bytes", "characters", "gpt2", "p50k_edit", "cl100k_base", "o200k_base", "deepseek_v3")
_LETTERS = "aeinst  ETO019.,'\n\t-_éß\u0301\u093f\u30fc中国話カひ한가€😀👍🏽\u200d\0\ufffd"

_Call = Callable[[Encoding], object]


def attack(random: Random) -> None:
    """Let some threads share a new encoding, and compare what they get."""
    threads = random.randrange(2, 7)
    if random.random() < 0.25:
        name = random.choice(_OPEN)
        texts = [" ".join(_words(random, 300)) for _ in range(30)]
        encoding = make_encoding(name)
        found = _together(random, threads, encoding, _calls_of_words(texts), _called)
        _check_words(name, [pairs for of_thread in found for pairs in of_thread])
        return
    name, make = _kind(random)
    calls = _calls(random)
    _forget()
    expected = [_outcome(call, make()) for call in calls]
    _forget()
    for of_thread in _together(random, threads, make(), calls, _outcome):
        for number, (outcome, right) in enumerate(zip(of_thread, expected)):
            assert outcome == right, f"{name}, call {number}: {outcome!r:.200}, not {right!r:.200}"


def _kind(random: Random) -> tuple[str, Callable[[], Encoding]]:
    name = random.choice([*_SHIPPED, *_files()])
    if name in _files():
        return name, lambda: load(_files()[name])
    return name, lambda: make_encoding(name)


@cache
def _files() -> dict[str, Path]:
    """Return the small tokenizers of the fixtures, one of each kind, as files."""
    folder = Path(_folder().name)
    found = {}
    for path in sorted((_FIXTURES / "sentencepiece").glob("*.json")):
        found[path.name] = folder / f"{path.stem}.model"
        found[path.name].write_bytes(b64decode(json.loads(path.read_bytes())["model"]))
    for path in sorted((_FIXTURES / "kinds").glob("*.json")):
        found[path.stem] = folder / path.stem / "tokenizer.json"
        found[path.stem].parent.mkdir()
        found[path.stem].write_text(json.dumps(json.loads(path.read_bytes())["tokenizer"]), "utf-8")
    return found


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


def _forget() -> None:
    """Forget what the package remembers for the whole process, but for the vocabularies."""
    for name, module in list(sys.modules.items()):
        if name.startswith("compat_bpe.") and isinstance(module, ModuleType):
            for value in list(vars(module).values()):
                forget = getattr(value, "cache_clear", None)
                if forget is not None and getattr(value, "__name__", "") != "load_ranks":
                    forget()


def _texts(random: Random, number: int) -> list[str]:
    """Return texts that have some words in common."""
    words = _words(random, 20)
    return [
        random.choice(" \n").join(random.choices(words, k=random.randrange(1, 60)))
        * random.choice([1, 1, 1, 9])
        for _ in range(number)
    ]


def _words(random: Random, number: int) -> list[str]:
    return ["".join(random.choices(_LETTERS, k=random.randrange(1, 9))) for _ in range(number)]


def _calls(random: Random) -> list[_Call]:
    """Return random calls of an encoding."""
    calls: list[_Call] = []
    for text in _texts(random, 10):
        limit = random.randrange(1, 40)
        number = random.randrange(300)
        calls += random.sample(_of_text(text, limit, number), 4)
    calls.insert(random.randrange(len(calls)), lambda encoding: encoding.clear_cache())
    return calls


def _of_text(text: str, limit: int, number: int) -> list[_Call]:
    return [
        lambda encoding: encoding.encode_ordinary(text),
        lambda encoding: encoding.count(text),
        lambda encoding: encoding.decode(encoding.encode(text, disallowed_special=())),
        lambda encoding: encoding.decode_bytes(encoding.encode_ordinary(text)[::-1]),
        lambda encoding: encoding.decode_single_token_bytes(number),
        lambda encoding: encoding.encode_batch([text, text[::-1]], disallowed_special=()),
        lambda encoding: encoding.truncate(text, limit),
        lambda encoding: encoding.fits(text, limit),
        lambda encoding: [part.text for part in split_text(encoding, text[:400], limit + 8)],
        lambda encoding: list(Document(encoding, text).tokens(0, min(len(text), 50))),
        lambda encoding: getattr(encoding, "encode_with_offsets", type)(text),
        lambda encoding: sorted(encoding.encode_with_unstable(text[:20])[1]),
        lambda encoding: len(encoding.token_byte_values()),
        lambda encoding: encoding.n_vocab,
    ]


def _called(call: _Call, encoding: Encoding) -> object:
    return call(encoding)


def _outcome(call: _Call, encoding: Encoding) -> object:
    """Return what a call returns, or the kind of its error."""
    try:
        return call(encoding)
    except (ValueError, KeyError, TypeError, NotImplementedError) as error:
        return type(error)


def _calls_of_words(texts: list[str]) -> list[_Call]:
    def of(text: str) -> _Call:
        def call(encoding: Encoding) -> object:
            numbers = encoding.encode_ordinary(text)
            again = encoding.decode(numbers)
            words = [encoding.decode([number]) for number in numbers]
            assert encoding.encode_ordinary(again) == numbers, f"{again!r} has other numbers"
            return list(zip(words, numbers))

        return call

    return [of(text) for text in texts]


def _check_words(name: str, found: list[list[tuple[str, int]]]) -> None:
    number_of: dict[str, int] = {}
    word_of: dict[int, str] = {}
    for pairs in found:
        for word, number in pairs:
            assert number_of.setdefault(word, number) == number, f"{name}: {word!r} has two numbers"
            assert word_of.setdefault(number, word) == word, f"{name}: two words are {number}"


def _together(
    random: Random,
    count: int,
    encoding: Encoding,
    calls: list[_Call],
    outcome: Callable[[_Call, Encoding], object],
) -> list[Any]:
    """Return what each of some threads gets, which begin at once, by the order of the calls."""
    barrier = threading.Barrier(count)
    found: list[list[object]] = [[None] * len(calls) for _ in range(count)]
    failed: list[BaseException] = []

    def work(outcomes: list[object], order: list[int]) -> None:
        try:
            barrier.wait()
            for number in order:
                outcomes[number] = outcome(calls[number], encoding)
        except BaseException as error:
            failed.append(error)

    orders = [random.sample(range(len(calls)), len(calls)) for _ in range(count)]
    if random.random() < 0.5:
        orders = [list(range(len(calls))) for _ in range(count)]  # all are at the same place
    with _switched_often():
        threads = [threading.Thread(target=work, args=pair) for pair in zip(found, orders)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if failed:
        raise AssertionError(f"a thread failed: {failed[0]!r}") from failed[0]
    return found


@contextmanager
def _switched_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
