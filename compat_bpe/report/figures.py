"""The figures of a report on vocabularies: counts, their ratios, tables and learning curves.

Training writes learning curves into ``manifest.json``: bytes per token of held-out text, check by
check, while a vocabulary grew. A report shows them again, as a chart and as a table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from math import inf, isfinite
from pathlib import Path
from typing import Any, Callable, NamedTuple, TypeVar

from ..caches import cached_property
from ..encodings.encoding import Encoding
from ..files.whole import read_whole
from ..pipeline.core import is_byte_level
from ..unicode.text import plural
from .unreachable import Unreachable, unreachable_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..encodings.estimates import Estimate


class Sizes(NamedTuple):
    """The size of some text.

    Args:
        documents: the number of documents that are not empty.
        bytes: the size in bytes of UTF-8.
        characters: the number of code points.
        words: the number of runs of characters between white space, as in ``str.split``. In
            writing without spaces between words, such as Chinese and Thai, a run is a clause or a
            sentence.
    """

    documents: int = 0
    bytes: int = 0
    characters: int = 0
    words: int = 0


def sizes_in_words(sizes: Sizes) -> list[str]:
    """Return sizes as text.

    >>> sizes_in_words(Sizes(1, 2_000, 1, 2))
    ['1 document', '2,000 bytes', '1 character', '2 words']
    """
    return [plural(number, name.removesuffix("s")) for name, number in sizes._asdict().items()]


class TokenCounts(NamedTuple):
    """The tokens and chunks that an encoding makes of some text.

    Args:
        tokens: the number of tokens.
        chunks: the number of chunks (pre-tokens) before any merging.
        whole_chunks: the number of chunks that are a single token, and not unknown.
        unknown: the number of tokens that stand for unknown text; None if the vocabulary has no
            such token.
        lost: the number of occurrences of words that decoding the tokens of a document does not
            give back.
    """

    tokens: int = 0
    chunks: int = 0
    whole_chunks: int = 0
    unknown: int | None = None
    lost: int = 0


_Counts = TypeVar("_Counts", Sizes, TokenCounts)


def add_counts(counts: Iterable[_Counts], zero: _Counts) -> _Counts:
    """Return the sum of counts, field by field; that of numbers that are all None is None."""
    sums: Iterable[Any] = map(_sum, zip(zero, *counts))
    return type(zero)(*sums)


def _sum(numbers: Iterable[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


class TermTokens(NamedTuple):
    """A term and the bytes of its tokens, alone and after a space."""

    term: str
    alone: Sequence[bytes]
    after_space: Sequence[bytes]


class TokenUse(NamedTuple):
    """A token and the number of times that it occurs.

    Args:
        id: its id.
        token: its bytes; in a vocabulary that is not byte-level, those of the token as written.
        times: the number of times.
        size: the length in bytes of its decoded text.
    """

    id: int
    token: bytes
    times: int
    size: int


class EncodingReport:
    """The figures of one encoding on a corpus.

    Args:
        encoding: the encoding.
        groups: the counts of each group.
        uses: the number of times that each used token occurs, by its id.
        terms: words or names whose tokens are shown.
    """

    def __init__(
        self,
        encoding: Encoding,
        groups: Mapping[str, TokenCounts],
        uses: Mapping[int, int],
        terms: Iterable[str] = (),
    ) -> None:
        self._encoding = encoding
        #: The number of times that each used token occurs, by its id.
        self.times = uses
        self.groups = groups
        self.total = add_counts(groups.values(), TokenCounts())
        self.terms = [TermTokens(term, self._cut(term), self._cut(" " + term)) for term in terms]

    @cached_property
    def mergeable(self) -> int | None:
        """The number of tokens that are neither special nor added.

        It is None for baselines without a vocabulary, such as words: any word is a token.
        """
        is_open = self._encoding.reference == "baseline" and not self._encoding.core.model.is_text
        return None if is_open else len(self._encoding.ordinary_tokens())

    @property
    def used(self) -> int:
        """The number of mergeable tokens that occur in the corpus."""
        if self.mergeable is None:
            return len(self.times)
        return self.mergeable - len(self._unused)

    @property
    def unused(self) -> int | None:
        """The number of mergeable tokens that do not occur in the corpus; None as ``mergeable``."""
        return None if self.mergeable is None else len(self._unused)

    def share(self, tokens: int | None) -> float | None:
        """Return the share of the mergeable tokens; None if it is not defined."""
        return None if tokens is None or not self.mergeable else tokens / self.mergeable

    @cached_property
    def _unused(self) -> list[bytes]:
        known = self._encoding.ordinary_tokens()
        return [token for token, number in known.items() if number not in self.times]

    @cached_property
    def unreachable(self) -> Sequence[Unreachable] | None:
        """The unused tokens that no text can have; None if this is not known for the model.

        It is known for byte-level BPE (see ``report.unreachable``).
        """
        if not is_byte_level(self._encoding.core):
            return None
        return list(unreachable_tokens(self._encoding, self._unused))

    @cached_property
    def uses(self) -> Sequence[TokenUse]:
        """All used tokens, most frequent first; equally frequent ones are sorted by id."""
        ordered = sorted(self.times.items(), key=lambda item: (-item[1], item[0]))
        return [
            TokenUse(number, self._bytes[number], times, self._size(number))
            for number, times in ordered
        ]

    @cached_property
    def _bytes(self) -> Mapping[int, bytes]:
        """The bytes of each token."""
        return _Bytes(self._encoding)

    def _size(self, number: int) -> int:
        if self._encoding.core.definition.make_decoder is None:
            return len(self._bytes[number])
        return self._encoding.core.token_length(number)

    def _cut(self, term: str) -> list[bytes]:
        return [self._bytes[number] for number in self._encoding.encode_ordinary(term)]

    def longest(self, number: int) -> list[TokenUse]:
        """Return the longest used tokens in bytes; of equal lengths, the more frequent first."""
        return sorted(self.uses, key=lambda use: -use.size)[:number]

    def by_length(self) -> dict[int, int]:
        """Return the number of tokens in the corpus by their length in bytes."""
        lengths: Counter[int] = Counter()
        for use in self.uses:
            lengths[use.size] += use.times
        return dict(sorted(lengths.items()))

    @cached_property
    def covered(self) -> Sequence[int]:
        """The bytes that the most frequent token covers, the two most frequent, and so on.

        The last number is that of all bytes, unless the encoding normalizes or leaves something
        out.
        """
        return list(accumulate(use.size * use.times for use in self.uses))


class _Bytes(dict[int, bytes]):
    """The bytes of each token."""

    def __init__(self, encoding: Encoding) -> None:
        super().__init__(encoding.core.bytes_by_id())
        self._encoding = encoding

    def __missing__(self, number: int) -> bytes:
        # A baseline's, which has no vocabulary.
        return self._encoding.decode_single_token_bytes(number)


class Report(NamedTuple):
    """The figures of some encodings on a corpus.

    Args:
        groups: the size of the text of each group.
        encodings: the figures of each encoding, by name.
        curves: the learning curves of some encodings.
        estimates: the models whose tokens are estimated from the sizes, by name.
    """

    groups: Mapping[str, Sizes]
    encodings: Mapping[str, EncodingReport]
    curves: Mapping[str, Sequence[Check]] = {}
    estimates: Mapping[str, Estimate] = {}

    @property
    def total(self) -> Sizes:
        """The sizes of all groups together."""
        return add_counts(self.groups.values(), Sizes())


#: The forms of a ratio and of a share, for ``str.format``.
RATIO, SHARE = "{:.2f}", "{:.1%}"


class Measure(NamedTuple):
    """A figure of a table.

    Args:
        key: its name in JSON.
        title: its name on a page.
        of: computes it from sizes and counts; None instead of a division by zero.
        form: its form, for ``str.format``.
    """

    key: str
    title: str
    of: Callable[[Sizes, TokenCounts], float | None]
    form: str = RATIO


def _ratio(number: int, of: int) -> float | None:
    return number / of if of else None


MEASURES = (
    Measure("bytes_per_token", "bytes per token", lambda s, t: _ratio(s.bytes, t.tokens)),
    Measure(
        "tokens_per_character", "tokens per character", lambda s, t: _ratio(t.tokens, s.characters)
    ),
    Measure("tokens_per_word", "tokens per word", lambda s, t: _ratio(t.tokens, s.words)),
    Measure(
        "whole_chunk_share",
        "chunks that are one token",
        lambda s, t: _ratio(t.whole_chunks, t.chunks),
        SHARE,
    ),
    Measure(
        "unknown_share",
        "tokens that are unknown",
        lambda s, t: None if t.unknown is None else _ratio(t.unknown, t.tokens),
        "{:.2%}",
    ),
    Measure(
        "kept_word_share",
        "words that decoding gives back",
        lambda s, t: _ratio(s.words - t.lost, s.words),
        "{:.2%}",
    ),
)
BYTES_PER_TOKEN, TOKENS_PER_CHARACTER, TOKENS_PER_WORD, WHOLE_CHUNKS, UNKNOWN, KEPT = MEASURES

#: The baselines of comparisons: one token for each character, byte or word.
BASELINES: Mapping[str, Callable[[Sizes], TokenCounts]] = {
    "char": lambda sizes: TokenCounts(sizes.characters),
    "byte": lambda sizes: TokenCounts(sizes.bytes),
    "word": lambda sizes: TokenCounts(sizes.words),
}


def balance(
    groups: Mapping[str, Sizes], counts: Mapping[str, TokenCounts]
) -> dict[str, float | None]:
    """Return the tokens per character of each group, divided by the smallest of all groups.

    A group with 3.0 takes three times as many tokens as the best group for the same number of
    characters. The greatest value is the ratio of the worst group to the best. A group without
    text has None.

    >>> sizes = {"en": Sizes(characters=100), "zh": Sizes(characters=10), "xx": Sizes()}
    >>> balance(sizes, {"en": TokenCounts(20), "zh": TokenCounts(8), "xx": TokenCounts()})
    {'en': 1.0, 'zh': 4.0, 'xx': None}
    """
    of = TOKENS_PER_CHARACTER.of
    ratios = {group: of(sizes, counts[group]) for group, sizes in groups.items()}
    least = min(filter(None, ratios.values()), default=None)
    return {
        group: None if least is None or ratio is None else ratio / least
        for group, ratio in ratios.items()
    }


def worst_to_best(ratios: Mapping[str, float | None]) -> float | None:
    """Return the greatest value of a ``balance``; None if it has none."""
    return max(filter(None, ratios.values()), default=None)


def difference(report: Report, group: str) -> float:
    """Return the ratio of the most tokens that an encoding makes of a group to the fewest.

    For a single encoding, it is the tokens per character, so that its worst groups come first. It
    is infinite if an encoding makes no token, and 0 if none makes one. Estimates are left out: they
    follow from the number of characters.
    """
    counts = [one.groups[group] for one in report.encodings.values()]
    if not counts:
        return 0.0
    if len(counts) == 1:
        return TOKENS_PER_CHARACTER.of(report.groups[group], counts[0]) or 0.0
    most, least = max(one.tokens for one in counts), min(one.tokens for one in counts)
    if not least:
        return inf if most else 0.0
    return most / least


def why_first(report: Report) -> str:
    """Return why the first groups come first, in words."""
    if not report.encodings:
        return "with the most text"
    several = len(report.encodings) > 1
    return "in which the encodings differ most" if several else "with the most tokens per character"


def by_difference(report: Report) -> Report:
    """Return a report with its groups sorted by difference, the greatest first, then by size.

    >>> from compat_bpe import get_encoding
    >>> from compat_bpe.report.measure import report
    >>> encodings = {name: get_encoding(name) for name in ("gpt2", "o200k_base")}
    >>> list(by_difference(report(encodings, {"en": ["A dog."], "zh": ["你好。"]})).groups)
    ['zh', 'en']
    """
    ordered = sorted(
        report.groups.items(), key=lambda group: (-difference(report, group[0]), -group[1].bytes)
    )
    return report._replace(groups=dict(ordered))


class Column(NamedTuple):
    """The counts of an encoding, an estimate or a baseline.

    Args:
        name: its name.
        groups, total: the counts of each group, and of all together.
        mark: the sign before its figures: ``≈`` for an estimate.
    """

    name: str
    groups: Mapping[str, TokenCounts]
    total: TokenCounts
    mark: str = ""


def columns(report: Report) -> list[Column]:
    """Return the columns of a report: its encodings, then the estimates, then the baselines."""
    listed = [Column(name, one.groups, one.total) for name, one in report.encodings.items()]
    listed += estimated(report)
    for name, count in BASELINES.items():
        groups = {group: count(sizes) for group, sizes in report.groups.items()}
        listed.append(Column(name, groups, count(report.total)))
    return listed


def estimated(report: Report) -> list[Column]:
    """Return the columns of estimated models, which have numbers of tokens alone."""
    return [
        Column(
            name,
            {
                group: TokenCounts(one.tokens(sizes.characters))
                for group, sizes in report.groups.items()
            },
            TokenCounts(one.tokens(report.total.characters)),
            "≈",
        )
        for name, one in report.estimates.items()
    ]


def notes(report: Report) -> list[str]:
    """Return a sentence on each estimate: its reason, and the figures it lacks."""
    return [
        f"{name} is an estimate without chunks, ids or balance: {one.reason}"
        for name, one in report.estimates.items()
    ]


class Table(NamedTuple):
    """A table of figures as text.

    Args:
        title: the name of the figures.
        columns: the names of the columns.
        rows: the name of each row, mostly a group, and its figures.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str]]]


def measures_of(report: Report) -> list[Measure]:
    """Return the measures that apply to the encodings of a report.

    The share of unknown tokens needs an unknown token. The share of kept words needs a lost word,
    which byte-level BPE never has.
    """
    totals = [one.total for one in report.encodings.values()]
    silent: list[Measure] = []
    if all(total.unknown is None for total in totals):
        silent.append(UNKNOWN)
    if not any(total.lost for total in totals):
        silent.append(KEPT)
    return [measure for measure in MEASURES if measure not in silent]


def group_tables(report: Report) -> list[Table]:
    """Return a table for each measure, by group and in total; the balance comes last."""
    listed = columns(report)
    tables = [_table(report, "tokens", listed, lambda sizes, counts: counts.tokens, "{:,}")]
    for measure in measures_of(report):
        # Baselines have no chunks, nothing unknown, and are not decoded.
        is_of_encodings = measure in (WHOLE_CHUNKS, UNKNOWN, KEPT)
        some = listed[: len(report.encodings)] if is_of_encodings else listed
        if not some:
            continue
        tables.append(_table(report, measure.title, some, measure.of, measure.form))
    listed = [column for column in listed if not column.mark]  # all groups of these are equal
    if len(report.groups) > 1:
        ratios = [balance(report.groups, column.groups) for column in listed]
        rows = [(group, [written(ratio[group]) for ratio in ratios]) for group in report.groups]
        rows.append(("worst to best", [written(worst_to_best(ratio)) for ratio in ratios]))
        names = [column.name for column in listed]
        tables.append(Table("tokens per character, relative to the best group", names, rows))
    return tables


def vocabulary_table(report: Report) -> Table:
    """Return a table of the used, unused and unreachable tokens of each vocabulary."""
    rows = []
    for name, one in report.encodings.items():
        counts = one.mergeable, one.used, one.unused
        mergeable, used, unused = (written(count, "{:,}") for count in counts)
        shares = [written(one.share(number), SHARE) for number in (one.used, one.unused)]
        unreachable = "not known" if one.unreachable is None else f"{len(one.unreachable):,}"
        rows.append((name, [mergeable, used, shares[0], unused, shares[1], unreachable]))
    titles = ["all", "used", "share", "unused", "share", "unreachable"]
    return Table("mergeable tokens", titles, rows)


def curve_tables(report: Report) -> list[Table]:
    """Return a table of some checks of each learning curve."""
    return [
        Table(
            f"learning curve of {name}: bytes per token of the text held out in training",
            ["tokens", "merges", "bytes per token"],
            [
                ("", [f"{check.tokens:,}", f"{check.merges:,}", f"{check.bytes_per_token:.4f}"])
                for check in sampled_checks(checks)
            ],
        )
        for name, checks in report.curves.items()
        if checks
    ]


def _table(
    report: Report,
    title: str,
    listed: Sequence[Column],
    of: Callable[[Sizes, TokenCounts], float | None],
    form: str,
) -> Table:
    rows = [
        (group, [column.mark + written(of(sizes, column.groups[group]), form) for column in listed])
        for group, sizes in report.groups.items()
    ]
    if len(rows) != 1:
        cells = [column.mark + written(of(report.total, column.total), form) for column in listed]
        rows.append(("total", cells))
    return Table(title, [column.name for column in listed], rows)


def written(figure: float | None, form: str = RATIO, none: str = "-") -> str:
    """Return a figure as text; a dash, or another text, where there is none."""
    return none if figure is None else form.format(figure)


#: The most rows of a table in text.
_ROWS = 12


class Check(NamedTuple):
    """A check of a training: the numbers of tokens and of merges, and bytes per token."""

    tokens: int
    merges: int
    bytes_per_token: float


def curve_of(path: Path) -> list[Check]:
    """Return the learning curve of a vocabulary that ``compat-bpe train`` wrote.

    Args:
        path: its folder, or one of its files.

    Returns:
        The checks; none if there is no manifest with checks, or if it lists other files.

    Raises:
        OSError: a file of the vocabulary cannot be read.
    """
    import hashlib
    import json

    from ..formats.settings_beside import MANIFEST  # few vocabularies have one

    folder = path if path.is_dir() else path.parent
    try:
        manifest = json.loads(read_whole(folder / MANIFEST))
        digests = dict(manifest["files"])
        checks = [_check(one) for one in manifest["metrics"]["curve"]]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return []
    files = [path] if folder != path else [folder / name for name in digests]
    for file in files:
        if folder == path and not file.is_file():
            continue
        if hashlib.sha256(read_whole(file)).hexdigest() != digests.get(file.name):
            return []
    return checks


def _check(given: Any) -> Check:
    check = Check(*(given[name] for name in Check._fields))
    numbers = (type(check.tokens), type(check.merges), type(check.bytes_per_token))
    if numbers != (int, int, float) or min(check) < 0 or not isfinite(check[-1]):
        raise ValueError(f"{given} is not a check")
    return check


def sampled_checks(checks: Sequence[Check]) -> list[Check]:
    """Return some checks at equal distances, with the first and the last one.

    >>> len(sampled_checks([Check(number, number, 1.0) for number in range(100)]))
    12
    """
    last = len(checks) - 1
    if last < _ROWS:
        return list(checks)
    return [checks[round(row * last / (_ROWS - 1))] for row in range(_ROWS)]
