"""Threads that are the first to use an encoding, together; and forks meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

import compat_bpe
from compat_bpe import Encoding, load
from compat_bpe.encodings import published, registry
from compat_bpe.pipeline.decoders.bytes import WordDecoder
from compat_bpe.pipeline.models.words import WholeChunks
from compat_bpe.pipeline.pre_tokenizers import steps
from compat_bpe.tiktoken import registry as tiktoken_registry
from compat_bpe.unicode.properties import parse_ranges
from compat_bpe.unicode.tables import SCRIPTS
from tests.kinds import KINDS, kind_path
from tools.attack.threads import attack_encoding, attack_words

_SHIPPED = ("bytes", "characters", "gpt2", "cl100k_base", "o200k_base", "deepseek_v3")
ROOT = Path(compat_bpe.__file__).parent.parent


@pytest.mark.parametrize("name", ["words", "words_and_punctuation"])
def test_each_word_has_one_number_and_each_number_one_word(name: str) -> None:
    attack_words(Random(name), name)


@pytest.mark.parametrize(
    "name", [*KINDS, *(pytest.param(name, marks=pytest.mark.sweep) for name in _SHIPPED)]
)
def test_threads_get_what_one_alone_gets(name: str) -> None:
    def make() -> Encoding:
        return load(kind_path(name)) if name in KINDS else registry.make_encoding(name)

    attack_encoding(Random(1), name, make)


def test_the_sign_of_a_script_does_not_depend_on_who_comes_first() -> None:
    """Numbered as they came, two scripts that two threads met at once could get one sign."""
    firsts = [next(iter(parse_ranges(table).ranges()))[0] for table in SCRIPTS.values()]
    one, other = steps._script_table.__wrapped__(), steps._script_table.__wrapped__()
    assert [one[point] for point in firsts] == [other[point] for point in firsts[::-1]][::-1]
    assert len(set(one.values())) == len({steps._script(point) for point in firsts})


def test_a_word_that_another_thread_puts_in_between() -> None:
    class Busy(list[bytes]):
        def append(self, word: bytes) -> None:
            super().append(b"other")
            super().append(word)
            super().append(word)

    model = WholeChunks()
    model.words = Busy()
    assert [model.encode(word) for word in ("to", "be", "to", "other")] == [(1,), (4,), (1,), (6,)]
    assert WordDecoder(model.words, " ").decode_text([1, 4, 2, 6], "strict") == "to be to other"


@pytest.mark.parametrize("get", [compat_bpe.get_encoding, tiktoken_registry.get_encoding])
def test_an_encoding_is_one_object_however_it_is_had(
    get: Callable[[str], Encoding], monkeypatch: pytest.MonkeyPatch
) -> None:
    make = registry.make_encoding
    unpickled = []

    def made_meanwhile(name: str) -> Encoding:
        found = make(name)
        unpickled.append(published.find(name, Encoding.shipped))
        return found

    compat_bpe.unload()
    monkeypatch.setattr(registry, "make_encoding", made_meanwhile)
    assert [get("gpt2")] == unpickled


_FORKS = """
import os, re, signal, sys, threading
sys.path.insert(0, sys.argv[1])
import compat_bpe
from compat_bpe import tiktoken
from compat_bpe.encodings.registry import make_encoding

TEXT = "hello é 中国 world " * 20

def use(make):
    encoding = make("gpt2")
    assert encoding.decode(encoding.encode(TEXT)) == TEXT
    encoding.truncate(TEXT, 5)

def work(make):
    while True:
        compat_bpe.unload()
        re.purge()
        use(make)

makers = [compat_bpe.get_encoding, make_encoding, tiktoken.registry.get_encoding]
for make in makers:
    use(make)
threading.Thread(target=work, args=(makers[int(sys.argv[2])],), daemon=True).start()
for number in range(int(sys.argv[3])):
    child = os.fork()
    if not child:
        signal.alarm(15)
        use(makers[number % 3])
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if status:
        print("child", number, "ended with", status)
        os._exit(1)
os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize(
    "maker", [0, *(pytest.param(at, marks=pytest.mark.sweep) for at in (1, 2))]
)
@pytest.mark.parametrize("forks", [4, pytest.param(30, marks=pytest.mark.sweep)])
def test_a_fork_while_a_thread_loads(maker: int, forks: int) -> None:
    """A lock that the thread holds would be held in the child for ever."""
    command = [sys.executable, "-W", "ignore", "-c", _FORKS, str(ROOT), str(maker), str(forks)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
