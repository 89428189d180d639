"""All kinds of tokenizers beside Hugging Face tokenizers, and beside sentencepiece."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import sentencepiece
import tokenizers

import compat_bpe
from tools.benchmark import first, refuse_difference
from tools.reference_files import reference_file
from tools.reference_tokenizers import reference_tokenizer

#: What a row of the table has, each as a ratio to the reference's speed.
FIGURES = ("again", "new", "documents", "lines")

#: The corpora, each with another that is taken if there is none of the name.
TEXTS = {"english": "", "chinese_classical": "", "rust": "standard library"}

#: tokenizers takes ten times as long as tiktoken.
_LONGEST = 400_000
#: The length of a document in characters.
_DOCUMENT = 4096

_SENTENCEPIECE = "sentencepiece"


class Row(NamedTuple):
    """A tokenizer, and what it is measured beside.

    Args:
        kind: the kind of its model.
        path: its file.
        reference: ``tokenizers`` or ``sentencepiece``.
        their_path: the file that the reference reads.
    """

    kind: str
    path: Path
    reference: str
    their_path: Path


def rows() -> dict[str, Row]:
    """The rows of the table by name; files are fetched and built if they are not there yet."""
    in_json = {
        "bert_uncased": ("WordPiece", reference_tokenizer("bert_uncased")),
        "xlm_r": ("Unigram", reference_tokenizer("xlm_r")),
        "t5_like": ("Unigram", reference_tokenizer("t5_like")),
        "llama_2": ("characters", reference_tokenizer("llama_2")),
        "clip": ("characters", reference_tokenizer("clip")),
        "gemma_json": ("characters", reference_file("gemma_json")),
    }
    found = {name: Row(kind, path, "tokenizers", path) for name, (kind, path) in in_json.items()}
    model = reference_file("llama_2")
    of_llama = found["llama_2"]
    found["llama_2.model"] = Row("SentencePiece", model, "tokenizers", of_llama.path)
    for name in ("llama_2", "gemma_model", "kyoto_unigram", "j2"):
        path = reference_file(name)
        found[f"{name}.model, sp"] = Row("SentencePiece", path, _SENTENCEPIECE, path)
    return found


def _reference(row: Row) -> Callable[[str], Sequence[int]]:
    """The reference's function from text to ids."""
    path = str(row.their_path)
    if row.reference == _SENTENCEPIECE:
        processor = sentencepiece.SentencePieceProcessor(model_file=path)
        return processor.encode
    tokenizer = tokenizers.Tokenizer.from_file(path)
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def throughput(
    name: str, row: Row, texts: dict[str, str], rounds: int
) -> dict[str, dict[str, float]]:
    """The figures for each text, one thread each.

    New is the second half of a text to an encoder that has met the first; again is the second half
    once more; documents and lines are the second half in texts of 4,096 characters, and line by
    line, to an encoder that has met the first. All times are those of the processor.
    """
    encoding = compat_bpe.load(row.path)
    encode = _reference(row)
    return {
        title: _of_text(
            f"{name}, {title}", encoding, encode, row.reference, text[:_LONGEST], rounds
        )
        for title, text in texts.items()
    }


def _of_text(
    title: str,
    encoding: compat_bpe.Encoding,
    encode: Callable[[str], Sequence[int]],
    reference: str,
    text: str,
    rounds: int,
) -> dict[str, float]:
    first_half, second = text[: len(text) // 2], text[len(text) // 2 :]
    parts = {
        "documents": [second[at : at + _DOCUMENT] for at in range(0, len(second), _DOCUMENT)],
        "lines": second.splitlines(keepends=True),
    }
    times: dict[str, list[float]] = {figure: [] for figure in FIGURES}
    theirs: list[float] = []

    def measure(figure: str, texts: list[str]) -> None:
        start = time.process_time()
        expected = list(map(encode, texts))
        between = time.process_time()
        found = list(map(encoding.encode_ordinary, texts))
        end = time.process_time()
        times[figure].append((between - start) / (end - between))
        if figure not in parts:
            theirs.append(between - start)
        for ours, their in zip(found, expected):
            refuse_difference(f"{title}, {figure}", ours, their, reference)

    for _ in range(rounds):
        encoding.clear_cache()
        encoding.encode_ordinary(first_half)
        measure("new", [second])
        measure("again", [second])
        for figure, texts in parts.items():
            encoding.clear_cache()
            encoding.encode_ordinary(first_half)
            measure(figure, texts)
    row = {figure: statistics.median(ratios) for figure, ratios in times.items()}
    row[f"{reference}_mb_per_second"] = len(second.encode()) / 1e6 / statistics.median(theirs)
    return row


_LOAD = """
import time, {module}
start = time.perf_counter()
{load}
print(time.perf_counter() - start)
"""


def load_seconds(row: Row, rounds: int) -> dict[str, float]:
    """Seconds to load in a fresh process, the package imported; medians, taking turns."""
    sides = _sides(row)
    codes = [
        _LOAD.format(module=side.module.split()[-1], load=side.load) for side in sides.values()
    ]
    # The first time, files may have to be read and modules compiled.
    times = [[float(first.run("-c", code)[1]) for code in codes] for _ in range(rounds + 1)][1:]
    ours, theirs = map(statistics.median, zip(*times))
    return {"seconds": ours, f"{row.reference}_seconds": theirs, "part": ours / theirs}


def first_answers(row: Row, rounds: int) -> dict[str, dict[str, float]]:
    """Seconds of CPU of each step of a first answer, and of all of them up to the first ids."""
    found = first.first_answers(_sides(row), rounds)
    found["ASCII, in all"] = {
        side: sum(found[step][side] for step in ("import", "load", "encode, ASCII"))
        for side in found["import"]
    }
    return found


def _sides(row: Row) -> dict[str, first.Side]:
    ours = first.Side(
        "import compat_bpe",
        f"encoding = compat_bpe.load({str(row.path)!r})",
        "encoding.encode({text!r})",
        "encoding.decode([100, 200, 300])",
    )
    return {"seconds": ours, row.reference: _side_of_reference(row)}


def _side_of_reference(row: Row) -> first.Side:
    if row.reference == "tokenizers":
        return first.of_tokenizers(row.their_path)
    return first.Side(
        "import sentencepiece",
        f"encoding = sentencepiece.SentencePieceProcessor(model_file={str(row.their_path)!r})",
        "encoding.encode({text!r})",
        "encoding.decode([100, 200, 300])",
    )
