"""``tiktoken._educational``: byte-pair encoding, shown step by step.

``compat_bpe.pipeline.models.bpe.by_rank`` is the encoder itself; it explains the algorithm, too.
"""

from __future__ import annotations

from collections import Counter

from ..encodings.encoding import Encoding
from ..pattern.splitter import Splitter

_COLOURS = [f"\x1b[48;5;{colour}m" for colour in (167, 179, 185, 77, 80, 68, 134)]
_RESET = "\x1b[0m"


class SimpleBytePairEncoding:
    """A small encoding that prints each step.

    >>> enc = SimpleBytePairEncoding.from_tiktoken("gpt2")
    >>> enc.encode("hi you", visualise="simple")
    [b'h', b'i']
    [b'hi']
    <BLANKLINE>
    [b' ', b'y', b'o', b'u']
    [b' ', b'y', b'ou']
    [b' y', b'ou']
    [b' you']
    <BLANKLINE>
    [5303, 345]
    """

    def __init__(self, *, pat_str: str, mergeable_ranks: dict[bytes, int]) -> None:
        self.pat_str = pat_str
        self.mergeable_ranks = mergeable_ranks
        self._decoder = {rank: token for token, rank in mergeable_ranks.items()}
        self._splitter = Splitter(pat_str)

    def encode(self, text: str, visualise: str | None = "colour") -> list[int]:
        """Return the ids of a text; ``visualise`` is ``"colour"``, ``"simple"`` or None."""
        return [
            token
            for chunk in self._splitter.chunks(text)
            for token in bpe_encode(self.mergeable_ranks, chunk.encode(), visualise)
        ]

    def decode_bytes(self, tokens: list[int]) -> bytes:
        """Return the bytes of ids, joined.

        Raises:
            KeyError: an id is not in the vocabulary.
        """
        return b"".join(self.decode_tokens_bytes(tokens))

    def decode(self, tokens: list[int]) -> str:
        """Return the text of ids, with U+FFFD for bytes that are not UTF-8."""
        return self.decode_bytes(tokens).decode("utf-8", "replace")

    def decode_tokens_bytes(self, tokens: list[int]) -> list[bytes]:
        """Return the bytes of each id."""
        return [self._decoder[token] for token in tokens]

    @staticmethod
    def train(training_data: str, vocab_size: int, pat_str: str) -> SimpleBytePairEncoding:
        """Return an encoding learned from a text; see ``bpe_train``."""
        ranks = bpe_train(data=training_data, vocab_size=vocab_size, pat_str=pat_str)
        return SimpleBytePairEncoding(pat_str=pat_str, mergeable_ranks=ranks)

    @staticmethod
    def from_tiktoken(encoding: str | Encoding) -> SimpleBytePairEncoding:
        """Return the simple form of an encoding, given itself or by its name."""
        if isinstance(encoding, str):
            from . import get_encoding

            encoding = get_encoding(encoding)
        return SimpleBytePairEncoding(
            pat_str=encoding.pattern, mergeable_ranks=encoding.ordinary_tokens()
        )


def bpe_encode(
    mergeable_ranks: dict[bytes, int], input: bytes, visualise: str | None = "colour"
) -> list[int]:
    """Return the ids of one chunk, and print the parts after each merge."""
    parts = [input[i : i + 1] for i in range(len(input))]
    while True:
        _show(parts, visualise)
        joined = [
            (mergeable_ranks[left + right], index)
            for index, (left, right) in enumerate(zip(parts, parts[1:]))
            if left + right in mergeable_ranks
        ]
        if not joined:
            break
        _, index = min(joined)
        parts[index : index + 2] = [parts[index] + parts[index + 1]]
    if visualise:
        print()
    return [mergeable_ranks[part] for part in parts]


def bpe_train(
    data: str, vocab_size: int, pat_str: str, visualise: str | None = "colour"
) -> dict[bytes, int]:
    """Learn ranks from a text: each step makes a token of the most common pair of neighbours.

    If several pairs are equally common, the first one to occur is used.

    Raises:
        ValueError: ``vocab_size`` is less than 256, or more than the text allows.

    >>> list(bpe_train("aab aab", 258, r"\\S+", visualise=None).items())[256:]
    [(b'aa', 256), (b'aab', 257)]
    """
    if vocab_size < 256:
        raise ValueError("vocab_size must be at least 256, since each byte is a token")
    ranks = {bytes([byte]): byte for byte in range(256)}
    words = [[bytes([byte]) for byte in chunk.encode()] for chunk in Splitter(pat_str).chunks(data)]
    while len(ranks) < vocab_size:
        counts = Counter(pair for word in words for pair in zip(word, word[1:]))
        if not counts:
            raise ValueError(f"the text gives {len(ranks)} tokens, not {vocab_size}")
        pair = max(counts, key=counts.__getitem__)
        token = b"".join(pair)
        ranks[token] = len(ranks)
        words = [_merge(word, pair) for word in words]
        if visualise:
            print(f"The current most common pair is {pair[0]!r} + {pair[1]!r}")
            print(f"So we made {token!r} our {len(ranks)}th token")
            if visualise in ("colour", "color"):
                print("Now the first fifty words in our training data look like:")
                visualise_tokens([part for word in words[:50] for part in word])
            elif visualise == "simple":
                print("Now the first twenty words in our training data look like:")
                for word in words[:20]:
                    print(word)
            print("\n")
    return ranks


def _merge(word: list[bytes], pair: tuple[bytes, bytes]) -> list[bytes]:
    """Return a word with all occurrences of a pair joined, from the left."""
    merged: list[bytes] = []
    index = 0
    while index < len(word):
        if tuple(word[index : index + 2]) == pair:
            merged.append(word[index] + word[index + 1])
            index += 2
        else:
            merged.append(word[index])
            index += 1
    return merged


def _show(parts: list[bytes], visualise: str | None) -> None:
    if visualise in ("colour", "color"):
        visualise_tokens(parts)
    elif visualise == "simple":
        print(parts)


def visualise_tokens(token_values: list[bytes]) -> None:
    """Print tokens side by side, each with a background colour other than its neighbours'.

    A token that is only part of a character is shown as U+FFFD.
    """
    length = 0
    last = None
    for text in (token.decode("utf-8", "replace") for token in token_values):
        colour = _COLOURS[length % len(_COLOURS)]
        if colour == last:
            colour = _COLOURS[(length + 1) % len(_COLOURS)]
        last = colour
        length += len(text)
        print(colour + text, end="")
    print(_RESET)
