"""``Encoding``: a vocabulary with its pattern, and the methods that use them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set

from ..caches import cached_property, changed
from ..pipeline.special_tokens import NOTHING, allowed_names
from ..unicode.surrogates import repair
from .core import CoreBPE, EncodingCore
from .published import ENCODINGS, PATTERNS, PUBLISHED, find, load_ranks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Self

    from ..fit.boundary import Boundary
    from ..fit.truncate import Keep, Truncated
    from ..pipeline.cutter import TextEncoder
    from ..pipeline.special_tokens import AllowedSpecial, DisallowedSpecial


#: tiktoken's ids are unsigned 32-bit numbers. The highest number means "no token".
_ID_END = (1 << 32) - 1


class Encoding:
    """Turns text into token ids and back, exactly as ``tiktoken.Encoding`` does.

    Args:
        name: the name that ``repr`` shows.
        pat_str: the pattern whose matches are the chunks of a text, or the name of one.
        mergeable_ranks: each token's bytes and its rank, which is its id.
        special_tokens: each special token's name and id.
        explicit_n_vocab: if given, the number of tokens that there must be.

    Raises:
        ValueError: two tokens have the same rank; an id is negative, too large or not an integer; a
            special token has an empty name; the number of tokens is not ``explicit_n_vocab``; the
            pattern cannot be used (``PatternError``).

    >>> ranks = {bytes([i]): i for i in range(256)}
    >>> ranks[b"hi"] = 256
    >>> enc = Encoding("tiny", pat_str=r"\\w+|\\W", mergeable_ranks=ranks,
    ...                special_tokens={"<|end|>": 257})
    >>> enc.encode("hi, Hi<|end|>", allowed_special="all")
    [256, 44, 32, 72, 105, 257]
    """

    core: EncodingCore
    max_token_value: int
    #: The library whose ids these are.
    reference = "tiktoken"
    #: True if every process can get this encoding by its name.
    _ships = False

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
        # A copy, so that later changes of the original change no ids.
        highest = max(mergeable_ranks.values())
        ranks = dict(mergeable_ranks)
        pattern = PATTERNS.get(pat_str, pat_str)
        self._set_up(name, pattern, ranks, highest, special_tokens, explicit_n_vocab)
        self._mergeable_ranks = mergeable_ranks

    @classmethod
    def shipped(cls, name: str) -> Encoding:
        """Return a new object for a shipped encoding; encodings share a common vocabulary.

        Raises:
            KeyError: no encoding of this kind has that name.
            OSError, ValueError: the package's own file is missing or damaged.
        """
        published = PUBLISHED[name]
        ranks = load_ranks(published.pack)
        # A shipped vocabulary is in rank order. It is not checked: that takes as long as loading.
        highest = next(reversed(ranks.values()))
        encoding = cls.__new__(cls)
        specials = published.special_tokens
        encoding._set_up(name, published.pattern, ranks, highest, specials, None)
        encoding._ships = True
        return encoding

    def _set_up(
        self,
        name: str,
        pat_str: str,
        ranks: dict[bytes, int],
        highest: int,
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None,
    ) -> None:
        self.name = name
        self.max_token_value = max(highest, *special_tokens.values(), 0)
        if explicit_n_vocab:
            count = len(ranks) + len(special_tokens)
            if count != explicit_n_vocab or self.max_token_value != explicit_n_vocab - 1:
                raise ValueError(
                    f"encoding {name!r}: {count} tokens up to id {self.max_token_value}, "
                    f"but explicit_n_vocab is {explicit_n_vocab}"
                )
        self._pat_str = pat_str
        self._special_tokens = special_tokens
        self._special_token_values = set(special_tokens.values())
        self._special_names = frozenset(special_tokens)
        self.core = CoreBPE(ranks, special_tokens, pat_str)

    @property
    def _core_bpe(self) -> EncodingCore:
        """The core, by tiktoken's name for it. Programs may replace it."""
        return self.core

    @_core_bpe.setter
    def _core_bpe(self, core: EncodingCore) -> None:
        self.core = core

    @cached_property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        """Each token's bytes and rank: a copy, made at the first access."""
        return dict(self.core.encoder)

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    # Text to ids

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of a text. Names of special tokens are plain text.

        Surrogate pairs are joined, and lone surrogates are encoded as U+FFFD.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").encode_ordinary("hello world")
        [31373, 995]
        """
        try:
            return self.core.encode_ordinary(text)
        except UnicodeEncodeError:
            return self.core.encode_ordinary(repair(text))

    def encode(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = NOTHING,
        disallowed_special: DisallowedSpecial = "all",
    ) -> list[int]:
        """Return the ids of a text that may contain names of special tokens.

        Args:
            text: any string; surrogates are repaired as in ``encode_ordinary``.
            allowed_special: the names that become special tokens: a set, or ``"all"``.
            disallowed_special: the names that must not be in the text: any collection, or
                ``"all"``, which means all that are not allowed. A name that is neither allowed
                nor disallowed is plain text.

        Raises:
            ValueError: a disallowed name is in the text.
            TypeError: ``allowed_special`` is not a set.

        >>> from compat_bpe import get_encoding
        >>> enc = get_encoding("gpt2")
        >>> enc.encode("hi<|endoftext|>", allowed_special={"<|endoftext|>"})
        [5303, 50256]
        >>> enc.encode("<|endoftext|>", disallowed_special=())
        [27, 91, 437, 1659, 5239, 91, 29]
        """
        allowed = allowed_names(text, self._special_names, allowed_special, disallowed_special)
        try:
            return self.core.encode(text, allowed)
        except UnicodeEncodeError:
            return self.core.encode(repair(text), allowed)

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = NOTHING,
        disallowed_special: DisallowedSpecial = "all",
    ) -> npt.NDArray[np.uint32]:
        """Return the ids that ``encode`` gives as a read-only array of ``numpy.uint32``.

        Raises:
            ImportError: numpy is not installed.
            UnicodeEncodeError: the text has surrogates in it; here they are not repaired.
            ValueError, TypeError: as in ``encode``.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").encode_to_numpy("hello world")
        array([31373,   995], dtype=uint32)
        """
        allowed = allowed_names(text, self._special_names, allowed_special, disallowed_special)
        try:
            import numpy as np
        except ImportError:
            raise ImportError(
                "encode_to_numpy needs numpy (pip install numpy); encode gives a list"
            ) from None
        buffer = self.core.encode_to_tiktoken_buffer(text, allowed)
        return np.frombuffer(buffer, dtype=np.uint32)

    def encode_with_unstable(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = NOTHING,
        disallowed_special: DisallowedSpecial = "all",
    ) -> tuple[list[int], list[list[int]]]:
        """Return the ids that no further text can change, and possible ids for the rest.

        Returns:
            The stable ids, and sequences of ids for the rest of the text, in no order. Each
            sequence covers the rest, and perhaps more. A longer text continues with one of them.

        Raises:
            UnicodeEncodeError: the text has surrogates in it; here they are not repaired.
            ValueError, TypeError: as in ``encode``.

        >>> from compat_bpe import get_encoding
        >>> stable, completions = get_encoding("gpt2").encode_with_unstable("hello fanta")
        >>> stable, len(completions), [8842] in completions  # the last is " fantasy"
        ([31373], 1432, True)
        """
        allowed = allowed_names(text, self._special_names, allowed_special, disallowed_special)
        return self.core.encode_with_unstable(text, allowed)

    def encode_ordinary_batch(self, text: list[str], *, num_threads: int = 8) -> list[list[int]]:
        """Return the ids of each text, as ``encode_ordinary`` does; see ``encode_batch``.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").encode_ordinary_batch(["hello world", "goodbye world"])
        [[31373, 995], [11274, 16390, 995]]
        """
        return self.encode_batch(text, num_threads=num_threads, disallowed_special=())

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int = 8,
        allowed_special: AllowedSpecial = NOTHING,
        disallowed_special: DisallowedSpecial = "all",
    ) -> list[list[int]]:
        """Return the ids of each text, as ``encode`` does; large batches run in parallel.

        Args:
            text: the texts.
            num_threads: the most threads or processes. It does not change the result.
            allowed_special, disallowed_special: as in ``encode``.

        Raises:
            ValueError, TypeError: the first error that ``encode`` raises for one of the texts; or
                ``num_threads`` is not positive.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").encode_batch(["hello world", "goodbye world"])
        [[31373, 995], [11274, 16390, 995]]
        """
        from .batch import encode_in_workers, map_in_order, processes_for

        texts = list(text)
        processes = processes_for(texts, num_threads)
        if processes > 1:
            # Find errors in a text here, not in a worker.
            allowed: Set[str] = NOTHING
            for one in texts:
                allowed = allowed_names(
                    one, self._special_names, allowed_special, disallowed_special
                )
            if isinstance(allowed, (set, frozenset)):  # other types raise an error below
                encoded = encode_in_workers(self, self.recipe(), texts, allowed, processes)
                if encoded is not None:
                    return encoded

        def encode(one: str) -> list[int]:
            return self.encode(
                one, allowed_special=allowed_special, disallowed_special=disallowed_special
            )

        return map_in_order(encode, texts, num_threads)

    def count(self, text: str) -> int:
        """Return the number of tokens of a text: ``len(encode_ordinary(text))``, without the list.

        The name of a special token counts as plain text, so it is never an error.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").count("hello world<|endoftext|>")
        9
        """
        try:
            return self.core.count(text)
        except UnicodeEncodeError:
            return self.core.count(repair(text))

    # Ids to text

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """Return the text of some ids.

        Args:
            tokens: ids, special ones included.
            errors: the error handler for bytes that are not UTF-8, as in ``bytes.decode``. Ids cut
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
        """Return the bytes of some ids; it raises the same errors as ``decode``.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").decode_bytes([31373, 995])
        b'hello world'
        """
        return self.core.decode_bytes(tokens)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Return the bytes of one id; it raises the same errors as ``decode``.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").decode_single_token_bytes(995)
        b' world'
        """
        return self.core.decode_single_token_bytes(token)

    def decode_tokens_bytes(self, tokens: Iterable[int]) -> list[bytes]:
        """Return a list with the bytes of each id; it raises the same errors as ``decode``.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").decode_tokens_bytes([31373, 995])
        [b'hello', b' world']
        """
        return [self.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """Return the text of some ids, and the place in it where each token begins.

        Returns:
            The text, and for each id the index of the character with the token's first byte.

        Raises:
            UnicodeDecodeError: the bytes are not UTF-8.
            KeyError, OverflowError: as in ``decode``.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").decode_with_offsets([31373, 995])
        ('hello world', [0, 5])
        """
        pieces = self.decode_tokens_bytes(tokens)
        return b"".join(pieces).decode(), offsets_of(pieces)

    def decode_batch(
        self, batch: Sequence[Sequence[int]], *, errors: str = "replace", num_threads: int = 8
    ) -> list[str]:
        """Return the text of each list of ids, as ``decode`` does.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").decode_batch([[31373, 995], [11274, 16390, 995]])
        ['hello world', 'goodbye world']
        """
        from .batch import map_in_order

        return map_in_order(lambda tokens: self.decode(tokens, errors), batch, num_threads)

    def decode_bytes_batch(
        self, batch: Sequence[Sequence[int]], *, num_threads: int = 8
    ) -> list[bytes]:
        """Return the bytes of each list of ids, as ``decode_bytes`` does."""
        from .batch import map_in_order

        return map_in_order(self.decode_bytes, batch, num_threads)

    # Parts of a text, and limits

    @property
    def continued(self) -> Self:
        """The encoding for text that continues after a cut point (see ``Core.next_cut_point``).

        It puts nothing before a text, not even the ``▁`` of Llama. Use it to encode and count. An
        encoding that never puts anything before a text is returned itself.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").continued
        <Encoding 'gpt2'>
        """
        core = self.core.continued
        if core is self.core:
            return self
        return changed(self, core=core)

    def fits(self: TextEncoder, text: str, limit: int) -> bool:
        """Return True if ``count(text)`` is at most ``limit``. A long text is not counted whole.

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
        """Return as much of a text as fits in ``limit`` tokens.

        The result has at most ``limit`` tokens when it is counted itself, and no character is cut
        in two. With ``"head"`` or ``"tail"``, it is the longest part that fits and that the
        boundary allows. With ``"ends"``, the head gets half of the tokens and the tail the rest. If
        the boundary allows no cut that leaves some text, the next finer boundary is used. The time
        taken grows with the kept text, not with the whole text.

        Args:
            text: any string; names of special tokens are plain text, as in ``count``.
            limit: a number of tokens.
            keep: ``"head"``, ``"tail"`` or ``"ends"``.
            boundary: the places for cuts: ``"char"``, between any two characters;
                ``"word"``, not between two letters, marks, digits or underscores; ``"line"``, only
                after the end of a line. A line that does not fit is cut as with ``"word"``, and a
                word that does not fit as with ``"char"``. Each end is treated separately.
            marker: the text to put where something was cut. Its tokens count, and it is left out
                if it alone does not fit. The default between two ends is ``"…"``, or the line
                ``"…\\n"`` with the boundary ``"line"`` if whole lines follow. With one end, the
                default is empty.

        Returns:
            The ``text``, its ``count``, the offsets ``kept``, and whether it ``was_cut``.

        Raises:
            ValueError: the limit is negative, or ``keep`` or ``boundary`` is not known.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").truncate("hello world, how are you", 3)
        Truncated(text='hello world,', count=3, kept=((0, 12),), was_cut=True)
        """
        from ..fit.truncate import truncate

        return truncate(self, text, limit, keep=keep, boundary=boundary, marker=marker)

    # The vocabulary

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
        """Return the tokens and their ids, without special and other added tokens.

        >>> from compat_bpe import get_encoding
        >>> len(get_encoding("gpt2").ordinary_tokens())
        50256
        """
        return dict(self.core.encoder)

    def token_byte_values(self) -> list[bytes]:
        """Return the bytes of all tokens except special tokens, sorted.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").token_byte_values()[-1]
        b'\\xff'
        """
        return self.core.token_byte_values()

    def is_special_token(self, token: int) -> bool:
        """Return True if an id is that of a special token.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").is_special_token(50256)
        True
        """
        if not isinstance(token, int):
            raise TypeError(f"{token!r} is not a token id: it must be an integer")
        return token in self._special_token_values

    @property
    def n_vocab(self) -> int:
        """One more than the highest id. Some lower ids may be unused."""
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
            AttributeError: text is split in several steps, not by one pattern.
        """
        return self._pat_str

    def extended(
        self, name: str, tokens: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]]
    ) -> Encoding:
        """Return an encoding with more tokens.

        Args:
            name: the name of the new encoding.
            tokens: the new tokens and their ids.
            merges: the two parts of each new token, in the order in which they are merged.
        """
        return Encoding(
            name,
            pat_str=self._pat_str,
            mergeable_ranks={**self.core.encoder, **tokens},
            special_tokens=dict(self._special_tokens),
        )

    def with_special(self, names: Set[str]) -> Encoding:
        """Return an encoding in which the added tokens of these names are special, too.

        All added tokens of this class are special already, so the encoding itself is returned.
        """
        return self

    # The chunk cache

    @property
    def cache_limit(self) -> int:
        """The most chunks that the cache holds: 131,072 unless set; 0 turns it off.

        The limit for whole passages is a 32nd of it. Setting it clears the cache.
        """
        return self.core.cache_limit

    @cache_limit.setter
    def cache_limit(self, limit: int) -> None:
        if limit < 0:
            raise ValueError(f"cache_limit is {limit}; it must be 0 or more")
        self.core.set_cache_limit(limit)

    def clear_cache(self) -> None:
        """Remove all chunks and passages from the cache, and free their memory."""
        self.core.clear_cache()

    # Private

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        """Return the ids of text or bytes that are taken as one chunk."""
        piece = text_or_bytes.encode() if isinstance(text_or_bytes, str) else text_or_bytes
        return self.core.encode_single_piece(piece)

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        """Return the ids of ``encode_ordinary``. tiktoken's method splits the text in Python."""
        return self.core.encode_ordinary(text)

    def _encode_bytes(self, text: bytes) -> list[int]:
        """Return the ids of bytes that may end within a character or not be UTF-8."""
        return self.core.encode_bytes(text)

    def __getstate__(self) -> object:
        # By name if the other process has it, too: a shipped encoding, or, where programs see
        # tiktoken, one of a tiktoken plug-in.
        is_known = self._ships or type(self).__module__ == "tiktoken.core"
        if is_known and self is ENCODINGS.get(self.name):
            return self.name
        return self._by_value()

    def __setstate__(self, value: object) -> None:
        if isinstance(value, str):
            self.__dict__ = find(value, type(self).shipped).__dict__
        elif isinstance(value, dict):
            # Not the subclass's method, which has other arguments.
            Encoding.__init__(self, **value)
        else:
            raise ValueError(f"the state of a pickled Encoding is a {type(value).__name__}")

    def _by_value(self) -> dict[str, Any]:
        """Return the arguments that make an encoding like this one."""
        return {
            "name": self.name,
            "pat_str": self._pat_str,
            "mergeable_ranks": self._mergeable_ranks,
            "special_tokens": self._special_tokens,
        }

    def recipe(self) -> tuple[Callable[..., Encoding], dict[str, Any]]:
        """Return a function, and the arguments with which it makes this encoding elsewhere.

        Another process finds the function by its name. It would not find a class that replaces
        tiktoken's.
        """
        return _make_encoding, self._by_value()


def _make_encoding(**arguments: Any) -> Encoding:
    return Encoding(**arguments)


def offsets_of(pieces: Iterable[bytes]) -> list[int]:
    """Return for each piece of a text in UTF-8 the index of the character with its first byte."""
    offsets = []
    characters = 0
    for piece in pieces:
        # A byte 10xxxxxx belongs to the character before.
        offsets.append(max(0, characters - (b"\x80" <= piece[:1] < b"\xc0")))
        characters += sum(not 0x80 <= byte < 0xC0 for byte in piece)
    return offsets


def _check_ids(name: str, ranks: Mapping[bytes, int], specials: Mapping[str, int]) -> None:
    """Raise ``ValueError`` if an id is out of range, a name is empty, or two ranks are equal."""
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
