"""The result of training is the same in any process: neither hash seeds nor workers play a part."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

#: Trains all kinds, with as many workers as its argument says. Sets have another order in a
#: process with another hash seed.
SCRIPT = """
import sys
from functools import partial
from json import dumps
from compat_bpe.corpus import chunk_counts
from compat_bpe.train import *
from compat_bpe.train.kinds import TOKENIZER_KINDS
chunk_counts._WORTH_WORKERS = chunk_counts._SHARE = 300
workers = int(sys.argv[1])
sorted_json = partial(dumps, sort_keys=True)
lines = open("README.md", encoding="utf-8").read().splitlines()[:80]

def show(settings, texts, held_out=(), workers=1):
    with (SentencePieceTrainer if settings.kind.name[0] == "s" else Trainer)(
        settings, workers=workers
    ) as trainer:
        for number, text in enumerate(texts):
            trainer.feed(text + "\\n", "ab"[number % 2])
        for text in held_out:
            trainer.hold_out(text)
        trained = trainer.train()
    encoding = trained.encoding
    print(settings.kind.name, trained.merges, trained.curve, sorted_json(trained.metrics()))
    print(encoding.recipe()[1] if not hasattr(encoding, "definition") else encoding.definition)

show(TrainingSettings(400, weights={"b": 3}), lines, workers=workers)
for make in (TrainingSettings, WordPieceSettings):
    stop = Convergence(2, 0.01, 20)
    show(make(convergence=stop), lines[::2], lines[1::2], workers)
for kind in TOKENIZER_KINDS.values():
    size = None if kind.makes is ByteSettings else 200
    show(kind.makes(size), lines)
for model in ("bpe", "unigram"):
    show(SentencePieceSettings(200, model, hard_vocab_limit=False), lines)
"""


def test_neither_hash_seeds_nor_workers_play_a_part() -> None:
    found = []
    for workers in (1, 2):
        environment = {**os.environ, "PYTHONHASHSEED": str(workers), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", SCRIPT, str(workers)]
        found.append(subprocess.check_output(command, cwd=ROOT, env=environment))
    assert found[0].count(b"\n") >= 22
    assert found[0] == found[1]
