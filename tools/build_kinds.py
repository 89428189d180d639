#!/usr/bin/env python3
"""Write a tiny tokenizer of each kind, and what the real libraries make of texts with it.

    python tools/build_kinds.py [--check]

``fixtures/kinds/*.json`` needs tokenizers. A file holds its version, ``tokenizer``, which is the
content of a ``tokenizer.json``, and ``cases``: texts with their ids, tokens, places, the ids with
special tokens, and the decoded text. ``fixtures/sentencepiece/*.json`` needs sentencepiece. A file
holds its version, ``model``, the bytes of a model in Base64, and ``cases``: texts with their ids,
pieces, and the decoded text. Each case is a line of ASCII.
"""

from __future__ import annotations

import base64
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import sentencepiece
import tokenizers

from tools.generated import write_or_check
from tools.tokenizer_json import (
    Part,
    added_token,
    bert_normalizer,
    bpe,
    metaspace,
    replace,
    sequence,
    template,
    tokenizer_json,
    wordpiece,
)

ROOT = Path(__file__).resolve().parents[1]
FIXTURES = ROOT / "fixtures"


def written(library: str, version: str, made: str, cases: Iterable[object]) -> str:
    """Return the content of a file: a case a line."""
    lines = ",\n  ".join(map(json.dumps, cases))
    return f'{{\n "{library}": "{version}",\n {made},\n "cases": [\n  {lines}\n ]\n}}\n'


# fixtures/kinds

TEXTS = (
    *("", " ", "a", "hug", "hugs", "pug pun bun", " hugs", "hug  hugs\n", "Hugs, PUGS!", "hug?s"),
    *("low lower lowest", "the highest mountain", "bugs 中文", "中", "é", "e\u0301", "😀 hug"),
    *("\0", "[CLS] hug [SEP]", "<s>hug</s>", "<unk>", "▁hug", "##s", "</w>", "<0x0A>", "ｈｕｇ"),
    "x" * 101,
)


def _ids(tokens: list[str]) -> dict[str, int]:
    return {token: number for number, token in enumerate(dict.fromkeys(tokens))}


def _file(model: Part, specials: list[str], **parts: Part) -> bytes:
    vocabulary = model["vocab"]
    ids = vocabulary if isinstance(vocabulary, dict) else _ids([piece for piece, _ in vocabulary])
    return tokenizer_json(model, [added_token(ids[name], name) for name in specials], **parts)


_BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def _wordpiece() -> bytes:
    pieces = ["[UNK]", "[CLS]", "[SEP]", "b", "h", "p", "##g", "##n", "##s", "##u", "##gs", "hu"]
    pieces += ["hug", "pu", "bun", "lo", "##w", "##er", "##est", "the", "high", "中", ",", "!", "?"]
    vocabulary = _ids(pieces)
    cls, sep = ["[CLS]", vocabulary["[CLS]"]], ["[SEP]", vocabulary["[SEP]"]]
    return _file(
        wordpiece(vocabulary),
        ["[UNK]", "[CLS]", "[SEP]"],
        normalizer=bert_normalizer(),
        pre_tokenizer={"type": "BertPreTokenizer"},
        post_processor={"type": "BertProcessing", "sep": sep, "cls": cls},
        decoder={"type": "WordPiece", "prefix": "##", "cleanup": True},
    )


def _unigram(byte_fallback: bool) -> bytes:
    scores = {"<unk>": 0.0, "<s>": 0.0, "</s>": 0.0, "▁": -2.0, "h": -2.7, "u": -2.3, "g": -2.4}
    scores.update({"s": -2.9, "p": -3.0, "n": -3.1, "b": -3.2, "hu": -2.6, "ug": -2.5, "un": -2.8})
    scores.update({"hug": -2.2, "▁hug": -2.1, "gs": -4.0, "▁pu": -3.3, "low": -3.5, "est": -3.4})
    if byte_fallback:
        scores.update(dict.fromkeys(_BYTES, -9.0))
    vocabulary = [[piece, score] for piece, score in scores.items()]
    decoders: list[Part] = [{"type": "ByteFallback"}] if byte_fallback else []
    return _file(
        {"type": "Unigram", "unk_id": 0, "vocab": vocabulary, "byte_fallback": byte_fallback},
        ["<unk>", "<s>", "</s>"],
        normalizer={"type": "NFKC"},
        pre_tokenizer=metaspace("always"),
        post_processor=template({"<s>": 1, "</s>": 2}, "<s> $A </s>", "$A $B:1"),
        decoder=sequence("decoders", *decoders, metaspace("always")),
    )


def _word_level() -> bytes:
    words = ["[UNK]", "hug", "hugs", "pug", "pun", "bun", "the", "highest", ",", "!", "中文", "x"]
    return _file(
        {"type": "WordLevel", "vocab": _ids(words), "unk_token": "[UNK]"},
        ["[UNK]"],
        pre_tokenizer={"type": "Whitespace"},
    )


def _end_of_word() -> bytes:
    letters = [chr(point) for point in range(ord("a"), ord("z") + 1)]
    tokens = ["<unk>", *letters, *(f"{letter}</w>" for letter in letters)]
    merges = ["u g", "h ug", "hug s</w>", "u n</w>", "p un</w>", "l o", "lo w</w>", "e r</w>"]
    tokens += [merge.replace(" ", "") for merge in merges]
    return _file(
        bpe(
            _ids(tokens), merges, ignore_merges=False, unk_token="<unk>", end_of_word_suffix="</w>"
        ),
        ["<unk>"],
        normalizer={"type": "Lowercase"},
        pre_tokenizer={"type": "WhitespaceSplit"},
        decoder={"type": "BPEDecoder", "suffix": "</w>"},
    )


def _llama() -> bytes:
    tokens = ["<unk>", "<s>", "</s>", *_BYTES, "▁", *"hugspnblowert", "hu", "hug", "▁hug", "lo"]
    merges = ["h u", "hu g", "▁ hug", "l o"]
    flags = {"fuse_unk": True, "byte_fallback": True, "ignore_merges": False}
    return _file(
        bpe(_ids(tokens), merges, unk_token="<unk>", **flags),
        ["<unk>", "<s>", "</s>"],
        normalizer=sequence("normalizers", {"type": "Prepend", "prepend": "▁"}, replace(" ", "▁")),
        decoder=sequence(
            "decoders",
            replace("▁", " "),
            {"type": "ByteFallback"},
            {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ),
    )


KINDS = {
    "wordpiece": _wordpiece(),
    "unigram": _unigram(byte_fallback=False),
    "unigram_bytes": _unigram(byte_fallback=True),
    "word_level": _word_level(),
    "characters_end_of_word": _end_of_word(),
    "characters_byte_fallback": _llama(),
}


def of_kind(file: bytes) -> str:
    """Return the content of the file of a kind."""
    content = json.loads(file)
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
    made = f'"tokenizer": {json.dumps(content)}'
    return written("tokenizers", tokenizers.__version__, made, found)


# fixtures/sentencepiece

#: A ligature, a wide letter, a composed letter, a circled digit, spaces, and one that is dropped.
RULES = "FB01\t66 69\nFF48\t68\n65 301\tE9\n2460\t31\n3000\t20\n9\t20\n200B\t\n"

#: The options of each kind.
MODELS: dict[str, dict[str, Any]] = {
    "unigram": {"vocab_size": 160, "normalization_rule_tsv": RULES},
    "unigram_bytes": {"vocab_size": 420, "byte_fallback": True, "add_dummy_prefix": False},
    "bpe": {"vocab_size": 220, "normalization_rule_tsv": RULES},
    "bpe_bytes": {"vocab_size": 420, "byte_fallback": True, "remove_extra_whitespaces": False},
    "word": {"vocab_size": 100},
    "char": {"vocab_size": 90, "treat_whitespace_as_suffix": True},
}

MODEL_TEXTS = (
    *("", " ", "a", "human", "All human beings are born free", "  two  spaces \n"),
    *("equal in dignity", "ﬁne ｈello", "e\u0301 é", "①\u3000②\t3", "no\u200bspace"),
    "人人生而自由",
    *("中文", "😀", "\0", "<sep>", "a<sep>b <sep> c", "<s></s><unk>", "▁human▁", "<0x0A>"),
    *("würde und rechten", "x" * 101, "brotherhood " * 9),
)


def trained(kind: str) -> bytes:
    """Return a model of a kind, trained in the current folder, which may be written to."""
    options = {"normalization_rule_name": "identity", **MODELS[kind]}
    if "normalization_rule_tsv" in options:
        # The name of the file becomes a part of the model.
        Path("rules.tsv").write_text(options["normalization_rule_tsv"], "utf-8")
        options["normalization_rule_tsv"] = "rules.tsv"
        del options["normalization_rule_name"]
    texts = [
        line
        for language in ("de", "en", "zh")
        for line in (FIXTURES / "docs" / "texts" / language / "rights.txt")
        .read_text("utf-8")
        .splitlines()
    ]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=model,
        model_type=kind.partition("_")[0],
        hard_vocab_limit=False,
        user_defined_symbols=["<sep>"],
        num_threads=1,
        minloglevel=2,
        **options,
    )
    return model.getvalue()


def of_model(model: bytes) -> str:
    """Return the content of the file of a model."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    found = []
    for text in MODEL_TEXTS:
        ids, pieces = processor.encode(text), processor.encode(text, out_type=str)
        decoded = processor.decode(ids)
        found.append({"text": text, "ids": ids, "pieces": pieces, "decoded": decoded})
    made = f'"model": "{base64.b64encode(model).decode("ascii")}"'
    return written("sentencepiece", sentencepiece.__version__, made, found)


def generate() -> dict[Path, str]:
    """Return the text of each file."""
    files = {FIXTURES / "kinds" / f"{kind}.json": of_kind(file) for kind, file in KINDS.items()}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # where the trainer may leave files
        for kind in MODELS:
            files[FIXTURES / "sentencepiece" / f"{kind}.json"] = of_model(trained(kind))
    os.chdir(ROOT)
    return files


if __name__ == "__main__":
    sys.exit(write_or_check(__doc__, generate))
