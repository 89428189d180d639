"""Vocabularies of every kind that can be trained."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .place import CORPUS, TEXT, Check, Place, digest


def learned(place: Place) -> Iterator[Check]:
    train, save = place.module("train"), place.module("save")
    trained: dict[str, Any] = {
        "bpe": train.train_bpe(CORPUS, 320, special_tokens=["<|end|>"]),
        "bpe o200k_base": train.train_bpe(CORPUS, 320, pattern="o200k_base"),
        "wordpiece": train.train(CORPUS, train.WordPieceSettings(120, special_tokens=["[UNK]"])),
        "likelihood": train.train(CORPUS, train.WordPieceSettings(120, rule="likelihood")),
        "characters": train.train(CORPUS, train.CharacterBpeSettings(120, suffix="</w>")),
        "words": train.train(CORPUS, train.WordLevelSettings(40, unknown="?")),
        "unigram": train.train(CORPUS, train.UnigramSettings(100)),
    }
    for name, encoding in trained.items():
        ids = encoding.encode(CORPUS[1] + " " + CORPUS[3], disallowed_special=())
        yield Check(f"{name} ids", ids)
        path = place.folder / "trained.json"
        save.save_tokenizer_json(encoding, path)
        # Scores are sums of logarithms, whose last digits are those of the machine's C library.
        yield Check(f"{name} file", digest(_without_scores(path.read_text("utf-8"))))


def sentencepiece(place: Place) -> Iterator[Check]:
    train = place.module("train")
    for kind, size in (("bpe", 130), ("unigram", 110), ("word", 40), ("char", 80)):
        model = train.train(CORPUS, train.SentencePieceSettings(size, kind, hard_vocab_limit=False))
        ids = model.encode(CORPUS[1] + " " + CORPUS[3])
        yield Check(f"{kind} ids", ids)
        pieces = [model.id_to_piece(token) for token in range(model.n_vocab)]
        yield Check(f"{kind} pieces", digest(pieces))


def counted(place: Place) -> Iterator[Check]:
    measure = place.module("report.measure")
    encodings = {"gpt2": place.module().get_encoding("gpt2")}
    found = measure.report(encodings, {"one": [TEXT], "two": CORPUS})
    yield Check("report", [list(found.total), list(found.encodings["gpt2"].groups["two"])])


def _without_scores(text: str) -> list[str]:
    return [part for part in text.split() if not part.strip("-,]}").replace(".", "").isdigit()]
