"""``tokenizer.tok.json``: the vocabulary of Grok 2.

A token is a list of bytes with its id, which is its rank, too. Text is split by a pattern that
``word_split`` names, or by the file's own. The rules are those of ``vllm/tokenizers/grok2.py`` in
vLLM, which SGLang shares: the names of all special tokens in a text are these tokens there.
"""

from __future__ import annotations

from . import RANK_LIMIT, missing_byte
from .checked_json import Json
from .ranked import Ranked, check_size

#: The patterns by the values of ``word_split``. There is one: Llama 3's, with single digits.
_PATTERNS = {
    "V1": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    )
}


def parse_grok(file: Json) -> Ranked:
    """Return the vocabulary of a ``tokenizer.tok.json``.

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
    byte = missing_byte(ranks)
    if byte is not None:
        regular.fail(f"there is no token for the single byte 0x{byte:02X}")
    special = {}
    named = file["special_tokens"]
    for token, number in _tokens(named).items():
        try:
            special[token.decode()] = number
        except UnicodeDecodeError:
            named.fail(f"the name {token!r} is not UTF-8")
    check_size(file.get("vocab_size"), ranks, special)
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
