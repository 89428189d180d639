"""Encoders beside their references: speed, start, and what an editor asks.

A ratio is the reference's CPU time divided by ours: 2 is twice as fast as the reference. Ids that
differ end the run.
"""

from __future__ import annotations

import random
import re
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import tiktoken

import compat_bpe
from compat_bpe.encodings.registry import make_encoding
from compat_bpe.fit import Document
from tools.benchmark.common import Options, Row, interleaved, medians, mixed, refuse_difference, run
from tools.reference_files import reference_file
from tools.reference_tokenizers import reference_tokenizer

#: *cold* is a fresh encoder's first text; *new* a text to one that has met another half of it,
#: *again* the same once more, *lines* the new text line by line, to encode and to count.
FIGURES = ("cold", "new", "again", "count, new", "count, again", "lines")

#: Characters of each text: tokenizers takes ten times as long as tiktoken.
_LONGEST = 400_000


class Side(NamedTuple):
    """The code of each step of a reference or of this package; that to encode has ``{text!r}``."""

    module: str
    load: str
    encode: str
    decode: str = "encoding.decode([100, 200, 300])"


class Pair(NamedTuple):
    """A tokenizer here and in a reference.

    Args:
        reference: the name of the reference.
        make: makes a fresh encoder.
        encode: the reference's function from text to ids.
        decode: the reference's function from ids to text, if it is the same text.
        ours, theirs: the steps of a first answer.
    """

    reference: str
    make: Callable[[], compat_bpe.Encoding]
    encode: Callable[[str], Sequence[int]]
    decode: Callable[[list[int]], str] | None
    ours: Side
    theirs: Side


def _of_tiktoken(name: str) -> Pair:
    theirs = tiktoken.get_encoding(name)
    ours, their_side = (
        Side(
            f"import {module}",
            f"encoding = {module}.get_encoding({name!r})",
            "encoding.encode({text!r})",
        )
        for module in ("compat_bpe", "tiktoken")
    )
    return Pair(
        "tiktoken",
        lambda: make_encoding(name),
        theirs.encode_ordinary,
        theirs.decode,
        ours,
        their_side,
    )


def _of_file(path: Path, their_path: Path, name: str | None = None) -> Pair:
    """Return a file, or an encoding that ships, and the file that the reference reads."""
    load = f"compat_bpe.get_encoding({name!r})" if name else f"compat_bpe.load({str(path)!r})"
    ours = Side("import compat_bpe", f"encoding = {load}", "encoding.encode({text!r})")

    def make() -> compat_bpe.Encoding:
        return make_encoding(name) if name else compat_bpe.load(path)

    if their_path.suffix == ".model":
        import sentencepiece

        processor = sentencepiece.SentencePieceProcessor(model_file=str(their_path))
        theirs = Side(
            "import sentencepiece",
            f"encoding = sentencepiece.SentencePieceProcessor(model_file={str(their_path)!r})",
            "encoding.encode({text!r})",
        )
        return Pair("sentencepiece", make, processor.encode, None, ours, theirs)
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(str(their_path))
    theirs = Side(
        "import tokenizers",
        f"encoding = tokenizers.Tokenizer.from_file({str(their_path)!r})",
        "encoding.encode({text!r}, add_special_tokens=False).ids",
    )

    def encode(text: str) -> Sequence[int]:
        ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    return Pair("tokenizers", make, encode, None, ours, theirs)


def kinds() -> dict[str, Callable[[], Pair]]:
    """Return what gives the pair of each kind; files that are missing are fetched and built."""

    def both(path_of: Callable[[str], Path], name: str) -> Callable[[], Pair]:
        return lambda: _of_file(path_of(name), path_of(name))

    found: dict[str, Callable[[], Pair]] = {
        "deepseek_v3": lambda: _of_file(
            reference_file("deepseek_r1"), reference_file("deepseek_r1"), "deepseek_v3"
        )
    }
    for name in ("bert_uncased", "xlm_r", "t5_like", "llama_2", "clip"):
        found[name] = both(reference_tokenizer, name)
    found["gemma_json"] = both(reference_file, "gemma_json")
    found["llama_2.model, tokenizers"] = lambda: _of_file(
        reference_file("llama_2"), reference_tokenizer("llama_2")
    )
    for name in ("llama_2", "gemma_model", "kyoto_unigram", "j2"):
        found[f"{name}.model"] = both(reference_file, name)
    return found


# Speed


def speed(options: Options) -> Iterator[Row]:
    """Yield the figures of an encoding beside tiktoken: a row for each text, and their mean."""
    yield from _rows(_of_tiktoken(options.encoding), "", options.texts, options.rounds)


def speed_of_kinds(options: Options) -> Iterator[Row]:
    """Yield the figures and the start of other tokenizers beside tokenizers and sentencepiece."""
    titles = {"english", "chinese_classical", "rust"}
    texts = {title: text for title, text in options.texts.items() if title in titles}
    short = {title: text[:_LONGEST] for title, text in (texts or options.texts).items()}
    for name, make in kinds().items():
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
        refuse_difference(f"{title}, {figure}", found, expected, pair.reference)

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
    return {**row, f"{pair.reference} MB/s": statistics.median(speeds)}


# The first answer of a fresh process

_ASCII = "def first(answer): return answer  # 42 is the first answer\n" * 20
_OTHER = "“Naïve” – ein früher Größenwahn, 今天天气很好 😀, привет мир\n" * 20

#: What is timed, each in a process of its own kind: one meets ASCII text first, one other text.
STEPS = ("import", "load", "encode, ASCII", "encode, other", "decode")

_TIMED = """
from time import process_time as now
times = [now()]
{}
times.append(now())
{}
times.append(now())
{}
times.append(now())
{}
times.append(now())
print(*(after - before for before, after in zip(times, times[1:])), sep="\\n")
"""


def first_answers(pair: Pair, rounds: int) -> dict[str, dict[str, float]]:
    """Return for each step the CPU milliseconds of each side; medians, the sides taking turns."""
    found: dict[str, list[list[float]]] = {"here": [], pair.reference: []}
    for number in range(max(rounds, 5) + 1):
        for title, side in zip(found, (pair.ours, pair.theirs)):
            ascii_, other = (
                [*map(float, run("-c", _timed(side, text))[1].split())] for text in (_ASCII, _OTHER)
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


def _timed(side: Side, text: str) -> str:
    return _TIMED.format(side.module, side.load, side.encode.format(text=text), side.decode)


def start(options: Options) -> Iterator[Row]:
    """Yield the CPU milliseconds of each step, and of ``compat-bpe count`` as a whole process."""
    pair = _of_tiktoken(options.encoding)
    yield from first_answers(pair, options.rounds).items()
    read = "import sys; text = open(sys.argv[1], encoding='utf-8').read()\n"
    script = f"{read}{pair.theirs.module}; {pair.theirs.load}\nprint(len(encoding.encode(text)))"
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
