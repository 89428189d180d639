"""Work that grows with a text: every function on every class of character, at n, 4n, 8n and 16n."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import compat_bpe
from compat_bpe import fit

#: A text is made of one of these again and again.
CHARS = {
    "lone surrogates": "\ud800",
    "low surrogates": "\udc80a",
    "pairs of surrogates": "\ud83d\ude00",
    "U+FFFD": "\ufffd",
    "combining marks": "\u0301",
    "one letter": "a",
    "letters": "abc",
    "digits": "7",
    "spaces": " ",
    "newlines": "\n",
    "carriage returns": "\r",
    "CJK": "中",
    "Thai": "กา",
    "emoji": "😀",
    "NUL": "\0",
    "hyphens": "-",
    "words": "one two\n",
}

#: A text of twice the length may take at most so many times the work. Less than ``FREE`` calls
#: and lines for each character counts as so many.
MOST_GROWTH = 2.3
FREE = 60

#: The length from which on it is looked at. Some work is done in blocks of hundreds or thousands
#: of characters, and grows with its square until one of them is full.
LENGTH = 1000

#: The seconds of a case: counting calls and lines makes them several times as slow.
SECONDS = 120


def _pieces(text: str) -> list[str]:
    return [text[at : at + 7] for at in range(0, len(text), 7)]


def _edit(encoding: Any, text: str) -> None:
    document = fit.Document(encoding, text)
    for _ in range(3):
        document.replace(len(text) // 2, len(text) // 2 + 1, "x")
        assert document.count


def _decode_stream(encoding: Any, text: str) -> None:
    decoder = fit.StreamDecoder(encoding)
    for number in encoding.encode(text):
        decoder.feed([number])
    decoder.finish()


def _feed(stream: Any, text: str) -> None:
    for part in _pieces(text):
        stream.feed(part)
    stream.finish()


#: Each function, its name first: what it does with an encoding and a text.
FUNCTIONS: dict[str, Callable[[Any, str], Any]] = {
    "encode": lambda enc, text: enc.encode(text),
    "encode_ordinary": lambda enc, text: enc.encode_ordinary(text),
    "count": lambda enc, text: enc.count(text),
    "decode": lambda enc, text: enc.decode(enc.encode(text)),
    "decode_with_offsets": lambda enc, text: enc.decode_with_offsets(enc.encode(text)),
    "decode_bytes": lambda enc, text: enc.decode_bytes(enc.encode(text)),
    "decode_tokens_bytes": lambda enc, text: enc.decode_tokens_bytes(enc.encode(text)),
    "decode_batch": lambda enc, text: enc.decode_batch([enc.encode(text)] * 2),
    "decode_bytes_batch": lambda enc, text: enc.decode_bytes_batch([enc.encode(text)] * 2),
    "encode_to_numpy": lambda enc, text: enc.encode_to_numpy(text),
    # All that the last chunk may become is tried: milliseconds for each of its characters.
    "encode_with_unstable": lambda enc, text: enc.encode_with_unstable(text + "\n7"),
    "encode_batch": lambda enc, text: enc.encode_batch([text, text]),
    "encode_ordinary_batch": lambda enc, text: enc.encode_ordinary_batch([text, text]),
    "truncate": lambda enc, text: enc.truncate(text, len(text) // 8),
    "truncate to few": lambda enc, text: enc.truncate(text, 10),
    "truncate, tail": lambda enc, text: enc.truncate(text, len(text) // 8, keep="tail"),
    "truncate, ends": lambda enc, text: enc.truncate(text, len(text) // 8, keep="ends"),
    "truncate by words": lambda enc, text: enc.truncate(text, len(text) // 8, boundary="word"),
    "fits": lambda enc, text: enc.fits(text, len(text) // 8),
    "split_text": lambda enc, text: fit.split_text(enc, text, 10),
    "split_text in large parts": lambda enc, text: fit.split_text(enc, text, 100),
    "split_text, overlap": lambda enc, text: fit.split_text(enc, text, 10, overlap=3),
    "longest_prefix": lambda enc, text: fit.longest_prefix(
        enc, text, len(text) // 8, start=len(text) // 2, trail="x"
    ),
    "longest_suffix": lambda enc, text: fit.longest_suffix(
        enc, text, len(text) // 8, end=len(text) // 2, lead="x"
    ),
    "Document": _edit,
    "encode_iter": lambda enc, text: list(fit.encode_iter(enc, _pieces(text))),
    "count_stream": lambda enc, text: fit.count_stream(enc, _pieces(text)),
    "StreamEncoder": lambda enc, text: _feed(fit.StreamEncoder(enc), text),
    "StreamCounter": lambda enc, text: _feed(fit.StreamCounter(enc), text),
    "StreamDecoder": _decode_stream,
    "decode_iter": lambda enc, text: list(fit.decode_iter(enc, enc.encode(text))),
    "fit_prompt": lambda enc, text: fit.fit_prompt(
        enc, text, text, len(text) // 8, template="{prefix}{suffix}"
    ),
    "fit_sections": lambda enc, text: fit.fit_sections(
        enc, [fit.Section(text, 1, cut="head"), fit.Section(text, 2, cut="ends")], len(text) // 8
    ),
}

ENCODINGS = compat_bpe.list_encoding_names()


@cache
def encoding_of(name: str, chars: str) -> Any:
    """Return an encoding that has been used for such a text before."""
    encoding = compat_bpe.get_encoding(name)
    encoding.decode(encoding.encode(CHARS[chars] * 9))
    encoding.truncate(CHARS[chars] * 2000, 10)
    encoding.truncate(CHARS[chars] * 2000, 10, keep="tail")
    return encoding


def calls_of(function: Callable[[], Any]) -> int:
    """Return the number of calls that a function makes, those of C's functions included.

    Garbage is not collected meanwhile: what PyPy then calls for files of before is not counted.
    """
    calls = 0

    def count(_frame: object, event: str, _arg: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    gc.disable()
    sys.setprofile(count)
    try:
        function()
    except ValueError:
        pass  # one character has more tokens than the limit, or the like
    finally:
        sys.setprofile(None)
        gc.enable()
    return calls


def work_of(function: Callable[[], Any]) -> int:
    """Return the calls that a function makes and the lines that it runs.

    A loop in one line is a line each time.
    """
    lines = 0

    def count(_frame: object, _event: str, _arg: object) -> Any:
        nonlocal lines
        lines += 1
        return count

    sys.settrace(count)
    try:
        return calls_of(function) + lines
    finally:
        sys.settrace(None)


def work(encoding: str, function: str, chars: str, length: int) -> int:
    """Return the work of a function for a text of a length."""
    used = encoding_of(encoding, chars)
    used.clear_cache()
    text = (CHARS[chars] * length)[:length]
    return work_of(lambda: FUNCTIONS[function](used, text))


def check(encoding: str, function: str, chars: str, length: int = LENGTH) -> None:
    """Check that the work grows with the text: from n to 4n, or else from 4n to 8n, or 8n to 16n.

    Raises:
        AssertionError: it grows faster.
    """
    first, fourth = (work(encoding, function, chars, times * length) for times in (1, 4))
    if fourth <= MOST_GROWTH**2 * max(first, FREE * length):
        return
    eighth = work(encoding, function, chars, 8 * length)
    if eighth > MOST_GROWTH * fourth:
        # Some blocks are full only between 4n and 8n.
        fourth, eighth = eighth, work(encoding, function, chars, 16 * length)
    what = f"{encoding}, {function}, {chars} × {length}"
    assert eighth <= MOST_GROWTH * fourth, f"{what}: {first:,} steps, {fourth:,}, {eighth:,}"


def attack(random: Random) -> None:
    check(
        random.choice(ENCODINGS),
        random.choice(list(FUNCTIONS)),
        random.choice(list(CHARS)),
        random.randrange(LENGTH // 2, 2 * LENGTH),
    )
