"""``Encoding``: a vocabulary with its pattern, and everything one does with it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from itertools import chain
from operator import index
from typing import Literal, NoReturn, Union

from compat_bpe.engine.chunk_cache import ChunkCache
from compat_bpe.engine.special import find_special, raise_disallowed, split_special
from compat_bpe.engine.splitter import Splitter, repair

AllowedSpecial = Union[Literal["all"], Set[str]]
DisallowedSpecial = Union[Literal["all"], Collection[str]]

#: Ids are unsigned 32-bit numbers in tiktoken, the highest of which means "no token".
_ID_END = (1 << 32) - 1


class Encoding:
    """Turns text into token ids and back, exactly as ``tiktoken.Encoding`` does.

    Args:
        name: what ``repr`` shows.
        pat_str: the pattern whose matches are the chunks of a text.
        mergeable_ranks: each token's bytes and its rank, which is its id.  It is kept, not
            copied, and must not be changed afterwards.
        special_tokens: each special token's name and id.
        explicit_n_vocab: if given, the number of tokens that there must be.

    Raises:
        ValueError: two tokens have the same rank; an id is negative, too large or no integer; a
            special token has an empty name; the vocabulary has not ``explicit_n_vocab`` tokens; the
            pattern cannot be used (``PatternError``).

    >>> ranks = {bytes([i]): i for i in range(256)}
    >>> ranks[b"hi"] = 256
    >>> enc = Encoding("tiny", pat_str=r"\\w+|\\W", mergeable_ranks=ranks,
    ...                special_tokens={"<|end|>": 257})
    >>> enc.encode("hi, Hi<|end|>", allowed_special="all")
    [256, 44, 32, 72, 105, 257]
    """

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        _check_ids(name, mergeable_ranks, special_tokens)
        self._set_up(name, pat_str, mergeable_ranks, special_tokens, explicit_n_vocab)

    @classmethod
    def _of_shipped(
        cls, name: str, pat_str: str, ranks: dict[bytes, int], special_tokens: dict[str, int]
    ) -> Encoding:
        """An encoding whose vocabulary need not be checked, which takes as long as to load it."""
        encoding = cls.__new__(cls)
        encoding._set_up(name, pat_str, ranks, special_tokens, None)
        return encoding

    def _set_up(
        self,
        name: str,
        pat_str: str,
        ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None,
    ) -> None:
        self.name = name
        self.max_token_value: int = max(chain(ranks.values(), special_tokens.values()))
        if explicit_n_vocab:
            count = len(ranks) + len(special_tokens)
            if count != explicit_n_vocab or self.max_token_value != explicit_n_vocab - 1:
                raise ValueError(
                    f"encoding {name!r}: {count} tokens up to id {self.max_token_value}, "
                    f"but explicit_n_vocab is {explicit_n_vocab}"
                )
        self._pat_str = pat_str
        self._mergeable_ranks = ranks
        self._special_tokens = special_tokens
        self._splitter = Splitter(pat_str)
        self._chunk_ids = ChunkCache(ranks)
        self._token_bytes: dict[int, bytes] | None = None
        self._special_names = frozenset(special_tokens)

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    # Text to ids

    def encode_ordinary(self, text: str) -> list[int]:
        """The ids of a text in which nothing is special.

        Surrogate pairs are joined and lone surrogates encoded as U+FFFD.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").encode_ordinary("hello world")
        [31373, 995]
        """
        ids: list[int] = []
        self._encode_plain(repair(text), ids)
        return ids

    def encode(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = frozenset(),
        disallowed_special: DisallowedSpecial = "all",
    ) -> list[int]:
        """The ids of a text that may name special tokens.

        Args:
            text: any string; surrogates are repaired as in ``encode_ordinary``.
            allowed_special: names that become their token: a set, or ``"all"``.
            disallowed_special: names that may not stand in the text: any collection, or
                ``"all"``, which means all that are not allowed.  A special token's name that
                is neither allowed nor disallowed is plain text.

        Raises:
            ValueError: a disallowed name stands in the text.
            TypeError: ``allowed_special`` is no set.

        >>> from compat_bpe import get_encoding
        >>> enc = get_encoding("gpt2")
        >>> enc.encode("hi<|endoftext|>", allowed_special={"<|endoftext|>"})
        [5303, 50256]
        >>> enc.encode("<|endoftext|>", disallowed_special=())
        [27, 91, 437, 1659, 5239, 91, 29]
        """
        allowed = self._check_special(text, allowed_special, disallowed_special)
        ids: list[int] = []
        for plain, special in split_special(repair(text), allowed):
            self._encode_plain(plain, ids)
            if special is not None:
                ids.append(self._special_tokens[special])
        return ids

    def count(self, text: str) -> int:
        """How many tokens a text has: ``len(encode_ordinary(text))``, without a list of them.

        The name of a special token counts as the plain text it is; a count never fails.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").count("hello world<|endoftext|>")
        9
        """
        ids_of, chunks = self._chunk_ids.__getitem__, self._splitter.chunks
        blocks = self._splitter.blocks(repair(text))
        return sum(sum(map(len, map(ids_of, chunks(block)))) for block in blocks)

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """The id of one token, special tokens included.

        Raises:
            KeyError: there is no such token.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").encode_single_token("hello")
        31373
        """
        token = text_or_bytes.encode() if isinstance(text_or_bytes, str) else text_or_bytes
        found = self._mergeable_ranks.get(token)
        if found is None:
            found = self._special_tokens.get(token.decode("utf-8", "replace"))
        if found is None:
            raise KeyError(token)
        return found

    # Ids to text

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """The text of some ids.

        Args:
            tokens: ids, special ones included.
            errors: what to do with bytes that are not UTF-8, as in ``bytes.decode``.  Ids cut
                out of a longer list often begin or end within a character.

        Raises:
            KeyError: an id is not in the vocabulary.
            OverflowError: an id is negative or 2**32 or more.
            UnicodeDecodeError: with ``errors="strict"``, the bytes are not UTF-8.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").decode([31373, 995])
        'hello world'
        """
        return self.decode_bytes(tokens).decode("utf-8", errors)

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """The bytes of some ids; errors as in ``decode``.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").decode_bytes([31373, 995])
        b'hello world'
        """
        try:
            return b"".join(map(self._bytes_by_id().__getitem__, tokens))
        except KeyError as error:
            _raise_unknown(error.args[0])

    def decode_single_token_bytes(self, token: int) -> bytes:
        """The bytes of one id; errors as in ``decode``.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").decode_single_token_bytes(995)
        b' world'
        """
        try:
            return self._bytes_by_id()[token]
        except KeyError:
            _raise_unknown(token)

    def decode_tokens_bytes(self, tokens: Iterable[int]) -> list[bytes]:
        """The bytes of each of some ids; errors as in ``decode``.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").decode_tokens_bytes([31373, 995])
        [b'hello', b' world']
        """
        return [self.decode_single_token_bytes(token) for token in tokens]

    # The vocabulary

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

    # The chunk cache

    @property
    def cache_limit(self) -> int:
        """How many chunks are remembered at most (131,072 unless set; 0: none).

        Setting it clears the cache.
        """
        return self._chunk_ids.limit

    @cache_limit.setter
    def cache_limit(self, limit: int) -> None:
        if limit < 0:
            raise ValueError(f"cache_limit is {limit}; it must be 0 or more")
        self._chunk_ids.limit = limit
        self._chunk_ids.clear()

    def clear_cache(self) -> None:
        """Forget all chunks, and give back their memory."""
        self._chunk_ids.clear()

    # Private

    def _encode_plain(self, text: str, ids: list[int]) -> None:
        """Append the ids of a text without surrogates."""
        ids_of, chunks = self._chunk_ids.__getitem__, self._splitter.chunks
        for block in self._splitter.blocks(text):
            ids += chain.from_iterable(map(ids_of, chunks(block)))

    def _check_special(
        self, text: str, allowed: AllowedSpecial, disallowed: DisallowedSpecial
    ) -> Set[str]:
        """Refuse disallowed special tokens; the allowed ones that this encoding has."""
        names = self._special_names
        if isinstance(allowed, str) and allowed == "all":
            allowed = names
        if isinstance(disallowed, str) and disallowed == "all":
            if not isinstance(allowed, (set, frozenset)):
                _refuse_allowed(allowed)
            # Mostly nothing is allowed: then this is a set whose hash is known.
            disallowed = names - allowed if allowed else names
        found = find_special(text, frozenset(disallowed))
        if found is not None:
            raise_disallowed(found)
        if not isinstance(allowed, (set, frozenset)):
            _refuse_allowed(allowed)
        return names & allowed

    def _bytes_by_id(self) -> dict[int, bytes]:
        """All tokens by id, built when something is first decoded."""
        found = self._token_bytes
        if found is None:
            ranks = self._mergeable_ranks
            # Two special names of one id decode to the first (o200k_harmony has such a pair; in
            # tiktoken it depends on a hash).  An id that is mergeable too is that token.
            specials = reversed(list(self._special_tokens.items()))
            found = {value: name.encode() for name, value in specials}
            found.update(zip(ranks.values(), ranks))
            self._token_bytes = found
        return found


def _refuse_allowed(allowed: object) -> NoReturn:
    raise TypeError(f"allowed_special is a {type(allowed).__name__}; it must be a set or 'all'")


def _raise_unknown(token: object) -> NoReturn:
    """The error for an id that is not in the vocabulary, of the type tiktoken raises."""
    try:
        number = index(token)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{token!r} is no token id: it must be an integer") from None
    if not 0 <= number < 1 << 32:
        raise OverflowError(f"{token} is no token id: it must be from 0 to 2**32 - 1")
    raise KeyError(f"{token} is not in the vocabulary")


def _check_ids(name: str, ranks: Mapping[bytes, int], specials: Mapping[str, int]) -> None:
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
