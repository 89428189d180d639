"""``Encoding``: a vocabulary with its pattern, and everything one does with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

from ..parallel.lazy import cached_property
from ..pipeline.special_tokens import NOTHING, allowed_names
from ..unicode.surrogates import repair
from .core import CoreBPE, EncodingCore
from .loaded import ENCODINGS, find, load_ranks
from .methods import EncodingMethods, check_ids
from .published import PATTERNS, PUBLISHED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from ..pipeline.special_tokens import AllowedSpecial, DisallowedSpecial


class Encoding(EncodingMethods):
    """Turns text into token ids and back, exactly as ``tiktoken.Encoding`` does.

    Args:
        name: the name that ``repr`` shows.
        pat_str: the pattern whose matches are the chunks of a text, or the name of one.
        mergeable_ranks: each token's bytes and its rank, which is its id.
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

    #: The library whose ids these are.
    reference = "tiktoken"
    #: True if any process has this encoding by its name.
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
        check_ids(name, mergeable_ranks, special_tokens)
        # A copy to work with: what the caller does to the original later changes no ids.
        highest = max(mergeable_ranks.values())
        ranks = dict(mergeable_ranks)
        pattern = PATTERNS.get(pat_str, pat_str)
        self._set_up(name, pattern, ranks, highest, special_tokens, explicit_n_vocab)
        self._mergeable_ranks = mergeable_ranks

    @classmethod
    def shipped(cls, name: str) -> Encoding:
        """Return a new object for a shipped encoding; those of one vocabulary share it.

        Raises:
            KeyError: no encoding of this kind has that name.
            OSError, ValueError: the package's own file is missing or damaged.
        """
        published = PUBLISHED[name]
        ranks = load_ranks(published.pack)
        # Its vocabulary need not be checked, which takes as long as to load it, and comes in the
        # order of its ranks.
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
        self.max_token_value: int = max(highest, *special_tokens.values(), 0)
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
        """The core, by the name that clients of tiktoken know; they may put in another."""
        return self.core

    @_core_bpe.setter
    def _core_bpe(self, core: EncodingCore) -> None:
        self.core = core

    @cached_property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        """Each token's bytes and rank; a copy, made when a program first asks for it."""
        return dict(self.core.encoder)

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    # Text to ids

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of a text in which nothing is special.

        Surrogate pairs are joined and lone surrogates encoded as U+FFFD.

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
        """Return the ids of a text that may name special tokens.

        Args:
            text: any string; surrogates are repaired as in ``encode_ordinary``.
            allowed_special: names that become their token: a set, or ``"all"``.
            disallowed_special: names that may not be in the text: any collection, or
                ``"all"``, which means all that are not allowed. A special token's name that
                is neither allowed nor disallowed is plain text.

        Raises:
            ValueError: a disallowed name is in the text.
            TypeError: ``allowed_special`` is no set.

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
        """Return the ids that stay whatever text follows, and what may become of the rest.

        Returns:
            The stable ids; and, in no order, sequences of ids for the rest of the text, each of
            which covers it and perhaps more. Text that goes on continues with one of them.

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
        """Return what ``encode_ordinary`` gives for each of some texts; see ``encode_batch``.

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
        """Return what ``encode`` gives for each of some texts; large batches run side by side.

        Args:
            text: the texts.
            num_threads: the most threads or processes; the result is the same with any.
            allowed_special, disallowed_special: as in ``encode``.

        Raises:
            ValueError, TypeError: as ``encode`` of the first text for which it raises one;
                ``num_threads`` is not positive.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").encode_batch(["hello world", "goodbye world"])
        [[31373, 995], [11274, 16390, 995]]
        """
        from .batch import map_in_order, processes_for

        texts = list(text)
        processes = processes_for(texts, num_threads)
        if processes > 1:
            # Errors in a text are found here, not in a worker.
            allowed: Set[str] = NOTHING
            for one in texts:
                allowed = allowed_names(
                    one, self._special_names, allowed_special, disallowed_special
                )
            if isinstance(allowed, (set, frozenset)):  # if not, it raises below
                from .batch_workers import encode_in_workers  # only large batches need it

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

        The name of a special token counts as the plain text it is; a count never fails.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").count("hello world<|endoftext|>")
        9
        """
        try:
            return self.core.count(text)
        except UnicodeEncodeError:
            return self.core.count(repair(text))

    # The vocabulary

    def extended(
        self, name: str, tokens: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]]
    ) -> Encoding:
        """Return an encoding with more tokens.

        Args:
            name: its name.
            tokens: the new tokens and their ids.
            merges: the two parts of each, in the order in which they are merged.
        """
        return Encoding(
            name,
            pat_str=self._pat_str,
            mergeable_ranks={**self.core.encoder, **tokens},
            special_tokens=dict(self._special_tokens),
        )

    def with_special(self, names: Set[str]) -> Encoding:
        """Return an encoding in which the added tokens of these names are special, too.

        Here all added tokens are special already, so it is the encoding itself.
        """
        return self

    # Private

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        """Return the ids of some text or bytes taken as one chunk."""
        piece = text_or_bytes.encode() if isinstance(text_or_bytes, str) else text_or_bytes
        return self.core.encode_single_piece(piece)

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        """Return the ids that ``encode_ordinary`` gives; in tiktoken, by splitting in Python."""
        return self.core.encode_ordinary(text)

    def _encode_bytes(self, text: bytes) -> list[int]:
        """Return the ids of bytes that may end, or go wrong, within a character."""
        return self.core.encode_bytes(text)

    def __getstate__(self) -> object:
        # By name if the other side has it, too: what ships, and, where programs see tiktoken, what
        # a plug-in of tiktoken's has.
        is_known = self._ships or type(self).__module__ == "tiktoken.core"
        if is_known and self is ENCODINGS.get(self.name):
            return self.name
        return self._by_value()

    def __setstate__(self, value: object) -> None:
        if isinstance(value, str):
            self.__dict__ = find(value, type(self).shipped).__dict__
        elif isinstance(value, dict):
            # Not a subclass's own, which takes other arguments.
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
        """Return a function, and the arguments with which it makes such an encoding elsewhere.

        Another process finds the function by its name; it would not find a class that replaces
        tiktoken's.
        """
        return _make_encoding, self._by_value()


def _make_encoding(**arguments: Any) -> Encoding:
    return Encoding(**arguments)
