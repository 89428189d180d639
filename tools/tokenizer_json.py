"""The parts of a ``tokenizer.json``, written as Hugging Face's tokenizers writes them."""

from __future__ import annotations

import base64
import json
from typing import Any

Part = dict[str, Any]


def tokenizer_json(
    model: Part,
    added: list[Part],
    *,
    normalizer: Part | None = None,
    pre_tokenizer: Part | None = None,
    post_processor: Part | None = None,
    decoder: Part | None = None,
) -> bytes:
    """The file: what does not matter to the ids is as it is without truncation and padding."""
    whole = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": sorted(added, key=lambda token: int(token["id"])),
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": post_processor,
        "decoder": decoder,
        "model": model,
    }
    return json.dumps(whole, ensure_ascii=False, indent=1).encode()


def added_token(number: int, content: str, **flags: bool) -> Part:
    """An added token, special and not normalized unless the flags say otherwise."""
    defaults = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {"id": number, "content": content, **defaults, "special": True, **flags}


def bpe(vocab: dict[str, int], merges: list[str], **more: Any) -> Part:
    """A BPE, with what is not told as it is most often; merges are pairs joined by a space."""
    own = ("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix")
    flags = {"fuse_unk": False, "byte_fallback": False}
    return {"type": "BPE", **dict.fromkeys(own), **flags, **more, "vocab": vocab, "merges": merges}


def wordpiece(vocab: dict[str, int]) -> Part:
    """BERT's WordPiece."""
    names = {"unk_token": "[UNK]", "continuing_subword_prefix": "##"}
    return {"type": "WordPiece", **names, "max_input_chars_per_word": 100, "vocab": vocab}


def bert_normalizer() -> Part:
    """The normalizer of bert-base-uncased."""
    flags = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None}
    return {"type": "BertNormalizer", **flags, "lowercase": True}


def sequence(parts: str, *those: Part) -> Part:
    """A Sequence; its members are under the name that its kind of component has for them."""
    return {"type": "Sequence", parts: list(those)}


def template(ids: dict[str, int], single: str, pair: str) -> Part:
    """A TemplateProcessing written as in ``[CLS] $A:0 $B:1``."""

    def pieces(template: str) -> list[Part]:
        found = []
        for word in template.split():
            name, _, type_id = word.partition(":")
            kind = "Sequence" if name.startswith("$") else "SpecialToken"
            found.append({kind: {"id": name.lstrip("$"), "type_id": int(type_id or 0)}})
        return found

    tokens = {name: {"id": name, "ids": [number], "tokens": [name]} for name, number in ids.items()}
    return {
        "type": "TemplateProcessing",
        "single": pieces(single),
        "pair": pieces(pair),
        "special_tokens": dict(sorted(tokens.items())),
    }


def replace(pattern: str, content: str, kind: str = "String") -> Part:
    """A Replace of a string, or of a pattern with ``Regex`` as its kind."""
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def precompiled(charsmap: bytes) -> list[Part]:
    """A Precompiled in a list, which is empty without a charsmap."""
    text = base64.b64encode(charsmap).decode()
    return [{"type": "Precompiled", "precompiled_charsmap": text}] if charsmap else []


def metaspace(prepend_scheme: str, *, split: bool = True) -> Part:
    """A Metaspace, which is a pre-tokenizer and a decoder."""
    scheme = {"prepend_scheme": prepend_scheme, "split": split}
    return {"type": "Metaspace", "replacement": "▁", **scheme}
