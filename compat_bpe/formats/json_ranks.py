"""Vocabularies by ranks in JSON, with their patterns: js-tiktoken, Mistral's Tekken, Grok 2."""

from __future__ import annotations

import re
from binascii import a2b_base64, b2a_base64
from collections.abc import Mapping
from typing import NamedTuple

from ..pattern import QWEN
from . import RANK_LIMIT, missing_byte
from .checked_json import Json


class Ranked(NamedTuple):
    """The content of a file.

    Args:
        pattern: the pattern with its place in the file, for the message about a wrong one.
        ranks: each token and its rank, which is its id.
        special_tokens: names and ids.
    """

    pattern: Json
    ranks: dict[bytes, int]
    special_tokens: dict[str, int]


def _check_size(part: Json | None, ranks: Mapping[bytes, int], special: Mapping[str, int]) -> None:
    """Refuse a vocabulary that does not have the size in its file, by the rules of tiktoken.

    Args:
        part: the number of tokens, ``explicit_n_vocab`` of tiktoken; None or 0 if it is missing.
        ranks: the tokens.
        special: the special tokens.

    Raises:
        ValueError: the number of tokens or the highest id does not match.
    """
    if part is None or not part.number():
        return
    count = len(ranks) + len(special)
    highest = max(*ranks.values(), *special.values())
    if not part.number() == count == highest + 1:
        part.fail(f"is {part.number()}, but there are {count} tokens up to id {highest}")


def _check_bytes(part: Json, ranks: Mapping[bytes, int]) -> None:
    byte = missing_byte(ranks)
    if byte is not None:
        part.fail(f"there is no token for the single byte 0x{byte:02X}")


#: The beginning of a line. An id has at most ten digits, before ``int`` reads it.
_RUN = re.compile(r"! (0|[1-9][0-9]{0,9})(?= |$)", re.ASCII)


def parse_js_tiktoken(file: Json) -> Ranked:
    """Return the vocabulary of a rank file of tiktoken's ports to JavaScript.

    These are ``tiktoken`` and ``js-tiktoken`` of npm. Tokens are in ``bpe_ranks``, a text with a
    line for each run of ids: an exclamation mark, the first id, and the tokens of this id and the
    next ones, in base64 with a blank before each. Beside it are the pattern and the special tokens.
    ``scripts/ranks.ts`` of dqbd/tiktoken writes the files, and ``core.ts`` there reads them. That
    reader is lenient; here a damaged file is refused.

    Raises:
        ValueError: ``{file}: {place}: {reason}``; the file is damaged.
    """
    pattern = file["pat_str"]
    pattern.text()
    ranks = _ranks(file["bpe_ranks"])
    special: dict[str, int] = {}
    named = file["special_tokens"]
    for name in named.mapping():
        part = named[name]
        number = part.number()
        if not 0 <= number < RANK_LIMIT:
            part.fail(f"must be from 0 to {RANK_LIMIT - 1}")
        special[Json(name, file.source, named.place).text()] = number
    if "" in special:
        named.fail("a special token has no name")
    _check_size(file.get("explicit_n_vocab"), ranks, special)
    return Ranked(pattern, ranks, special)


def _ranks(part: Json) -> dict[bytes, int]:
    ranks: dict[bytes, int] = {}
    ids: set[int] = set()
    for number, line in enumerate(part.text().split("\n"), 1):
        if not line:
            continue
        run = _RUN.match(line)
        if run is None:
            part.fail(f"line {number}: must begin with '! ' and an id")
        first = int(run[1])
        fields = line[run.end() :].split(" ")[1:]
        if first + len(fields) > RANK_LIMIT:
            part.fail(f"line {number}: an id is above the highest, {RANK_LIMIT - 1}")
        for id_, field in enumerate(fields, first):
            token = _token(field)
            if token is None:
                part.fail(f"line {number}: the token of the id {id_} is not base64")
            if token in ranks or id_ in ids:
                part.fail(f"line {number}: the token {token!r} or its id {id_} comes twice")
            ranks[token] = id_
            ids.add(id_)
    _check_bytes(part, ranks)
    return ranks


def _token(field: str) -> bytes | None:
    """Return the bytes of a token; None if it is not base64 or is empty."""
    try:
        token = a2b_base64(field)
    except ValueError:
        return None
    # The decoder drops characters that it does not know.
    written = b2a_base64(token, newline=False).decode()
    return token if token and written == field else None


#: The most special tokens accepted. Real files have 1,000, most of them reserved.
_MOST_SPECIAL = 1 << 16

#: All versions (``TokenizerVersion``).
_VERSIONS = ("v1", "v2", "v3", "v7", "v11", "v13", "v15")
#: The versions whose files must list their special tokens. The default for others is ``_UNLISTED``.
_LISTING = ("v11", "v13", "v15")

#: The special tokens of files that do not list them, by id.
_UNLISTED = tuple(
    """
        <unk> <s> </s> [INST] [/INST] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_RESULTS]
        [/TOOL_RESULTS] [TOOL_CALLS] [IMG] <pad> [IMG_BREAK] [IMG_END] [PREFIX] [MIDDLE] [SUFFIX]
        [SYSTEM_PROMPT] [/SYSTEM_PROMPT] [TOOL_CONTENT]
    """.split()
)


def parse_tekken(file: Json) -> Ranked:
    """Return the vocabulary of a ``tekken.json``, Mistral's since NeMo, with ids in place of ranks.

    Text is split by the pattern in the file and merged by rank, as in tiktoken. The special tokens
    have the first ids: the id of another token is its rank plus the number of special tokens. The
    rules are those of ``Tekkenizer`` in mistral-common 1.13.1. The versions of the format differ in
    the form of messages and in the place of the special tokens. Text has the same tokens in all.

    Raises:
        ValueError: ``{file}: {place}: {reason}``; the file is damaged.
    """
    config = file["config"]
    special_count = config["default_num_special_tokens"].number()
    size = config["default_vocab_size"].number()
    vocab = file["vocab"]
    if special_count > _MOST_SPECIAL:
        config["default_num_special_tokens"].fail(f"must not be above {_MOST_SPECIAL}")
    if not 0 <= special_count <= size < RANK_LIMIT or size - special_count > len(vocab.sequence()):
        config.fail(
            f"{size} tokens, {special_count} of them special, "
            f"cannot be taken from a vocabulary of {len(vocab.sequence())}"
        )
    ranks: dict[bytes, int] = {}
    # A file may list more tokens than the vocabulary takes.
    for number, item in zip(range(size - special_count), vocab.items()):
        if item["rank"].number() != number:
            item["rank"].fail(f"must be {number}")
        encoded = item["token_bytes"].text()
        try:
            token = a2b_base64(encoded)  # skips other characters, as the reference does
        except ValueError as error:
            item["token_bytes"].fail(f"not base64: {error}")
        if token in ranks:
            item.fail(f"the token {token!r} comes twice")
        ranks[token] = special_count + number
    _check_bytes(vocab, ranks)
    return Ranked(config["pattern"], ranks, _special_tokens(file, special_count))


def _special_tokens(file: Json, count: int) -> dict[str, int]:
    """Return the special tokens and their ids, reserved ones included."""
    version = file["config"]["version"]
    if version.text() not in _VERSIONS:
        version.fail(f"version {version.text()!r} is not known, only {', '.join(_VERSIONS)}")
    listed = file.get("special_tokens")
    special: dict[str, int] = {}
    numbers: set[int] = set()
    if listed is None:
        if version.text() in _LISTING:
            file.fail(f"there is no 'special_tokens', which version {version.text()} has")
        special.update(zip(_UNLISTED, range(count)))
    else:
        for item in listed.items():
            name, number = item["token_str"].text(), item["rank"].number()
            if not name or name in special or number in numbers or not 0 <= number < count:
                item.fail(f"the name {name!r} or the id {number} is not a new one below {count}")
            special[name] = number
            numbers.add(number)
    # All other special ids are reserved.
    reserved = {f"<SPECIAL_{number}>": number for number in range(len(special), count)}
    if (
        len({**special, **reserved}) != count
        or len({*special.values(), *reserved.values()}) != count
    ):
        file.fail(f"the special tokens do not have the ids from 0 to {count - 1}")
    return {**special, **reserved}


#: The patterns by the values of ``word_split``; there is one value.
_PATTERNS = {"V1": QWEN}


def parse_grok(file: Json) -> Ranked:
    """Return the vocabulary of a ``tokenizer.tok.json``, the file of Grok 2.

    A token is a list of bytes with its id, which is also its rank. Text is split by a pattern that
    ``word_split`` names, or by the file's own. The rules are those of ``vllm/tokenizers/grok2.py``
    in vLLM, which SGLang shares. There, the names of special tokens always become these tokens.

    Raises:
        ValueError: ``{file}: {place}: {reason}``; the file is damaged.
    """
    split = file["word_split"]
    if split.text() not in _PATTERNS:
        split.fail(f"{split.text()!r} is not known, only {', '.join(_PATTERNS)}")
    pattern = file.get("pat_str") or Json(_PATTERNS[split.text()], split.source, split.place)
    pattern.text()
    regular = file["regular_tokens"]
    ranks = _tokens(regular)
    _check_bytes(regular, ranks)
    special = {}
    named = file["special_tokens"]
    for token, number in _tokens(named).items():
        try:
            special[token.decode()] = number
        except UnicodeDecodeError:
            named.fail(f"the name {token!r} is not UTF-8")
    _check_size(file.get("vocab_size"), ranks, special)
    return Ranked(pattern, ranks, special)


def _tokens(part: Json) -> dict[bytes, int]:
    """Return the tokens of a list and their ids, in its order."""
    tokens: dict[bytes, int] = {}
    numbers: set[int] = set()
    for item in part.items():
        values, number = item["bytes"].sequence(), item["token"].number()
        if not values or not all(type(byte) is int and 0 <= byte < 256 for byte in values):
            item["bytes"].fail("must be a list of one byte or more")
        token = bytes(values)
        if token in tokens or number in numbers:
            item.fail(f"the token {token!r} or the id {number} comes twice")
        if not 0 <= number < RANK_LIMIT:
            item["token"].fail(f"must be from 0 to {RANK_LIMIT - 1}")
        tokens[token] = number
        numbers.add(number)
    return tokens
