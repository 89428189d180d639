"""Training beside the trainers of Hugging Face tokenizers and of sentencepiece."""

from __future__ import annotations

import json
import statistics
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import tiktoken._educational

from compat_bpe.encodings.published import PATTERNS
from compat_bpe.parallel.processes import processors
from compat_bpe.train import (
    train_bpe,
)
from tools.benchmark.corpora import mixed, with_new_words
from tools.benchmark.measured import Measured, measure

#: Characters of a text that the trainers of words are given at a time.
_TEXT = 1 << 16

#: What all code begins with: the corpus, read as a stream, in texts or in lines.
_BEFORE = """
import json
def texts():
    with open({path!r}, encoding="utf-8", newline="") as file:
        while text := file.read({text}):
            yield text
def lines():
    with open({path!r}, encoding="utf-8", newline="\\n") as file:
        for line in file:
            yield line.rstrip("\\n")
"""

_PRINT = "print(json.dumps(pieces))"

_TRAINER = """
with Trainer(settings) as trainer:
    for text in {feed}():
        trainer.feed(text)
    trained = trainer.train()
"""

_VOCABULARY = """
pieces = sorted(json.loads(tokenizer.to_str())["model"]["vocab"])
"""


class Side(NamedTuple):
    """Code that trains: what comes before and after, and what is measured."""

    before: str
    code: str
    after: str


class Row(NamedTuple):
    """A trainer beside a reference.

    Args:
        reference: the name of the reference.
        ours, theirs: the code of both.
        is_equal: True if the pieces are the same, whatever the order of the words.
    """

    reference: str
    ours: Side
    theirs: Side
    is_equal: bool


def _bpe(size: int) -> Row:
    return Row(
        "tokenizers",
        Side(
            "from compat_bpe.train import Trainer, TrainingSettings\n",
            f"""
with Trainer(TrainingSettings({size})) as trainer:
    for text in texts():
        trainer.feed(text)
    trained = trainer.train()
""",
            "from compat_bpe.pipeline.byte_level import encode_bytes\n"
            "pieces = [encode_bytes(merge.left + merge.right) for merge in trained.merges]\n",
        ),
        Side(
            "from tokenizers import Tokenizer, models, pre_tokenizers, trainers\n",
            f"""
tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
alphabet = pre_tokenizers.ByteLevel.alphabet()
trainer = trainers.BpeTrainer(vocab_size={size}, initial_alphabet=alphabet, show_progress=False)
tokenizer.train_from_iterator(texts(), trainer)
""",
            'merges = json.loads(tokenizer.to_str())["model"]["merges"]\n'
            "pieces = [left + right for left, right in merges]\n",
        ),
        is_equal=True,
    )


def _wordpiece(size: int) -> Row:
    return Row(
        "tokenizers",
        Side(
            "from compat_bpe.train import WordPieceSettings\n"
            "from compat_bpe.train.trainer import Trainer\n",
            f"settings = WordPieceSettings({size})" + _TRAINER.format(feed="texts"),
            "pieces = sorted(trained.encoding.definition.model.vocabulary)\n",
        ),
        Side(
            "from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers\n",
            f"""
tokenizer = Tokenizer(models.WordPiece({{}}, unk_token="[UNK]"))
tokenizer.normalizer = normalizers.BertNormalizer()
tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
trainer = trainers.WordPieceTrainer(
    vocab_size={size}, special_tokens=["[UNK]"], show_progress=False
)
tokenizer.train_from_iterator(texts(), trainer)
""",
            _VOCABULARY,
        ),
        # The order of the characters, which is random there, decides between equal pairs.
        is_equal=False,
    )


def _unigram(size: int) -> Row:
    return Row(
        "tokenizers",
        Side(
            "from compat_bpe.train.unigram import UnigramSettings\n"
            "from compat_bpe.train.trainer import Trainer\n",
            f"settings = UnigramSettings({size})" + _TRAINER.format(feed="lines"),
            "pieces = sorted(trained.encoding.definition.model.pieces)\n",
        ),
        Side(
            "from tokenizers import Tokenizer, models, pre_tokenizers, trainers\n",
            f"""
tokenizer = Tokenizer(models.Unigram())
tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
trainer = trainers.UnigramTrainer(
    vocab_size={size}, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False
)
tokenizer.train_from_iterator(lines(), trainer)
""",
            'vocab = json.loads(tokenizer.to_str())["model"]["vocab"]\n'
            "pieces = sorted(piece for piece, _ in vocab)\n",
        ),
        # Ties between ways are decided by the last bits, which are random there.
        is_equal=False,
    )


def _sentencepiece(kind: str, threads: int, size: int) -> Row:
    return Row(
        "sentencepiece",
        Side(
            "from compat_bpe.train import SentencePieceSettings, train\n",
            f"settings = SentencePieceSettings({size}, {kind!r}, hard_vocab_limit=False)\n"
            "encoding = train(lines(), settings)\n",
            "pieces = list(encoding.definition.texts)\n",
        ),
        Side(
            "import io, sentencepiece\n",
            f"""
model = io.BytesIO()
sentencepiece.SentencePieceTrainer.train(
    sentence_iterator=lines(),
    model_writer=model,
    model_type={kind!r},
    vocab_size={size},
    normalization_rule_name="identity",
    hard_vocab_limit=False,
    num_threads={threads},
    minloglevel=3,
)
""",
            "processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())\n"
            "pieces = [processor.id_to_piece(one) for one in range(len(processor))]\n",
        ),
        # With more threads than one, the reference sums in another order.
        is_equal=kind == "bpe" or threads == 1,
    )


#: Each kind, by a title, for a vocabulary of 8,000.
ROWS = {
    "BPE": _bpe(8_000),
    "BPE, 32,000 tokens": _bpe(32_000),
    "WordPiece": _wordpiece(8_000),
    "Unigram": _unigram(8_000),
    "SentencePiece BPE": _sentencepiece("bpe", 1, 8_000),
    "SentencePiece Unigram": _sentencepiece("unigram", processors(), 8_000),
}


def corpus(texts: list[str], size: int) -> Iterator[str]:
    """Yield texts, so many characters together: those given, sources of Python, and mixtures.

    The mixtures have words that were not there before, as natural text goes on to have.
    """
    found: list[str] = []
    left = size
    sources = sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py"))
    own = (path.read_bytes().decode("utf-8", "replace") for path in sources)
    # At most half of the corpus, so that there is a mixture at any size.
    for text in (*texts, *own):
        if left <= size // 2:
            break
        text = text[: min(left - size // 2, size // len(texts))]
        found.append(text)
        yield text
        left -= len(text)
    seed = 4
    while left > 0:
        text = with_new_words(mixed(found, max(2000, min(left, 1_000_000)), seed), seed)[:left]
        yield text
        left -= len(text)
        seed += 1


def training(
    texts: list[str], size: int, rounds: int, titles: list[str], limit: float | None = None
) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield a title and a row of figures of each trainer beside its reference.

    Each runs in a process of its own, the two in turn, with as many threads or workers as there
    are processors.

    Args:
        texts: the texts that the corpus is made of.
        size: the size of the corpus in characters.
        rounds: the number of runs of each.
        titles: the trainers, as in ``ROWS``.
        limit: the most seconds of processor time of a run. The figures of one that was stopped are
            those so far: a row has ``"is_over"`` or ``"reference_is_over"`` then, and no
            ``"in_common"``.

    Raises:
        SystemExit: the result differs from the reference's where that is determined.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.txt"
        with path.open("w", encoding="utf-8", newline="") as file:
            for text in corpus(texts, size):
                file.write(text.replace("\r", "").replace("\0", ""))
        before = _BEFORE.format(path=str(path), text=_TEXT)
        for title in titles:
            row = ROWS[title]
            runs = [
                [
                    measure(before + side.before, side.code, side.after + _PRINT, limit)
                    for side in row[1:3]
                ]
                for _ in range(rounds)
            ]
            yield title, _figures(title, row, runs)


def _figures(title: str, row: Row, runs: list[list[Measured]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name in ("seconds", "cpu_seconds", "megabytes"):
        pairs = [[getattr(one, name) for one in run] for run in runs]
        found[name], found[f"{row.reference}_{name}"] = map(statistics.median, zip(*pairs))
        found[f"times_{name}"] = statistics.median(here / there for here, there in pairs)
    over = [any(one.is_over for one in side) for side in zip(*runs)]
    for is_over, name in zip(over, ("is_over", "reference_is_over")):
        if is_over:
            found[name] = 1
    if any(over):
        return found
    ours, theirs = (json.loads(one.lines[0]) for one in runs[0])
    if row.is_equal and ours != theirs:
        raise SystemExit(f"{title}: the pieces differ from those of {row.reference}")
    found["in_common"] = len({*ours} & {*theirs}) / len({*theirs})
    return found


def beside_educational(text: str, rounds: int) -> dict[str, float]:
    """Seconds for 300 merges on 50,000 characters, and those of ``tiktoken._educational``."""
    text = text[:50_000]
    pattern = PATTERNS["gpt2"]
    runs = []
    for _ in range(rounds):
        start = time.perf_counter()
        train_bpe([text], 556, pattern=pattern)
        ours = time.perf_counter() - start
        start = time.perf_counter()
        tiktoken._educational.bpe_train(text, 556, pattern, visualise=None)
        runs.append((ours, time.perf_counter() - start))
    ours, theirs = map(statistics.median, zip(*runs))
    return {"seconds": ours, "educational_seconds": theirs, "ratio": theirs / ours}
