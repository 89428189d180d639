"""Batches and threads give what single calls give, whatever does the work; forks meanwhile."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import compat_bpe
from compat_bpe import Encoding, get_encoding, load
from compat_bpe.encodings import batch, published, registry
from compat_bpe.parallel import pool, processes
from compat_bpe.pipeline.decoders.bytes import WordDecoder
from compat_bpe.pipeline.models.wordpiece import WholeChunks
from compat_bpe.pipeline.pre_tokenizers import steps
from compat_bpe.tiktoken import registry as tiktoken_registry
from compat_bpe.unicode.properties import parse_ranges
from compat_bpe.unicode.tables import SCRIPTS
from tests.drawn_models import own_encoding
from tests.fit.hard_encodings import encodings, hard_texts
from tests.kinds import KINDS, kind_path
from tests.tokenizer_files import load_json, tokenizer_file
from tools.attack.threads import attack_encoding, attack_words

TEXTS = [f"text {i}: naïve 字 😀 <|endoftext|>\n" * (i % 7) for i in range(40)]
OWN = own_encoding(r"\w+|\W", special={"<|endoftext|>": 256})


def two_for_any_batch(patch: pytest.MonkeyPatch, share: int) -> None:
    """Let two workers share any batch, in parts of so many characters."""
    patch.setattr(batch, "WORTH_WORKERS", 0)
    patch.setattr(batch, "SHARE", share)
    patch.setattr(batch, "processors", lambda: 2)


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Worker processes for any batch; in the list there is a call for each that is started."""
    two_for_any_batch(monkeypatch, 200)
    monkeypatch.setattr(pool, "start_worker", start := Mock(wraps=processes.start_worker))
    return start.call_args_list


@pytest.mark.parametrize("encoding", [get_encoding("cl100k_base"), OWN], ids=repr)
@pytest.mark.parametrize("num_threads", [1, 2, 50])
def test_workers(encoding: Encoding, num_threads: int, workers: Any) -> None:
    single = [encoding.encode(text, allowed_special="all") for text in TEXTS]
    found = encoding.encode_batch(TEXTS, num_threads=num_threads, allowed_special="all")
    assert found == single
    ordinary = encoding.encode_ordinary_batch(TEXTS, num_threads=num_threads)
    assert ordinary == list(map(encoding.encode_ordinary, TEXTS))
    # This process is one of the two.
    assert len(workers) == (0 if num_threads == 1 else 2)


def test_surrogates_reach_the_workers(workers: Any) -> None:
    expected = [list("\ufffd".encode()), list("😀".encode())] * 200
    assert OWN.encode_batch(["\ud800", "\ud83d\ude00"] * 200) == expected
    assert workers


@pytest.mark.parametrize("encoding", [get_encoding("cl100k_base"), OWN], ids=repr)
def test_one_long_text(encoding: Encoding, workers: Any) -> None:
    text = "".join(TEXTS)
    expected = encoding.encode(text, allowed_special="all")
    assert encoding.encode_batch([text], allowed_special="all") == [expected]
    assert encoding.encode_ordinary_batch([text]) == [encoding.encode_ordinary(text)]
    assert len(workers) == 2
    with pytest.raises(ValueError, match="disallowed special token"):
        encoding.encode_batch([text])
    wrong: Any = ["<|endoftext|>"]
    with pytest.raises(TypeError, match="must be a set"):
        encoding.encode_batch([text], allowed_special=wrong, disallowed_special=())
    assert encoding.encode_batch([text], num_threads=1, allowed_special="all") == [expected]
    assert len(workers) == 2


def test_a_text_without_cut_points_starts_nothing(workers: Any) -> None:
    assert OWN.encode_batch(["a" * 1000]) == [[97] * 1000]
    assert not workers


def test_what_cannot_be_encoded_raises_as_one_text_does(
    workers: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = {"type": "WordLevel", "vocab": {"a": 0, "b": 1}, "unk_token": "[UNK]"}
    file = tokenizer_file(model=words, pre_tokenizer={"type": "Whitespace"})
    encoding = load_json(tmp_path, file)
    text = "a b " * 200
    assert encoding.encode_batch([text]) == [[0, 1] * 200]
    assert workers
    for bad in (f"c {text}", f"{text}c {text}", f"{text}c"):
        with pytest.raises(ValueError) as expected:  # noqa: PT011
            encoding.encode(bad)
        with pytest.raises(ValueError) as found:  # noqa: PT011
            encoding.encode_batch([text, bad])
        assert str(found.value) == str(expected.value)
    assert capfd.readouterr().err == ""


class PoolHere:
    """A pool of one worker that works in this process, when it is asked for what has arrived."""

    size = 1

    def __init__(self, make: Any, arguments: tuple[Any, ...], number: int) -> None:
        self._worker = make(*arguments)
        self._tasks: list[Any] = []
        self._turn = 0

    def __enter__(self) -> PoolHere:
        return self

    def __exit__(self, *_: object) -> None:
        assert not self._tasks

    def offer(self, task: Any) -> bool:
        if self._tasks:
            return False
        self._tasks.append(pickle.dumps(task))
        return True

    def take_back(self) -> Any:
        return pickle.loads(self._tasks.pop()) if self._tasks else None

    def arrived(self) -> list[Any]:
        self._turn += 1
        found: list[Any] = []
        if self._tasks and self._turn % 3:  # In other turns it is too late, or the task goes back.
            self._worker.do(pickle.loads(self._tasks.pop()), found.append)
        return found

    def run(self, tasks: Sequence[Any]) -> list[Any]:
        assert not tasks
        return []


@given(
    encodings,
    st.lists(hard_texts, max_size=5),
    st.integers(1, 40),
    st.sampled_from([frozenset(), frozenset({"<|endoftext|>", "<|end", "x<b>"})]),
)
def test_pieces_have_the_ids_of_the_whole(
    encoding: Encoding, texts: list[str], share: int, allowed: frozenset[str]
) -> None:
    options: Any = {"allowed_special": allowed, "disallowed_special": ()}

    def each() -> list[list[int]]:
        return [encoding.encode(text, **options) for text in texts]

    with pytest.MonkeyPatch.context() as patch:
        two_for_any_batch(patch, share)
        patch.setattr(pool, "Pool", PoolHere)
        try:
            expected = each()
        except ValueError as error:
            with pytest.raises(ValueError, match=re.escape(str(error))):
                encoding.encode_batch(texts, **options)
        else:
            assert encoding.encode_batch(texts, **options) == expected


@pytest.mark.parametrize("share", range(1, 30, 3))
def test_no_special_token_is_cut(monkeypatch: pytest.MonkeyPatch, share: int) -> None:
    two_for_any_batch(monkeypatch, share)
    monkeypatch.setattr(pool, "Pool", PoolHere)
    text = "ab<|endoftext|>" * 10
    assert OWN.encode_batch([text], allowed_special="all") == [[97, 98, 256] * 10]


def test_the_first_bad_text_raises(workers: Any) -> None:
    with pytest.raises(ValueError, match="disallowed special token"):
        OWN.encode_batch(["fine", "<|endoftext|>", None])  # type: ignore[list-item]
    with pytest.raises(TypeError):
        OWN.encode_batch(["fine", None, "<|endoftext|>"])  # type: ignore[list-item]
    assert not workers


def test_lists_are_fresh() -> None:
    found = OWN.encode_batch(["a", "a"])
    found[0].append(1)
    assert found[1] == [97]


def test_from_a_thread(workers: Any) -> None:
    found: list[list[list[int]]] = []
    thread = threading.Thread(target=lambda: found.append(OWN.encode_ordinary_batch(TEXTS)))
    thread.start()
    thread.join()
    assert found == [list(map(OWN.encode_ordinary, TEXTS))]
    assert workers


def test_no_process_is_left(workers: Any) -> None:
    OWN.encode_ordinary_batch(TEXTS)
    assert workers
    if sys.platform == "linux":
        children = subprocess.run(
            ["ps", "--ppid", str(os.getpid()), "-o", "args="], capture_output=True, text=True
        ).stdout
        assert "compat_bpe.parallel.pool" not in children


@pytest.mark.parametrize("error", [OSError("no"), RuntimeError("can't start new thread")])
def test_where_nothing_can_be_started(
    error: Exception, workers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert OWN.encode_ordinary_batch(TEXTS) == list(map(OWN.encode_ordinary, TEXTS))


def test_a_killed_worker_does_no_harm(workers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_CODE", "import sys; sys.exit(1) # {path!r} {module}")
    assert OWN.encode_ordinary_batch(TEXTS) == list(map(OWN.encode_ordinary, TEXTS))
    assert workers


def test_without_a_global_lock_there_are_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "has_gil", lambda: False)
    assert OWN.encode_ordinary_batch(TEXTS) == list(map(OWN.encode_ordinary, TEXTS))
    assert OWN.decode_batch([[97], [98]]) == ["a", "b"]
    with pytest.raises(ValueError, match="disallowed"):
        OWN.encode_batch(TEXTS)


def test_small_batches_start_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "encode_in_workers", None)
    assert OWN.encode_batch(["a"]) == [[97]]
    assert OWN.decode_bytes_batch([[97], []]) == [b"a", b""]


def test_num_threads_must_be_positive() -> None:
    with pytest.raises(ValueError, match="num_threads is 0"):
        OWN.encode_batch(["a"], num_threads=0)


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
