"""Ids to text: the methods of ``Encoding`` that decode."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .core import EncodingCore


class Decoding:
    """Decodes; the base of ``Encoding`` that does."""

    core: EncodingCore

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
