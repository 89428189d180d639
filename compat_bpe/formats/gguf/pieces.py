"""Vocabularies of SentencePiece in a GGUF file: of the models ``llama`` (BPE) and ``t5`` (Unigram).

A ``.model`` says more than such a file: the character map of a BPE is missing here, which is empty
in all known ones, and so is the mark of its user-defined symbols, which count as normal pieces. On
the other hand, a file has tokens that were added to the model, and these are found in text.
"""

from __future__ import annotations

from array import array

from ...parallel.lazy import cached_property
from ...pipeline.added.added_tokens import AddedToken, AddedTokens
from ...pipeline.definition import Definition
from ...pipeline.models.sentencepiece.base import SPACE
from ..sentencepiece import BPE, UNIGRAM, NormalizerSpec, SentencePieceModel
from .vocabulary import BYTE, CONTROL, NORMAL, UNKNOWN, USER_DEFINED, Vocabulary

#: A token that only Phi-3 has, and its tokens that do not take the white space after them.
_PHI_3, _PHI_3_BARE = "<|placeholder1|>", {"<unk>", "<s>", "<|endoftext|>"}


class PiecesWithNames(SentencePieceModel):
    """A model whose control pieces, the unknown one and those added by users have names in text.

    The names of the first two are special. What is between names is a text by itself, so that it
    has a dummy prefix of its own, as in the ``tokenizer.json`` of Llama 2.
    """

    @cached_property
    def added_tokens(self) -> tuple[AddedToken, ...]:
        """The added tokens."""
        # No file says which of them take white space; it is known of these.
        takes_left = {"<mask>"} if self.kind == UNIGRAM else set()
        takes_right = set(self.texts) - _PHI_3_BARE if _PHI_3 in self.texts else set()
        return tuple(
            AddedToken(
                text,
                number,
                special=kind != USER_DEFINED,
                lstrip=text in takes_left,
                rstrip=text in takes_right,
            )
            for number, (text, kind) in enumerate(zip(self.texts, self.types))
            if kind in (UNKNOWN, CONTROL, USER_DEFINED)
            # A run of spaces is found in normalized text, by the model itself.
            and not (kind == USER_DEFINED and SPACE in text)
        )

    def assemble(self) -> Definition:
        """Return the parts of the tokenizer, ready to work; see ``SentencePieceModel``."""
        definition = super().assemble()
        definition.added = AddedTokens(self.added_tokens, definition.added.normalize)
        return definition


def read_bpe(vocabulary: Vocabulary) -> SentencePieceModel:
    """Return the model of a file of the model ``llama``.

    Raises:
        ValueError: the file is damaged, or SentencePiece does not take its pieces.
    """
    spec = NormalizerSpec("identity", b"", *_spaces(vocabulary, removes_extra=False))
    scores = _scores(vocabulary, is_optional=True)
    normal = [scores[number] for number in vocabulary.of_types(NORMAL)]
    if len(normal) > 1 and min(normal) == max(normal):
        # Made of a tokenizer.json, it has no scores; the pieces are in the order of their merges.
        scores = array("f", map(float, range(0, -len(scores), -1)))
    return _model(vocabulary, scores, spec, BPE)


def read_unigram(vocabulary: Vocabulary) -> SentencePieceModel:
    """Return the model of a file of the model ``t5``.

    Raises:
        ValueError: as in ``read_bpe``.
    """
    charsmap = vocabulary.metadata.numbers("precompiled_charsmap", "bB")
    blob = b"" if charsmap is None else charsmap.tobytes()
    spec = NormalizerSpec("precompiled", blob, *_spaces(vocabulary, removes_extra=True))
    return _model(vocabulary, _scores(vocabulary), spec, UNIGRAM)


def _spaces(vocabulary: Vocabulary, *, removes_extra: bool) -> tuple[bool, bool]:
    """Return if a space is put before a text, and if extra ones are removed."""
    metadata = vocabulary.metadata
    prefix = metadata.truth("add_space_prefix")
    removes = metadata.truth("remove_extra_whitespaces")
    return prefix is not False, removes_extra if removes is None else removes


def _scores(vocabulary: Vocabulary, *, is_optional: bool = False) -> array[float]:
    size = len(vocabulary.tokens)
    scores = vocabulary.metadata.numbers("scores", "fi")
    if scores is None and is_optional:  # as in llama.cpp
        return array("f", [0.0]) * size
    if scores is None or len(scores) < size:
        count = 0 if scores is None else len(scores)
        vocabulary.metadata.fail("scores", f"there are {count} for {size} tokens")
    return array("f", scores[:size])


def _model(
    vocabulary: Vocabulary, scores: array[float], spec: NormalizerSpec, kind: int
) -> SentencePieceModel:
    metadata, texts, types = vocabulary.metadata, vocabulary.tokens, vocabulary.types
    unknown = vocabulary.id_of_role("unk_token")
    if unknown is None or types[unknown] not in (UNKNOWN, CONTROL):
        unknown = types.find(UNKNOWN)
    types = types.replace(bytes([UNKNOWN]), bytes([CONTROL]))
    if unknown < 0:
        metadata.fail("token_type", "no token is the unknown one, nor does unknown_token_id say it")
    types[unknown] = UNKNOWN
    known = set(texts)
    for number in vocabulary.of_types(USER_DEFINED):
        # The spaces of added tokens are written as they are.
        written = texts[number].replace(" ", SPACE)
        if written not in known:
            texts[number] = written
    if metadata.text("general.architecture") == "internlm2" and "🐉" in texts:
        # It stands for a NUL, on which llama.cpp would stumble.
        texts[texts.index("🐉")] = "\0"
    roles = vocabulary.roles()
    model = PiecesWithNames(
        texts,
        scores.tolist(),
        bytes(types),
        normalizer=spec,
        kind=kind,
        byte_fallback=BYTE in types,
        unk_piece=roles.get("unk_token", "<unk>"),
        bos_piece=roles.get("bos_token", "<s>"),
        eos_piece=roles.get("eos_token", "</s>"),
        pad_piece=roles.get("pad_token", "<pad>"),
        source=metadata.source,
    )
    model.check()
    return model
