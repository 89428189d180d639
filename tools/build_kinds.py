#!/usr/bin/env python3
"""Write ``fixtures/kinds/*.json``: a tiny tokenizer of each kind, and what tokenizers makes of it.

    python tools/build_kinds.py [--check]

Needs tokenizers. With ``--check`` nothing is written, and the exit status is 1 if a file is
missing or is not what would be written.

A file holds the version of tokenizers, ``tokenizer``, which is the content of a ``tokenizer.json``,
and ``cases``: texts with their ids, tokens, places, the ids with special tokens, and the decoded
text. Each case is a line of ASCII.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import tokenizers  # noqa: E402

from tools.generated import write_or_check  # noqa: E402

FIXTURES = ROOT / "fixtures" / "kinds"

TEXTS = (
    *("", " ", "a", "hug", "hugs", "pug pun bun", " hugs", "hug  hugs\n", "Hugs, PUGS!", "hug?s"),
    *("low lower lowest", "the highest mountain", "bugs 中文", "中", "é", "e\u0301", "😀 hug"),
    *("\0", "[CLS] hug [SEP]", "<s>hug</s>", "<unk>", "▁hug", "##s", "</w>", "<0x0A>", "ｈｕｇ"),
    "x" * 101,
)


def _ids(tokens: list[str]) -> dict[str, int]:
    return {token: number for number, token in enumerate(dict.fromkeys(tokens))}


def _file(model: dict[str, Any], specials: list[str], **parts: Any) -> dict[str, Any]:
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    vocabulary = model["vocab"]
    numbers = vocabulary if isinstance(vocabulary, dict) else _ids([one for one, _ in vocabulary])
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": numbers[name], "content": name, **flags, "special": True} for name in specials
        ],
        "normalizer": parts.get("normalizer"),
        "pre_tokenizer": parts.get("pre_tokenizer"),
        "post_processor": parts.get("post_processor"),
        "decoder": parts.get("decoder"),
        "model": model,
    }


def _bpe(tokens: list[str], merges: list[str], **more: Any) -> dict[str, Any]:
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        **more,
        "vocab": _ids(tokens),
        "merges": merges,
    }


_BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
_METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}


def _wordpiece() -> dict[str, Any]:
    pieces = ["[UNK]", "[CLS]", "[SEP]", "b", "h", "p", "##g", "##n", "##s", "##u", "##gs", "hu"]
    pieces += ["hug", "pu", "bun", "lo", "##w", "##er", "##est", "the", "high", "中", ",", "!", "?"]
    vocabulary = _ids(pieces)
    cls, sep = ["[CLS]", vocabulary["[CLS]"]], ["[SEP]", vocabulary["[SEP]"]]
    return _file(
        {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": vocabulary,
        },
        ["[UNK]", "[CLS]", "[SEP]"],
        normalizer={
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        pre_tokenizer={"type": "BertPreTokenizer"},
        post_processor={"type": "BertProcessing", "sep": sep, "cls": cls},
        decoder={"type": "WordPiece", "prefix": "##", "cleanup": True},
    )


def _unigram(byte_fallback: bool) -> dict[str, Any]:
    scores = {"<unk>": 0.0, "<s>": 0.0, "</s>": 0.0, "▁": -2.0, "h": -2.7, "u": -2.3, "g": -2.4}
    scores.update({"s": -2.9, "p": -3.0, "n": -3.1, "b": -3.2, "hu": -2.6, "ug": -2.5, "un": -2.8})
    scores.update({"hug": -2.2, "▁hug": -2.1, "gs": -4.0, "▁pu": -3.3, "low": -3.5, "est": -3.4})
    if byte_fallback:
        scores.update(dict.fromkeys(_BYTES, -9.0))
    vocabulary = [[piece, score] for piece, score in scores.items()]
    decoders: list[dict[str, Any]] = [{"type": "ByteFallback"}] if byte_fallback else []
    return _file(
        {"type": "Unigram", "unk_id": 0, "vocab": vocabulary, "byte_fallback": byte_fallback},
        ["<unk>", "<s>", "</s>"],
        normalizer={"type": "NFKC"},
        pre_tokenizer=_METASPACE,
        post_processor={
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": "<s>", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "</s>", "type_id": 0}},
            ],
            "pair": [
                {"Sequence": {"id": "A", "type_id": 0}},
                {"Sequence": {"id": "B", "type_id": 1}},
            ],
            "special_tokens": {
                "<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]},
                "</s>": {"id": "</s>", "ids": [2], "tokens": ["</s>"]},
            },
        },
        decoder={"type": "Sequence", "decoders": [*decoders, _METASPACE]},
    )


def _word_level() -> dict[str, Any]:
    words = ["[UNK]", "hug", "hugs", "pug", "pun", "bun", "the", "highest", ",", "!", "中文", "x"]
    return _file(
        {"type": "WordLevel", "vocab": _ids(words), "unk_token": "[UNK]"},
        ["[UNK]"],
        pre_tokenizer={"type": "Whitespace"},
    )


def _end_of_word() -> dict[str, Any]:
    letters = [chr(point) for point in range(ord("a"), ord("z") + 1)]
    tokens = ["<unk>", *letters, *(f"{letter}</w>" for letter in letters)]
    merges = ["u g", "h ug", "hug s</w>", "u n</w>", "p un</w>", "l o", "lo w</w>", "e r</w>"]
    tokens += [merge.replace(" ", "") for merge in merges]
    return _file(
        _bpe(tokens, merges, unk_token="<unk>", end_of_word_suffix="</w>"),
        ["<unk>"],
        normalizer={"type": "Lowercase"},
        pre_tokenizer={"type": "WhitespaceSplit"},
        decoder={"type": "BPEDecoder", "suffix": "</w>"},
    )


def _llama() -> dict[str, Any]:
    tokens = ["<unk>", "<s>", "</s>", *_BYTES, "▁", *"hugspnblowert", "hu", "hug", "▁hug", "lo"]
    merges = ["h u", "hu g", "▁ hug", "l o"]
    return _file(
        _bpe(tokens, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True),
        ["<unk>", "<s>", "</s>"],
        normalizer={
            "type": "Sequence",
            "normalizers": [
                {"type": "Prepend", "prepend": "▁"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            ],
        },
        decoder={
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            ],
        },
    )


KINDS = {
    "wordpiece": _wordpiece(),
    "unigram": _unigram(byte_fallback=False),
    "unigram_bytes": _unigram(byte_fallback=True),
    "word_level": _word_level(),
    "characters_end_of_word": _end_of_word(),
    "characters_byte_fallback": _llama(),
}


def cases(content: dict[str, Any]) -> list[dict[str, Any]]:
    """What tokenizers makes of the texts."""
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
    return found


def written(content: dict[str, Any]) -> str:
    """The content of a file of fixtures."""
    lines = ",\n  ".join(map(json.dumps, cases(content)))
    return (
        f'{{\n "tokenizers": {json.dumps(tokenizers.__version__)},\n'
        f' "tokenizer": {json.dumps(content)},\n "cases": [\n  {lines}\n ]\n}}\n'
    )


def generate() -> dict[Path, str]:
    """The text of each file."""
    return {FIXTURES / f"{name}.json": written(content) for name, content in KINDS.items()}


if __name__ == "__main__":
    sys.exit(write_or_check(__doc__, generate))
