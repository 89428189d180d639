"""Training of models of SentencePiece, with the pieces and scores of sentencepiece 0.2.3.

A check on held-out lines encodes them anew, with the model that learning would end with here.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...corpus.chunk_counts import Counted, rows_of
from ...corpus.counts_file import escape, unescape
from ...encodings.save import checked_bytes
from ...encodings.sentencepiece import SentencePiece
from ...files.write import write_files
from ...formats.sentencepiece import SentencePieceModel
from ...pipeline.models.sentencepiece.base import NORMAL
from ...unicode.surrogates import repair
from ..convergence import Point, Watch, learn_by_steps, points_as_json
from ..kind import LearnedMerge
from .bpe import PieceRules, learn_pieces
from .corpus import (
    Corpus,
    corpus_of_texts,
    learn_characters,
    learn_words,
    seed_pieces,
    word_splitter,
)
from .settings import MODEL_KINDS, SentencePieceSettings, meta_pieces, normalizer_of
from .unigram import goal_of, learn_unigram


def watch_lines(settings: SentencePieceSettings, lines: Mapping[str, int]) -> Watch | None:
    """Return the checks on held-out lines, given with their counts; None if there are none.

    Raises:
        ValueError: there is no text.
    """
    if settings.convergence is None:
        return None

    def measure(model: SentencePieceModel) -> tuple[int, int, int]:
        encoding = SentencePiece("held out", model)
        size = sum(encoding.count(line) * count for line, count in lines.items())
        return len(model.texts), 0, size

    size = sum(len(line.encode()) * count for line, count in lines.items())
    is_shrinking = settings.kind.checks == "rounds"
    return Watch(settings.convergence, size, measure, shrinks=is_shrinking)


#: Texts and their counts.
CountedTexts = Iterable[tuple[str, int]]


def learn_sentencepiece(
    texts: Iterable[str],
    settings: SentencePieceSettings,
    counts: CountedTexts = (),
    watch: Watch | None = None,
) -> SentencePieceModel:
    """Return the model learned from texts and counts.

    Args:
        texts: the corpus; each line is a sentence.
        settings: the settings.
        counts: texts with their counts, beside the others; not for a Unigram model, which begins
            with substrings of the running text.
        watch: the checks on held-out lines, by which learning may stop.

    Raises:
        ValueError: there is no text; there are too few pieces for ``vocab_size``, or too many
            characters; counts are given for Unigram.
    """
    if settings.model_type == "unigram":
        learned = _learn_unigram(texts, settings, counts, watch)
        if watch is not None and watch.has_converged:
            model: SentencePieceModel = watch.model
            return model
        return assemble(learned, settings)
    return learn_from_corpus(corpus_of_texts(texts, settings, counts=counts), settings, watch)


def learn_from_corpus(
    corpus: Corpus, settings: SentencePieceSettings, watch: Watch | None = None
) -> SentencePieceModel:
    """Return the model learned from counted words; ``watch`` and errors as above.

    Raises:
        ValueError: it is a Unigram model, see ``check_takes_counts``; or learning is to stop by
            held-out text, of which there is none.
    """
    check_takes_counts(settings)
    if settings.convergence is not None and watch is None:
        raise ValueError("convergence needs held-out text, and there is none")
    if settings.model_type == "bpe":
        learned = _learn_bpe(corpus, settings, watch)
    else:
        learn = learn_words if settings.model_type == "word" else learn_characters
        room = settings.vocab_size - len(meta_pieces(settings))
        learned = learn(corpus, None if settings.use_all_vocab else room)
    return assemble(learned, settings, is_any_size=watch is not None and watch.has_converged)


def check_takes_counts(settings: SentencePieceSettings) -> None:
    """Raise ``ValueError`` if a model cannot be learned from counts."""
    if settings.model_type == "unigram":
        raise ValueError(
            "a Unigram model of SentencePiece cannot be learned from counts: it begins with "
            "substrings of the running text; give texts, or learn a Unigram model of tokenizers"
        )


def _learn_bpe(
    corpus: Corpus, settings: SentencePieceSettings, watch: Watch | None = None
) -> list[tuple[str, float]]:
    most = settings.vocab_size - len(meta_pieces(settings)) - len(corpus.alphabet)
    learned = learn_pieces(corpus.words, corpus.alphabet, PieceRules(settings), most)
    pieces: list[str] = []

    def step() -> str:
        piece = next(learned, None)
        if piece is None:
            return "nothing left"
        pieces.append(piece[0])
        return ""

    def in_order() -> list[tuple[str, float]]:
        """Return pieces and the alphabet after them, with scores that fall from 0."""
        every = [*pieces, *corpus.alphabet]
        return [(piece, -float(number)) for number, piece in enumerate(every)]

    learn_by_steps(step, watch, lambda: assemble(in_order(), settings, is_any_size=True))
    return in_order()


def _learn_unigram(
    texts: Iterable[str],
    settings: SentencePieceSettings,
    counts: CountedTexts,
    watch: Watch | None = None,
) -> list[tuple[str, float]]:
    for _ in counts:
        check_takes_counts(settings)
    corpus = corpus_of_texts(texts, settings, keep_sentences=True)
    seeds = seed_pieces(
        corpus.sentences,
        word_splitter(settings),
        PieceRules(settings),
        corpus.alphabet,
        settings.max_sentencepiece_length,
        settings.seed_sentencepiece_size or max(100_000, 8 * settings.vocab_size),
    )
    words = list(corpus.words.items())
    if not settings.split_by_whitespace:
        words = [(text, 1) for text in corpus.sentences]
    alphabet = corpus.alphabet
    # The sentences take more memory than all words.
    del corpus
    return learn_unigram(
        words,
        seeds,
        alphabet,
        settings.vocab_size - len(meta_pieces(settings)),
        goal_of(settings.vocab_size),
        shrinking_factor=settings.shrinking_factor,
        steps=settings.num_sub_iterations,
        reserved=len(meta_pieces(settings)),
        has_converged=None
        if watch is None
        else lambda found: watch.check(assemble(found, settings, is_any_size=True)),
    )


def assemble(
    learned: list[tuple[str, float]], settings: SentencePieceSettings, *, is_any_size: bool = False
) -> SentencePieceModel:
    """Return a model with the reserved pieces at their ids, and the learned ones between them.

    If it may be of any size, it need not have ``vocab_size`` pieces, whether or not the settings
    demand them.

    Raises:
        ValueError: there are too few pieces; a reserved piece is learned, too, or is beyond the
            others.
    """
    reserved = meta_pieces(settings)
    size = len(learned) + len(reserved)
    is_hard = (
        settings.hard_vocab_limit
        and not is_any_size
        and settings.model_type != "char"
        and not settings.use_all_vocab
    )
    if is_hard and size < settings.vocab_size:
        raise ValueError(
            f"vocab_size is {settings.vocab_size}; the texts have only {size} pieces: lower it, or "
            "set hard_vocab_limit to False"
        )
    taken = {text for text, _ in learned}.intersection(text for text, _ in reserved.values())
    if taken:
        raise ValueError(f"the reserved piece {min(taken)!r} is learned, too: rename it")
    if max(reserved, default=-1) >= size:
        number = max(reserved)
        raise ValueError(
            f"{reserved[number][0]!r} has the id {number}; there are only {size} pieces"
        )
    normal = ((text, NORMAL, score) for text, score in learned)
    pieces = [(*reserved[at], 0.0) if at in reserved else next(normal) for at in range(size)]
    model = SentencePieceModel(
        [text for text, _, _ in pieces],
        [score for _, _, score in pieces],
        bytes(kind for _, kind, _ in pieces),
        normalizer=normalizer_of(settings),
        kind=MODEL_KINDS[settings.model_type],
        whitespace_as_suffix=settings.treat_whitespace_as_suffix,
        byte_fallback=settings.byte_fallback,
        unk_surface=settings.unk_surface,
        unk_piece=settings.unk_piece,
        bos_piece=settings.bos_piece,
        eos_piece=settings.eos_piece,
        pad_piece=settings.pad_piece,
        source="the trained model",
    )
    model.check()
    return model


def vocab_bytes(model: SentencePieceModel) -> bytes:
    r"""Return the ``.vocab`` file of a model: each piece with its score, by id.

    >>> settings = SentencePieceSettings(10)
    >>> vocab_bytes(learn_sentencepiece(["hug pug"], settings))[:27]
    b'<unk>\t0\n<s>\t0\n</s>\t0\nug\t-0\n'
    """
    return "".join(
        f"{text}\t{score:.6g}\n" for text, score in zip(model.texts, model.scores)
    ).encode()


def save_trained_sentencepiece(
    encoding: SentencePiece, prefix: str | os.PathLike[str]
) -> tuple[str, str]:
    """Write the ``.model`` and the ``.vocab`` file of a model, and return their paths.

    Args:
        encoding: the model.
        prefix: the path without ``.model``.

    Raises:
        OSError: a file cannot be written.
        ValueError: the model gives other ids when it is read.
    """
    paths = f"{os.fspath(prefix)}.model", f"{os.fspath(prefix)}.vocab"
    model = encoding.definition
    write_files([(paths[0], checked_bytes(encoding, paths[0])), (paths[1], vocab_bytes(model))])
    return paths


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
        """The merges: none, since a piece may be made in several ways."""
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
            group: the group that it belongs to; it makes no difference.
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
            raise ValueError("held-out text needs the setting convergence, which is missing")
        self._held_out.update(filter(None, repair(text).split("\n")))

    def train(self, advance: Callable[[int], None] = lambda steps: None) -> TrainedSentencePiece:
        """Learn from all texts.

        Args:
            advance: called with 1 for each line that is read.

        Raises:
            ValueError: as in ``learn_sentencepiece``.
            OSError: the texts cannot be read again.
        """
        sentences = self._sentences(advance)
        watch = watch_lines(self.settings, self._held_out)
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
