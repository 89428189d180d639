"""Encoders beside their references: speed, start, what an editor asks, and a tree of files.

A ratio is the reference's CPU time divided by ours: 2 is twice as fast as the reference. Ids that
differ end the run.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import statistics
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import tiktoken

import compat_bpe
from compat_bpe.encodings.registry import make_encoding
from compat_bpe.fit import Document
from tools.benchmark.common import Options, Row, interleaved, medians, mixed, refuse_difference, run
from tools.reference_files import reference_file
from tools.reference_tokenizers import reference_tokenizer
from tools.whole_corpora import encode_of

#: *cold* is a fresh encoder's first text; *new* a text to one that has met another half of it,
#: *again* the same once more, *lines* the new text line by line, to encode and to count.
FIGURES = ("cold", "new", "again", "count, new", "count, again", "lines")

#: Characters of each text: tokenizers takes ten times as long as tiktoken.
_LONGEST = 400_000


class Side(NamedTuple):
    """A module, what loads an encoding of it, and the code that encodes ``text`` with that."""

    module: str
    load: str
    encode: str = "encoding.encode(text)"


class Pair(NamedTuple):
    """A tokenizer here and in a reference.

    Args:
        make: makes a fresh encoder.
        encode: the reference's function from text to ids.
        decode: the reference's function from ids to text, if it is the same text.
        ours, theirs: the steps of a first answer.
    """

    make: Callable[[], compat_bpe.Encoding]
    encode: Callable[[str], Sequence[int]]
    decode: Callable[[list[int]], str] | None
    ours: Side
    theirs: Side


def _of_tiktoken(name: str) -> Pair:
    encoding = tiktoken.get_encoding(name)
    ours, theirs = (
        Side(module, f"{module}.get_encoding({name!r})") for module in ("compat_bpe", "tiktoken")
    )
    make = partial(make_encoding, name)
    return Pair(make, encoding.encode_ordinary, encoding.decode, ours, theirs)


def _of_file(path: Path, their_path: Path | None = None, name: str | None = None) -> Pair:
    """Return a file, or an encoding that ships, and the file that the reference reads."""
    load = f"get_encoding({name!r})" if name else f"load({str(path)!r})"
    ours = Side("compat_bpe", f"compat_bpe.{load}")
    make = partial(make_encoding, name) if name else partial(compat_bpe.load, path)
    file = their_path or path
    if ".model" in file.name:
        made = f"sentencepiece.SentencePieceProcessor(model_file={str(file)!r})"
        theirs = Side("sentencepiece", made)
    else:
        made = f"tokenizers.Tokenizer.from_file({str(file)!r})"
        theirs = Side("tokenizers", made, "encoding.encode(text, add_special_tokens=False).ids")
    return Pair(make, encode_of(file), None, ours, theirs)


#: What gives the pair of each kind; files that are missing are fetched and built.
KINDS: dict[str, Callable[[], Pair]] = {
    "deepseek_v3": lambda: _of_file(reference_file("deepseek_r1"), name="deepseek_v3"),
    "bert_uncased": lambda: _of_file(reference_tokenizer("bert_uncased")),
    "xlm_r": lambda: _of_file(reference_tokenizer("xlm_r")),
    "t5_like": lambda: _of_file(reference_tokenizer("t5_like")),
    "llama_2": lambda: _of_file(reference_tokenizer("llama_2")),
    "clip": lambda: _of_file(reference_tokenizer("clip")),
    "gemma_json": lambda: _of_file(reference_file("gemma_json")),
    "llama_2.model, tokenizers": lambda: _of_file(
        reference_file("llama_2"), reference_tokenizer("llama_2")
    ),
    "llama_2.model": lambda: _of_file(reference_file("llama_2")),
    "gemma_model.model": lambda: _of_file(reference_file("gemma_model")),
    "kyoto_unigram.model": lambda: _of_file(reference_file("kyoto_unigram")),
    "j2.model": lambda: _of_file(reference_file("j2")),
}


# Speed


def speed(options: Options) -> Iterator[Row]:
    """Yield the figures of an encoding beside tiktoken: a row for each text, and their mean."""
    yield from _rows(_of_tiktoken(options.encoding), "", options.texts, options.rounds)


def speed_of_kinds(options: Options) -> Iterator[Row]:
    """Yield the figures and the start of other tokenizers beside tokenizers and sentencepiece."""
    titles = {"english", "chinese_classical", "rust"}
    texts = {title: text for title, text in options.texts.items() if title in titles}
    short = {title: text[:_LONGEST] for title, text in (texts or options.texts).items()}
    for name, make in KINDS.items():
        if not options.only or name in options.only:
            pair = make()
            yield from _rows(pair, f"{name}, ", short, options.rounds)
            steps = first_answers(pair, options.rounds)
            whole = {
                side: sum(steps[step][side] for step in STEPS[:3])
                for side in next(iter(steps.values()))
            }
            yield f"{name}, first answer", whole


def _rows(pair: Pair, prefix: str, texts: dict[str, str], rounds: int) -> Iterator[Row]:
    rows = []
    for title, text in texts.items():
        rows.append(throughput(prefix + title, pair, text, rounds))
        yield prefix + title, rows[-1]
    yield (
        f"{prefix}geometric mean",
        {name: statistics.geometric_mean([row[name] for row in rows]) for name in rows[0]},
    )


def throughput(title: str, pair: Pair, text: str, rounds: int) -> dict[str, float]:
    """Return the ratio for each of ``FIGURES``, medians, and the reference's megabytes a second."""
    first, second = text[: len(text) // 2], text[len(text) // 2 :]
    lines = second.splitlines(keepends=True)
    ratios: dict[str, list[float]] = {}
    speeds: list[float] = []

    def turn(figure: str, ours: Callable[[], Any], theirs: Callable[[], Any]) -> None:
        start = time.process_time()
        expected = theirs()
        between = time.process_time()
        found = ours()
        end = time.process_time()
        ratios.setdefault(figure, []).append((between - start) / max(end - between, 1e-9))
        if figure == "new":
            speeds.append(len(second.encode()) / 1e6 / max(between - start, 1e-9))
        refuse_difference(f"{title}, {figure}", found, expected, pair.theirs.module)

    for _ in range(rounds):
        re.purge()
        encoding = pair.make()
        encode, count = encoding.encode_ordinary, encoding.count
        turn("cold", lambda: encode(second), lambda: pair.encode(second))  # noqa: B023
        encoding.clear_cache()
        encode(first)
        for figure in ("new", "again"):
            turn(figure, lambda: encode(second), lambda: pair.encode(second))  # noqa: B023
        encoding.clear_cache()
        count(first)
        for figure in ("count, new", "count, again"):
            turn(figure, lambda: [count(second)], lambda: [len(pair.encode(second))])  # noqa: B023
        encoding.clear_cache()
        encode(first)
        turn("lines", lambda: [*map(encode, lines)], lambda: [*map(pair.encode, lines)])  # noqa: B023
        if pair.decode is not None:
            ids, decode = list(pair.encode(second)), pair.decode
            turn("decode", lambda: encoding.decode(ids), lambda: decode(ids))  # noqa: B023
    row = {figure: statistics.median(found) for figure, found in ratios.items()}
    return {**row, f"{pair.theirs.module} MB/s": statistics.median(speeds)}


# The first answer of a fresh process

_ASCII = "def first(answer): return answer  # 42 is the first answer\n" * 20
_OTHER = "“Naïve” – ein früher Größenwahn, 今天天气很好 😀, привет мир\n" * 20

#: What is timed, each in a process of its own kind: one meets ASCII text first, one other text.
STEPS = ("import", "load", "encode, ASCII", "encode, other", "decode")

_TIMED = """
from time import process_time as now
text = {text!r}
times = [now()]
import {side.module}
times.append(now())
encoding = {side.load}
times.append(now())
{side.encode}
times.append(now())
encoding.decode([100, 200, 300])
times.append(now())
print(*(after - before for before, after in zip(times, times[1:])), sep="\\n")
"""


def first_answers(pair: Pair, rounds: int) -> dict[str, dict[str, float]]:
    """Return for each step the CPU milliseconds of each side; medians, the sides taking turns."""
    found: dict[str, list[list[float]]] = {"here": [], pair.theirs.module: []}
    for number in range(max(rounds, 5) + 1):
        for title, side in zip(found, (pair.ours, pair.theirs)):
            ascii_, other = (
                [*map(float, run("-c", _TIMED.format(side=side, text=text))[1].split())]
                for text in (_ASCII, _OTHER)
            )
            if number:  # the first time, files may have to be read and modules compiled
                found[title].append([*ascii_[:3], other[2], ascii_[3]])
    return {
        step: {
            title: statistics.median(row[at] for row in rows) * 1000
            for title, rows in found.items()
        }
        for at, step in enumerate(STEPS)
    }


def start(options: Options) -> Iterator[Row]:
    """Yield the CPU milliseconds of each step, and of ``compat-bpe count`` as a whole process."""
    pair = _of_tiktoken(options.encoding)
    yield from first_answers(pair, options.rounds).items()
    read = "import sys; text = open(sys.argv[1], encoding='utf-8').read()\n"
    script = (
        f"{read}import tiktoken\nencoding = {pair.theirs.load}\nprint(len(encoding.encode(text)))"
    )
    found = medians(
        {
            "here": ["-m", "compat_bpe", "count", "-e", options.encoding, __file__],
            "tiktoken": ["-c", script, __file__],
            "python": ["-c", "pass"],
            "import compat_bpe": ["-c", "import compat_bpe"],
            "import re": ["-c", "import re"],
        },
        max(options.rounds, 5),
    )
    yield "whole processes", {title: seconds * 1000 for title, seconds in found.items()}


# Editors' questions


def document(options: Options) -> Iterator[Row]:
    """Yield the milliseconds of a keystroke in a document, of ``fits`` and of cuts.

    Words of the text are typed at random places, character by character, and taken back likewise;
    after each the document is asked for its count. tiktoken encodes the whole.
    """
    name, texts = options.encoding, [*options.texts.values()]
    reference, encoding = tiktoken.get_encoding(name), compat_bpe.get_encoding(name)
    limit = 1000
    for size in (10_000, 100_000, 1_000_000, 10_000_000):
        text = mixed(texts, size, seed=5)
        encoding.clear_cache()
        edited = Document(encoding, text)
        times = [*_typed(edited, [f"{word} " for word in text[:100_000].split()])]
        if edited.count != len(reference.encode_ordinary(edited.text)):
            raise SystemExit(
                f"{name}, a document of {size:,} characters: tiktoken counts otherwise"
            )
        for keep in ("head", "tail"):
            kept = encoding.truncate(text, limit, keep=keep)
            if len(reference.encode_ordinary(kept.text)) != kept.count or kept.count > limit:
                raise SystemExit(
                    f"{name}, {keep} of {size:,} characters: tiktoken counts otherwise"
                )
        taken = interleaved(
            options.rounds,
            lambda: encoding.fits(text, limit),  # noqa: B023
            lambda: encoding.truncate(text, limit),  # noqa: B023
            lambda: encoding.truncate(text, limit, keep="tail"),  # noqa: B023
            lambda: reference.encode_ordinary(text),  # noqa: B023
        )
        figures = (statistics.median(times), statistics.quantiles(times, n=100)[-1], *taken)
        names = ("a keystroke", "1 of 100", "fits", "head", "tail", "tiktoken")
        yield (
            f"{size:,} characters",
            {f"{title} ms": seconds * 1000 for title, seconds in zip(names, figures)},
        )


def _typed(edited: Any, words: Sequence[str]) -> Iterator[float]:
    rng = random.Random(6)
    for _ in range(300):
        at = rng.randrange(len(edited) + 1)
        word = rng.choice(words)[:20]
        edits = [(at + typed, at + typed, char) for typed, char in enumerate(word)]
        kept = rng.randrange(len(word))
        edits += [(at + left - 1, at + left, "") for left in range(len(word), kept, -1)]
        for begin, end, new in edits:
            before = time.perf_counter()
            edited.replace(begin, end, new)
            edited.count  # noqa: B018
            yield time.perf_counter() - before


# A tree of files

_WITH_TIKTOKEN = """
import pathlib, sys, tiktoken
encoding = tiktoken.get_encoding({name!r})
for path in pathlib.Path(sys.argv[1]).rglob("*.py"):
    encoding.encode_ordinary(path.read_text("utf-8"))
"""


def tree(options: Options) -> Iterator[Row]:
    """Yield the seconds on the clock of counts of a tree, and of a script with tiktoken.

    The tree has the sources of the standard library. ``first`` begins with an empty
    cache, ``no cache`` writes none, and ten files are changed before ``changed``.
    """
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ):
        os.environ["COMPAT_BPE_CACHE_DIR"] = cache = os.path.join(folder, "cache")
        root = Path(folder, "tree")
        paths = _sources(root)
        script = _WITH_TIKTOKEN.format(name=options.encoding)
        count = ["-m", "compat_bpe", "count", "-q", "--total-only", "-e", options.encoding]
        taken: dict[str, list[float]] = {}
        for number in range(options.rounds + 1):
            shutil.rmtree(cache, ignore_errors=True)
            for title in ("tiktoken", "no cache", "first", "again", "changed"):
                if title == "changed":
                    for path in random.Random(number).sample(paths, 10):
                        path.write_text(path.read_text("utf-8") + f"# {number}\n", "utf-8")
                words = ["-c", script] if title == "tiktoken" else count
                start = time.perf_counter()
                run(*words, *["--no-cache"] * (title == "no cache"), str(root))
                if number:  # the first time, files may have to be read and modules compiled
                    taken.setdefault(title, []).append(time.perf_counter() - start)
        yield "count of a tree", {title: statistics.median(some) for title, some in taken.items()}


def _sources(root: Path) -> list[Path]:
    """Write the sources of the standard library, as UTF-8, into a new folder."""
    root.mkdir()
    library = Path(sysconfig.get_path("stdlib"))
    paths = []
    for number, source in enumerate(sorted([*library.glob("*.py"), *library.glob("*/*.py")])):
        paths.append(root / f"{number}.py")
        paths[-1].write_bytes(source.read_bytes().decode("utf-8", "replace").encode())
    return paths
