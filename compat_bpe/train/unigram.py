"""Unigram models: the settings of training, and the learning of pieces and their probabilities.

In this model a word is a row of pieces drawn independently, and its probability is the sum over all
ways to write it. Learning begins with far too many pieces, the *seeds*, and repeats two steps:

1. *EM*: compute the expected number of each piece in the words, given the present probabilities;
   these numbers give new probabilities.
2. *Pruning*: drop the pieces that cost the least likelihood (``prune``).

The result is that of ``UnigramTrainer`` in Hugging Face tokenizers 0.23.3: the same pieces, and
scores that differ by rounding. In the reference, the order of pieces with equal scores and the
scores of characters that were dropped depend on a random hash; here they follow the code points.
Where the reference differs from the textbook, the docstring of the function describes how.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from operator import itemgetter
from typing import Any, Callable, ClassVar, NamedTuple

from ..formats.checked_json import is_unicode, read_float
from ..formats.tokenizer_models import UnigramPart
from ..pipeline.added_tokens import AddedToken
from .bpe.learner import MOST_TOKENS
from .kind import Advance, Learned
from .options import (
    INITIAL_ALPHABET,
    MAX_PIECE_LENGTH,
    SEED_SIZE,
    SHRINKING_FACTOR,
    SUB_ITERATIONS,
    setting,
)
from .segmentations import Segmentations, SharedLattice
from .tokenizer_kind import GivenPart, TokenizerKind, TokenizerSettings
from .words import CountedWords


@dataclass(frozen=True)
class UnigramSettings(TokenizerSettings):
    """The settings of training a Unigram vocabulary.

    The pieces are those of ``UnigramTrainer`` of Hugging Face tokenizers 0.23.3, and the scores
    differ by rounding. They do not depend on the order of the texts or on the number of workers.
    The ids are those of the special tokens, then of the pieces by score.

    Args:
        vocab_size: the number of pieces, special tokens included. There are fewer if too few
            substrings recur, and more if the characters alone take as many as this.
        unknown: the token of characters that are not pieces, ``<unk>`` unless given; a special
            token.
        initial_alphabet: characters that are pieces even if they do not occur.
        shrinking_factor: the share of the pieces that a round of pruning leaves.
        n_sub_iterations: the number of steps of EM in a round.
        max_piece_length: the length in characters of the longest piece.
        seed_size: the number of pieces to begin with.
        min_frequency: words that occur less often are not learned from.
        convergence: when to stop pruning, with more pieces than ``vocab_size``, because fewer would
            cost too much on held-out text.
        special_tokens, weights, like: as in ``WordPieceSettings``.
        normalizer, pre_tokenizer, decoder, post_processor: as there. Unless given, the
            pre-tokenizer is ``metaspace``, and there is no normalizer.

    Raises:
        ValueError: a setting is impossible. The message names it.
        TypeError: ``special_tokens`` is a single str.

    >>> from compat_bpe.train import train
    >>> enc = train(["hug " * 10 + "pug " * 5 + "pun " * 12], UnigramSettings(14))
    >>> [enc.id_to_token(token) for token in enc.encode("hug pun")]
    ['▁', 'h', 'u', 'g', '▁pu', 'n']
    """

    initial_alphabet: Iterable[str] = setting("", INITIAL_ALPHABET)
    shrinking_factor: float = setting(0.75, SHRINKING_FACTOR)
    n_sub_iterations: int = setting(2, SUB_ITERATIONS)
    max_piece_length: int = setting(16, MAX_PIECE_LENGTH._replace(most=1024))
    seed_size: int = setting(1_000_000, SEED_SIZE)

    def __post_init__(self) -> None:
        object.__setattr__(self, "initial_alphabet", "".join(self.initial_alphabet))
        super().__post_init__()

    @property
    def kind(self) -> Unigram:
        """The kind of vocabulary, with these settings."""
        return Unigram(self)


class Unigram(TokenizerKind):
    """Unigram."""

    settings: UnigramSettings

    name: ClassVar[str] = "unigram"
    makes = UnigramSettings
    ends: ClassVar[tuple[str, ...]] = ("vocab_size",)
    checks: ClassVar[str] = "rounds"
    model_types: ClassVar[tuple[type, ...]] = (UnigramPart,)
    defaults: ClassVar[Mapping[str, GivenPart]] = {"pre_tokenizer": "metaspace"}
    rates = (0.1, 0.0, 12.0, 1.3, 80.0)

    def check(self) -> None:
        super().check()
        size, names = self.settings.vocab_size, self.all_special_tokens
        if size is None:
            raise ValueError("give vocab_size")
        if size > MOST_TOKENS:
            raise ValueError(f"a vocabulary of {size} is too large: {MOST_TOKENS} at most")
        if not is_unicode("".join(self.settings.initial_alphabet)):
            raise ValueError("initial_alphabet has a lone surrogate")
        if len(names) > size:
            raise ValueError(f"a vocabulary of {size} is too small for {len(names)} special tokens")

    @property
    def most_steps(self) -> int | None:
        return None

    @property
    def unknown_token(self) -> str:
        if self.settings.unknown is not None:
            return self.settings.unknown
        model = self.like_model
        if model is None or model.unknown is None:
            return "<unk>"
        token: str = model.pieces[model.unknown]
        return token

    @property
    def kept_tokens(self) -> list[AddedToken]:
        """All added tokens of ``like``, made special, as transformers does for Unigram."""
        if self.settings.like is None or self.like_model is None:
            return super().kept_tokens
        tokens = sorted(self.settings.like.added_tokens, key=lambda one: one.id)
        return [one._replace(special=True) for one in tokens]

    def own_decoder(self, parts: Mapping[str, Any]) -> Any:
        pre_tokenizer = parts["pre_tokenizer"]
        is_same = isinstance(pre_tokenizer, Mapping) and pre_tokenizer["type"] in _DECODERS
        return dict(pre_tokenizer) if is_same else {"type": "Fuse"}

    def learn(self, words: CountedWords, advance: Advance) -> Learned:
        unit, least = words.unit, self.settings.min_frequency * words.unit
        counts = {word: n / unit for word, n in words.counts.items() if n >= least}

        first = self.all_special_tokens
        held_out = words.held_out.counts
        watch = self.watch(words, lambda part: (len(part.pieces), 0, _size(part, held_out)))
        check = watch.check if watch is not None else None
        part = learn_unigram(
            counts,
            self.settings,
            first,
            first.index(self.unknown_token),
            progress=lambda pieces, objective: advance(1),
            has_converged=check,
        )
        stopped = "size" if len(part.pieces) >= (self.settings.vocab_size or 0) else "nothing left"
        if watch is not None:
            last, part = part, watch.model
            stopped = stopped if len(last.pieces) == len(part.pieces) else "convergence"
        size = words.in_units(_size(part, words.counts))
        return Learned(part, [], stopped, size, watch.points if watch is not None else ())


def _size(part: UnigramPart, words: Mapping[str, int]) -> int:
    """Return the number of tokens that words are with a model."""
    model = part.define((), "the trained model").model
    return sum(len(model.encode(word)) * count for word, count in words.items())


#: Pre-tokenizers that are decoders, too.
_DECODERS = ("Metaspace", "ByteLevel")


def digamma(number: float) -> float:
    """Return the derivative of the logarithm of the gamma function, at a positive number.

    The operations are in the order of both references, so the bits are the same.

    >>> round(digamma(1.0), 9)  # Euler's constant, negative
    -0.577215665
    """
    result = 0.0
    while number < 7.0:
        result -= 1.0 / number
        number += 1.0
    number -= 1.0 / 2.0
    inverse = 1.0 / number
    two = inverse * inverse
    four = two * two
    result += (
        log(number)
        + (1.0 / 24.0) * two
        - 7.0 / 960.0 * four
        + (31.0 / 8064.0) * four * two
        - (127.0 / 30720.0) * four * four
    )
    return result


#: The character after each word. A substring does not go across it.
END = "\0"


def branching_substrings(words: Iterable[str], longest: int) -> Iterator[tuple[str, int]]:
    """Yield substrings of words that occur at least twice, each with its number of occurrences.

    Only *branching* substrings are yielded: two of their occurrences go on differently. If ``n`` is
    always followed by ``g``, the substring ``n`` is left out, since ``ng`` is enough. The end
    of a word counts as one more character, which is the same for all words, so a suffix that is
    always at the end (``ing`` in ``sing ring``) is left out, too. These are the inner nodes of the
    words' suffix tree, as tokenizers takes them; the textbook takes every substring that recurs.

    A substring of n characters recurs only where its first n - 1 characters recur. So substrings
    are counted for one length after the other, and each step keeps the places where one recurs. A
    substring branches if none of its continuations is as frequent as itself. The time is at worst
    in proportion to the number of characters and to ``longest``, also if the text repeats itself.
    Each first character is done by itself, so that few substrings are in memory.

    Args:
        words: different words.
        longest: the length in characters of the longest substring; the shortest has two.

    >>> sorted(branching_substrings(["hug", "pug", "hugs", "sing", "ring"], 16))
    [('hug', 2), ('ug', 3)]
    """
    text = END.join(words) + END
    places_of: defaultdict[str, array[int]] = defaultdict(lambda: array("q"))
    for place, char in enumerate(text):
        places_of[char].append(place)
    del places_of[END]
    while places_of:
        char, places = places_of.popitem()
        yield from _beginning_with(char, text, places, longest)


def _beginning_with(
    char: str, text: str, places: array[int], longest: int
) -> Iterator[tuple[str, int]]:
    """Yield the branching substrings that begin with a character, whose places are given."""
    counts = {char: len(places)} if len(places) > 1 else {}
    length = 1
    while counts and length <= longest:
        length += 1
        longer = Counter([text[place : place + length] for place in places])
        recurring = {string: count for string, count in longer.items() if count > 1}
        for string, count in recurring.items():
            if counts[string[:-1]] == count:
                del counts[string[:-1]]
        if length > 2:
            yield from counts.items()
        counts = {string: n for string, n in recurring.items() if string[-1] != END}
        places = array("q", [it for it in places if text[it : it + length] in counts])


def prune(
    words: Segmentations,
    pieces: Sequence[str],
    live: Sequence[int],
    scores: Sequence[float],
    chars: int,
    most: int,
) -> list[int]:
    """Return the ids of the pieces that stay: those without an alternative, then by their loss.

    The *alternative* of a piece is the best way to write it with other pieces. Its *loss* is what
    the words' log probability loses if the alternative takes its place wherever the best way to
    write a word has it. The textbook drops the pieces of least loss. This does, too, but differs in
    three points, like the reference:

    - The loss is computed with a wrong sum. If each of a piece's n occurrences becomes an
      alternative of k pieces, there are n * (k - 1) more pieces than before. The reference takes
      the number of *all* pieces for k (``alternatives.len()``).
    - A piece that is in no best way of a word is dropped before the others are compared, and may
      leave fewer pieces than are wanted. So is a piece that is best written with other pieces.
    - If the pieces that stay anyway are more than ``most``, nothing else is dropped for its loss.

    Args:
        words: the words.
        pieces: the text of each piece, by id.
        live: the ids of the pieces that are left, in their order.
        scores: the logarithms of probabilities by id, with those of unknown characters.
        chars: the number of characters, whose ids are the first ones.
        most: the number of pieces that are left.
    """
    counts = words.best_counts(scores)
    # All characters that are not pieces count as one, the unknown piece.
    is_live = [False] * len(pieces)
    for piece in live:
        is_live[piece] = True
    unknown = [piece for piece in range(chars) if not is_live[piece]]
    number = 0.0
    for piece in unknown:
        number += counts[piece]
    for piece in unknown:
        counts[piece] = number
    total = number
    for piece in live:
        total += counts[piece]
    log_total = log(total)
    alternatives = find_alternatives(pieces, live, scores, chars)
    kept = []
    losses = []
    for piece in live:
        count = counts[piece]
        alternative = alternatives.get(piece)
        if not alternative:
            if count or piece < chars:
                kept.append(piece)
        elif count:
            log_after = log(total + count * len(live))
            after = 0.0
            for other in alternative:
                after += log(counts[other] + count) - log_after
            loss = count / words.total * (log(count) - log_total - after)
            losses.append((piece, loss))
    losses.sort(key=itemgetter(1), reverse=True)
    room = most - len(kept)
    if room >= 0:
        del losses[room:]
    return kept + [piece for piece, _ in losses]


def find_alternatives(
    pieces: Sequence[str], live: Sequence[int], scores: Sequence[float], chars: int
) -> dict[int, list[int]]:
    """Return the alternative of each piece, as ids; it is empty if that is the better way anyway.

    Characters have no alternative and are left out.
    """
    longer = [piece for piece in live if piece >= chars]
    ids = {pieces[piece]: piece for piece in (*range(chars), *longer)}
    longer.sort(key=pieces.__getitem__)
    lattice = SharedLattice([pieces[piece] for piece in longer], ids)
    best = lattice.best(scores)
    return {
        piece: lattice.way(best.edges, best.others[end]) if best.is_whole[end] else []
        for piece, end in zip(longer, lattice.ends)
    }


#: The name of the unknown piece in training. No piece of the result is called so.
PLACEHOLDER = "<UNK>"

#: The distance of an unknown character's score from the least score.
_UNKNOWN_PENALTY = 10.0
#: The least expected number of a piece that stays.
_LEAST_EXPECTED = 0.5
#: The step between the scores of characters that were dropped.
_STEP = 0.0001
#: The number of rounds without fewer pieces after which learning is given up.
_PATIENCE = 100

_NEVER = float("-inf")


class Seeds(NamedTuple):
    """The first pieces.

    Args:
        pieces: the pieces; the index is the id in training. The characters come first.
        scores: the logarithms of their probabilities.
        chars: the number of characters.
    """

    pieces: list[str]
    scores: list[float]
    chars: int


def learn_unigram(
    counts: Mapping[str, float],
    settings: UnigramSettings,
    first: Sequence[str] = (),
    unknown: int | None = None,
    *,
    progress: Callable[[int, float], None] = lambda pieces, objective: None,
    has_converged: Callable[[UnigramPart], bool] | None = None,
) -> UnigramPart:
    """Learn the pieces and scores of a Unigram model.

    Args:
        counts: the words and their counts, which may be weighted. Their order plays no part.
        settings: the settings.
        first: the special tokens, in the order of their ids.
        unknown: the id of the unknown one; None for a model without it.
        progress: called after each step of EM, with the number of pieces, and the mean negative
            logarithm of the words' probabilities before the step.
        has_converged: called before each round of pruning with the model that learning would end
            with here, of the least ``vocab_size`` for which it does, and in the end with the
            result. Learning ends if it returns True.

    Raises:
        ValueError: there is no text; the vocabulary is too small for all characters; or so many
            pieces cannot be dropped that pruning would not end.

    >>> words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    >>> learn_unigram(words, UnigramSettings(10)).pieces
    ['n', 'hug', 'pu', 'u', 'p', 's', 'b', 'g', 'h', 'ug']
    """
    words = {word: count for word, count in counts.items() if word and count > 0}
    vocab_size = settings.vocab_size
    assert vocab_size is not None  # The settings have been checked.
    required = {*settings.initial_alphabet}.union(*words)
    if len(required) > vocab_size:
        raise ValueError(
            f"a vocabulary of {vocab_size} is too small: the words and the initial "
            f"alphabet have {len(required)} different characters"
        )
    seeds = make_seeds(words, settings)
    if all(score == _NEVER for score in seeds.scores):
        raise ValueError("there is no text to learn from")
    state = _Learner(words, seeds)
    target = vocab_size * 11 // 10  # of pieces, with the placeholder, at which pruning ends
    idle = 0
    while True:
        before = state.size
        for _ in range(settings.n_sub_iterations):
            objective = state.improve()
            progress(len(state.live), objective)
        if state.size <= target:
            break
        if has_converged is not None:
            # The least size whose target, 11 tenths of it, is reached.
            size = max(vocab_size, -(-10 * state.size // 11))
            part = finish(state, required, size, first, unknown)
            if has_converged(part):
                return part
        state.prune(max(target, int(state.size * settings.shrinking_factor)))
        idle = 0 if state.size < before else idle + 1
        if idle >= _PATIENCE:
            raise ValueError(
                f"learning does not end: {state.size - 1} pieces cannot be dropped, and a "
                f"vocabulary of {vocab_size} pieces leaves room for {target - 1}: "
                f"raise vocab_size to {max(state.size, 10)} or more"
            )
    part = finish(state, required, vocab_size, first, unknown)
    if has_converged is not None:
        has_converged(part)
    return part


def make_seeds(words: Mapping[str, float], settings: UnigramSettings) -> Seeds:
    """Return the pieces to begin with: all characters, then substrings that recur.

    The textbook begins with all substrings that occur at least twice, and the probability of each
    is in proportion to its number of occurrences in the corpus. The reference differs:

    - Only branching substrings are seeds (``branching_substrings``).
    - The number of occurrences of a substring is that in the *distinct* words: the words' counts
      play no part. That of a character is that in the corpus.
    - The number of a substring is multiplied by its length, as by SentencePiece.
    - If there are too many, those of the greatest product stay, of equal ones the greatest string;
      at least one stays, even if the characters are ``seed_size`` by themselves.
    """
    numbers: dict[str, float] = {}
    for word, count in words.items():
        for char in word:
            numbers[char] = numbers.get(char, 0) + count
    has_end = numbers.pop(END, 0)
    seeds = sorted(((number, char) for char, number in numbers.items()), reverse=True)
    chars = len(seeds)
    substrings = branching_substrings(sorted(words), settings.max_piece_length)
    longer = [(number * len(string), string) for string, number in substrings]
    longer.sort(reverse=True)
    seeds += longer[: max(settings.seed_size - chars, 1)]
    total = 0.0
    for number, _ in seeds:
        total += number
    log_total = log(total) if seeds else 0.0
    pieces = [piece for _, piece in seeds]
    scores = [log(number) - log_total for number, _ in seeds]
    if has_end:
        # The character that ends words in the reference is never a piece.
        pieces.insert(chars, END)
        scores.insert(chars, _NEVER)
        chars += 1
    return Seeds(pieces, scores, chars)


class _Learner:
    """The present pieces and their scores.

    Args:
        words: the words and their counts.
        seeds: the first pieces.
    """

    def __init__(self, words: Mapping[str, float], seeds: Seeds) -> None:
        self.pieces = seeds.pieces
        self._chars = seeds.chars
        #: The scores by id; -inf for pieces that have been dropped.
        self.scores = list(seeds.scores)
        #: The ids of the pieces that are left, in their order.
        self.live = [piece for piece, score in enumerate(self.scores) if score > _NEVER]
        self._words = Segmentations(words, self.pieces)

    @property
    def size(self) -> int:
        """The number of pieces, with a placeholder for unknown characters as in the reference."""
        return len(self.live) + 1

    @property
    def least_score(self) -> float:
        """The least score of a piece."""
        return min(map(self.scores.__getitem__, self.live))

    def improve(self) -> float:
        """Carry out a step of EM, and return the objective before it.

        The textbook's new probability of a piece is its expected number, divided by the sum of all.
        Here, as in SentencePiece, its logarithm is digamma(number) - digamma(sum), which makes rare
        pieces rarer (the mean of a Dirichlet posterior without prior), and pieces that are expected
        less than half a time are dropped. Unknown characters are not in the sum.

        Raises:
            ValueError: no piece is left.
        """
        scores, unknown = self._scores_of_all()
        expected, total = self._words.expect(scores, _LEAST_EXPECTED, unknown)
        objective = -total / self._words.total
        self.live = [piece for piece in self.live if expected[piece] >= _LEAST_EXPECTED]
        if not self.live:
            raise ValueError(
                "there is too little text to learn a vocabulary from: each piece is expected "
                "less than 0.5 times"
            )
        total = 0.0
        for piece in self.live:
            total += expected[piece]
        log_total = digamma(total)
        scores = [_NEVER] * len(self.pieces)
        for piece in self.live:
            scores[piece] = digamma(expected[piece]) - log_total
        self.scores = scores
        self._keep()
        return objective

    def prune(self, most: int) -> None:
        """Drop pieces so that, with the placeholder, ``most`` are left if possible."""
        scores, _ = self._scores_of_all()
        live = prune(self._words, self.pieces, self.live, scores, self._chars, most - 1)
        old = self.scores
        self.scores = [_NEVER] * len(old)
        for piece in live:
            self.scores[piece] = old[piece]
        self.live = live
        self._keep()

    def _scores_of_all(self) -> tuple[list[float], float]:
        """Return the scores with those of characters that are not pieces, and the latter."""
        unknown = self.least_score - _UNKNOWN_PENALTY
        scores = list(self.scores)
        for char in range(self._chars):
            if scores[char] == _NEVER:
                scores[char] = unknown
        return scores, unknown

    def _keep(self) -> None:
        self._words.keep({*range(self._chars), *self.live})


def finish(
    learner: _Learner,
    required: set[str],
    vocab_size: int,
    first: Sequence[str],
    unknown: int | None,
) -> UnigramPart:
    """Return the model of the pieces that are left, of a size.

    All required characters are pieces. The textbook then takes the pieces of the best scores. The
    reference differs:

    - It takes them in the order that pruning leaves: the characters first, then by their loss, or
      in that of the seeds if nothing was pruned.
    - A character that was dropped gets the least score, the next one 0.0001 *more*, and so on.
      That order is random in the reference, and by code point here.
    - It stops when the size is reached exactly. If the characters alone are as many, that never
      happens, and all pieces stay: up to a tenth more than ``vocab_size``, and the special tokens.
    """
    texts, scores = learner.pieces, learner.scores
    final_scores = {texts[piece]: scores[piece] for piece in learner.live}
    least = learner.least_score
    pieces: dict[str, float] = {}
    dropped = 0
    for char in sorted(required):
        score = final_scores.get(char)
        if score is None:
            score = least + dropped * _STEP
            dropped += 1
        pieces[char] = score
    most = vocab_size - len(first)
    for piece, score in final_scores.items():
        if piece in pieces or piece == PLACEHOLDER:
            continue
        pieces[piece] = score
        if len(pieces) == most:
            break
    ranked = sorted(pieces.items(), key=lambda item: -item[1])
    return UnigramPart(
        [*first, *(piece for piece, _ in ranked)],
        # Each as it is read again once it is written, which may change the last bit.
        [*(0.0 for _ in first), *(read_float(repr(score)) for _, score in ranked)],
        unknown,
    )
