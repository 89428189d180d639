"""``compat-bpe decode``: turn token ids into text."""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import accumulate, chain, islice
from typing import Callable, NamedTuple, NoReturn

import click

from ... import Encoding
from ...encodings.tokenizer import Tokenizer
from ..app import option
from ..input import file_argument, read_blocks
from ..options.encoding import NamedEncoding, encoding_option
from ..output import CommandError, shown_name, write_bytes

#: The largest number of digits of an id.
_DIGITS = len(str(2**32))

_NUMBER = re.compile(rb"[0-9]+")
#: An error in a list of ids: a character that no list has, too many digits, or two commas.
_WRONG = re.compile(rb"[^0-9\s,]|[0-9]{%d}|,\s*," % (_DIGITS + 1))
_SEPARATOR = re.compile(rb"[\s,\[\]]")
_CONTROL = re.compile(rb"[^\s\x20-\x7e]")
_WORD = re.compile(rb"[^\s,\[\]]+|.", re.DOTALL)


class _Portion(NamedTuple):
    """Some ids; ``offset(n)`` is the offset of the nth id in the input."""

    ids: list[int]
    offset: Callable[[int], int]


@click.command()
@file_argument
@encoding_option
@option("--packed", "Read ids as bytes: little-endian uint32.")
@option("--skip-special-tokens", "Leave out the special tokens.")
def decode(
    file: str,
    named: NamedEncoding,
    packed: bool,
    skip_special_tokens: bool,
) -> None:
    """Turn token ids into text.

    \b
    Examples:
      $ echo '[31373, 995]' | compat-bpe decode -e gpt2
      $ compat-bpe decode --packed corpus.bin > corpus.txt

    Without FILE, or with -, read standard input. It is a JSON list of ids, or ids separated by
    white space, commas or both, as "compat-bpe encode" writes them. The output is the bytes of the
    tokens and nothing else. Ids that are part of a longer list may give bytes that are not UTF-8.
    Large input takes little memory. A vocabulary of pieces (WordPiece, SentencePiece and the like)
    has a decoder that adds the spaces; it needs all ids at once.
    """
    chosen = named.load()
    portions = _read_packed(file) if packed else _read_written(file)
    if chosen.core.definition.make_decoder is not None:
        # The text of a token depends on the tokens beside it.
        portions = iter([_joined(portions)])
    for portion in portions:
        write_bytes(_bytes(portion, chosen, file, skip_special_tokens))


def _joined(portions: Iterable[_Portion]) -> _Portion:
    parts = list(portions)
    ends = list(accumulate(len(part.ids) for part in parts))

    def offset(number: int) -> int:
        part = bisect_right(ends, number)
        return parts[part].offset(number - (ends[part - 1] if part else 0))

    return _Portion([number for part in parts for number in part.ids], offset)


def _bytes(portion: _Portion, encoding: Encoding, file: str, skip_special: bool) -> bytes:
    try:
        if not skip_special:
            return encoding.decode_bytes(portion.ids)
        if isinstance(encoding, Tokenizer):
            text = encoding.decode(portion.ids, "surrogateescape", skip_special_tokens=True)
            return text.encode("utf-8", "surrogateescape")
        is_special = encoding.is_special_token
        return encoding.decode_bytes([token for token in portion.ids if not is_special(token)])
    except ValueError as error:  # the tokenizer.json has a decoder that is not supported
        raise CommandError(str(error)) from None
    except (KeyError, OverflowError):
        number = next(n for n, token in enumerate(portion.ids) if not _is_known(encoding, token))
        hint = ""
        if encoding.reference == "baseline" and not encoding.max_token_value:
            hint = "; ids of words are valid only within one command"
        raise CommandError(
            f"{shown_name(file)}: {encoding.name} has no token with the id {portion.ids[number]} "
            f"(at offset {portion.offset(number)}){hint}"
        ) from None


def _is_known(encoding: Encoding, token: int) -> bool:
    try:
        encoding.decode_single_token_bytes(token)
    except (KeyError, OverflowError):
        return False
    return True


def _read_packed(file: str) -> Iterator[_Portion]:
    rest = b""
    start = 0
    for block in read_blocks(file):
        data = rest + block
        count, left = divmod(len(data), 4)
        ids = list(struct.unpack_from(f"<{count}I", data))
        yield _Portion(ids, range(start, start + 4 * count, 4).__getitem__)
        rest = data[len(data) - left :]
        start += 4 * count
    if rest:
        raise CommandError(
            f"{shown_name(file)}: cut short: {start + len(rest)} bytes, "
            "not a multiple of 4 (uint32)"
        )


def _read_written(file: str) -> Iterator[_Portion]:
    rest = b""
    start = 0
    after_comma = True  # a list may not begin with a comma
    for block in chain(_without_brackets(file), [b""]):
        data = rest + block
        # A number at the end may go on in the next block, unless it is too long already.
        end = len(data.rstrip(b"0123456789")) if block else len(data)
        if len(data) - end > _DIGITS:
            end = len(data)
        written = data[:end]
        stripped = written.strip()
        if after_comma and stripped.startswith(b","):
            _fail(file, data, data.index(b","), start)
        wrong = _WRONG.search(written)
        if wrong is not None:
            is_comma = wrong.group().startswith(b",")
            _fail(file, data, wrong.end() - 1 if is_comma else wrong.start(), start)
        if stripped:
            after_comma = stripped.endswith(b",")
        ids = list(map(int, written.replace(b",", b" ").split()))
        yield _Portion(ids, partial(_offset, written, start))
        rest = data[end:]
        start += end


def _offset(written: bytes, start: int, number: int) -> int:
    match = next(islice(_NUMBER.finditer(written), number, None))
    return start + match.start()


def _without_brackets(file: str) -> Iterator[bytes]:
    """Yield the input with spaces in place of the brackets around a JSON list."""
    begun = opened = closed = False
    start = 0
    for block in read_blocks(file):
        if not begun and block.strip():
            begun = True
            opened = block.lstrip().startswith(b"[")
            block = block.replace(b"[", b" ", 1) if opened else block
        if opened and not closed and b"]" in block:
            closed = True
            before, _, block = block.partition(b"]")
            yield before + b" "
            start += len(before) + 1
        if closed and block.strip():
            _fail(file, block, len(block) - len(block.lstrip()), start)
        if block:
            yield block
        start += len(block)
    if opened and not closed:
        raise CommandError(f"{shown_name(file)}: cut short: the list has no closing bracket")


def _fail(file: str, data: bytes, place: int, start: int) -> NoReturn:
    """Report the error at ``data[place]``; the data begins at the offset ``start``."""
    if data[place : place + 1] == b",":
        raise CommandError(
            f"{shown_name(file)}: no token id before the comma at offset {start + place}"
        )
    if data[place : place + 1] not in b"[]":
        # The error may be within a word: show all of it.
        before = _SEPARATOR.split(data[max(0, place - _DIGITS) : place])[-1]
        place -= len(before)
    word = _WORD.findall(data[place : place + 20])[0].decode("ascii", "backslashreplace")
    # Packed ids have a control character every few bytes.
    hint = "; use --packed for ids as bytes" if _CONTROL.search(data) else ""
    raise CommandError(
        f"{shown_name(file)}: '{word}' at offset {start + place} is not a token id{hint}"
    )
