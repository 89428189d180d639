"""Training beside Hugging Face tokenizers' ``BpeTrainer`` and tiktoken's ``bpe_train``."""

from __future__ import annotations

import pickle
import statistics
import sysconfig
import tempfile
import time
from pathlib import Path

import tiktoken._educational

from compat_bpe.encodings.patterns import PATTERNS
from compat_bpe.train import train_bpe
from tools.benchmark.corpora import mixed
from tools.benchmark.processes import run_code

#: Sizes of vocabulary.
SIZES = (8_000, 32_000)

#: Characters of a text that the trainers are given at a time.
_TEXT = 1 << 16

#: Each prints seconds, the digest of the merges, and the most memory in megabytes: of the process
#: and all its workers together, at most.
_REPORT = """
import hashlib, resource
from compat_bpe.parallel.processes import processors
digest = int(hashlib.sha256(repr(merges).encode()).hexdigest()[:12], 16)
own, worker = (
    resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
)
print(taken, digest, (own + processors() * worker) / 1000)
"""

_OURS = """
import pickle, time
from compat_bpe.train import Trainer, TrainingSettings
texts = pickle.load(open({path!r}, "rb"))
start = time.perf_counter()
with Trainer(TrainingSettings({size})) as trainer:
    for text in texts:
        trainer.feed(text)
    merges = [(merge.left, merge.right) for merge in trainer.train().merges]
taken = time.perf_counter() - start
"""

_THEIRS = """
import json, pickle, time
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from compat_bpe.pipeline.byte_level import decode_bytes
texts = pickle.load(open({path!r}, "rb"))
tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
alphabet = pre_tokenizers.ByteLevel.alphabet()
start = time.perf_counter()
trainer = trainers.BpeTrainer(vocab_size={size}, initial_alphabet=alphabet, show_progress=False)
tokenizer.train_from_iterator(texts, trainer)
taken = time.perf_counter() - start
listed = json.loads(tokenizer.to_str())["model"]["merges"]
merges = [tuple(map(decode_bytes, merge)) for merge in listed]
"""


def corpus(texts: list[str], size: int) -> list[str]:
    """Texts of so many characters: those given, sources of Python, and if need be mixtures."""
    found = list(texts)
    left = size - sum(map(len, found))
    for path in sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py")):
        if left <= 0:
            break
        if "site-packages" not in path.parts:
            found.append(path.read_bytes().decode("utf-8", "replace"))
            left -= len(found[-1])
    if left > 0:
        found.append(mixed(found, left, seed=4))
    pieces = [text[at : at + _TEXT] for text in found for at in range(0, len(text), _TEXT)]
    while sum(map(len, pieces)) - len(pieces[-1]) >= size:
        pieces.pop()
    return pieces


def training(texts: list[str], size: int, rounds: int) -> dict[str, dict[str, float]]:
    """Seconds and megabytes for each size of vocabulary, and those of tokenizers.

    Each runs in a process of its own, the two in turn, with as many threads or workers as there
    are processors.
    """
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts"
        path.write_bytes(pickle.dumps(corpus(texts, size)))
        for vocabulary in SIZES:
            runs = []
            for _ in range(rounds):
                ours, theirs = (
                    run_code(code.format(path=str(path), size=vocabulary) + _REPORT)
                    for code in (_OURS, _THEIRS)
                )
                if ours[1] != theirs[1]:
                    raise SystemExit(f"{vocabulary} tokens: the merges differ from tokenizers'")
                runs.append((ours[0], theirs[0], ours[0] / theirs[0], ours[2], theirs[2]))
            names = ("seconds", "tokenizers_seconds", "times", "megabytes", "tokenizers_megabytes")
            rows[f"{vocabulary}"] = dict(zip(names, map(statistics.median, zip(*runs))))
    return rows


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
