"""Trainers beside those of Hugging Face tokenizers and of sentencepiece."""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from compat_bpe.parallel.processes import processors
from tools.benchmark.common import Measured, Options, Row, grown, measure

#: What all code begins with: the corpus, read as a stream, in texts or in lines.
_BEFORE = """
import io, json
def texts():
    with open({path!r}, encoding="utf-8", newline="") as file:
        while text := file.read(1 << 16):
            yield text
def lines():
    with open({path!r}, encoding="utf-8", newline="\\n") as file:
        for line in file:
            yield line.rstrip("\\n")
"""

_OURS = "from compat_bpe.train import *\nfrom compat_bpe.train.trainer import Trainer\n"
_THEIRS = "from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers\n"
_VOCABULARY = 'pieces = sorted(json.loads(tokenizer.to_str())["model"]["vocab"])\n'

_FEED = """
with Trainer({settings}) as trainer:
    for text in {feed}():
        trainer.feed(text)
    trained = trainer.train()
"""

_BPE = """
tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
alphabet = pre_tokenizers.ByteLevel.alphabet()
trainer = trainers.BpeTrainer(vocab_size={size}, initial_alphabet=alphabet, show_progress=False)
tokenizer.train_from_iterator(texts(), trainer)
"""

_WORDPIECE = """
tokenizer = Tokenizer(models.WordPiece({}, unk_token="[UNK]"))
tokenizer.normalizer = normalizers.BertNormalizer()
tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
trainer = trainers.WordPieceTrainer(vocab_size=8000, special_tokens=["[UNK]"], show_progress=False)
tokenizer.train_from_iterator(texts(), trainer)
"""

_UNIGRAM = """
tokenizer = Tokenizer(models.Unigram())
tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
trainer = trainers.UnigramTrainer(
    vocab_size=8000, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False
)
tokenizer.train_from_iterator(lines(), trainer)
"""

_SENTENCEPIECE = """
model = io.BytesIO()
sentencepiece.SentencePieceTrainer.train(
    sentence_iterator=lines(),
    model_writer=model,
    model_type={kind!r},
    vocab_size=8000,
    normalization_rule_name="identity",
    hard_vocab_limit=False,
    num_threads={threads},
    minloglevel=3,
)
"""


class Side(NamedTuple):
    """Code that trains: what comes before and after, and what is measured."""

    before: str
    code: str
    after: str


class Trainers(NamedTuple):
    """A trainer here and in a reference; the pieces are the same if they are determined there."""

    reference: str
    ours: Side
    theirs: Side
    is_determined: bool


def _bpe(size: int) -> Trainers:
    return Trainers(
        "tokenizers",
        Side(
            f"{_OURS}from compat_bpe.pipeline.byte_level import encode_bytes\n",
            _FEED.format(settings=f"TrainingSettings({size})", feed="texts"),
            "pieces = [encode_bytes(merge.left + merge.right) for merge in trained.merges]\n",
        ),
        Side(
            _THEIRS,
            _BPE.format(size=size),
            'merges = json.loads(tokenizer.to_str())["model"]["merges"]\n'
            "pieces = [left + right for left, right in merges]\n",
        ),
        is_determined=True,
    )


def _sentencepiece(kind: str, threads: int) -> Trainers:
    return Trainers(
        "sentencepiece",
        Side(
            _OURS,
            f"settings = SentencePieceSettings(8000, {kind!r}, hard_vocab_limit=False)\n"
            "encoding = train(lines(), settings)\n",
            "pieces = list(encoding.definition.texts)\n",
        ),
        Side(
            "import sentencepiece\n",
            _SENTENCEPIECE.format(kind=kind, threads=threads),
            "processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())\n"
            "pieces = [processor.id_to_piece(one) for one in range(len(processor))]\n",
        ),
        # With more threads than one, the reference sums in another order.
        is_determined=kind == "bpe" or threads == 1,
    )


#: Each kind, for a vocabulary of 8,000 unless the title says otherwise.
TRAINERS = {
    "BPE": _bpe(8_000),
    "BPE, 32,000 tokens": _bpe(32_000),
    "WordPiece": Trainers(
        "tokenizers",
        Side(
            _OURS,
            _FEED.format(settings="WordPieceSettings(8000)", feed="texts"),
            "pieces = sorted(trained.encoding.definition.model.vocabulary)\n",
        ),
        Side(_THEIRS, _WORDPIECE, _VOCABULARY),
        # The order of the characters, which is random there, decides between equal pairs.
        is_determined=False,
    ),
    "Unigram": Trainers(
        "tokenizers",
        Side(
            f"{_OURS}from compat_bpe.train.unigram import UnigramSettings\n",
            _FEED.format(settings="UnigramSettings(8000)", feed="lines"),
            "pieces = sorted(trained.encoding.definition.model.pieces)\n",
        ),
        Side(
            _THEIRS,
            _UNIGRAM,
            'vocab = json.loads(tokenizer.to_str())["model"]["vocab"]\n'
            "pieces = sorted(piece for piece, _ in vocab)\n",
        ),
        # Ties between ways are decided by the last bits, which are random there.
        is_determined=False,
    ),
    "SentencePiece BPE": _sentencepiece("bpe", 1),
    "SentencePiece Unigram": _sentencepiece("unigram", processors()),
}


def training(options: Options) -> Iterator[Row]:
    """Yield the time and memory of each trainer and its reference, and the pieces in common.

    Each runs in a process of its own, the two in turn, with as many threads or workers as there are
    processors. Of one that was stopped at the limit, the figures are those so far: ``is over`` or
    ``reference is over`` is in its row then, and ``in common`` is not.

    Raises:
        SystemExit: the result differs from the reference's where that is determined.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "corpus.txt")
        with path.open("w", encoding="utf-8", newline="") as file:
            for text in grown([*options.texts.values()], options.size):
                file.write(text.replace("\r", "").replace("\0", ""))
        before = _BEFORE.format(path=str(path))
        for title in options.only or TRAINERS:
            trainers = TRAINERS[title]
            sides = (trainers.ours, trainers.theirs)
            runs = [
                [
                    measure(
                        before + side.before,
                        side.code,
                        f"{side.after}print(json.dumps(pieces))",
                        options.limit,
                    )
                    for side in sides
                ]
                for _ in range(options.rounds)
            ]
            yield title, _figures(title, trainers, runs)


def _figures(title: str, trainers: Trainers, runs: list[list[Measured]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name in ("seconds", "cpu_seconds", "megabytes"):
        pairs = [[getattr(side, name) for side in sides] for sides in runs]
        found[name], found[f"{trainers.reference} {name}"] = map(statistics.median, zip(*pairs))
    over = [any(side.is_over for side in sides) for sides in zip(*runs)]
    found.update(
        (name, 1.0) for name, is_over in zip(("is over", "reference is over"), over) if is_over
    )
    if any(over):
        return found
    ours, theirs = (json.loads(side.lines[0]) for side in runs[0])
    if trainers.is_determined and ours != theirs:
        raise SystemExit(f"{title}: the pieces differ from those of {trainers.reference}")
    return {**found, "in common": len({*ours} & {*theirs}) / len({*theirs})}
