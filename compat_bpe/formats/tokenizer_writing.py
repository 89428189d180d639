"""Parts of a ``tokenizer.json``, written for other formats and for training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..pipeline.pre_tokenizers.split import Behavior


def file_parts(
    pre_tokenizer: dict[str, Any] | None,
    post_processor: dict[str, Any] | None,
    decoder: dict[str, Any],
    *,
    normalizer: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the parts around the model of a file; a part may be None."""
    return {
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": post_processor,
        "decoder": decoder,
    }


def split_part(
    pattern: str, behavior: Behavior = "Isolated", *, invert: bool = False
) -> dict[str, Any]:
    """Return a ``Split`` by a regular expression, as in a file."""
    return {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": behavior,
        "invert": invert,
    }


def pattern_part(published: str) -> dict[str, Any]:
    """Return a ``Split`` into the matches of a pattern in tiktoken's syntax, as in a file.

    Raises:
        ValueError: the pattern is wrong (``PatternError``), may match the empty text, or cannot be
            written for Oniguruma.
    """
    from ..pattern.oniguruma import parse_oniguruma, to_oniguruma
    from ..pattern.parser import parse
    from ..pattern.tree import PatternError, can_be_empty, surely_begins
    from ..unicode.properties import ALL

    tree = parse(published)
    if can_be_empty(tree):
        raise ValueError("its pattern may match the empty text, which engines treat differently")
    try:
        is_same = parse_oniguruma(published) == tree
    except PatternError:
        is_same = False
    # tiktoken drops text that the pattern does not match.
    keeps_all = surely_begins(tree) == ALL
    return split_part(
        published if is_same else to_oniguruma(tree),
        "Isolated" if keeps_all else "Removed",
        invert=not keeps_all,
    )


def byte_level_part(
    *, add_prefix_space: bool = False, trim_offsets: bool = True, use_regex: bool = True
) -> dict[str, Any]:
    """Return a ``ByteLevel`` (a pre-tokenizer, post-processor or decoder), as in a file."""
    return {
        "type": "ByteLevel",
        "add_prefix_space": add_prefix_space,
        "trim_offsets": trim_offsets,
        "use_regex": use_regex,
    }


def pre_tokenizers_part(*parts: dict[str, Any]) -> dict[str, Any]:
    """Return a ``Sequence`` of pre-tokenizers, as in a file."""
    return {"type": "Sequence", "pretokenizers": list(parts)}


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
        single: the template of a text.
        pair: the template of two texts.
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


def bert_parts(
    first: str,
    last: str,
    ids: Mapping[str, int],
    *,
    first_type: int = 0,
    between: int = 1,
    **normalizer: Any,
) -> dict[str, Any]:
    """Return the parts around a WordPiece model of BERT's kind, as in a file.

    Args:
        first, last: the tokens before and after a text.
        ids: the id of each token.
        first_type: the type of the token before a text.
        between: the number of tokens between two texts.
        normalizer: the arguments of ``bert_normalizer_part``.
    """
    single = [token_item(first, first_type), text_item("A"), token_item(last)]
    more = [token_item(last)] * (between - 1)
    pair = [*single, *more, text_item("B", 1), token_item(last, 1)]
    return file_parts(
        {"type": "BertPreTokenizer"},
        template_part(single, pair, {name: ids[name] for name in (first, last)}),
        {"type": "WordPiece", "prefix": "##", "cleanup": True},
        normalizer=bert_normalizer_part(**normalizer),
    )


def sentence_part(
    kind: str, first: str, last: str, ids: Mapping[str, int], **flags: bool
) -> dict[str, Any]:
    """Return a ``BertProcessing`` or ``RobertaProcessing``, as in a file.

    Args:
        kind: the name of the type.
        first, last: the tokens before and after a text.
        ids: the id of each token.
        flags: the flags of a ``RobertaProcessing``.
    """
    return {"type": kind, "sep": [last, ids[last]], "cls": [first, ids[first]], **flags}
