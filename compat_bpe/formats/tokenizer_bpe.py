"""BPE as the model of a ``tokenizer.json``: a vocabulary and its list of merges, or ranks."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, repeat
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from ..pattern.tree import Chars
from ..pattern.tree import Sequence as NodeSequence
from ..pipeline.byte_level import UNICODE_TO_BYTE, encode_bytes
from ..pipeline.models.bpe.by_merges import ListedMergesEncoder, UnknownPolicy
from ..pipeline.models.bpe.by_rank import ByteLevelBPE, BytePairEncoder, merges_by_rank
from ..pipeline.models.bpe.characters import CharacterBPE, SharedIdsBPE
from ..pipeline.models.splitters import LINE_END, MARK, STOP, splitter_by_merges
from ..pipeline.pre_tokenizers.split import Split
from ..pipeline.pre_tokenizers.splitter import Joined
from ..pipeline.pre_tokenizers.steps import ByteAlphabet, to_bytes
from ..unicode.properties import CodePoints
from .checked_json import Json
from .tokenizer_models import (
    bytes_outside,
    definition_of,
    definition_of_pieces,
    flag,
    read_vocabulary,
)

if TYPE_CHECKING:
    from ..pipeline.core import Definition
    from ..pipeline.pre_tokenizers.base import PreTokenizerStep


class ListedModel(NamedTuple):
    """A vocabulary and its list of merges.

    Its tokens are text, or are written in the byte alphabet: the pre-tokenizer decides that.

    Args:
        vocabulary: each token's id.
        merges: the left parts of all merges, and their right parts.
        ignore_merges: True if a chunk that is a token is that token.
        unknown: the treatment of text that is not a token.
        prefix, suffix: the decoration of characters that do not begin a word, and of characters
            that end a word, as in the file; None or empty for none.
        dropout: as in the file: None, or a probability. With 1 no merge is made. With a lower
            value, the ids are those without dropout, since tokenizers omits merges at random.
        spelled: each merge as its parts with a space between them; empty if that is not known.
    """

    vocabulary: dict[str, int]
    merges: tuple[list[str], list[str]]
    ignore_merges: bool = False
    unknown: UnknownPolicy = UnknownPolicy()
    prefix: str | None = None
    suffix: str | None = None
    dropout: float | None = None
    spelled: Sequence[str] = ()

    @property
    def size(self) -> int:
        """The number of tokens."""
        return len(self.vocabulary)

    def extended(
        self, tokens: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]]
    ) -> ListedModel:
        """Return the model with more tokens, and the merges that make them.

        Raises:
            ValueError: the model has a prefix or a suffix, so it is not byte-level.
        """
        if self.prefix or self.suffix:
            raise ValueError("only byte-level BPE can be extended, without a prefix or a suffix")
        vocabulary = {
            **self.vocabulary,
            **{encode_bytes(data): number for data, number in tokens.items()},
        }
        lefts, rights = self.merges
        lefts = [*lefts, *(encode_bytes(left) for left, _ in merges)]
        rights = [*rights, *(encode_bytes(right) for _, right in merges)]
        return self._replace(vocabulary=vocabulary, merges=(lefts, rights), spelled=())

    def define(self, steps: Sequence[PreTokenizerStep], source: str) -> Definition:
        """Return the definition of a tokenizer with this model; see ``ModelPart``."""
        if self.dropout == 1:
            unmerged = self._replace(merges=([], []), ignore_merges=False, spelled=(), dropout=None)
            return unmerged.define(steps, source)
        unknown = self.unknown
        is_byte_level = _are_byte_level(steps) and not self.prefix and not self.suffix
        is_byte_level = is_byte_level and not self._shares_ids
        if unknown.token is not None and unknown.token not in self.vocabulary:
            if self.vocabulary.keys() >= UNICODE_TO_BYTE.keys():
                unknown = unknown._replace(token=None)
            else:
                # The model over characters fails where the missing token is needed.
                is_byte_level = False
        if not is_byte_level:
            return self._define_characters(steps, source)
        try:
            byte_pair = ListedMergesEncoder(self.vocabulary, self.merges, unknown)
        except KeyError as error:
            number = list(map(add, *self.merges)).index(error.args[0])
            _fail_merge(source, number, error.args[0])
        tokens = byte_pair.tokens
        others: dict[int, bytes] = {}
        if len(tokens) < len(self.vocabulary):
            pieces = ((number, name) for name, number in self.vocabulary.items())
            others = bytes_outside(pieces, tokens.values())
        highest = max(self.vocabulary.values(), default=-1)
        whole = tokens if self.ignore_merges else {}
        return _define(byte_pair, whole, steps, tokens, others, highest)

    @property
    def _shares_ids(self) -> bool:
        """True if some tokens have the same id."""
        return len(set(self.vocabulary.values())) < len(self.vocabulary)

    def _define_characters(self, steps: Sequence[PreTokenizerStep], source: str) -> Definition:
        by_bytes = bool(steps) and isinstance(steps[-1], ByteAlphabet)
        prefix = self.prefix or ""
        least = len(prefix.encode())
        for number, right in enumerate(self.merges[1]) if prefix else ():
            if len(right.encode()) < least:
                place = Json(None, source, f"model.merges[{number}]")
                place.fail(f"{right!r} is shorter than the prefix, {prefix!r}")
        try:
            make = SharedIdsBPE if self._shares_ids else CharacterBPE
            model = make(
                self.vocabulary,
                self.merges,
                self.unknown,
                prefix=prefix,
                suffix=self.suffix or "",
                ignore_merges=self.ignore_merges,
                by_bytes=by_bytes,
                spelled=self.spelled,
            )
        except KeyError as error:
            _fail_merge(source, *error.args)
        steps = steps[:-1] if by_bytes else steps
        before_spaces = len(steps) == 1 and _ends_chunks_with_spaces(steps[0])
        cuts_at_joints = (not steps or before_spaces) and not by_bytes
        if cuts_at_joints:
            cuts = model.cuts
            splitter = splitter_by_merges(
                marks=cuts.are_before(MARK),
                lines=cuts.are_before(LINE_END)
                and not (cuts.after(LINE_END) or set()) - {LINE_END},
                after_stops=cuts.after(STOP),
                before_spaces=before_spaces,
            )
            steps = steps if splitter is None else [Joined(splitter)]
        return definition_of_pieces(model, steps, self.vocabulary, cuts_at_joints=cuts_at_joints)

    def written(self, vocabulary: Mapping[str, int]) -> dict[str, Any]:
        """Return the model as in a file; see ``ModelPart``."""
        return {
            "type": "BPE",
            "dropout": self.dropout,
            "unk_token": self.unknown.token,
            "continuing_subword_prefix": self.prefix,
            "end_of_word_suffix": self.suffix,
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
        """Return the model with more tokens, whose ranks define their merges."""
        return RankedModel({**self.ranks, **tokens})

    @property
    def vocabulary(self) -> dict[str, int]:
        """Each token, written in the byte alphabet, and its id."""
        return {encode_bytes(token): rank for token, rank in self.ranks.items()}

    @property
    def size(self) -> int:
        """The number of tokens."""
        return len(self.ranks)

    def define(self, steps: Sequence[PreTokenizerStep], source: str) -> Definition:
        """Return the definition of a tokenizer with this model; see ``ModelPart``."""
        highest = max(self.ranks.values(), default=-1)
        return _define(BytePairEncoder(self.ranks), self.ranks, steps, self.ranks, {}, highest)

    def listed(self) -> ListedModel:
        """Return the model with a list of merges.

        Raises:
            ValueError: the vocabulary has the empty token.
        """
        if b"" in self.ranks:
            raise ValueError("the empty token cannot be in a tokenizer.json")
        merges = [parts for _, parts in merges_by_rank(self.ranks) if parts is not None]
        lefts = [encode_bytes(left) for left, _ in merges]
        rights = [encode_bytes(right) for _, right in merges]
        # With merging by rank, a chunk that is a token is that token.
        return ListedModel(self.vocabulary, (lefts, rights), ignore_merges=True)

    def written(self, vocabulary: Mapping[str, int]) -> dict[str, Any]:
        """Return the model as in a file, with a list of merges; see ``ModelPart``."""
        return self.listed().written(vocabulary)


#: The pattern of a pre-tokenizer in files whose normalizer leaves no spaces.
_SPACE = NodeSequence((Chars(CodePoints.of(" ")),))


def _ends_chunks_with_spaces(step: PreTokenizerStep) -> bool:
    """Return True if a step cuts after each space, and does nothing else."""
    if not isinstance(step, Split) or step.invert:
        return False
    return step.behavior == "MergedWithPrevious" and step.tree == _SPACE


def _are_byte_level(steps: Sequence[PreTokenizerStep]) -> bool:
    """Return True if the chunks of some steps are surely texts in the byte alphabet."""
    kinds = list(map(type, steps))
    if ByteAlphabet not in kinds:
        return False
    return set(kinds[kinds.index(ByteAlphabet) :]) <= {ByteAlphabet, Split}


def _define(
    byte_pair: BytePairEncoder,
    whole: Mapping[bytes, int],
    steps: Sequence[PreTokenizerStep],
    tokens: dict[bytes, int],
    other_tokens: Mapping[int, bytes],
    highest: int,
) -> Definition:
    """Return the definition for a byte-level model, which takes chunks as text."""
    model = ByteLevelBPE(byte_pair, whole, to_bytes(steps))
    if steps and isinstance(steps[-1], ByteAlphabet):
        steps = steps[:-1]
    return definition_of(model, steps, lambda: tokens, highest, other_tokens=other_tokens)


def read_bpe(part: Json) -> ListedModel:
    """Return the BPE model of a file.

    Raises:
        ValueError: it is damaged.
    """
    vocabulary = read_vocabulary(part["vocab"])
    unknown = UnknownPolicy(
        _text(part, "unk_token"), flag(part, "fuse_unk"), flag(part, "byte_fallback")
    )
    merges, spelled = _merges(part["merges"], vocabulary)
    return ListedModel(
        vocabulary,
        merges,
        flag(part, "ignore_merges"),
        unknown,
        _text(part, "continuing_subword_prefix"),
        _text(part, "end_of_word_suffix"),
        _dropout(part),
        spelled,
    )


def _text(part: Json, name: str) -> str | None:
    value = part.get(name)
    return None if value is None else value.text()


def _dropout(part: Json) -> float | None:
    value = part.get("dropout")
    if value is None:
        return None
    if type(value.value) not in (int, float):
        value.fail("must be a number or null")
    # tokenizers keeps it in 32 bits.
    (rounded,) = array("f", [float(value.value) if -1 < value.value < 2 else -1])
    if not 0 <= rounded <= 1:
        value.fail("must be from 0 to 1")
    return rounded if rounded in (0, 1) else float(value.value)


def _merges(
    part: Json, vocabulary: Mapping[str, int]
) -> tuple[tuple[list[str], list[str]], Sequence[str]]:
    """Return the left parts of all merges, their right parts, and both as ``spelled``."""
    listed = part.sequence()
    types = set(map(type, listed))
    names: list[Any] = []
    if types == {str} and set(map(str.count, listed, repeat(" "))) == {1}:
        joined = " ".join(listed)
        names = [] if "#version" in joined else joined.split(" ")
    elif types == {list} and set(map(len, listed)) == {2}:
        names = list(chain.from_iterable(listed))
        names = names if set(map(type, names)) == {str} else []
    is_spelled = types == {str}
    if not names or "" in names:
        is_spelled = False
        names = [name for item in _merge_items(part) for name in _merge(item)]
    lefts, rights = names[::2], names[1::2]
    # Most names occur several times, so the set is made in half the time.
    if not vocabulary.keys() >= set(names):
        for item, pair in zip(_merge_items(part), zip(lefts, rights)):
            for name in pair:
                if name not in vocabulary:
                    item.fail(f"{name!r} is not in the vocabulary")
    return (lefts, rights), listed if is_spelled else ()


def _merge_items(part: Json) -> Iterator[Json]:
    """Yield the merges of a list, without the first line of a merges.txt."""
    all_text = set(map(type, part.sequence())) == {str}
    for item in part.items():
        if not (all_text and item.value.startswith("#version")):
            yield item


def _fail_merge(source: str, number: int, name: str) -> NoReturn:
    Json(None, source, f"model.merges[{number}]").fail(f"{name!r} is not in the vocabulary")


def _merge(item: Json) -> tuple[str, str]:
    names = item.value.split(" ") if isinstance(item.value, str) else item.sequence()
    if len(names) != 2:
        item.fail(f"a merge must have 2 tokens, not {len(names)}")
    if not all(isinstance(name, str) and name for name in names):
        item.fail("the tokens of a merge must be strings that are not empty")
    return names[0], names[1]
