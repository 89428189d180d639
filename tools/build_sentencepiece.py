#!/usr/bin/env python3
"""Write ``fixtures/sentencepiece/*.json``: a tiny model of each kind, with sentencepiece's ids.

    python tools/build_sentencepiece.py [--check]

Needs sentencepiece. With ``--check`` nothing is written, and the exit status is 1 if a file is
missing or is not what would be written.

A file holds the version of sentencepiece, ``model``, the bytes of the model in Base64, and
``cases``: texts with their ids, pieces, and the decoded text. Each case is a line of ASCII.
"""

from __future__ import annotations

import base64
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import sentencepiece  # noqa: E402

from tools.generated import write_or_check  # noqa: E402

FIXTURES = ROOT / "fixtures" / "sentencepiece"
DOCS = ROOT / "fixtures" / "docs"

#: A ligature, a wide letter, a composed letter, a circled digit, spaces, and one that is dropped.
RULES = "FB01\t66 69\nFF48\t68\n65 301\tE9\n2460\t31\n3000\t20\n9\t20\n200B\t\n"

#: The options of each kind.
KINDS: dict[str, dict[str, Any]] = {
    "unigram": {"vocab_size": 160, "normalization_rule_tsv": RULES},
    "unigram_bytes": {"vocab_size": 420, "byte_fallback": True, "add_dummy_prefix": False},
    "bpe": {"vocab_size": 220, "normalization_rule_tsv": RULES},
    "bpe_bytes": {"vocab_size": 420, "byte_fallback": True, "remove_extra_whitespaces": False},
    "word": {"vocab_size": 100},
    "char": {"vocab_size": 90, "treat_whitespace_as_suffix": True},
}

TEXTS = (
    *(
        "",
        " ",
        "a",
        "human",
        "All human beings are born free",
        "  two  spaces \n",
        "equal in dignity",
    ),
    *(
        "ﬁne ｈello",
        "e\u0301 é",
        "①\u3000②\t3",
        "no\u200bspace",
        "人人生而自由",
        "中文",
        "😀",
        "\0",
    ),
    *("<sep>", "a<sep>b <sep> c", "<s></s><unk>", "▁human▁", "<0x0A>", "würde und rechten"),
    "x" * 101,
    "brotherhood " * 9,
)


def trained(kind: str) -> bytes:
    """Return a model of a kind, trained in the current folder, which may be written to."""
    options = {"normalization_rule_name": "identity", **KINDS[kind]}
    if "normalization_rule_tsv" in options:
        # The name of the file becomes a part of the model.
        Path("rules.tsv").write_text(options["normalization_rule_tsv"], "utf-8")
        options["normalization_rule_tsv"] = "rules.tsv"
        del options["normalization_rule_name"]
    texts = [
        line
        for language in ("de", "en", "zh")
        for line in (DOCS / "texts" / language / "rights.txt").read_text("utf-8").splitlines()
    ]
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=written,
        model_type=kind.partition("_")[0],
        hard_vocab_limit=False,
        user_defined_symbols=["<sep>"],
        num_threads=1,
        minloglevel=2,
        **options,
    )
    return written.getvalue()


def content(model: bytes) -> str:
    """Return the content of the file of a model."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    cases = []
    for text in TEXTS:
        ids = processor.encode(text)
        pieces = processor.encode(text, out_type=str)
        case = {"text": text, "ids": ids, "pieces": pieces, "decoded": processor.decode(ids)}
        cases.append(json.dumps(case))
    return (
        f'{{\n "sentencepiece": {json.dumps(sentencepiece.__version__)},\n'
        f' "model": "{base64.b64encode(model).decode("ascii")}",\n'
        ' "cases": [\n  ' + ",\n  ".join(cases) + "\n ]\n}\n"
    )


def generate() -> dict[Path, str]:
    """The text of each file."""
    return {FIXTURES / f"{kind}.json": content(trained(kind)) for kind in KINDS}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # where the trainer may leave files
        sys.exit(write_or_check(__doc__, generate))
