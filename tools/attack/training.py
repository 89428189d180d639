"""Training on random small corpora with random settings, against the references.

Where a reference's result is not random, the one here is the same. What is random there, the
order of characters with a mark, is taken from its result (see ``test_train_bpe``).
"""

from __future__ import annotations

import io
import os
import sysconfig
import tempfile
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

# Threads would take address space, which is limited.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("RAYON_NUM_THREADS", "1")

import sentencepiece
import tokenizers
from tokenizers import models, trainers

from compat_bpe.encodings.load import DEEPSEEK
from compat_bpe.save import save_tokenizer_json
from compat_bpe.train import (
    CharacterBpeSettings,
    WordLevelSettings,
    WordPieceSettings,
)
from compat_bpe.train.bpe.growing import make_encoding
from compat_bpe.train.sentencepiece.settings import SentencePieceSettings
from compat_bpe.train.sentencepiece.trainer import SentencePieceTrainer
from compat_bpe.train.words import WordCounter
from tests.differential import test_train_bpe as bpe
from tests.differential import test_train_sentencepiece as sentences
from tests.differential import test_train_unigram as unigram

SECONDS = 60
MEMORY = 8 << 30

#: Parts of corpora in which much is equally frequent, or that readers may see differently.
_ODD = [
    *("a", "ab", "ba", "aa", "abc", " ", "  ", "\n", "\r\n", "\r", "\t", "\0", "'s", "1", "22"),
    *("é", "e\u0301", "猫", "ねこ", "б", "🙂", "\u200d", "\ufeff", "\u2028", "\x1c", "_", "▁"),
    "<s>",
]


@cache
def _sources() -> list[Path]:
    folder = Path(sysconfig.get_path("stdlib"))
    return sorted([*folder.glob("*.py"), *folder.glob("*/*.py"), *Path("docs").glob("*.md")])


def _natural(random: Random) -> str:
    text = random.choice(_sources()).read_text("utf-8", "replace")
    start = random.randrange(len(text) + 1)
    return text[start : start + random.choice([100, 2000, 20_000])]


def _made(random: Random) -> str:
    parts = random.sample(_ODD, random.randint(1, 8))
    text = "".join(random.choices(parts, k=random.choice([0, 3, 30, 300])))
    if random.random() < 0.2:
        text += random.choice("a猫 ") * random.choice([100, 3000])
    return text


def _corpus(random: Random) -> list[str]:
    kinds = random.choice([[_natural], [_made], [_natural, _made]])
    corpus = [random.choice(kinds)(random) for _ in range(random.randint(1, 5))]
    if random.random() < 0.2:
        corpus = [text.replace("\n", "\r\n") for text in corpus]
    if random.random() < 0.2:
        corpus = [line for text in corpus for line in text.splitlines(keepends=True)]
    return [*corpus, "a"]


@cache
def _unmerged(pattern: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.json")
        save_tokenizer_json(make_encoding("unmerged", pattern), path)
        return path.read_text("utf-8")


def _bytes(random: Random) -> None:
    pattern = random.choice([*bpe.PATTERN_NAMES, DEEPSEEK])
    corpus, size = _corpus(random), random.choice([256, 270, 400, 2000])
    least, longest = random.choice([0, 1, 2, 5]), random.choice([None, None, 2, 3, 8])
    theirs = {} if longest is None else {"max_token_length": longest + 1}
    expected = bpe.reference_merges(_unmerged(pattern), corpus, size, min_frequency=least, **theirs)
    found = bpe.merges_of(
        corpus, size, pattern=pattern, min_frequency=least, max_token_length=longest
    )
    assert found == expected


def _characters(random: Random) -> None:
    corpus = _corpus(random)
    options: dict[str, Any] = {
        "vocab_size": random.choice([1, 60, 300, 2000]),
        "min_frequency": random.choice([0, 2, 3]),
        "initial_alphabet": random.choice(["", "xyz", "é猫"]),
        "special_tokens": random.choice([[], ["[PAD]", "[MASK]"]]),
    }
    parts = bpe.PARTS[random.choice([*bpe.PARTS])]
    # With text that looks like marks, a pair may be joined twice, by another rule there.
    mark = "\ue000"
    if random.random() < 0.4:
        settings: Any = WordPieceSettings(prefix=random.choice(["##", "@", mark, ""]), **options)
        if settings.kind.marks.prefix in ("##", "@"):
            corpus = [text.replace(settings.kind.marks.prefix[0], "+") for text in corpus]
    else:
        prefix, suffix = random.choice([("", "</w>"), (mark, ""), (mark, "</w>"), ("", "")])
        longest = random.choice([None, None, 2, 3, 8])
        settings = CharacterBpeSettings(
            prefix=prefix, suffix=suffix, max_token_length=longest, **options
        )
    bpe.check_merges(corpus, settings, parts)


def _words(random: Random) -> None:
    corpus, size, least = _corpus(random), random.choice([1, 9, 99, 9999]), random.randint(0, 3)
    part = random.choice([None, {"type": "Whitespace"}, {"type": "BertPreTokenizer"}])
    there = bpe.tokenizer_of(models.WordLevel({}, unk_token="<unk>"), {"pre_tokenizer": part})
    trainer = trainers.WordLevelTrainer(
        vocab_size=size, min_frequency=least, special_tokens=["<unk>"], show_progress=False
    )
    there.train_from_iterator(corpus, trainer)
    with WordCounter.of_parts({"pre_tokenizer": part}, workers=1) as counter:
        for text in corpus:
            counter.feed(text)
        counted = counter.finish()
    learned = WordLevelSettings(size, min_frequency=least).kind.learn(counted, lambda steps: None)
    assert learned.model.vocabulary == there.get_vocab()


def _unigram(random: Random) -> None:
    splits = tokenizers.pre_tokenizers
    part = random.choice([splits.Metaspace(), splits.Whitespace(), splits.ByteLevel()])
    # Rounding adds up in longer words.
    counts = unigram.words_of([text[:1500] for text in _corpus(random)], part)
    counts.pop("", None)
    if not counts:
        return
    size = len({*"".join(counts)}) + random.choice([0, 3, 100, 1000])
    options: dict[str, Any] = {}
    if random.random() < 0.5:
        options["special_tokens"] = ["<s>", "</s>"][: random.randint(0, 2)]
        options["unk_token"] = "<unk>"
        size += 3
    if random.random() < 0.5:
        options["max_piece_length"] = random.choice([1, 3, 60])
    if random.random() < 0.5:
        options["shrinking_factor"] = random.choice([0.3, 0.6, 0.9])
        options["n_sub_iterations"] = random.choice([1, 2, 3])
    try:
        # Where nothing can shrink to the size, the reference does not end.
        unigram.learned(counts, size, **options)
    except ValueError:
        return
    try:
        unigram.assert_same(counts, size, **options)
    except AssertionError:
        if not unigram.is_random(counts, size, **options):
            raise


def _sentences(random: Random) -> None:
    options: dict[str, Any] = {
        "model_type": random.choice(["bpe", "bpe", "unigram", "unigram", "word", "char"]),
        "hard_vocab_limit": False,
        "vocab_size": random.choice([30, 200, 330, 1000]),
    }
    for name in ("byte_fallback", "split_digits", "split_by_whitespace", "split_by_number"):
        if random.random() < 0.2:
            options[name] = random.random() < 0.5
    for name in ("treat_whitespace_as_suffix", "remove_extra_whitespaces", "add_dummy_prefix"):
        if random.random() < 0.2:
            options[name] = random.random() < 0.5
    if random.random() < 0.3:
        options["max_sentence_length"] = random.choice([10, 80, 1 << 20])
    if random.random() < 0.3:
        options["character_coverage"] = random.choice([0.98, 1.0])
    if random.random() < 0.2:
        options["user_defined_symbols"] = ["ab", "<s>", "the"]
    if options["model_type"] == "word":
        # There, a word goes on over a space that is too rare to be of the alphabet.
        options["character_coverage"] = 1.0
    # An empty file between others: there, the line before it may be counted again.
    files = [text for text in _corpus(random) if text]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"{number}.txt") for number in range(len(files))]
        for path, text in zip(paths, files):
            path.write_bytes(text.encode("utf-8", "replace"))
        model = io.BytesIO()
        try:
            sentencepiece.SentencePieceTrainer.train(
                input=",".join(map(str, paths)),
                model_writer=model,
                normalization_rule_name="identity",
                num_threads=1,
                minloglevel=3,
                **options,
            )
            # It also makes models that it does not load.
            sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
            expected = sentences.learned(model.getvalue())
        except (RuntimeError, OSError):
            expected = None
        try:
            with SentencePieceTrainer(SentencePieceSettings(**options)) as trainer:
                for path in paths:
                    trainer.feed(path.read_bytes().decode())
                found = sentences.ours(trainer.train().encoding)
        except ValueError:
            found = None
    if expected is None or found is None or options["model_type"] in ("bpe", "unigram"):
        assert found == expected
    else:
        sentences.assert_nearly_equal(found, expected)


#: What is trained, by name.
KINDS = {
    "bytes": _bytes,
    "characters": _characters,
    "words": _words,
    "unigram": _unigram,
    "sentencepiece": _sentences,
}


def attack(random: Random) -> None:
    """Train on a random corpus, and compare with the reference."""
    KINDS[random.choice([*KINDS])](random)
