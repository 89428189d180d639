"""The core of an encoding: ``Core`` with the methods of tiktoken's class ``CoreBPE``.

tiktoken's ``CoreBPE`` is written in Rust (``tiktoken._tiktoken.CoreBPE``). ``Encoding`` uses these
classes as tiktoken's ``Encoding`` uses ``CoreBPE``.
"""

from __future__ import annotations

import sys
from collections.abc import Set

from ..caches import cached_property
from ..pattern.splitter import Splitter
from ..pipeline.core import Definition
from ..pipeline.models.bpe.by_rank import ByteLevelBPE, BytePairEncoder
from ..pipeline.special_tokens import SpecialTokens

TYPE_CHECKING = False
if TYPE_CHECKING or sys.implementation.name != "pypy":
    from ..pipeline.core import Core as InterpreterCore
else:
    from ..pipeline.pypy.core import PyPyCore as InterpreterCore


class EncodingCore(InterpreterCore):
    """The core of any encoding, with the methods of tiktoken's ``CoreBPE``.

    Args:
        definition: the parts of the tokenizer.
    """

    @property
    def byte_level(self) -> ByteLevelBPE:
        """The model, for methods that need byte-level BPE.

        Raises:
            ValueError: the model is of another kind.
        """
        if not isinstance(self.model, ByteLevelBPE):
            raise ValueError(f"the model is {type(self.model).__name__}, not byte-level BPE")
        return self.model

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of a text; names of special tokens are plain text.

        Raises:
            UnicodeEncodeError: the text has surrogates in it.
        """
        return self.encode(text, frozenset())

    def encode_to_tiktoken_buffer(self, text: str, allowed_special: Set[str]) -> memoryview:
        """Return the ids of ``encode`` as a read-only buffer of unsigned 32-bit numbers."""
        from array import array

        return memoryview(array("I", self.encode(text, allowed_special))).toreadonly()

    def encode_with_unstable(
        self, text: str, allowed_special: Set[str]
    ) -> tuple[list[int], list[list[int]]]:
        """Return the ids that no further text can change, and the completions of the rest.

        See ``Encoding.encode_with_unstable``.
        """
        from .unstable import completions

        ids, stable = self._encode_stable(text, allowed_special)
        rest = self.decode_bytes(ids[stable:])
        return ids[:stable], [
            list(completion) for completion in completions(self, self.sorted_tokens, rest)
        ]

    def encode_single_token(self, piece: bytes) -> int:
        """Return the id of one token, special tokens included.

        Raises:
            KeyError: there is no such token.
            TypeError: ``piece`` is not ``bytes``.
        """
        _check_bytes(piece)
        token_id = self.encoder.get(piece)
        if token_id is None:
            # Bytes that are not UTF-8 become surrogates, which no name has.
            token_id = self.special.get(piece.decode("utf-8", "surrogateescape"))
        if token_id is None:
            raise KeyError(piece)
        return token_id

    def encode_single_piece(self, piece: bytes) -> list[int]:
        """Return the ids of bytes that are taken as one chunk.

        Raises:
            TypeError: ``piece`` is not ``bytes``.
            ValueError: the model is not byte-level BPE.
        """
        _check_bytes(piece)
        return list(self.byte_level.merges.encode(piece))

    def encode_bytes(self, piece: bytes) -> list[int]:
        """Return the ids of bytes that may end within a character or not be UTF-8.

        The bytes up to the first that is not UTF-8 are encoded as text, except for the last chunk.
        That chunk and all bytes after it are encoded as one chunk.

        Raises:
            TypeError: ``piece`` is not ``bytes``.
        """
        _check_bytes(piece)
        try:
            return self.encode_ordinary(piece.decode())
        except UnicodeDecodeError as error:
            valid = error.start
        ids, stable = self._encode_stable(piece[:valid].decode(), frozenset())
        rest = self.decode_bytes(ids[stable:]) + piece[valid:]
        return ids[:stable] + self.encode_single_piece(rest)

    #: tiktoken's name of the method.
    _encode_bytes = encode_bytes

    def token_byte_values(self) -> list[bytes]:
        """Return all tokens except special tokens, sorted by their bytes."""
        return list(self.sorted_tokens)

    @cached_property
    def sorted_tokens(self) -> list[bytes]:
        """All tokens except special tokens, sorted by their bytes; built on first use."""
        return sorted(self.encoder)

    def _encode_stable(self, text: str, allowed_special: Set[str]) -> tuple[list[int], int]:
        """Return the ids of ``encode``, and how many of them no further text can change."""
        from .unstable import unstable_length

        ids: list[int] = []
        last = 0
        for span, token in self.spans(text, allowed_special):
            for chunk_ids in self.ids_of_chunks(span):
                ids += chunk_ids
                last = len(chunk_ids)
            if token is not None:
                ids.append(token)
                last = 0  # nothing that follows changes an added token
        return ids, len(ids) - unstable_length(self, ids, last)


class CoreBPE(EncodingCore):
    """The core of a tokenizer with one vocabulary by ranks and one pattern.

    Args:
        encoder: each token's bytes and its rank, which is its id. The dict is kept, not copied.
        special_tokens_encoder: each special token's name and id.
        pattern: the pattern whose matches are the chunks of a text.

    Raises:
        ValueError: the pattern cannot be used (``PatternError``).

    >>> core = CoreBPE({bytes([i]): i for i in range(256)}, {"<|end|>": 256}, r"\\w+|\\W")
    >>> core.encode("hi<|end|>", {"<|end|>"})
    [104, 105, 256]
    """

    def __init__(
        self, encoder: dict[bytes, int], special_tokens_encoder: dict[str, int], pattern: str
    ) -> None:
        def names_by_id() -> dict[int, bytes]:
            # If an id has two names, the first counts.
            names = reversed(list(special_tokens_encoder.items()))
            return {id_: name.encode() for name, id_ in names}

        definition = Definition(
            added=SpecialTokens(special_tokens_encoder),
            splitter=Splitter(pattern),
            model=ByteLevelBPE(BytePairEncoder(encoder), encoder),
            tokens=lambda: encoder,
            other_tokens=names_by_id,
        )
        super().__init__(definition)


def _check_bytes(piece: bytes) -> None:
    """Raise ``TypeError`` for anything but ``bytes``, other buffers included, as tiktoken does."""
    if not isinstance(piece, bytes):
        raise TypeError(f"the argument must be bytes, not {type(piece).__name__}")
