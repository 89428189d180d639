"""The methods of ``Encoding`` that do not encode: ids to text, limits, the vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..parallel.lazy import changed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Self

    from ..fit.boundary import Boundary, TextEncoder
    from ..fit.truncate import Keep, Truncated
    from .core import EncodingCore


#: Ids are unsigned 32-bit numbers in tiktoken, the highest of which means "no token".
_ID_END = (1 << 32) - 1


class EncodingMethods:
    """Decodes, fits text to a limit, and answers for the vocabulary; the base of ``Encoding``."""

    core: EncodingCore
    max_token_value: int
    _pat_str: str
    _special_tokens: dict[str, int]
    _special_token_values: set[int]
    _special_names: frozenset[str]

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """Return the text of some ids.

        Args:
            tokens: ids, special ones included.
            errors: the rule for bytes that are not UTF-8, as in ``bytes.decode``. Ids cut
                out of a longer list often begin or end within a character.

        Raises:
            KeyError: an id is not in the vocabulary.
            OverflowError: an id is negative or 2**32 or more.
            UnicodeDecodeError: with ``errors="strict"``, the bytes are not UTF-8.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").decode([31373, 995])
        'hello world'
        """
        return self.core.decode(tokens, errors)

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Return the bytes of some ids; errors as in ``decode``.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").decode_bytes([31373, 995])
        b'hello world'
        """
        return self.core.decode_bytes(tokens)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Return the bytes of one id; errors as in ``decode``.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").decode_single_token_bytes(995)
        b' world'
        """
        return self.core.decode_single_token_bytes(token)

    def decode_tokens_bytes(self, tokens: Iterable[int]) -> list[bytes]:
        """Return the bytes of each of some ids; errors as in ``decode``.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").decode_tokens_bytes([31373, 995])
        [b'hello', b' world']
        """
        return [self.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """Return the text of some ids, and where in it each of them begins.

        Returns:
            The text; and for each id the index of the character that has its first byte.

        Raises:
            UnicodeDecodeError: the bytes are not UTF-8.
            KeyError, OverflowError: as in ``decode``.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").decode_with_offsets([31373, 995])
        ('hello world', [0, 5])
        """
        pieces = self.decode_tokens_bytes(tokens)
        offsets = []
        characters = 0
        for piece in pieces:
            # A byte 10xxxxxx belongs to the character before.
            offsets.append(max(0, characters - (b"\x80" <= piece[:1] < b"\xc0")))
            characters += sum(not 0x80 <= byte < 0xC0 for byte in piece)
        return b"".join(pieces).decode(), offsets

    def decode_batch(
        self, batch: Sequence[Sequence[int]], *, errors: str = "replace", num_threads: int = 8
    ) -> list[str]:
        """Return what ``decode`` gives for each of some lists of ids.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").decode_batch([[31373, 995], [11274, 16390, 995]])
        ['hello world', 'goodbye world']
        """
        from .batch import map_in_order

        return map_in_order(lambda tokens: self.decode(tokens, errors), batch, num_threads)

    def decode_bytes_batch(
        self, batch: Sequence[Sequence[int]], *, num_threads: int = 8
    ) -> list[bytes]:
        """Return what ``decode_bytes`` gives for each of some lists of ids."""
        from .batch import map_in_order

        return map_in_order(self.decode_bytes, batch, num_threads)

    @property
    def continued(self) -> Self:
        """The encoding of a text that goes on after a cut point (see ``Core.next_cut_point``).

        It puts nothing before a text, such as the ``▁`` of Llama. It is for the methods that encode
        and count. An encoding that never puts anything before a text is returned itself.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").continued
        <Encoding 'gpt2'>
        """
        core = self.core.continued
        if core is self.core:
            return self
        return changed(self, core=core)

    def fits(self: TextEncoder, text: str, limit: int) -> bool:
        """Return True if ``count(text)`` is at most ``limit``, without counting all of a long text.

        Raises:
            ValueError: the limit is negative.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").fits("hello world", 2)
        True
        """
        from ..fit.longest_part import fits

        return fits(self, text, limit)

    def truncate(
        self: TextEncoder,
        text: str,
        limit: int,
        *,
        keep: Keep = "head",
        boundary: Boundary = "char",
        marker: str | None = None,
    ) -> Truncated:
        """Return the most of a text that fits in ``limit`` tokens.

        The result has at most ``limit`` tokens when it is counted itself, and no character is cut
        in two. With the head or the tail kept it is the longest that fits and may be cut there;
        with both ends, the head has half of the room and the tail the rest. Where the boundary
        allows no cut that leaves some text, the next finer one is used. The time taken grows with
        what is kept, not with the text.

        Args:
            text: any string; names of special tokens are plain text, as in ``count``.
            limit: a number of tokens.
            keep: ``"head"``, ``"tail"`` or ``"ends"``.
            boundary: the places for cuts: ``"char"``, between any two characters;
                ``"word"``, not between two letters, marks, digits or underscores; ``"line"``, only
                after the end of a line. A line that does not fit is cut as with ``"word"``, and a
                word that does not fit as with ``"char"``; each end for itself.
            marker: put where something was cut, exactly as it is; it counts, too, and is left out
                if it alone does not fit. The default is ``"…"`` between two ends, a line of its
                own (``"…\\n"``) with the boundary ``"line"`` and whole lines after it; else
                nothing.

        Returns:
            The ``text``, its ``count``, the offsets ``kept``, and whether it ``was_cut``.

        Raises:
            ValueError: the limit is negative, or there is no such ``keep`` or ``boundary``.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").truncate("hello world, how are you", 3)
        Truncated(text='hello world,', count=3, kept=((0, 12),), was_cut=True)
        """
        from ..fit.truncate import truncate

        return truncate(self, text, limit, keep=keep, boundary=boundary, marker=marker)

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
