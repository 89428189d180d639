"""Parts of a ``tokenizer.json`` as Hugging Face transformers makes them for older files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

BERT_PRE_TOKENIZER = {"type": "BertPreTokenizer"}


def bert_normalizer_part(
    *, lowercase: bool, strip_accents: bool | None = None, handle_chinese_chars: bool = True
) -> dict[str, Any]:
    """Return a ``BertNormalizer``, as in a file; ``strip_accents`` None is as ``lowercase``."""
    return {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": handle_chinese_chars,
        "strip_accents": strip_accents,
        "lowercase": lowercase,
    }


def text_item(name: str, type_id: int = 0) -> dict[str, Any]:
    """Return a text, "A" or "B", as an item of a template."""
    return {"Sequence": {"id": name, "type_id": type_id}}


def token_item(name: str, type_id: int = 0) -> dict[str, Any]:
    """Return a special token as an item of a template."""
    return {"SpecialToken": {"id": name, "type_id": type_id}}


def template_part(
    single: Sequence[dict[str, Any]], pair: Sequence[dict[str, Any]], ids: Mapping[str, int]
) -> dict[str, Any]:
    """Return a ``TemplateProcessing``, as in a file.

    Args:
        single: what a text becomes.
        pair: what two texts become.
        ids: the id of each token.
    """
    return {
        "type": "TemplateProcessing",
        "single": list(single),
        "pair": list(pair),
        "special_tokens": {
            name: {"id": name, "ids": [number], "tokens": [name]} for name, number in ids.items()
        },
    }


def sentence_part(
    kind: str, first: str, last: str, ids: Mapping[str, int], **flags: bool
) -> dict[str, Any]:
    """Return a ``BertProcessing`` or ``RobertaProcessing``, as in a file.

    Args:
        kind: which of the two.
        first, last: the tokens before and after a text.
        ids: the id of each token.
        flags: the flags of a ``RobertaProcessing``.
    """
    return {"type": kind, "sep": [last, ids[last]], "cls": [first, ids[first]], **flags}
