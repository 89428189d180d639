"""BPE as the model of a ``tokenizer.json``: a vocabulary and its list of merges, or ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from ...pipeline.byte_level import BYTE_TO_UNICODE, encode_bytes
from ...pipeline.models.bpe.by_merges import ListedMergesEncoder, Unknown
from ...pipeline.models.bpe.by_rank import BytePairEncoder, merges_by_rank
from ...pipeline.models.byte_level_bpe import ByteLevelBPE
from ...pipeline.pre_tokenizers import ByteAlphabet, to_bytes
from ..checked_json import Json
from .base import Built, flag, read_vocabulary

if TYPE_CHECKING:
    from ...pipeline.pre_tokenizers import Step


#: The members that a BPE model has.
FIELDS = ("vocab", "merges")


class ListedModel(NamedTuple):
    """A vocabulary, its tokens written in the byte alphabet, and its list of merges.

    ``merges`` has the left parts of all merges, and their right parts.
    """

    vocabulary: dict[str, int]
    merges: tuple[list[str], list[str]]
    ignore_merges: bool = False
    unknown: Unknown = Unknown()

    @property
    def size(self) -> int:
        """The number of tokens."""
        return len(self.vocabulary)

    def extended(
        self, tokens: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]]
    ) -> ListedModel:
        """Return the model with more tokens, and the merges that make them."""
        vocabulary = {
            **self.vocabulary,
            **{encode_bytes(data): number for data, number in tokens.items()},
        }
        lefts, rights = self.merges
        lefts = [*lefts, *(encode_bytes(left) for left, _ in merges)]
        rights = [*rights, *(encode_bytes(right) for _, right in merges)]
        return self._replace(vocabulary=vocabulary, merges=(lefts, rights))

    def build(self, steps: Sequence[Step], source: str) -> Built:
        """Return the model, ready to work; see ``ModelPart``."""
        if not any(isinstance(step, ByteAlphabet) for step in steps):
            place = Json(None, source, "pre_tokenizer")
            place.fail("models over characters (without ByteLevel) are not supported")
        unknown = self.unknown
        if unknown.token is not None and unknown.token not in self.vocabulary:
            missing = [char for char in BYTE_TO_UNICODE.values() if char not in self.vocabulary]
            if missing:
                Json(None, source, "model.unk_token").fail(
                    f"neither {unknown.token!r} nor the byte {missing[0]!r} is in the vocabulary"
                )
            unknown = unknown._replace(token=None)
        try:
            byte_pair = ListedMergesEncoder(self.vocabulary, self.merges, unknown)
        except KeyError as error:
            number = list(map(add, *self.merges)).index(error.args[0])
            _fail_merge(Json(None, source, "model.merges"), number, error.args[0])
        tokens = byte_pair.tokens
        others: dict[int, bytes] = {}
        if len(tokens) < len(self.vocabulary):
            inside = set(tokens.values())
            others = {
                number: name.encode()
                for name, number in self.vocabulary.items()
                if number not in inside
            }
        return _built(byte_pair, tokens if self.ignore_merges else {}, steps, tokens, others)

    def written(self, vocabulary: Mapping[str, int]) -> dict[str, Any]:
        """Return the model as in a file; see ``ModelPart``."""
        return {
            "type": "BPE",
            "dropout": None,
            "unk_token": self.unknown.token,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": self.unknown.fuse,
            "byte_fallback": self.unknown.byte_fallback,
            "ignore_merges": self.ignore_merges,
            "vocab": dict(sorted(vocabulary.items(), key=lambda item: item[1])),
            "merges": list(map(list, zip(*self.merges))),
        }


class RankedModel(NamedTuple):
    """A vocabulary whose ranks define the merges and their order."""

    ranks: dict[bytes, int]

    def extended(
        self, tokens: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]]
    ) -> RankedModel:
        """Return the model with more tokens, whose ranks say how they are merged."""
        return RankedModel({**self.ranks, **tokens})

    @property
    def vocabulary(self) -> dict[str, int]:
        """Each token, written in the byte alphabet, and its id."""
        return {encode_bytes(token): rank for token, rank in self.ranks.items()}

    @property
    def size(self) -> int:
        """The number of tokens."""
        return len(self.ranks)

    def build(self, steps: Sequence[Step], source: str) -> Built:
        """Return the model, ready to work; see ``ModelPart``."""
        return _built(BytePairEncoder(self.ranks), self.ranks, steps, self.ranks, {})

    def listed(self) -> ListedModel:
        """Return the model with a list of merges.

        Raises:
            ValueError: it has the empty token.
        """
        if b"" in self.ranks:
            raise ValueError("the empty token cannot be in a tokenizer.json")
        merges = [parts for _, parts in merges_by_rank(self.ranks) if parts is not None]
        lefts = [encode_bytes(left) for left, _ in merges]
        rights = [encode_bytes(right) for _, right in merges]
        # Merging by rank takes a chunk that is a token as it is.
        return ListedModel(self.vocabulary, (lefts, rights), ignore_merges=True)

    def written(self, vocabulary: Mapping[str, int]) -> dict[str, Any]:
        """Return the model as in a file, with a list of merges; see ``ModelPart``."""
        return self.listed().written(vocabulary)


def _built(
    byte_pair: BytePairEncoder,
    whole: Mapping[bytes, int],
    steps: Sequence[Step],
    tokens: dict[bytes, int],
    other_tokens: Mapping[int, bytes],
) -> Built:
    """Return a byte-level model, which takes chunks as text, and the steps that are left."""
    model = ByteLevelBPE(byte_pair, whole, to_bytes(steps))
    if steps and isinstance(steps[-1], ByteAlphabet):
        steps = steps[:-1]
    return Built(model, steps, tokens, other_tokens)


def read_bpe(part: Json) -> ListedModel:
    """Return the BPE model of a file.

    Raises:
        ValueError: it is damaged.
    """
    for option in ("continuing_subword_prefix", "end_of_word_suffix", "dropout"):
        value = part.get(option)
        if value is not None and value.value not in ("", 0):
            value.fail("not supported")
    vocabulary = read_vocabulary(part["vocab"])
    unknown_token = part.get("unk_token")
    unknown = Unknown(
        None if unknown_token is None else unknown_token.text(),
        flag(part, "fuse_unk"),
        flag(part, "byte_fallback"),
    )
    return ListedModel(
        vocabulary, _merges(part["merges"], vocabulary), flag(part, "ignore_merges"), unknown
    )


def _merges(part: Json, vocabulary: Mapping[str, int]) -> tuple[list[str], list[str]]:
    listed = part.sequence()
    if set(map(type, listed)) == {str} and set(map(str.count, listed, repeat(" "))) == {1}:
        names = " ".join(listed).split(" ")
    else:
        names = [name for item in part.items() for name in _merge(item)]
    lefts, rights = names[::2], names[1::2]
    if not all(map(vocabulary.__contains__, names)):
        for number, pair in enumerate(zip(lefts, rights)):
            for name in pair:
                if name not in vocabulary:
                    _fail_merge(part, number, name)
    return lefts, rights


def _fail_merge(part: Json, number: int, name: str) -> NoReturn:
    place = f"{part.place}[{number}]"
    Json(None, part.source, place).fail(f"{name!r} is not in the vocabulary")


def _merge(item: Json) -> tuple[str, str]:
    names = item.value.split(" ") if isinstance(item.value, str) else item.sequence()
    if len(names) != 2:
        item.fail(f"a merge must have 2 tokens, not {len(names)}")
    if not all(isinstance(name, str) and name for name in names):
        item.fail("the tokens of a merge must be strings that are not empty")
    return names[0], names[1]
