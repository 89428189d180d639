"""Vocabularies with merges: over bytes, as GPT-2's, or over text with ``▁``, as Gemma's."""

from __future__ import annotations

from itertools import repeat
from operator import add
from typing import Any

from ...pipeline.models.bpe.by_merges import UnknownPolicy
from .. import missing_byte
from ..tokenizer_bpe import ListedModel, RankedModel
from ..tokenizer_json import TokenizerDefinition
from ..tokenizer_writing import byte_level_part, pattern_part, pre_tokenizers_part
from .pre import PRE, REFUSED, Pre
from .vocabulary import NORMAL, Vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..tokenizer_models import ModelPart

#: What to do about a file that does not say how text is split.
_ADVICE = (
    "load the model's own tokenizer.json, or give the pattern that it splits text by "
    "(pattern=, --pattern)"
)
#: The decoder of tokens with ``▁``.
_SPELLED = {
    "type": "Sequence",
    "decoders": [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ],
}


def read_byte_level(vocabulary: Vocabulary, pattern: str | None) -> TokenizerDefinition:
    """Return the tokenizer of a file of the model ``gpt2``.

    Args:
        vocabulary: its tokens.
        pattern: splits text in place of what the file says, in tiktoken's syntax.

    Raises:
        ValueError: the file is damaged, or nothing says how text is split.
    """
    name = vocabulary.metadata.text("pre")
    if pattern is not None:
        steps = (pattern_part(pattern), byte_level_part(use_regex=False))
        return _definition(vocabulary, Pre(steps), _model(vocabulary, Pre()))
    if name is None:
        vocabulary.metadata.fail(
            "pre",
            f"as in old files, it is not there, and nothing says how text is split: {_ADVICE}",
        )
    if name in REFUSED:
        vocabulary.metadata.fail("pre", f"{name!r} is not supported: {REFUSED[name]}")
    if name not in PRE:
        vocabulary.metadata.fail(
            "pre",
            f"{name!r} is not known: {_ADVICE}; known are {', '.join(sorted(PRE))}",
        )
    pre = PRE[name]
    if pre.is_spelled:
        return read_spelled(vocabulary)
    if name == "kimi-k2" and vocabulary.metadata.texts("merges") is None:
        # Its ids are ranks, which say how bytes are merged.
        return _definition(vocabulary, pre, _ranked(vocabulary))
    return _definition(vocabulary, pre, _model(vocabulary, pre))


def read_spelled(vocabulary: Vocabulary) -> TokenizerDefinition:
    """Return the tokenizer of a file of the model ``gemma4``, whose tokens are text.

    Raises:
        ValueError: the file is damaged.
    """
    model = _model(vocabulary, Pre())
    number = vocabulary.id_of_role("unk_token")
    policy = UnknownPolicy(
        None if number is None else vocabulary.tokens[number],
        fuse=True,
        byte_fallback=model.vocabulary.keys() >= {f"<0x{byte:02X}>" for byte in range(256)},
    )
    parts = {
        "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        "pre_tokenizer": None,
        "post_processor": vocabulary.template(adds_bos=True),
        "decoder": _SPELLED,
    }
    source = vocabulary.metadata.source
    return TokenizerDefinition(
        model._replace(unknown=policy), vocabulary.added_tokens(), parts, source
    )


def _definition(vocabulary: Vocabulary, pre: Pre, model: ModelPart) -> TokenizerDefinition:
    metadata = vocabulary.metadata
    kinds = ["NFC"] if pre.normalizes else []
    kinds += ["Lowercase"] if metadata.truth("normalizer.lowercase") else []
    kinds += ["StripAccents"] if metadata.truth("normalizer.strip_accents") else []
    normalizers = [{"type": kind} for kind in kinds]
    parts: dict[str, Any] = {
        "normalizer": {"type": "Sequence", "normalizers": normalizers} if normalizers else None,
        "pre_tokenizer": pre_tokenizers_part(*pre.steps),
        "post_processor": vocabulary.template(adds_bos=pre.adds_bos),
        "decoder": byte_level_part(add_prefix_space=True),
    }
    mask = "[MASK]" if metadata.text("pre") == "modern-bert" else "<mask>"
    return TokenizerDefinition(model, vocabulary.added_tokens(mask), parts, metadata.source)


def _model(vocabulary: Vocabulary, pre: Pre) -> ListedModel:
    metadata = vocabulary.metadata
    merges = metadata.texts("merges")
    if merges is None:
        metadata.fail("merges", "there are no merges")
    ids = vocabulary.ids()
    names: list[str] = []
    if set(map(str.count, merges, repeat(" "))) == {1}:
        names = " ".join(merges).split(" ")
    if not names or "" in names:
        names = []
        for number, merge in enumerate(merges):
            at = merge.find(" ", 1)
            if at < 0 or at + 1 == len(merge):
                metadata.fail_item("merges", number, f"{merge!r} has not two parts")
            names += (merge[:at], merge[at + 1 :])
    lefts, rights = names[::2], names[1::2]
    # Most names occur several times, so the set is made in half the time.
    if not ids.keys() >= set(names):
        for number, pair in enumerate(zip(lefts, rights)):
            for name in pair:
                if name not in ids:
                    metadata.fail_item("merges", number, f"{name!r} is no token")
    if not all(map(ids.__contains__, map(add, lefts, rights))):
        for number, token in enumerate(map(add, lefts, rights)):
            if token not in ids:
                metadata.fail_item("merges", number, f"{token!r} is no token")
    return ListedModel(ids, (lefts, rights), ignore_merges=pre.ignore_merges, spelled=merges)


def _ranked(vocabulary: Vocabulary) -> RankedModel:
    from ...pipeline.byte_level import decode_all

    numbers = list(vocabulary.of_types(NORMAL))
    written = decode_all([vocabulary.tokens[number] for number in numbers])
    ranks = {token: number for token, number in zip(written, numbers) if token is not None}
    byte = missing_byte(ranks)
    if byte is not None:
        vocabulary.metadata.fail("tokens", f"there is no token for the single byte 0x{byte:02X}")
    return RankedModel(ranks)
