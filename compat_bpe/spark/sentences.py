"""Words of sentences, which models of SentencePiece are learned from.

One machine reads all sentences, and counts their words. Here the executors do: each normalizes its
sentences, splits them, and counts the words; the driver learns from these. The words and their
frequencies are the same, and BPE, words and characters are learned from nothing else. Unigram also
looks at substrings of the running text, which go on over several words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ..corpus.chunk_counts import Counts
from ..corpus.counted import Counted, rows_of
from ..corpus.documents import DocumentPart
from ..encodings.sentencepiece import SentencePiece
from ..train.kind import Advance
from ..train.sentencepiece.corpus import corpus_of, lines_of, sentences_of, word_splitter
from ..train.sentencepiece.model import check_takes_counts, learn_from_corpus
from ..train.sentencepiece.settings import SentencePieceSettings
from ..train.sentencepiece.trainer import (
    SentencePieceTrainer,
    TrainedSentencePiece,
    check_some_are_short,
)
from . import rows

#: The characters that are counted for each of the most words that are held: words may be long.
_LENGTH = 128

#: The figures of a corpus of sentences.
_BYTES, _LINES, _SKIPPED = "sentences.bytes", "sentences.lines", "sentences.skipped"


def check_learned_from_words(settings: SentencePieceSettings) -> None:
    """Raise ``ValueError`` if a model cannot be learned from counted words alone."""
    check_takes_counts(settings)
    if settings.input_sentence_size:
        raise ValueError(
            "input_sentence_size: Spark learns from all lines; take a sample of the rows with "
            "DataFrame.sample"
        )


class SentenceWords:
    """The words of sentences; each line of a document is one."""

    def __init__(self, settings: SentencePieceSettings) -> None:
        self._settings = settings

    def portions(
        self, parts: Iterable[DocumentPart], by_group: bool, figures: Counter[str]
    ) -> Iterator[Counts]:
        settings = self._settings
        splits = settings.split_by_whitespace or settings.model_type == "word"
        split = word_splitter(settings)
        words: Counter[str] = Counter()
        size = 0
        for text in _documents(parts):
            size += len(text)
            self._note(text, figures)
            for sentence in sentences_of(lines_of([text], settings), settings):
                words.update(split(sentence) if splits else filter(None, [sentence]))
            if len(words) >= rows.HELD or size >= rows.HELD * _LENGTH:
                yield {"": words}
                words = Counter()
                size = 0
        yield {"": words}

    def _note(self, text: str, figures: Counter[str]) -> None:
        longest = self._settings.max_sentence_length
        figures[_BYTES] += len(text.encode())
        for line in text.split("\n"):
            figures[_LINES] += line != ""
            figures[_SKIPPED] += 4 * len(line) > longest and len(line.encode()) > longest


def _documents(parts: Iterable[DocumentPart]) -> Iterator[str]:
    """Yield the texts of documents that come in parts."""
    waiting: list[str] = []
    for text, _, _, is_last in parts:
        waiting.append(text)
        if is_last:
            yield "".join(waiting)
            waiting = []


class WordsTrainer(SentencePieceTrainer):
    """Learns a model of SentencePiece from counted words.

    Args:
        settings: the settings.
        name: the name of the encoding.
        figures: the figures of the corpus, complete when all words have come.
    """

    def __init__(self, settings: SentencePieceSettings, name: str, figures: Counter[str]) -> None:
        super().__init__(settings, name=name)
        self._figures = figures
        self._words: Counter[str] = Counter()

    def feed_counts(self, counts: Counted, group: str = "") -> None:
        """Take words and their counts."""
        for word, count, _ in rows_of(counts, group):
            self._words[word] += count

    def train(self, advance: Advance = lambda steps: None) -> TrainedSentencePiece:
        """Learn from all words.

        Raises:
            ValueError: as in ``learn_sentencepiece``.
        """
        size, lines, skipped = (self._figures[name] for name in (_BYTES, _LINES, _SKIPPED))
        check_some_are_short(lines, skipped, self.settings)
        model = learn_from_corpus(corpus_of(self._words, self.settings), self.settings)
        return TrainedSentencePiece(SentencePiece(self._name, model), size, lines, skipped)
