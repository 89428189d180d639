"""The settings of a training, the kind of vocabulary that they train, and the results.

``Settings`` are fields that a user sets, checked where they are made. A ``Kind`` has settings and
does the work: it splits text into words, learns a model from them, and answers programs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import Any, Callable, ClassVar, Generic, NamedTuple, TypeVar

from ..encodings.encoding import Encoding
from .convergence import Convergence, Point, Watch, points_as_json
from .estimate import Costs, distinct_bytes
from .options import VOCAB_SIZE, check_bounds, fields_with_options, setting
from .words import CountedWords, WordCounter


class LearnedMerge(NamedTuple):
    """A merge.

    Args:
        left, right: the bytes of the two tokens that are joined.
        id: the id of the new token.
        frequency: the number of times that the two were neighbours when they were joined.
    """

    left: bytes
    right: bytes
    id: int
    frequency: float


class Trained(NamedTuple):
    """The result of training.

    Args:
        encoding: the encoding.
        merges: the merges, in the order in which they were learned.
        stopped: the reason why there are no more: ``"size"`` if there are as many as asked for,
            ``"nothing left"`` if no pair is as frequent as ``min_frequency``, ``"convergence"`` if
            more merges hardly improved held-out text, ``"score"`` if no pair has ``min_score``.
        bytes: the size of the corpus in UTF-8.
        chunks, distinct_chunks: the number of its chunks, and of different ones.
        tokens: the number of its tokens in the end.
        factors: with weights, the factor by which each group was multiplied; else empty. Only
            ``tokens`` and the frequencies of merges are multiplied by it.
        curve: with ``convergence``, the checks on the held-out text; else empty.
    """

    encoding: Encoding
    merges: list[LearnedMerge]
    stopped: str
    bytes: int
    chunks: int
    distinct_chunks: int
    tokens: float
    factors: dict[str, float]
    curve: Sequence[Point] = ()

    @property
    def skipped(self) -> int:
        """The number of texts that were left out: none."""
        return 0

    def metrics(self) -> dict[str, Any]:
        """Return figures of the training for a manifest."""
        figures = self._asdict()
        del figures["encoding"], figures["curve"]
        figures["merges"] = len(self.merges)
        return {**figures, "curve": points_as_json(self.curve)} if self.curve else figures


class Learned(NamedTuple):
    """A model that was learned.

    Args:
        model: the model, as its kind has it.
        merges: the merges, in the order in which they were learned; none if its kind has none.
        stopped: as in ``Trained``.
        tokens: the number of tokens of the words that it was learned from.
        curve: as in ``Trained``.
    """

    model: Any
    merges: list[LearnedMerge]
    stopped: str
    tokens: float
    curve: Sequence[Point] = ()


#: Called with 1 for each step of learning.
Advance = Callable[[int], None]

_Trained_co = TypeVar("_Trained_co", bound=Encoding, covariant=True)


@dataclass(frozen=True)
class Settings(Generic[_Trained_co]):
    """The settings of training a vocabulary; each kind has a class of its own.

    Args:
        vocab_size: the number of tokens asked for; None for any number.

    Raises:
        ValueError: a setting is impossible. The message names it.
    """

    vocab_size: int | None = setting(None, VOCAB_SIZE)

    def __post_init__(self) -> None:
        check_bounds(self)

    @property
    def kind(self) -> Kind:
        """The kind of vocabulary, with these settings."""
        raise NotImplementedError


class LikeError(ValueError):
    """The tokenizer of ``like`` is of another kind; callers put its path before the message."""


class GivenOptions(NamedTuple):
    """The options of a training as a user gave them.

    Args:
        values: the values of options, by name, without ``special_tokens``; defaults included.
        named: the names of the options that the user gave.
        special_tokens: the names of special tokens.
        roles: the special tokens that have a role in transformers, by role.
    """

    values: Mapping[str, Any]
    named: Set[str]
    special_tokens: Sequence[str]
    roles: Mapping[str, str]

    def special_with_roles(self, left_out: str | None = None) -> list[str]:
        """Return the names of special tokens, then of others that have a role, except ``left_out``.

        >>> options = GivenOptions({}, set(), ["<a>"], {"bos": "<a>", "eos": "<b>", "unk": "<c>"})
        >>> options.special_with_roles("<c>")
        ['<a>', '<b>']
        """
        named = self.special_tokens
        others = [one for one in dict.fromkeys(self.roles.values()) if one not in named]
        return [*named, *(one for one in others if one != left_out)]


class Kind:
    """A kind of vocabulary, as some settings train it.

    Args:
        settings: the settings.

    Attributes:
        name: the name of the kind.
        makes: the class of the settings.
        formats: the formats that are written unless others are named.
        ends: the settings that end learning; one of them must be given.
        checks: when held-out text is measured: after a number of ``"steps"``, at ``"rounds"`` of
            pruning, or ``"never"``.
        lacks: the options of its settings that the kind does not have.
        learns_merges: True if the kind learns merges one after another.
        counts_words: True if all that is learned from are words with their counts.
        usual_pattern: the pattern unless another is given; None if a pre-tokenizer splits text.
        rates: the costs of training, as ``Costs`` has them after the words; empty if they have not
            been measured.
    """

    name: ClassVar[str] = ""
    makes: ClassVar[type[Settings[Encoding]]] = Settings
    formats: ClassVar[tuple[str, ...]] = ()
    ends: ClassVar[tuple[str, ...]] = ()
    checks: ClassVar[str] = "steps"
    lacks: ClassVar[frozenset[str]] = frozenset()
    learns_merges: ClassVar[bool] = False
    counts_words: ClassVar[bool] = True
    usual_pattern: ClassVar[str | None] = None
    rates: ClassVar[tuple[float, ...]] = ()

    def __init__(self, settings: Any) -> None:
        self.settings: Settings[Encoding] = settings

    @classmethod
    def option_names(cls) -> frozenset[str]:
        """Return the names of the options that the kind has."""
        names = {name for _, name, _ in fields_with_options(cls.makes)} - cls.lacks
        if cls.checks == "never":
            names -= {name for _, name, _ in fields_with_options(Convergence)}
        elif cls.checks == "rounds":
            names -= {"check_every"}
        return frozenset(names)

    @classmethod
    def from_options(cls, options: GivenOptions) -> Settings[Encoding]:
        """Return the settings that the options of a program describe.

        Raises:
            ValueError: a setting is impossible.
            LikeError: the tokenizer of ``like`` is of another kind.
        """
        raise NotImplementedError

    @property
    def pattern_name(self) -> str:
        """The pattern, as a manifest names it."""
        raise NotImplementedError

    @property
    def weights(self) -> Mapping[str, float] | None:
        """The weights of groups; None for kinds without weights."""
        weights: Mapping[str, float] | None = getattr(self.settings, "weights", None)
        return weights

    @property
    def roles(self) -> Mapping[str, str]:
        """The roles of special tokens that the settings name."""
        return {}

    def kept_roles(self, roles: Mapping[str, str]) -> Mapping[str, str]:
        """Return those of the given roles that are written beside the model."""
        return roles

    @property
    def most_steps(self) -> int | None:
        """The most steps of learning, fewer if nothing is left to learn; None if unknown."""
        return None

    @property
    def steps(self) -> str:
        """The name of steps."""
        return "steps"

    @property
    def costs(self) -> Costs | None:
        """The costs of training; None if they have not been measured for the kind."""
        return Costs(distinct_bytes(self.splitter()), *self.rates) if self.rates else None

    @property
    def convergence(self) -> Convergence | None:
        """The settings of stopping by convergence, if learning may stop so."""
        stop: Convergence | None = getattr(self.settings, "convergence", None)
        return stop

    def watch(
        self, words: CountedWords, measure: Callable[[Any], tuple[int, int, int]]
    ) -> Watch | None:
        """Return the checks on held-out words; None if there are none.

        Args:
            words: the words to learn from, with the held-out ones.
            measure: as of ``Watch``.

        Raises:
            ValueError: there is no held-out text.
        """
        if self.convergence is None:
            return None
        is_shrinking = self.checks == "rounds"
        return Watch(self.convergence, words.held_out.bytes, measure, shrinks=is_shrinking)

    @property
    def leaves_bytes_out(self) -> bool:
        """True if ``like`` writes unknown characters as bytes, and this kind does not."""
        return False

    def described(self) -> dict[str, Any]:
        """Return the settings for a manifest, as JSON."""
        return {
            own.name: _described(getattr(self.settings, own.name)) for own in fields(self.settings)
        }

    def splitter(self) -> Encoding:
        """Return an encoding whose chunks are the words that are learned from.

        Raises:
            ValueError: the pattern, or a part, is wrong.
        """
        raise NotImplementedError

    def word_counter(self, workers: int | None, *, is_held_out: bool = False) -> WordCounter:
        """Return a counter of the words that are learned from.

        Args:
            workers: the most processes that split a large corpus; None for one each processor.
            is_held_out: True for words by which learning stops; they have no weights.

        Raises:
            ValueError: the pattern or a part is wrong, or ``workers`` is not positive.
        """
        raise NotImplementedError

    def as_given(self, text: str) -> str:
        """Return a whole text as it is learned from."""
        return text

    def learn(self, words: CountedWords, advance: Advance) -> Learned:
        """Learn a model from words.

        Args:
            words: the words.
            advance: called with 1 for each step.

        Raises:
            ValueError: nothing can be learned from them with these settings.
        """
        raise NotImplementedError

    def encoding(self, model: Any, name: str) -> Encoding:
        """Return the encoding that has a model which was learned.

        Raises:
            ValueError: a part of it is wrong, or needs a token that is missing.
        """
        raise NotImplementedError


def _described(value: Any) -> Any:
    """Return a setting as JSON has it; an encoding is its name."""
    if isinstance(value, Encoding):
        return value.name
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return [*value] if isinstance(value, tuple) else value
