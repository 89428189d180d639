"""Models of SentencePiece: the content of a ``.model`` file, and the tokenizer that it defines.

The result gives the ids of sentencepiece 0.2.3. Its Unigram scores are summed in 32 bits, as in
that version; earlier ones give other ids for some texts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from functools import cache, partial
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from ..pipeline.added.added_tokens import AddedTokens
from ..pipeline.decoders.sentencepiece import SentencePieceDecoder
from ..pipeline.definition import Definition
from ..pipeline.models.scored_pieces import MOST_NESTED, LongPieces
from ..pipeline.models.sentencepiece.base import (
    BYTE,
    IN_TEXT,
    SPACE,
    UNKNOWN,
    UNUSED,
    SentencePieceCharacters,
    SentencePieceVocabulary,
    SentencePieceWords,
)
from ..pipeline.models.sentencepiece.bpe import SentencePieceBPE
from ..pipeline.models.sentencepiece.unigram import SentencePieceUnigram
from ..pipeline.normalizers.charsmap import Charsmap
from ..pipeline.normalizers.sentencepiece import SpaceNormalizer

if TYPE_CHECKING:
    from ..pipeline.added.added_tokens import AddedToken
    from ..pipeline.models.sentencepiece.base import SentencePieceBase

#: The kinds of models.
UNIGRAM, BPE, WORD, CHAR = 1, 2, 3, 4

#: SentencePiece refuses a piece of this many bytes.
_TOO_LONG = 8000


class NormalizerSpec(NamedTuple):
    """The settings of normalization in a model.

    Args:
        name: the name of the rules.
        charsmap: the precompiled character map; empty if there is none.
        add_dummy_prefix: put a space before the text.
        remove_extra_whitespaces: remove spaces at the ends, and repeated ones.
        escape_whitespaces: write spaces as ``▁``.
    """

    name: str = ""
    charsmap: bytes = b""
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True

    def normalizer(
        self, symbols: Sequence[str] = (), whitespace_as_suffix: bool = False
    ) -> SpaceNormalizer:
        """Return the normalizer.

        Args:
            symbols: the user-defined symbols, which are kept as they are.
            whitespace_as_suffix: put the space of ``add_dummy_prefix`` after the text.

        Raises:
            ValueError: the character map is damaged.
        """
        return SpaceNormalizer(
            Charsmap(self.charsmap) if self.charsmap else None,
            symbols,
            add_dummy_prefix=self.add_dummy_prefix,
            remove_extra_whitespaces=self.remove_extra_whitespaces,
            space=SPACE if self.escape_whitespaces else " ",
            whitespace_as_suffix=whitespace_as_suffix,
        )


class SentencePieceModel(NamedTuple):
    """The content of a ``.model`` file.

    Args:
        texts: each piece, by id.
        scores: the score of each piece, a number of 32 bits.
        types: the type of each piece, a byte (see ``pipeline.models.sentencepiece.base``).
        normalizer: its settings of normalization.
        denormalizer: the same for decoded text; None if there are none.
        kind: ``UNIGRAM``, ``BPE``, ``WORD`` or ``CHAR``.
        whitespace_as_suffix: True if spaces belong to the word before.
        byte_fallback: True if unknown characters are written as bytes.
        unk_surface: the text that an unknown piece is decoded to.
        unk_piece, bos_piece, eos_piece, pad_piece: the names of the special pieces.
        source: the name of the file, for messages.
    """

    texts: list[str]
    scores: list[float]
    types: bytes
    normalizer: NormalizerSpec = NormalizerSpec()
    denormalizer: NormalizerSpec | None = None
    kind: int = UNIGRAM
    whitespace_as_suffix: bool = False
    byte_fallback: bool = False
    unk_surface: str = " \u2047 "
    unk_piece: str = "<unk>"
    bos_piece: str = "<s>"
    eos_piece: str = "</s>"
    pad_piece: str = "<pad>"
    source: str = "the model"

    @property
    def reference(self) -> str:
        """The library whose ids these are."""
        return "sentencepiece"

    @property
    def added_tokens(self) -> tuple[AddedToken, ...]:
        """The added tokens: there are none, since no text becomes a control piece."""
        return ()

    @property
    def vocabulary(self) -> dict[str, int]:
        """Each piece, written as in the file, and its id."""
        return {text: number for number, text in enumerate(self.texts)}

    @property
    def truncation(self) -> None:
        """The settings of truncation: a model has none."""
        return None

    @property
    def padding(self) -> None:
        """The settings of padding: a model has none."""
        return None

    def extended(
        self, name: str, tokens: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]]
    ) -> SentencePieceModel:
        """Raise ``ValueError``: a merge has a score here, which new tokens do not have."""
        raise ValueError(f"{self.source}: a model of SentencePiece cannot be extended")

    def with_special(self, names: Set[str]) -> SentencePieceModel:
        """Return the model itself, since it has no added tokens that could be special."""
        return self

    def pieces(self) -> SentencePieceVocabulary:
        """Return the vocabulary of the models in the pipeline."""
        return SentencePieceVocabulary(self.texts, self.scores, self.types, self.byte_fallback)

    def assemble(self) -> Definition:
        """Return the parts of the tokenizer, ready to work.

        Raises:
            ValueError: the character map is damaged.
        """
        pieces = self.pieces()
        try:
            normalize = self.normalizer.normalizer(pieces.user_defined, self.whitespace_as_suffix)
            denormalize = None
            if self.denormalizer is not None and self.denormalizer.charsmap:
                denormalize = self.denormalizer.normalizer()
        except ValueError as error:
            raise ValueError(f"{self.source}: {error}") from None
        model = _MODELS[self.kind](pieces)
        by_kind = cache(partial(pieces.bytes_by_kind, self.unk_surface))
        spec = self.normalizer
        return Definition(
            added=AddedTokens([], normalize),
            splitter=model.splitter,
            model=model,
            tokens=lambda: by_kind()[0],
            other_tokens=lambda: by_kind()[1],
            make_decoder=lambda: SentencePieceDecoder(
                pieces,
                self.unk_surface,
                drops_space=spec.add_dummy_prefix or spec.remove_extra_whitespaces,
                drops_all=spec.remove_extra_whitespaces,
                denormalize=denormalize,
            ),
            pieces=lambda: dict(enumerate(self.texts)),
            cuts_at_joints=True,
            steps=(),
            highest=len(self.texts) - 1,
        )

    def check(self) -> None:
        """Refuse what SentencePiece refuses, too.

        Raises:
            ValueError: a piece is empty, too long, twice in the model or has a NUL; a score is no
                number; there is no unknown piece, or more than one; bytes are missing or wrong.
                Also too many pieces that begin with each other, which SentencePiece takes.
        """
        self._check_texts()
        self._check_types()
        # The scores of other kinds may be infinite.
        are_finite = list(map(math.isfinite, self.scores))
        if self.kind != UNIGRAM and False in are_finite:
            are_finite = [score == score for score in self.scores]
        if False in are_finite:
            number = are_finite.index(False)
            self._fail(f"piece {number}: the score is {self.scores[number]}")

    def _check_texts(self) -> None:
        texts, types = self.texts, self.types
        joined = "".join(texts)
        if "" in texts:
            self._fail(f"piece {texts.index('')}: it is empty")
        longest = max(map(len, texts), default=0)
        if 4 * longest >= _TOO_LONG:
            for number, text in enumerate(texts):
                if len(text.encode()) >= _TOO_LONG:
                    self._fail(f"piece {number}: it has {_TOO_LONG} bytes or more")
        if self.kind == UNIGRAM and longest > MOST_NESTED:
            try:
                LongPieces(dict.fromkeys(texts, 0.0))
            except ValueError as error:
                self._fail(str(error))
        if "\0" in joined:
            for number, text in enumerate(texts):
                is_skipped = text == "\0" and (self.byte_fallback or types[number] == UNUSED)
                if "\0" in text and not is_skipped:
                    self._fail(f"piece {number}: it has a NUL")
        if len(set(texts)) < len(texts):
            # Pieces in text and others may be the same, if the model keeps them apart.
            seen: dict[tuple[str, bool], int] = {}
            for number, text in enumerate(texts):
                key = text, self.kind != BPE and types[number] in IN_TEXT
                if seen.setdefault(key, number) != number and text != "\0":
                    self._fail(f"piece {number}: {text!r} is piece {seen[key]}, too")

    def _check_types(self) -> None:
        texts, types = self.texts, self.types
        if types.count(UNKNOWN) > 1:
            second = types.index(UNKNOWN, types.index(UNKNOWN) + 1)
            self._fail(f"piece {second}: it is the second unknown piece")
        if UNKNOWN not in types and not self.byte_fallback:
            self._fail("no piece is the unknown one")
        names = {f"<0x{byte:02X}>" for byte in range(256)}
        for number in compress(range(len(types)), map(BYTE.__eq__, types)):
            if not self.byte_fallback:
                self._fail(f"piece {number}: it is a byte, but the model says that it has none")
            if texts[number] not in names:
                self._fail(f"piece {number}: {texts[number]!r} is no byte")
            names.discard(texts[number])
        if self.byte_fallback and names:
            self._fail(f"the byte {min(names)} is missing")
        if self.kind == UNIGRAM and not self.pieces().ids:
            self._fail("no piece may be in text")

    def _fail(self, reason: str) -> NoReturn:
        raise ValueError(f"{self.source}: {reason}")


#: The model of each kind.
_MODELS: dict[int, Callable[[SentencePieceVocabulary], SentencePieceBase]] = {
    UNIGRAM: SentencePieceUnigram,
    BPE: SentencePieceBPE,
    WORD: SentencePieceWords,
    CHAR: SentencePieceCharacters,
}
