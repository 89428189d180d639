"""The classes of Hugging Face transformers whose vocabulary is ``vocab.json`` and ``merges.txt``.

For each there is the ``tokenizer.json`` that transformers 4.57 makes of the two files, without the
vocabulary itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .parts.pre_tokenizers import byte_level_part, pre_tokenizers_part, split_part
from .parts.transformers import (
    BERT_PRE_TOKENIZER,
    bert_normalizer_part,
    sentence_part,
    template_part,
    text_item,
    token_item,
)
from .settings_beside import NO_UNKNOWN, Settings, Special

if TYPE_CHECKING:
    from collections.abc import Callable

#: The end of a token that ends a word, in the vocabularies that say so.
WORD_END = "</w>"


class TokenizerClass(NamedTuple):
    """A class.

    Args:
        parts: returns the parts of the file besides the model; it takes the settings, the name of
            the special token for each role, and the id of each name.
        special: the special tokens.
        needed: the roles that must have a special token.
        more: other special tokens.
        unknown: the role of the special token that stands for what is unknown.
        no_unknown: the name of that token if a file says that there is none.
        word_end: the end of tokens that end a word.
        most_merges: the number of merges that are used.
    """

    parts: Callable[[Settings, Mapping[str, str], Mapping[str, int]], dict[str, Any]]
    special: Mapping[str, Special]
    needed: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    unknown: str | None = None
    no_unknown: str | None = NO_UNKNOWN
    word_end: str | None = None
    most_merges: int | None = None


#: A post-processor that does nothing: it neither adds tokens nor changes places.
_KEPT = byte_level_part(add_prefix_space=True, trim_offsets=False)


def _gpt2(settings: Settings, names: Mapping[str, str], ids: Mapping[str, int]) -> dict[str, Any]:
    prefix = settings.flag("add_prefix_space") is True
    begin = names.get("bos_token")
    around = _KEPT
    if settings.flag("add_bos_token") is True and begin is not None:
        first = token_item(begin)
        around = template_part(
            [first, text_item("A")], [first, text_item("A"), text_item("B", 1)], {begin: ids[begin]}
        )
    return {
        "normalizer": None,
        "pre_tokenizer": byte_level_part(add_prefix_space=prefix),
        "post_processor": around,
        "decoder": byte_level_part(add_prefix_space=True),
    }


def _codegen(settings: Settings, *_: Any) -> dict[str, Any]:
    if settings.flag("add_bos_token") is True:
        settings.config["add_bos_token"].fail("is not supported, as in transformers")
    return _gpt2(settings, {}, {})


def _qwen2(settings: Settings, *_: Any) -> dict[str, Any]:
    # Of transformers, only 5 takes this flag here.
    prefix = settings.flag("add_prefix_space") is True
    return {
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": pre_tokenizers_part(
            split_part(
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
                r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
            ),
            byte_level_part(add_prefix_space=prefix, use_regex=False),
        ),
        "post_processor": _KEPT,
        "decoder": byte_level_part(add_prefix_space=True),
    }


def _roberta(
    settings: Settings, names: Mapping[str, str], ids: Mapping[str, int]
) -> dict[str, Any]:
    prefix = settings.flag("add_prefix_space") is True
    return {
        "normalizer": None,
        "pre_tokenizer": byte_level_part(add_prefix_space=prefix),
        "post_processor": sentence_part(
            "RobertaProcessing",
            names["cls_token"],
            names["sep_token"],
            ids,
            trim_offsets=settings.flag("trim_offsets") is not False,
            add_prefix_space=prefix,
        ),
        "decoder": byte_level_part(add_prefix_space=True),
    }


def _clip(_: Settings, names: Mapping[str, str], ids: Mapping[str, int]) -> dict[str, Any]:
    return {
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "NFC"},
                {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
                {"type": "Lowercase"},
            ],
        },
        "pre_tokenizer": pre_tokenizers_part(
            split_part(
                r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
                "Removed",
                invert=True,
            ),
            byte_level_part(),
        ),
        "post_processor": sentence_part(
            "RobertaProcessing",
            names["bos_token"],
            names["eos_token"],
            ids,
            trim_offsets=False,
            add_prefix_space=False,
        ),
        "decoder": byte_level_part(add_prefix_space=True),
    }


def _gpt1(*_: Any) -> dict[str, Any]:
    return {
        "normalizer": bert_normalizer_part(lowercase=True),
        "pre_tokenizer": BERT_PRE_TOKENIZER,
        "post_processor": None,
        "decoder": {"type": "BPEDecoder", "suffix": WORD_END},
    }


def _herbert(_: Settings, names: Mapping[str, str], ids: Mapping[str, int]) -> dict[str, Any]:
    return {
        "normalizer": bert_normalizer_part(lowercase=False, strip_accents=False),
        "pre_tokenizer": BERT_PRE_TOKENIZER,
        "post_processor": sentence_part(
            "BertProcessing", names["cls_token"], names["sep_token"], ids
        ),
        "decoder": {"type": "BPEDecoder", "suffix": WORD_END},
    }


def _roberta_class(*, normalized: bool, mask_normalized: bool) -> TokenizerClass:
    """Return RoBERTa's class, or one that differs in the flag ``normalized`` of special tokens."""

    def special(name: str) -> Special:
        return Special(name, normalized=normalized, is_bare=False)

    mask = Special("<mask>", lstrip=True, normalized=mask_normalized, is_bare=False)
    return TokenizerClass(
        _roberta,
        {
            "bos_token": special("<s>"),
            "eos_token": special("</s>"),
            "unk_token": special("<unk>"),
            "sep_token": special("</s>"),
            "pad_token": special("<pad>"),
            "cls_token": special("<s>"),
            "mask_token": mask,
        },
        needed=("cls_token", "sep_token"),
    )


_NO_END = Special(is_bare=False)
_END = Special("<|endoftext|>", is_bare=False)
_NORMALIZED_END = _END._replace(normalized=True)
GPT2 = TokenizerClass(
    _gpt2,
    {
        "bos_token": _NORMALIZED_END,
        "eos_token": _NORMALIZED_END,
        "unk_token": _NORMALIZED_END,
        "pad_token": _NORMALIZED_END._replace(content=None),
    },
)
CODEGEN = TokenizerClass(
    _codegen, {"bos_token": _END, "eos_token": _END, "unk_token": _END, "pad_token": _NO_END}
)
QWEN2 = TokenizerClass(
    _qwen2, {"bos_token": _NO_END, "eos_token": _END, "unk_token": _END, "pad_token": _END}
)
ROBERTA = _roberta_class(normalized=True, mask_normalized=False)
BART = _roberta_class(normalized=True, mask_normalized=True)
MVP = _roberta_class(normalized=False, mask_normalized=False)
CLIP = TokenizerClass(
    _clip,
    {
        "bos_token": _NORMALIZED_END._replace(content="<|startoftext|>"),
        "eos_token": _NORMALIZED_END,
        "unk_token": _NORMALIZED_END,
        "pad_token": Special("<|endoftext|>"),
    },
    needed=("bos_token", "eos_token"),
    unknown="unk_token",
    word_end=WORD_END,
    # All tokens but the bytes, the bytes that end a word, and the two special tokens.
    most_merges=49_408 - 2 * 256 - 2,
)
GPT1 = TokenizerClass(
    _gpt1, {"unk_token": Special("<unk>")}, unknown="unk_token", word_end=WORD_END
)
HERBERT = TokenizerClass(
    _herbert,
    {
        "bos_token": Special("<s>"),
        "unk_token": Special("<unk>"),
        "sep_token": Special("</s>"),
        "pad_token": Special("<pad>"),
        "cls_token": Special("<s>"),
        "mask_token": Special("<mask>"),
    },
    needed=("cls_token", "sep_token"),
    more=tuple(f"<special{number}>" for number in range(10)),
    unknown="unk_token",
    no_unknown=None,
    word_end=WORD_END,
)

#: Each known class by its name, without "Fast" at the end.
CLASSES = {
    "GPT2Tokenizer": GPT2,
    "CodeGenTokenizer": CODEGEN,
    "Qwen2Tokenizer": QWEN2,
    "RobertaTokenizer": ROBERTA,
    "LongformerTokenizer": ROBERTA,
    "BartTokenizer": BART,
    "LEDTokenizer": BART,
    "MvpTokenizer": MVP,
    "CLIPTokenizer": CLIP,
    "OpenAIGPTTokenizer": GPT1,
    "HerbertTokenizer": HERBERT,
}

_MOSES = (
    "it splits text into words by Moses and rules for each language, which no tokenizer.json has"
)
#: Classes that cannot be loaded, and why.
REFUSED = {
    "XLMTokenizer": _MOSES,
    "FlaubertTokenizer": _MOSES,
    "FSMTTokenizer": _MOSES,
    "BioGptTokenizer": _MOSES,
    "CTRLTokenizer": "it writes tokens with @@, which no tokenizer.json has",
    "BlenderbotSmallTokenizer": "it writes tokens with @@, which no tokenizer.json has",
}
