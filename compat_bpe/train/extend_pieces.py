"""Extending vocabularies of words, of WordPiece and of BPE over characters.

No id changes, as in ``extend``; new tokens get the ids after the highest. The result lists the
chunks of the texts whose encoding changes.

- *Word level*: the most frequent words without a token become tokens. Only their encoding changes.
- *WordPiece*: pairs of pieces are joined as in training, beginning with the pieces that the
  tokenizer makes now. A word without a new piece in it is encoded as before.
- *BPE over characters*: merges are learned on after the old ones, beginning with the tokens that
  the tokenizer makes now. A chunk in which no two neighbours are the parts of a new merge is
  encoded as before, for the reasons in ``extend``.

Nothing is learned from a word with an unknown part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from ..caches import cached_property
from ..encodings.encoding import Encoding
from ..encodings.tokenizer import Tokenizer
from ..formats import RANK_LIMIT
from ..formats.tokenizer_bpe import ListedModel
from ..formats.tokenizer_json import TokenizerDefinition
from ..formats.tokenizer_models import WordLevelPart, WordPiecePart
from .bpe.merges_of_characters import CharacterLearner, Marks, joined
from .kind import LearnedMerge
from .words import types_in


class GrowingTokens:
    """A vocabulary of text to which tokens are added.

    Args:
        old: the tokenizer, which is not changed.

    Raises:
        ValueError: its kind cannot be extended.
    """

    marks = Marks()

    def __init__(self, old: Tokenizer) -> None:
        self.old = old
        self.part: Any = old.definition.model
        self._first = old.max_token_value + 1
        #: Texts that no new token may have.
        self.taken = {*self.part.vocabulary, *(token.content for token in old.added_tokens)}
        #: The new tokens and their ids, and how each is made.
        self.tokens: dict[str, int] = {}
        self.merges: list[LearnedMerge] = []

    def chunk_of(self, text: str) -> str:
        """Return a chunk as the splitter gives it."""
        return text

    def make_one(self, chunk: str) -> str:
        """Make a chunk one token; return an empty string, or the reason why it cannot be one."""
        if chunk in self.tokens or chunk in self.part.vocabulary:
            return ""
        if chunk in self.taken:
            return f"{chunk!r} is an added token"
        self.add(chunk, chunk)
        return ""

    def learn(
        self, counts: Mapping[str, int], number: int, min_frequency: int, longest: int | None
    ) -> Iterator[LearnedMerge]:
        """Learn up to ``number`` tokens from chunks and their counts; yield the merge of each.

        Args:
            counts, number: the chunks, and the most tokens.
            min_frequency: the lowest frequency of a word or pair that becomes a token.
            longest: the length in characters, without marks, of the longest token.
        """
        names = {number: token for token, number in self._ids.items()}
        ids = sorted(names)
        char_of = {number: chr(place) for place, number in enumerate(ids)}
        encode = self.encoding("").core.model.encode
        words: Counter[str] = Counter()
        for chunk, count in counts.items():
            tokens = encode(chunk)
            # Nothing is learned from a chunk in which something is unknown.
            if self._text([names.get(one, "") for one in tokens]) == chunk:
                words["".join(map(char_of.__getitem__, tokens))] += count
        texts = [names[number] for number in ids]
        texts += sorted(self.taken - set(texts))
        learner = _Continued(
            words, texts, self.marks, min_frequency=min_frequency, max_token_length=longest
        )
        made = learner.tokens
        for merge in islice(iter(learner.step, None), number):
            yield self.add(made[merge.made], made[merge.left], made[merge.right], merge.frequency)

    def add(self, token: str, left: str, right: str = "", frequency: float = 0) -> LearnedMerge:
        """Add a token, and return its merge.

        Raises:
            ValueError: there are no free ids.
        """
        number = self._first + len(self.tokens)
        if number >= RANK_LIMIT:
            raise ValueError(f"{self.old!r} has ids up to {number - 1}, the highest possible")
        self.tokens[token] = number
        self.taken.add(token)
        self.merges.append(LearnedMerge(left.encode(), right.encode(), number, frequency))
        return self.merges[-1]

    @property
    def new_tokens(self) -> list[bytes]:
        """The new tokens, in the order of their ids."""
        return [token.encode() for token in self.tokens]

    @staticmethod
    def ids_of(encoding: Encoding, chunk: str) -> list[int]:
        """Return the ids that a vocabulary, the old one or this, gives for a chunk."""
        return [*encoding.core.model.encode(chunk)]

    @staticmethod
    def is_whole(encoding: Encoding, token: int, text: str) -> bool:
        """Return True if the one token of a text is all of it: if it is known."""
        return token != encoding.core.model.unknown_id

    @property
    def _ids(self) -> dict[str, int]:
        """Each token of the model and its id, the new ones included."""
        return {**self.part.vocabulary, **self.tokens}

    def model(self) -> Any:
        """Return the model with the new tokens, as in a file."""
        return self.part._replace(vocabulary=self._ids)

    def encoding(self, name: str) -> Tokenizer:
        """Return the tokenizer with the new tokens."""
        return Tokenizer(name, self.old.definition._replace(model=self.model(), source=name))

    def _text(self, tokens: list[str]) -> str:
        """Return the text of a word's tokens, without marks."""
        prefix, suffix = self.marks
        text = "".join(tokens[:1]) + "".join(token.removeprefix(prefix) for token in tokens[1:])
        return text.removesuffix(suffix)


class GrowingWords(GrowingTokens):
    """A vocabulary of whole words."""

    def learn(
        self, counts: Mapping[str, int], number: int, min_frequency: int, longest: int | None
    ) -> Iterator[LearnedMerge]:
        new = [
            word
            for word, count in counts.items()
            if count >= min_frequency and word not in self.taken
            if longest is None or len(word) <= longest
        ]
        new.sort(key=lambda word: (-counts[word], word))
        for word in new[:number]:
            yield self.add(word, word, "", counts[word])


class GrowingPieces(GrowingTokens):
    """A vocabulary of WordPiece."""

    def __init__(self, old: Tokenizer) -> None:
        super().__init__(old)
        self.marks = Marks(self.part.prefix)

    def make_one(self, chunk: str) -> str:
        if len(chunk) > self.part.longest_word:
            return f"words of more than {self.part.longest_word} characters are unknown"
        return super().make_one(chunk)


class GrowingMerges(GrowingTokens):
    """A vocabulary of BPE over characters, with its list of merges."""

    def __init__(self, old: Tokenizer) -> None:
        super().__init__(old)
        parts = old.definition.parts
        if "ByteLevel" in {*types_in(parts["pre_tokenizer"]), *types_in(parts["normalizer"])}:
            raise ValueError(f"{old.name!r} is BPE over bytes with marks, which cannot be extended")
        self.marks = Marks(self.part.prefix or "", self.part.suffix or "")
        if self.part.unknown.byte_fallback:
            self.taken.update(f"<0x{byte:02X}>" for byte in range(256))

    def model(self) -> Any:
        lefts, rights = self.part.merges
        lefts = [*lefts, *(merge.left.decode() for merge in self.merges)]
        rights = [*rights, *(merge.right.decode() for merge in self.merges)]
        return super().model()._replace(merges=(lefts, rights), spelled=())

    def make_one(self, chunk: str) -> str:
        before = len(self.tokens)
        if self.part.ignore_merges and chunk in self.tokens:
            return ""
        names = self._names
        tokens = [names.get(one, "") for one in self.old.core.model.encode(chunk)]
        if self._text(tokens) != chunk:
            return "the vocabulary has no token for one of its characters"
        pairs = ((merge.left.decode(), merge.right.decode()) for merge in self.merges)
        ranks = {pair: number for number, pair in enumerate(pairs)}
        made = list(self.tokens)
        while ranks:
            neighbours = enumerate(zip(tokens, tokens[1:]))
            ranked = [(ranks.get(pair, len(ranks)), place) for place, pair in neighbours]
            rank, place = min(ranked, default=(len(ranks), 0))
            if rank == len(ranks):
                break
            tokens[place : place + 2] = [made[rank]]
        while len(tokens) > 1:
            left, right, *rest = tokens
            token = joined(left, right, self.marks.prefix)
            if token in self.taken:
                self._take_back(before)
                return f"{token!r} is already a token, and no merge makes it"
            self.add(token, left, right)
            # Other pairs of the same two tokens are joined, too.
            tokens = [token]
            while rest:
                pair = tokens[-1:] + rest[:1]
                tokens.append(rest.pop(0))
                if pair == [left, right]:
                    tokens[-2:] = [token]
        return ""

    @cached_property
    def _names(self) -> dict[int, str]:
        """The old tokens by id."""
        return {number: token for token, number in self.part.vocabulary.items()}

    def _take_back(self, length: int) -> None:
        for token in list(self.tokens)[length:]:
            self.taken.remove(token)
            del self.tokens[token]
        del self.merges[length:]


class _Continued(CharacterLearner):
    """Learns merges, except those that would make an existing token.

    Args:
        words, tokens, limits: as in ``CharacterLearner``.
        marks: the marks of characters.
    """

    def __init__(
        self, words: Mapping[str, int], tokens: list[str], marks: Marks, **limits: Any
    ) -> None:
        super().__init__(words, tokens, marks.prefix, **limits)
        self._suffix = marks.suffix

    def _is_fit(self, pair: str) -> bool:
        token = joined(self._tokens[ord(pair[0])], self._tokens[ord(pair[1])], self._prefix)
        if token in self._ids:
            return False
        bare = token.removeprefix(self._prefix).removesuffix(self._suffix)
        return self._longest is None or len(bare) <= self._longest


#: The class that extends each type of model.
_GROWING: dict[type, type[GrowingTokens]] = {
    WordLevelPart: GrowingWords,
    WordPiecePart: GrowingPieces,
    ListedModel: GrowingMerges,
}


def growing_tokens(encoding: Encoding) -> GrowingTokens:
    """Return the growing vocabulary of an encoding that is not byte-level BPE.

    Raises:
        ValueError: its kind cannot be extended. The message says why.
    """
    definition = encoding.definition if isinstance(encoding, Tokenizer) else None
    if isinstance(definition, TokenizerDefinition):
        make = _GROWING.get(type(definition.model))
        if make is not None:
            return make(encoding)  # type: ignore[arg-type]
        kind = "a Unigram model"
        why = "the scores of all pieces would change with a new one"
    elif encoding.reference == "sentencepiece":
        kind, why = "a model of SentencePiece", "its pieces and scores are learned as a whole"
    elif encoding.reference == "rwkv":
        kind, why = "a list of RWKV's", "a new token would change how all texts are cut"
    else:
        kind, why = "a baseline", "it has no vocabulary"
    raise ValueError(f"{encoding.name!r} is {kind}, which cannot be extended: {why}")
