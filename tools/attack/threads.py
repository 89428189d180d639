"""Attack what is built when it is first used: several threads are the first at once.

An encoding is made anew, and the tables that are remembered for the whole process are forgotten.
Then threads that are switched all the time do the same random calls in random orders. Each must
get what one thread alone gets. The numbers of an open vocabulary depend on who comes first, so
there each word must have one number, and be what that number decodes to.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from random import Random
from types import ModuleType

from compat_bpe import Encoding, load
from compat_bpe.encodings.registry import make_encoding
from compat_bpe.fit import Document, split_text
from tests.kinds import KINDS, SMALL_MODELS, kind_path, model_path

SECONDS = 60
MEMORY = None  # threads reserve more addresses than they use

_OPEN = ("words", "words_and_punctuation", "categories")
_SHIPPED = ("bytes", "characters", "gpt2", "p50k_edit", "cl100k_base", "o200k_base", "deepseek_v3")
_LETTERS = "aeinst  ETO019.,'\n\t-_éß\u0301\u093f\u30fc中国話カひ한가€😀👍🏽\u200d\0\ufffd"

_Call = Callable[[Encoding], object]


def attack(random: Random) -> None:
    """Let some threads share a new encoding, and compare what they get."""
    if random.random() < 0.25:
        attack_words(random, random.choice(_OPEN))
    else:
        attack_encoding(random, *_kind(random))


def attack_words(random: Random, name: str) -> None:
    """Let threads number the words of an open vocabulary, and check that all agree."""
    encoding = make_encoding(name)
    texts = [" ".join(_words(random, 300)) for _ in range(30)]
    found: list[tuple[str, int]] = []

    def work(_number: int) -> None:
        for text in random.sample(texts, len(texts)):
            numbers = encoding.encode_ordinary(text)
            again = encoding.decode(numbers)
            assert encoding.encode_ordinary(again) == numbers, f"{again!r} has other numbers"
            found.extend((encoding.decode([number]), number) for number in numbers)

    together(random.randrange(2, 7), work)
    number_of, word_of = dict(found), {number: word for word, number in found}
    for word, number in found:
        assert number_of[word] == number, f"{name}: {word!r} has two numbers"
        assert word_of[number] == word, f"{name}: two words have the number {number}"


def attack_encoding(random: Random, name: str, make: Callable[[], Encoding]) -> None:
    """Let threads make the same calls of a new encoding, and compare with one that is alone."""
    calls = _calls(random)
    _forget()
    alone = make()
    expected = [_outcome(call, alone) for call in calls]
    _forget()
    encoding = make()
    are_in_step = random.random() < 0.5
    orders = [random.sample(range(len(calls)), len(calls)) for _ in range(random.randrange(2, 7))]

    def work(number: int) -> None:
        for at in orders[0 if are_in_step else number]:
            outcome, right = _outcome(calls[at], encoding), expected[at]
            assert outcome == right, f"{name}, call {at}: {outcome!r:.200}, not {right!r:.200}"

    together(len(orders), work)


def together(count: int, work: Callable[[int], None]) -> None:
    """Do some work in threads that begin at once and are switched all the time.

    Args:
        count: the number of threads.
        work: called in each with its number; what it raises is raised here.
    """
    barrier = threading.Barrier(count)
    failed: list[BaseException] = []

    def run(number: int) -> None:
        try:
            barrier.wait()
            work(number)
        except BaseException as error:
            failed.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    if failed:
        raise failed[0]


def _kind(random: Random) -> tuple[str, Callable[[], Encoding]]:
    name = random.choice([*_SHIPPED, *KINDS, *SMALL_MODELS])
    if name in _SHIPPED:
        return name, lambda: make_encoding(name)
    path = kind_path(name) if name in KINDS else model_path(name)
    return name, lambda: load(path)


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


def _outcome(call: _Call, encoding: Encoding) -> object:
    """Return what a call returns, or the kind of its error."""
    try:
        return call(encoding)
    except (ValueError, KeyError, TypeError, NotImplementedError) as error:
        return type(error)
