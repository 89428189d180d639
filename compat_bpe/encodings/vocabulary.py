"""The vocabulary of an encoding, and what is remembered of it."""

from __future__ import annotations

from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .core import EncodingCore


#: Ids are unsigned 32-bit numbers in tiktoken, the highest of which means "no token".
_ID_END = (1 << 32) - 1


class Vocabulary:
    """Answers for the vocabulary and the cache; the base of ``Encoding`` that does."""

    core: EncodingCore
    max_token_value: int
    _pat_str: str
    _special_tokens: dict[str, int]
    _special_token_values: set[int]
    _special_names: frozenset[str]

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Return the id of one token, special tokens included.

        Raises:
            KeyError: there is no such token.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").encode_single_token("hello")
        31373
        """
        token = text_or_bytes.encode() if isinstance(text_or_bytes, str) else text_or_bytes
        return self.core.encode_single_token(token)

    def ordinary_tokens(self) -> dict[bytes, int]:
        """Return the tokens without the special and other added ones, and their ids.

        >>> from compat_bpe import get_encoding
        >>> len(get_encoding("gpt2").ordinary_tokens())
        50256
        """
        return dict(self.core.encoder)

    def token_byte_values(self) -> list[bytes]:
        """Return the bytes of all tokens but the special ones, sorted.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").token_byte_values()[-1]
        b'\\xff'
        """
        return self.core.token_byte_values()

    def is_special_token(self, token: int) -> bool:
        """Return True if an id is of a special token.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").is_special_token(50256)
        True
        """
        if not isinstance(token, int):
            raise TypeError(f"{token!r} is no token id: it must be an integer")
        return token in self._special_token_values

    @property
    def n_vocab(self) -> int:
        """One more than the highest id (there may be holes below it)."""
        return self.max_token_value + 1

    @property
    def eot_token(self) -> int:
        """The id of ``<|endoftext|>``; ``KeyError`` if there is no such token."""
        return self._special_tokens["<|endoftext|>"]

    @property
    def special_tokens_set(self) -> set[str]:
        """The names of the special tokens."""
        return set(self._special_names)

    @property
    def special_tokens(self) -> dict[str, int]:
        """The names of the special tokens and their ids; a copy.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").special_tokens
        {'<|endoftext|>': 50256}
        """
        return dict(self._special_tokens)

    @property
    def pattern(self) -> str:
        """The pattern whose matches are the chunks of a text.

        Raises:
            AttributeError: text is split in steps, by no single pattern.
        """
        return self._pat_str

    # The chunk cache

    @property
    def cache_limit(self) -> int:
        """The most chunks that are remembered (131,072 unless set; 0: none).

        The limit for whole passages is a 32nd of it.

        Setting it clears the cache.
        """
        return self.core.cache_limit

    @cache_limit.setter
    def cache_limit(self, limit: int) -> None:
        if limit < 0:
            raise ValueError(f"cache_limit is {limit}; it must be 0 or more")
        self.core.set_cache_limit(limit)

    def clear_cache(self) -> None:
        """Forget all chunks and passages, and give back their memory."""
        self.core.clear_cache()


def check_ids(name: str, ranks: Mapping[bytes, int], specials: Mapping[str, int]) -> None:
    """Refuse a vocabulary in which an id is impossible or a token cannot be told from another."""
    if "" in specials:
        raise ValueError(f"encoding {name!r}: a special token has an empty name")
    if not ranks:
        raise ValueError(f"encoding {name!r}: there are no mergeable tokens")
    for kind, ids in (("mergeable", ranks.values()), ("special", specials.values())):
        if set(map(type, ids)) - {int}:
            raise ValueError(f"encoding {name!r}: the id of a {kind} token is not an integer")
        if min(ids, default=0) < 0 or max(ids, default=0) >= _ID_END:
            raise ValueError(
                f"encoding {name!r}: the id of a {kind} token is not from 0 to {_ID_END - 1}"
            )
    if len(set(ranks.values())) != len(ranks):
        raise ValueError(f"encoding {name!r}: two mergeable tokens have the same rank")
