"""Training of a model of SentencePiece step by step, for texts in pieces."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ...corpus.counted import Counted, rows_of
from ...corpus.counts_file import escape, unescape
from ...encodings.sentencepiece import SentencePiece
from ..run.convergence import Point, points_as_json
from ..run.results import LearnedMerge
from .model import check_takes_counts, learn_sentencepiece, lines_with_counts
from .settings import SentencePieceSettings
from .watch import HeldOutLines


class TrainedSentencePiece(NamedTuple):
    """The result of training a model of SentencePiece.

    Args:
        encoding: the encoding.
        bytes: the size of the corpus in UTF-8.
        lines: the number of its lines that are not empty.
        skipped: the number of those that are longer than ``max_sentence_length``.
        stopped, curve: as in ``Trained``.
    """

    encoding: SentencePiece
    bytes: int
    lines: int
    skipped: int
    stopped: str = "nothing left"
    curve: Sequence[Point] = ()

    @property
    def merges(self) -> list[LearnedMerge]:
        """The merges: none, since a piece may come about in several ways."""
        return []

    def metrics(self) -> dict[str, Any]:
        """Return figures of the training for a manifest."""
        figures = {"bytes": self.bytes, "lines": self.lines, "skipped_lines": self.skipped}
        if not self.curve:
            return figures
        return {**figures, "stopped": self.stopped, "curve": points_as_json(self.curve)}


class SentencePieceTrainer:
    """Training of a model of SentencePiece step by step.

    The texts wait in a temporary file.

    Args:
        settings: the settings.
        workers: as of ``Trainer``; one process does the work.
        name: the name of the encoding.

    >>> with SentencePieceTrainer(SentencePieceSettings(12)) as trainer:
    ...     trainer.feed("hug pug h", is_last=False)
    ...     trainer.feed("ug")
    ...     trained = trainer.train()
    >>> trained.encoding.encode_as_pieces("hug"), trained.lines
    (['▁hug'], 1)
    """

    def __init__(
        self, settings: SentencePieceSettings, *, workers: int | None = None, name: str = "trained"
    ) -> None:
        self.settings = settings
        self._name = name
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  Closed by __exit__.
        self._counts = tempfile.TemporaryFile()  # noqa: SIM115  Also there.
        self._held_out: Counter[str] = Counter()
        self._bytes = self._lines = self._skipped = 0

    def __enter__(self) -> SentencePieceTrainer:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()
        self._counts.close()

    def feed(self, text: str, group: str = "", *, is_last: bool = True) -> None:
        r"""Take a text, or a piece of one.

        Args:
            text: any text; each of its lines is a sentence, as ``\n`` ends them.
            group: the group that it belongs to, which makes no difference.
            is_last: True if the text ends with this piece; False if the next piece continues it.

        Raises:
            OSError: the disk is full.
        """
        # The two halves of a surrogate pair may come one by one.
        data = text.encode("utf-8", "surrogatepass")
        self._bytes += len(data)
        self._file.write(data)
        if is_last:
            self._file.write(b"\n")

    def feed_counts(self, counts: Counted, group: str = "") -> None:
        """Take texts that come with their counts; they wait in another temporary file.

        Args:
            counts: a mapping of texts to counts, or rows as of ``Trainer.feed_counts``; each line
                of a text is a sentence.
            group: the group that they belong to, which makes no difference.

        Raises:
            TypeError, ValueError: as in ``Trainer.feed_counts``; also for a Unigram model.
            OSError: the disk is full.
        """
        for text, count, _ in rows_of(counts):
            check_takes_counts(self.settings)
            self._bytes += len(text.encode()) * count
            self._counts.write(f"{escape(text)}\t{count}\n".encode())

    def hold_out(self, text: str) -> None:
        """Take a text by which learning may stop; nothing is learned from it.

        Memory grows with its distinct lines.

        Raises:
            ValueError: the settings have no ``convergence``.
        """
        if self.settings.convergence is None:
            raise ValueError("held-out text is of no use: the settings have no convergence")
        self._held_out.update(lines_with_counts([text]))

    def train(self, advance: Callable[[int], None] = lambda steps: None) -> TrainedSentencePiece:
        """Learn from all texts.

        Args:
            advance: called with 1 for each line that is read.

        Raises:
            ValueError: as in ``learn_sentencepiece``.
            OSError: the texts cannot be read again.
        """
        sentences = self._sentences(advance)
        watch = None
        if self.settings.convergence is not None:
            watch = HeldOutLines(self.settings.convergence, self._held_out)
        try:
            model = learn_sentencepiece(sentences, self.settings, self._counted(advance), watch)
        except ValueError:
            check_some_are_short(self._lines, self._skipped, self.settings)
            raise
        encoding = SentencePiece(self._name, model)
        trained = TrainedSentencePiece(encoding, self._bytes, self._lines, self._skipped)
        if watch is None:
            return trained
        stopped = "convergence" if watch.has_converged else trained.stopped
        return trained._replace(stopped=stopped, curve=watch.points)

    def _sentences(self, advance: Callable[[int], None]) -> Iterator[str]:
        self._file.seek(0)
        for line in self._file:
            line = line.removesuffix(b"\n")
            if line:
                self._lines += 1
                self._skipped += len(line) > self.settings.max_sentence_length
                advance(1)
                yield line.decode("utf-8", "surrogatepass")

    def _counted(self, advance: Callable[[int], None]) -> Iterator[tuple[str, int]]:
        self._counts.seek(0)
        for row in self._counts:
            escaped, number = row.decode().split("\t")
            text, count = unescape(escaped), int(number)
            for line in text.split("\n"):
                size = len(line.encode())
                self._lines += count * (size > 0)
                self._skipped += count * (size > self.settings.max_sentence_length)
            advance(1)
            yield text, count


def check_some_are_short(lines: int, skipped: int, settings: SentencePieceSettings) -> None:
    """Raise ``ValueError`` if there are lines, but all are longer than ``max_sentence_length``."""
    if 0 < lines == skipped:
        raise ValueError(
            "there is no text to learn from: all lines have more than "
            f"{settings.max_sentence_length:,} bytes (max_sentence_length)"
        )
