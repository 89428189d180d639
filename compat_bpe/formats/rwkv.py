"""RWKV's list of tokens, ``rwkv_vocab_v20230424.txt``: an id, a literal and a length on each line.

A literal is a ``str`` or, if the token is not text, a ``bytes`` as Python's ``repr`` writes it. The
length is that of the token in bytes. The id 0 is the end of a text, and is not in the list. Texts
are cut as ``rwkv/rwkv_tokenizer.py`` of the package ``rwkv`` 0.8.32 cuts them. That reader runs
each literal as code. Here it is parsed, and a literal that ``repr`` would not write is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, NoReturn

from ..files.whole import read_whole, utf8_text
from ..pipeline.added_tokens import AddedToken, AddedTokens
from ..pipeline.byte_level import encode_bytes
from ..pipeline.core import Definition
from ..pipeline.models.longest import LongestTokens
from ..pipeline.models.splitters import TokenSplitter
from . import missing_byte

if TYPE_CHECKING:
    from re import Match

#: The longest token accepted, in bytes. The published list has one of 128. The time for each place
#: in a text is at most proportional to this length.
_LONGEST = 256

_LINE = re.compile(
    r"([0-9]{1,10}) (b?)('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\") ([0-9]{1,10})", re.A
)
_ESCAPE = re.compile(r"\\(?:([\\'\"nrt])|x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.?))", re.A)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}

_END_OF_TEXT = AddedToken("<|endoftext|>", 0, special=True)


class RwkvVocabulary:
    """The content of an RWKV list.

    Args:
        tokens: each token and its id.
        source: the name of the file, for messages.
    """

    #: The library whose ids these are.
    reference = "rwkv"
    #: The end of a text.
    added_tokens = (_END_OF_TEXT,)
    #: The settings of truncation and padding: a list of tokens has none.
    truncation = padding = None

    def __init__(self, tokens: dict[bytes, int], source: str) -> None:
        self.tokens = tokens
        self.source = source

    @property
    def vocabulary(self) -> dict[str, int]:
        """Each token, written in the byte alphabet, and its id."""
        return dict(zip(map(encode_bytes, self.tokens), self.tokens.values()))

    def extended(
        self, name: str, tokens: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]]
    ) -> RwkvVocabulary:
        """Raise ``ValueError``: the tokens of any text may change with one more."""
        raise ValueError(f"{self.source}: an RWKV vocabulary cannot be extended")

    def with_special(self, names: Set[str]) -> RwkvVocabulary:
        """Return the vocabulary itself, since its one added token is special."""
        return self

    def assemble(self) -> Definition:
        """Return the parts of the tokenizer, ready to work."""
        model = LongestTokens(self.tokens)
        return Definition(
            added=AddedTokens(self.added_tokens),
            splitter=TokenSplitter(self.tokens),
            model=model,
            tokens=lambda: self.tokens,
            other_tokens=lambda: {token.id: token.content.encode() for token in self.added_tokens},
            pieces=lambda: {
                **{number: name for name, number in self.vocabulary.items()},
                **{token.id: token.content for token in self.added_tokens},
            },
            cuts_at_joints=True,
            steps=(),
            highest=len(self.tokens),
        )


def read_rwkv(path: str | os.PathLike[str]) -> RwkvVocabulary:
    """Read an RWKV list.

    Raises:
        OSError: the file cannot be read.
        ValueError: ``{file}: line {n}: {reason}``. A line is not an id, a literal and its length,
            the ids are not those from 1 on, a token comes twice or is too long, or the file lacks
            one of the 256 single bytes.
    """
    return parse_rwkv(read_whole(path), os.fspath(path))


def parse_rwkv(data: bytes, source: str) -> RwkvVocabulary:
    r"""Parse the content of an RWKV list; ``source`` is its name in messages.

    Raises:
        ValueError: as in ``read_rwkv``.

    >>> parse_rwkv(b"1 '\\x00' 1\n2 'a' 2\n", "list.txt")
    Traceback (most recent call last):
    ValueError: list.txt: line 2: the token has 1 bytes, not 2
    """
    lines = utf8_text(data, source).split("\n")
    if not lines[-1]:
        lines.pop()
    tokens: dict[bytes, int] = {}
    for number, line in enumerate(lines, 1):
        try:
            token = _token(line[:-1] if line.endswith("\r") else line, number)
            if token in tokens:
                raise ValueError(f"the token {token!r} is already in line {tokens[token]}")
        except ValueError as error:
            raise ValueError(f"{source}: line {number}: {error}") from None
        tokens[token] = number
    byte = missing_byte(tokens)
    if byte is not None:
        raise ValueError(
            f"{source}: line {len(lines) or 1}: the file ends without a token for the single byte "
            f"0x{byte:02X}"
        )
    return RwkvVocabulary(tokens, source)


def _token(line: str, number: int) -> bytes:
    """Return the token of a line.

    Args:
        line: the line.
        number: its number, which its id must be.
    """
    fields = _LINE.fullmatch(line)
    if fields is None:
        raise ValueError(
            "expected an id, a literal of Python's and its length, with blanks between"
        )
    if int(fields[1]) != number or fields[1].startswith("0"):
        raise ValueError(f"the id is {fields[1]}, not {number}")
    token = token_written(fields[3][1:-1], is_bytes=bool(fields[2]))
    if int(fields[4]) != len(token):
        raise ValueError(f"the token has {len(token)} bytes, not {fields[4]}")
    return token


def token_written(literal: str, *, is_bytes: bool) -> bytes:
    """Return the token of a literal, given the text between its quotes.

    Raises:
        ValueError: the literal is damaged, or the token is empty or too long.

    >>> token_written(r"\\xe4\\xbd", is_bytes=True)
    b'\\xe4\\xbd'
    """
    if is_bytes and not literal.isascii():
        raise ValueError("a literal of bytes must be ASCII")

    def character(escape: Match[str]) -> str:
        simple, byte, short, long, other = escape.groups()
        if other is not None or (is_bytes and (short or long)):
            _fail_escape(escape[0])
        if simple is not None:
            return _ESCAPED.get(simple, simple)
        value = int(byte or short or long, 16)
        return chr(value) if value < 0x110000 else _fail_escape(escape[0])

    text = _ESCAPE.sub(character, literal)
    try:
        token = text.encode("latin-1" if is_bytes else "utf-8")
    except UnicodeEncodeError:
        raise ValueError("the literal has a lone surrogate") from None
    if not 1 <= len(token) <= _LONGEST:
        raise ValueError(f"the token must have from 1 to {_LONGEST} bytes")
    return token


def _fail_escape(escape: str) -> NoReturn:
    raise ValueError(f"{escape!r} is not a known escape")
