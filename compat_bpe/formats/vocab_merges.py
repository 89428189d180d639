"""``vocab.json`` and ``merges.txt``: the model of a ``tokenizer.json`` in two files.

The files beside them (``settings_beside.py``) define the added tokens and, by the name of a class
in Hugging Face transformers, the rest. If no class is named, the tokens show it. Several kinds mark
the end of a word with ``</w>``; others are as in GPT-2. Each class has the ``tokenizer.json`` that
transformers 4.57 makes from the two files, without the vocabulary.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..files.compressed import text_lines
from ..files.whole import read_whole
from ..pattern import QWEN
from ..pipeline.byte_level import BYTE_TO_UNICODE
from .checked_json import Json, read_json
from .settings_beside import NO_UNKNOWN, Settings, Special, settings_beside
from .tokenizer_json import TokenizerDefinition, parse_tokenizer
from .tokenizer_writing import (
    BERT_PRE_TOKENIZER,
    bert_normalizer_part,
    byte_level_part,
    file_parts,
    pattern_part,
    pre_tokenizers_part,
    sentence_part,
    split_part,
    template_part,
    text_item,
    token_item,
)

if TYPE_CHECKING:
    from collections.abc import Callable

#: The beginning of lines that are not merges, anywhere in a file, as in tokenizers; and the
#: beginning of the first line of CLIP's file.
_HEADING = "#version"
_HEADING_OF_CLIP = '"bpe_simple_vocab_16e6.txt#version'

#: The number of tokens of GPT-1, the only vocabulary of its kind for which no file must name a
#: class.
_SIZE_OF_GPT1 = 40_478


def read_vocab_merges(
    vocabulary: Path, merges: Path, pattern: str | None = None
) -> TokenizerDefinition:
    """Read the two files, and the settings in files beside them.

    ``pattern``, in the syntax of OpenAI's published patterns, replaces the splitting of the class.

    Raises:
        OSError: a file cannot be read.
        ValueError: ``{file}: {place}: {reason}``. A file is damaged, or the class is not known.
    """
    ids = read_json(vocabulary)
    settings = settings_beside(vocabulary)
    source = f"{vocabulary} and {merges.name}"
    kind = _class_named(settings) if pattern is None else None
    listed = _read_merges(merges)
    if pattern is not None:
        if _ends_words(listed):
            raise ValueError(f"{source}: its tokens mark the ends of words; leave out the pattern")
        kind = _unnamed(ids.mapping(), listed, settings, source)._replace(
            parts=lambda *_: _split_by(pattern)
        )
    kind = kind or _class_of(ids.mapping(), listed, settings, source)
    return _definition(kind, ids.mapping(), listed, settings, source)


def read_clip_merges(path: Path) -> TokenizerDefinition:
    """Read the merges of CLIP, from which its vocabulary follows; the file may be compressed.

    Raises:
        OSError: the file cannot be read.
        ValueError: ``{file}: {place}: {reason}``. The file is damaged.
    """
    merges = _read_merges(path)[: CLIP.most_merges]
    shown = sorted(BYTE_TO_UNICODE.values())
    names = [*shown, *(char + WORD_END for char in shown)]
    names += [merge.replace(" ", "") for merge in merges]
    names += ["<|startoftext|>", "<|endoftext|>"]
    ids = {name: number for number, name in enumerate(names)}
    if len(ids) < len(names):
        raise ValueError(f"{path}: two merges make the same token")
    empty = Json({}, str(path))
    return _definition(CLIP, ids, merges, Settings(empty, empty, empty, empty), str(path))


def _definition(
    kind: TokenizerClass,
    ids: Mapping[str, Any],
    merges: list[str],
    settings: Settings,
    source: str,
) -> TokenizerDefinition:
    special = settings.special_tokens(kind.special)
    for role in kind.needed:
        if role not in special:
            settings.config.fail(f"there is no {role}")
    names = {role: token["content"] for role, token in special.items()}
    added, around = settings.added_tokens(ids, special, kind.more)
    model: dict[str, Any] = {"type": "BPE", "vocab": ids, "merges": merges[: kind.most_merges]}
    if kind.unknown is not None:
        model["unk_token"] = names.get(kind.unknown, kind.no_unknown)
    if kind.word_end is not None:
        model["end_of_word_suffix"] = kind.word_end
    file = {
        "model": model,
        "added_tokens": added,
        **kind.parts(settings, names, around),
    }
    return parse_tokenizer(Json(file, source))


def _split_by(pattern: str) -> dict[str, Any]:
    steps = pre_tokenizers_part(pattern_part(pattern), byte_level_part(use_regex=False))
    return file_parts(steps, None, byte_level_part())


def _class_named(settings: Settings) -> TokenizerClass | None:
    """Return the class that the files name; None if there is no such name."""
    named = settings.class_name({*CLASSES, *REFUSED})
    if named is None:
        return None
    name = named.value
    if name in REFUSED:
        named.fail(f"{name} is not supported: {REFUSED[name]}")
    if name not in CLASSES:
        named.fail(f"{name} is not supported (only {', '.join(CLASSES)}; or pass a pattern)")
    return CLASSES[name]


def _class_of(
    ids: Collection[str], merges: Sequence[str], settings: Settings, source: str
) -> TokenizerClass:
    """Return the class, determined from the tokens and the merges."""
    if not _ends_words(merges):
        return _unnamed(ids, merges, settings, source)
    if "<|startoftext|>" in ids and "<|endoftext|>" in ids:
        return CLIP
    # CharBPETokenizer of tokenizers also writes such tokens, and does not lowercase text.
    if "<unk>" in ids and len(ids) == _SIZE_OF_GPT1:
        return GPT1
    raise ValueError(
        f"{source}: its tokens mark the ends of words ({WORD_END}), as in several kinds of "
        "tokenizers: a tokenizer_config.json beside it must name the class (tokenizer_class)"
    )


def _ends_words(merges: Sequence[str]) -> bool:
    """Return True if the last character of a word has a mark for the end.

    In other vocabularies "</w>" is text that merges make from single characters.
    """
    parts = {part for merge in merges if WORD_END in merge for part in merge.split(" ")}
    made = {merge.replace(" ", "") for merge in merges}
    return any(part.endswith(WORD_END) and len(part) > 1 for part in parts - made)


def _read_merges(path: Path) -> list[str]:
    return parse_merges(read_whole(path), str(path))


def parse_merges(data: bytes, source: str) -> list[str]:
    """Return the merges of a list, each as its two parts with a space between them.

    Args:
        data: the bytes of the file, which may be a gzip.
        source: the name of the file, for messages.

    Raises:
        ValueError: ``{file}: {place}: {reason}``. The file is damaged.
    """
    merges = []
    for number, line in enumerate(text_lines(data, source), 1):
        merge = line.rstrip("\r")
        if is_heading(merge) or (number == 1 and merge.startswith(_HEADING_OF_CLIP)):
            continue
        if merge.count(" ") != 1:
            raise ValueError(f"{source}: line {number}: expected the two parts of a merge")
        merges.append(merge)
    return merges


def is_heading(line: str) -> bool:
    """Return True if readers skip a line of a list of merges, even if the line is a merge."""
    return line.startswith(_HEADING)


def _unnamed(
    ids: Collection[str], merges: Sequence[str], settings: Settings, source: str
) -> TokenizerClass:
    """Return the class of a vocabulary without a named class: GPT-2's with other special tokens.

    As in ``load_gpt2``, its special tokens are all names ``<…>`` that no merge makes, unless a file
    lists all added tokens.

    Raises:
        ValueError: bytes are missing, so the vocabulary is not like GPT-2's.
    """
    missing = sorted({*BYTE_TO_UNICODE.values()} - {*ids})
    if missing:
        shown = ", ".join(map(repr, missing[:3]))
        raise ValueError(
            f"{source}: {len(missing)} of the 256 bytes, written as in GPT-2's vocabulary, are "
            f"missing ({shown}{', …' * (len(missing) > 3)}), so it is not byte-level BPE like "
            "GPT-2's: load the tokenizer.json of its tokenizer, or name the class in a "
            "tokenizer_config.json beside it (tokenizer_class)"
        )
    if settings.config.get("added_tokens_decoder") is not None:
        return GPT2._replace(special={})
    made = {merge.replace(" ", "") for merge in merges}
    names = [
        name
        for name in ids
        if name[:1] == "<" and name[-1:] == ">" and len(name) > 2 and name not in made
    ]
    return GPT2._replace(special={}, more=tuple(names))


#: The mark of a token that ends a word, in vocabularies with such marks.
WORD_END = "</w>"


class TokenizerClass(NamedTuple):
    """A class of Hugging Face transformers.

    Args:
        parts: returns the parts of the file besides the model, given the settings, the name of
            the special token for each role, and the id of each name.
        special: the special tokens.
        needed: the roles that must have a special token.
        more: other special tokens.
        unknown: the role of the unknown token.
        no_unknown: the name of the unknown token if a file sets it to null.
        word_end: the mark of tokens that end a word.
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
#: The decoders of bytes, and of tokens with a mark for the end of a word.
_BYTE_LEVEL = byte_level_part(add_prefix_space=True)
_END_OF_WORD = {"type": "BPEDecoder", "suffix": WORD_END}


def _gpt2(settings: Settings, names: Mapping[str, str], ids: Mapping[str, int]) -> dict[str, Any]:
    prefix = settings.flag("add_prefix_space") is True
    begin = names.get("bos_token")
    around = _KEPT
    if settings.flag("add_bos_token") is True and begin is not None:
        first = token_item(begin)
        around = template_part(
            [first, text_item("A")], [first, text_item("A"), text_item("B", 1)], {begin: ids[begin]}
        )
    return file_parts(byte_level_part(add_prefix_space=prefix), around, _BYTE_LEVEL)


def _codegen(settings: Settings, *_: Any) -> dict[str, Any]:
    if settings.flag("add_bos_token") is True:
        settings.config["add_bos_token"].fail("is not supported, as in transformers")
    return _gpt2(settings, {}, {})


def _qwen2(settings: Settings, *_: Any) -> dict[str, Any]:
    # Only transformers 5 reads this flag here.
    prefix = settings.flag("add_prefix_space") is True
    steps = pre_tokenizers_part(
        split_part(QWEN), byte_level_part(add_prefix_space=prefix, use_regex=False)
    )
    return file_parts(steps, _KEPT, _BYTE_LEVEL, normalizer={"type": "NFC"})


def _roberta(
    settings: Settings, names: Mapping[str, str], ids: Mapping[str, int]
) -> dict[str, Any]:
    prefix = settings.flag("add_prefix_space") is True
    around = sentence_part(
        "RobertaProcessing",
        names["cls_token"],
        names["sep_token"],
        ids,
        trim_offsets=settings.flag("trim_offsets") is not False,
        add_prefix_space=prefix,
    )
    return file_parts(byte_level_part(add_prefix_space=prefix), around, _BYTE_LEVEL)


def _clip(_: Settings, names: Mapping[str, str], ids: Mapping[str, int]) -> dict[str, Any]:
    blanks = {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "}
    normalizers = [{"type": "NFC"}, blanks, {"type": "Lowercase"}]
    pattern = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    around = sentence_part(
        "RobertaProcessing",
        names["bos_token"],
        names["eos_token"],
        ids,
        trim_offsets=False,
        add_prefix_space=False,
    )
    return file_parts(
        pre_tokenizers_part(split_part(pattern, "Removed", invert=True), byte_level_part()),
        around,
        _BYTE_LEVEL,
        normalizer={"type": "Sequence", "normalizers": normalizers},
    )


def _gpt1(*_: Any) -> dict[str, Any]:
    normalizer = bert_normalizer_part(lowercase=True)
    return file_parts(BERT_PRE_TOKENIZER, None, _END_OF_WORD, normalizer=normalizer)


def _herbert(_: Settings, names: Mapping[str, str], ids: Mapping[str, int]) -> dict[str, Any]:
    normalizer = bert_normalizer_part(lowercase=False, strip_accents=False)
    around = sentence_part("BertProcessing", names["cls_token"], names["sep_token"], ids)
    return file_parts(BERT_PRE_TOKENIZER, around, _END_OF_WORD, normalizer=normalizer)


def _roberta_class(*, normalized: bool, mask_normalized: bool) -> TokenizerClass:
    """Return RoBERTa's class with some values for the flag ``normalized`` of special tokens."""

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
    # All tokens except the bytes, the bytes that end a word, and the two special tokens.
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
    "it splits text into words by Moses and rules for each language, which a tokenizer.json "
    "cannot hold"
)
#: Classes that cannot be loaded, and why.
REFUSED = {
    "XLMTokenizer": _MOSES,
    "FlaubertTokenizer": _MOSES,
    "FSMTTokenizer": _MOSES,
    "BioGptTokenizer": _MOSES,
    "CTRLTokenizer": "it writes tokens with @@, which a tokenizer.json cannot hold",
    "BlenderbotSmallTokenizer": "it writes tokens with @@, which a tokenizer.json cannot hold",
}
