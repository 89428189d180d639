"""A GGUF file: its keys and values, the entries about the vocabulary, and the chat templates.

A file begins with ``GGUF``, the version (32 bits), the numbers of tensors and of keys (64 bits
each). Then comes each key as a string, the type of its value (32 bits), and the value. A string is
its length in bytes (64 bits) and its UTF-8. An array is the type of its items, their number (64
bits), and the items. Numbers are in the byte order of the target machine. The weights behind the
keys are not read.

``Vocabulary`` has the tokens with their types, roles and templates. A value of the wrong type is an
error that names its place.

Source: ``docs/gguf.md`` of ggml, and gguf 0.19.0 (``gguf/constants.py``).
"""

from __future__ import annotations

import os
import re
import struct
import sys
from array import array
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple, NoReturn, TypeVar, Union

from ...files.whole import SIZE_LIMIT, open_regular
from ...pipeline.added_tokens import AddedToken
from ..tokenizer_writing import template_part, text_item, token_item

_T = TypeVar("_T")

#: A value in a file. Numbers in an array are in an ``array``; Booleans there are bytes.
Value = Union[bool, int, float, bytes, list["Value"], "array[int]", "array[float]"]

MAGIC = b"GGUF"
#: The types of values other than numbers.
BOOL, STRING, ARRAY = 7, 8, 9
#: The types that are numbers, each with its code in ``struct`` and ``array``.
NUMBERS = dict(zip((*range(7), BOOL, 10, 11, 12), "BbHhIifBQqd"))
_SIZES = {kind: struct.calcsize("<" + code) for kind, code in NUMBERS.items()}

#: The longest key, in bytes; also the limit of the format.
_LONGEST_KEY = (1 << 16) - 1
#: The most strings and arrays that all arrays of a file may have together. The largest
#: vocabularies have some 800,000 tokens and merges.
_MOST_ITEMS = 1 << 22
#: The most keys of a file. Known files have less than a hundred.
_MOST_KEYS = 1 << 16
#: The deepest nesting of arrays, and the most nested arrays. Known files have none, and llama.cpp
#: refuses them.
_DEEPEST = 4
_MOST_NESTED = 1 << 16
#: The number of bytes that are read at a time.
_BLOCK = 1 << 18


class Entry(NamedTuple):
    """A value, and the place of it in the file, in bytes."""

    value: Value
    place: int


def read_entries(
    path: str | os.PathLike[str], is_wanted: Callable[[str], bool] = lambda key: True
) -> dict[str, Entry]:
    """Return the wanted values of a GGUF file by their keys; the weights are not read.

    Args:
        path: the file.
        is_wanted: returns True for a key whose value is kept; by default, all values are kept.

    Raises:
        OSError: the file cannot be read.
        ValueError: ``{file}: byte {place}: {reason}``. The file is not a GGUF file, is damaged, or
            is larger than any known one.
    """
    source = os.fspath(path)
    with open_regular(source) as file:
        return _Reader(file, source).entries(is_wanted)


class _Reader:
    """A reader of a file from its beginning to the end of the last value.

    Args:
        file: the file.
        source: its name, for messages.
    """

    def __init__(self, file: BinaryIO, source: str) -> None:
        self._file = file
        self._source = source
        self._size = os.fstat(file.fileno()).st_size
        #: A stretch of the file, where it begins, and the next place to read within it.
        self._data = b""
        self._begin = 0
        self._at = 0
        self._order = "<"
        self._items = 0
        self._nested = 0

    def entries(self, is_wanted: Callable[[str], bool]) -> dict[str, Entry]:
        """Return the wanted values by their keys."""
        count = self._head()
        kept: dict[str, Entry] = {}
        keys: set[str] = set()
        for _ in range(count):
            place = self._place
            key = self._key()
            if key in keys:
                self._fail(f"the key {key!r} comes twice", place)
            keys.add(key)
            kind = self._number("I")
            place = self._place
            wanted = is_wanted(key)
            value = self._value(kind, wanted, 0)
            if wanted:
                kept[key] = Entry(value, place)
        return kept

    def _head(self) -> int:
        """Read the header before the keys, and return the number of keys."""
        if self._take(4) != MAGIC:
            self._fail("not a GGUF file", 0)
        data = self._take(4)
        version = int.from_bytes(data, "little")
        if version & 0xFFFF == 0:
            self._order = ">"
            version = int.from_bytes(data, "big")
        if version not in (2, 3):
            self._fail(f"version {version} of GGUF is not known, only 2 and 3", 4)
        self._number("Q")  # the number of tensors
        place = self._place
        count = self._number("Q")
        # A key takes at least its length, its type and a byte.
        if count > min(_MOST_KEYS, (self._size - self._place) // 13):
            self._fail(f"{count} keys do not fit, or are more than in any known file", place)
        return count

    def _key(self) -> str:
        place = self._place
        length = self._number("Q")
        if not 0 < length <= _LONGEST_KEY:
            self._fail(f"a key has from 1 to {_LONGEST_KEY} bytes, not {length}", place)
        try:
            return self._take(length).decode()
        except UnicodeDecodeError as error:
            self._fail(f"the key is not UTF-8: {error.reason}", place + 8 + error.start)

    def _value(self, kind: int, wanted: bool, depth: int) -> Value:
        if kind == STRING:
            place = self._place
            return self._take(self._room(self._number("Q"), 1, place))
        if kind == ARRAY:
            return self._array(wanted, depth + 1)
        if kind not in NUMBERS:
            self._fail(f"unknown type {kind} of a value", self._place - 4)
        (value,) = struct.unpack(self._order + NUMBERS[kind], self._take(_SIZES[kind]))
        return bool(value) if kind == BOOL else value

    def _array(self, wanted: bool, depth: int) -> Value:
        if depth > _DEEPEST:
            self._fail(f"arrays are nested more than {_DEEPEST} deep", self._place)
        kind = self._number("I")
        place = self._place
        count = self._number("Q")
        if kind in NUMBERS:
            return self._numbers(kind, self._room(count, _SIZES[kind], place), wanted)
        if kind not in (STRING, ARRAY):
            self._fail(f"unknown type {kind} of a value", place - 4)
        self._room(count, 8 if kind == STRING else 12, place)
        if kind == ARRAY:
            self._nested += count
            if self._nested > _MOST_NESTED:
                self._fail(f"its arrays have more than {_MOST_NESTED:,} arrays", place)
        self._items += count
        if self._items > _MOST_ITEMS:
            self._fail(f"its arrays have more than {_MOST_ITEMS:,} strings", place)
        if kind == STRING:
            return self._strings(count, wanted)
        values = [self._array(wanted, depth + 1) for _ in range(count)]
        return values if wanted else []

    def _numbers(self, kind: int, size: int, wanted: bool) -> Value:
        numbers: array[float] = array(NUMBERS[kind])
        if not wanted:
            self._take(size)
            return numbers
        if numbers.itemsize != _SIZES[kind]:
            self._fail(
                "numbers have other sizes on this machine, so the array cannot be read", self._place
            )
        numbers.frombytes(self._take(size))
        if (self._order == "<") != (sys.byteorder == "little"):
            numbers.byteswap()
        return numbers

    def _strings(self, count: int, wanted: bool) -> list[Value]:
        """Read strings; in the usual case without a call for each."""
        strings: list[Value] = []
        add = strings.append if wanted else len
        unpack = struct.Struct(self._order + "Q").unpack_from
        left = count
        while left:
            data, at = self._data, self._at
            end = len(data)
            while left:
                start = at + 8
                if start > end:
                    break
                stop = start + unpack(data, at)[0]
                if stop > end:
                    break
                add(data[start:stop])
                at = stop
                left -= 1
            self._at = at
            if left:  # It is not in the stretch as a whole.
                place = self._place
                add(self._take(self._room(self._number("Q"), 1, place)))
                left -= 1
        return strings

    @property
    def _place(self) -> int:
        return self._begin + self._at

    def _number(self, code: str) -> int:
        number: int
        (number,) = struct.unpack(self._order + code, self._take(8 if code == "Q" else 4))
        return number

    def _room(self, count: int, size: int, place: int) -> int:
        """Return the number of bytes of some items, after checking that they fit into the file."""
        if count * size > self._size - self._place:
            self._fail(f"{count} items do not fit; the file is cut off or damaged", place)
        return count * size

    def _take(self, size: int) -> bytes:
        """Return the next bytes."""
        at = self._at
        self._at += size
        if self._at <= len(self._data):
            return self._data[at : self._at]
        place = self._begin + at
        if place + size > self._size:
            self._fail("the file ends in the middle of a value", place)
        if place + size > SIZE_LIMIT:
            self._fail(f"the part before the weights is larger than {SIZE_LIMIT:,} bytes", place)
        # The rest of the stretch goes before the next one.
        rest = self._data[at:]
        self._data = rest + self._file.read(max(_BLOCK, size) - len(rest))
        self._begin, self._at = place, size
        if size > len(self._data):
            self._fail("the file ends in the middle of a value", place)
        return self._data[:size]

    def _fail(self, reason: str, place: int) -> NoReturn:
        raise ValueError(f"{self._source}: byte {place}: {reason}")


#: The prefix of most keys about the vocabulary, and the prefixes of all keys that are read.
_GGML = "tokenizer.ggml."
_PREFIXES = ("tokenizer.", "general.", "split.")
#: The keys that are read without the prefix ``tokenizer.``.
_OTHER_KEYS = frozenset(("general.architecture", "split.no"))


class Metadata:
    """The entries of a file that are about its vocabulary.

    ``tokens`` stands for ``tokenizer.ggml.tokens``, and other names in the same way.

    Args:
        entries: the entries by their keys.
        source: the name of the file, for messages.
    """

    def __init__(self, entries: Mapping[str, Entry], source: str) -> None:
        self.entries = entries
        self.source = source

    @classmethod
    def of_file(cls, path: str | os.PathLike[str]) -> Metadata:
        """Read a file.

        Raises:
            OSError: the file cannot be read.
            ValueError: the file is damaged, or not a GGUF file.
        """
        return cls(read_entries(path, _is_wanted), os.fspath(path))

    def fail(self, key: str, reason: str) -> NoReturn:
        """Raise ``ValueError`` for a value."""
        name = _full(key)
        entry = self.entries.get(name)
        place = "" if entry is None else f"byte {entry.place}: "
        raise ValueError(f"{self.source}: {place}{name}: {reason}")

    def fail_item(self, key: str, number: int, reason: str) -> NoReturn:
        """Raise ``ValueError`` for an item of a list of strings."""
        entry = self.entries[_full(key)]
        items = entry.value if isinstance(entry.value, list) else []
        before = sum(8 + len(item) for item in items[:number] if isinstance(item, bytes))
        place = entry.place + 12 + before
        raise ValueError(f"{self.source}: byte {place}: {_full(key)}[{number}]: {reason}")

    def text(self, key: str) -> str | None:
        """Return a text; None if there is none."""
        value = self._of_type(key, bytes, "a string")
        try:
            return None if value is None else value.decode()
        except UnicodeDecodeError as error:
            self.fail(key, f"is not UTF-8: {error.reason}")

    def truth(self, key: str) -> bool | None:
        """Return a Boolean; None if there is none."""
        return self._of_type(key, bool, "true or false")

    def number(self, key: str) -> int | None:
        """Return an integer; None if there is none."""
        return self._of_type(key, int, "an integer")

    def numbers(self, key: str, codes: str) -> array[int] | array[float] | None:
        """Return numbers of one of the types of ``array``; None if there are none."""
        expected = f"an array of numbers of the type {' or '.join(codes)}"
        value: array[int] | None = self._of_type(key, array, expected)
        if value is not None and value.typecode not in codes:
            self.fail(key, f"must be {expected}")
        return value

    def texts(self, key: str) -> list[str] | None:
        """Return a list of texts; None if there is none."""
        items: list[Any] | None = self._of_type(key, list, "an array of strings")
        if not items:
            return items
        if not all(isinstance(item, bytes) for item in items):
            self.fail(key, "must be an array of strings")
        try:
            texts = b"\0".join(items).decode().split("\0")
            # A token may have a NUL.
            return texts if len(texts) == len(items) else [item.decode() for item in items]
        except UnicodeDecodeError:
            for number, item in enumerate(items):
                try:
                    item.decode()
                except UnicodeDecodeError as error:
                    self.fail_item(key, number, f"is not UTF-8: {error.reason}")
            raise

    def _of_type(self, key: str, kind: type[_T], expected: str) -> _T | None:
        """Return a value of a type; None if there is none."""
        entry = self.entries.get(_full(key))
        value: Any = None if entry is None else entry.value
        if entry is not None and type(value) is not kind:  # a bool is an int to isinstance()
            self.fail(key, f"must be {expected}")
        checked: _T | None = value
        return checked


def _full(key: str) -> str:
    return key if key.startswith(_PREFIXES) else _GGML + key


def _is_wanted(key: str) -> bool:
    return key.startswith("tokenizer.") or key in _OTHER_KEYS


#: The types of tokens, as in a SentencePiece model; 0 means that the type is not known.
UNDEFINED, NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(7)

#: The key of the id for each role of a special token. One is misspelled in the format itself.
ROLES = {
    "bos_token": "bos_token_id",
    "eos_token": "eos_token_id",
    "unk_token": "unknown_token_id",
    "sep_token": "seperator_token_id",
    "pad_token": "padding_token_id",
    "cls_token": "cls_token_id",
    "mask_token": "mask_token_id",
}

#: The ids that llama.cpp uses for roles that are not in a file, in models over pieces.
_USUAL_ROLES = {
    "llama": {"bos_token_id": 1, "eos_token_id": 2, "unknown_token_id": 0},
    "t5": {"eos_token_id": 1, "unknown_token_id": 2, "padding_token_id": 0},
}

#: The name of a token that only fills up the table of a model, and is in no tokenizer.
_FILLER = re.compile(r"\[PAD[0-9]+\]")


class Vocabulary(NamedTuple):
    """The tokens of a file by id, without tokens at the end that only fill up the table.

    Args:
        metadata: the entries of the file.
        tokens: the tokens; an empty one has a name of its own.
        types: the type of each.
    """

    metadata: Metadata
    tokens: list[str]
    types: bytearray

    def id_of_role(self, role: str) -> int | None:
        """Return the id of the special token of a role; None if there is none."""
        number = self.metadata.number(ROLES[role])
        return number if number is not None and 0 <= number < len(self.tokens) else None

    def roles(self) -> dict[str, str]:
        """Return the name of the special token of each role that has one."""
        ids = {role: self.id_of_role(role) for role in ROLES}
        return {role: self.tokens[number] for role, number in ids.items() if number is not None}

    def ids(self) -> dict[str, int]:
        """Return the id of each token.

        Raises:
            ValueError: two tokens are the same.
        """
        ids = dict(zip(self.tokens, range(len(self.tokens))))
        if len(ids) < len(self.tokens):
            for number, token in enumerate(self.tokens):
                if ids[token] != number:
                    self.metadata.fail_item("tokens", ids[token], f"{token!r} is also [{number}]")
        for number in self.of_types(UNUSED):
            if _FILLER.fullmatch(self.tokens[number]):
                del ids[self.tokens[number]]
        return ids

    def of_types(self, *types: int) -> Iterator[int]:
        """Yield the ids of the tokens of some types."""
        if not types or not any(map(self.types.count, types)):
            return
        for number, kind in enumerate(self.types):
            if kind in types:
                yield number

    def added_tokens(self, mask: str | None = None) -> tuple[AddedToken, ...]:
        """Return the tokens that are found in text by their names.

        Control tokens and the unknown token are tokens only where that is allowed.

        Args:
            mask: the name of a token that takes the white space before it. No file has this flag.
        """
        return tuple(
            AddedToken(
                self.tokens[number],
                number,
                special=self.types[number] != USER_DEFINED,
                lstrip=self.tokens[number] == mask,
            )
            for number in self.of_types(UNKNOWN, CONTROL, USER_DEFINED)
        )

    def template(self, *, adds_bos: bool) -> dict[str, Any] | None:
        """Return the post-processor; None if texts get no more tokens.

        Args:
            adds_bos: True if a text begins with a special token, unless the file says otherwise.
        """
        metadata = self.metadata
        first, last = self.id_of_role("bos_token"), self.id_of_role("eos_token")
        wanted = metadata.truth("add_bos_token")
        begin = [first] if first is not None and (adds_bos if wanted is None else wanted) else []
        end = [last] if last is not None and metadata.truth("add_eos_token") else []
        if not begin and not end:
            return None

        def around(name: str, type_id: int) -> list[dict[str, Any]]:
            before, after = (
                [token_item(self.tokens[number], type_id) for number in ids] for ids in (begin, end)
            )
            return [*before, text_item(name, type_id), *after]

        ids = {self.tokens[number]: number for number in (*begin, *end)}
        return template_part(around("A", 0), [*around("A", 0), *around("B", 1)], ids)


def read_vocabulary(metadata: Metadata) -> Vocabulary:
    """Return the tokens of a file.

    Raises:
        ValueError: there are no tokens, or they are wrong.
    """
    tokens = metadata.texts("tokens")
    if not tokens:
        metadata.fail("tokens", "there are no tokens")
    size = len(tokens)
    types = _types(metadata, tokens)
    for number, token in enumerate(tokens) if "" in tokens else ():
        if not token:
            tokens[number], types[number] = f"[EMPTY_{number}]", UNUSED
    for number, kind in enumerate(types):
        if kind not in (NORMAL, CONTROL, BYTE) and _FILLER.fullmatch(tokens[number]):
            types[number] = UNUSED
    while size > 1 and types[size - 1] == UNUSED and _FILLER.fullmatch(tokens[size - 1]):
        size -= 1
    return Vocabulary(metadata, tokens[:size], types[:size])


def _types(metadata: Metadata, tokens: list[str]) -> bytearray:
    size = len(tokens)
    numbers = metadata.numbers("token_type", "iI")
    if numbers is None:
        # It is optional, as in llama.cpp: roles and names show which tokens are not text.
        types = bytearray([NORMAL]) * size
        usual = _USUAL_ROLES.get(metadata.text("model") or "", {})
        for role in ROLES.values():
            number = metadata.number(role)
            number = usual.get(role) if number is None else number
            if number is not None and 0 <= number < size:
                types[number] = CONTROL
        unknown = metadata.number(ROLES["unk_token"])
        unknown = usual.get(ROLES["unk_token"]) if unknown is None else unknown
        if usual and unknown is not None and 0 <= unknown < size:
            types[unknown] = UNKNOWN
        places = {token: number for number, token in enumerate(tokens)}
        names = [f"<0x{byte:02X}>" for byte in range(256)]
        if usual and places.keys() >= set(names):
            for name in names:
                types[places[name]] = BYTE
        return types
    if len(numbers) < size:
        metadata.fail("token_type", f"has {len(numbers)} items for {size} tokens")
    if not set(numbers) <= set(range(BYTE + 1)):
        wrong = next(number for number in numbers if not 0 <= number <= BYTE)
        metadata.fail("token_type", f"unknown type {wrong} of a token")
    return bytearray(map(int, numbers[:size])).replace(bytes([UNDEFINED]), bytes([NORMAL]))


_TEMPLATE = "tokenizer.chat_template"


def read_templates(path: str | os.PathLike[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the chat templates of a file by name, and its special tokens by their roles.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is damaged.
    """
    metadata = Metadata.of_file(path)
    templates: dict[str, str] = {}
    for key in metadata.entries:
        name = "default" if key == _TEMPLATE else key[len(_TEMPLATE) + 1 :]
        text = metadata.text(key) if key == _TEMPLATE or key.startswith(f"{_TEMPLATE}.") else None
        if text is not None:
            templates[name] = text
    if not templates:
        return {}, {}
    return templates, read_vocabulary(metadata).roles()
