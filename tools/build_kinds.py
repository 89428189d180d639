#!/usr/bin/env python3
"""Write what the real libraries make of texts with a tiny tokenizer of each kind.

    python tools/build_kinds.py [--check]

The tokenizers are in the files that are written, and stay as they are: to add one, add a file with
it. ``fixtures/kinds/*.json`` needs tokenizers. A file holds its version, ``tokenizer``, which is
the content of a ``tokenizer.json``, and ``cases``: texts with their ids, tokens, places, the ids
with special tokens, and the decoded text. ``fixtures/sentencepiece/*.json`` needs sentencepiece. A
file holds its version, ``model``, the bytes of a model in Base64, and ``cases``: texts with their
ids, pieces, and the decoded text. The models were trained on ``fixtures/docs/texts``; the options
are in them. Each case is a line of ASCII.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import sentencepiece
import tokenizers

from tools.generated import write_or_check

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"

#: The texts of ``fixtures/kinds``.
TEXTS = (
    *("", " ", "a", "hug", "hugs", "pug pun bun", " hugs", "hug  hugs\n", "Hugs, PUGS!", "hug?s"),
    *("low lower lowest", "the highest mountain", "bugs 中文", "中", "é", "e\u0301", "😀 hug"),
    *("\0", "[CLS] hug [SEP]", "<s>hug</s>", "<unk>", "▁hug", "##s", "</w>", "<0x0A>", "ｈｕｇ"),
    "x" * 101,
)

#: The texts of ``fixtures/sentencepiece``.
MODEL_TEXTS = (
    *("", " ", "a", "human", "All human beings are born free", "  two  spaces \n"),
    *("equal in dignity", "ﬁne ｈello", "e\u0301 é", "①\u3000②\t3", "no\u200bspace"),
    "人人生而自由",
    *("中文", "😀", "\0", "<sep>", "a<sep>b <sep> c", "<s></s><unk>", "▁human▁", "<0x0A>"),
    *("würde und rechten", "x" * 101, "brotherhood " * 9),
)


def written(library: str, version: str, name: str, made: Any, cases: Iterable[object]) -> str:
    """Return the content of a file: a case a line."""
    lines = ",\n  ".join(map(json.dumps, cases))
    head = f' "{library}": "{version}",\n "{name}": {json.dumps(made)},\n'
    return f'{{\n{head} "cases": [\n  {lines}\n ]\n}}\n'


def of_kind(content: Any) -> str:
    """Return the content of the file of a kind."""
    reference = tokenizers.Tokenizer.from_str(json.dumps(content))
    found = []
    for text in TEXTS:
        plain = reference.encode(text, add_special_tokens=False)
        found.append(
            {
                "text": text,
                "ids": plain.ids,
                "tokens": plain.tokens,
                "offsets": plain.offsets,
                "with_special": reference.encode(text).ids,
                "decoded": reference.decode(plain.ids, skip_special_tokens=False),
                "decoded_without_special": reference.decode(plain.ids, skip_special_tokens=True),
            }
        )
    return written("tokenizers", tokenizers.__version__, "tokenizer", content, found)


def of_model(model: str) -> str:
    """Return the content of the file of a model."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=base64.b64decode(model))
    found = []
    for text in MODEL_TEXTS:
        ids, pieces = processor.encode(text), processor.encode(text, out_type=str)
        decoded = processor.decode(ids)
        found.append({"text": text, "ids": ids, "pieces": pieces, "decoded": decoded})
    return written("sentencepiece", sentencepiece.__version__, "model", model, found)


def generate() -> dict[Path, str]:
    """Return the text of each file."""
    kinds, models = (
        sorted((FIXTURES / name).glob("*.json")) for name in ("kinds", "sentencepiece")
    )
    return {
        **{path: of_kind(json.loads(path.read_bytes())["tokenizer"]) for path in kinds},
        **{path: of_model(json.loads(path.read_bytes())["model"]) for path in models},
    }


if __name__ == "__main__":
    sys.exit(write_or_check(__doc__, generate))
