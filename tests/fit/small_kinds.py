"""Small tokenizers of every kind, with what makes each hard to cut."""

from __future__ import annotations

from typing import Any

from compat_bpe import Encoding
from compat_bpe.encodings.sentencepiece import SentencePiece
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.sentencepiece import (
    BPE,
    CHAR,
    UNIGRAM,
    WORD,
    NormalizerSpec,
    SentencePieceModel,
)
from compat_bpe.formats.tokenizer_json import parse_tokenizer
from compat_bpe.pipeline.models.sentencepiece.base import (
    BYTE,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
)
from tests.tokenizer_files import BERT_NORMALIZER, bpe_model, tokenizer_file
from tests.tokenizer_files import added as token_of

_BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
_CHARS = "abcex.<>_1thnd▁"
_MERGES = [
    *("a b", "ab c", "e n", "t h", "th e", "▁ a", "▁a b", "▁ the", "▁ ▁", "en d", "< b", "<b >"),
    *("▁ <b>", "a ▁", "1 1", "x <b>"),
]
_MERGED = [pair.replace(" ", "") for pair in _MERGES]
#: With scores such that most longer pieces are better than their parts.
_SCORED = [("<unk>", 0.0), *((char, -4.0) for char in _CHARS), *((it, -5.0) for it in _MERGED)]


def _replace(old: str, new: str, kind: str = "String") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {kind: old}, "content": new}


def _all(name: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", name: list(parts)}


def _metaspace(scheme: str, *, split: bool = True) -> dict[str, Any]:
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split}


def _bpe(*, with_bytes: bool = False, suffix: str | None = None, **options: Any) -> dict[str, Any]:
    tokens = ["<unk>", *(_BYTES if with_bytes else ()), *_CHARS, *_MERGED]
    merges = _MERGES
    if suffix:
        tokens += [token + suffix for token in [*_CHARS, *_MERGED]]
        merges = [*merges, *(pair + suffix for pair in merges)]
    vocab = {token: number for number, token in enumerate(tokens)}
    usual = {"unk_token": "<unk>", "end_of_word_suffix": suffix, "byte_fallback": with_bytes}
    return bpe_model(vocab, merges, **{**usual, **options})


def _unigram(*, with_bytes: bool = False) -> dict[str, Any]:
    pieces = [*_SCORED, *((byte, -6.0) for byte in _BYTES if with_bytes)]
    return {"type": "Unigram", "unk_id": 0, "vocab": list(map(list, pieces)),
            "byte_fallback": with_bytes}  # fmt: skip


def _word_piece() -> dict[str, Any]:
    tokens = ["[UNK]", *"abcex.<>1'!", "##b", "##c", "##e", "##x", "the", "##end", "ab", "##1", "e"]
    vocab = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    return {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 5, "vocab": vocab}  # fmt: skip


def _word_level() -> dict[str, Any]:
    vocab = {token: number for number, token in enumerate(["[UNK]", "a", "ab", "the", ".", "end"])}
    return {"type": "WordLevel", "unk_token": "[UNK]", "vocab": vocab}


_LLAMA_DECODER = _all(
    "decoders",
    _replace("▁", " "),
    {"type": "ByteFallback"},
    {"type": "Fuse"},
    {"type": "Strip", "content": " ", "start": 1, "stop": 0},
)
_PREPEND = {"type": "Prepend", "prepend": "▁"}
_LLAMA = _all("normalizers", _PREPEND, _replace(" ", "▁"))
_STRIP = {"type": "Strip", "strip_left": True, "strip_right": True}
_T5 = _all(
    "normalizers",
    {"type": "NFKC"},
    {"type": "Strip", "strip_left": False, "strip_right": True},
    _replace(" {2,}", "▁", "Regex"),
)
_B = {"content": "<b>"}
#: Tokens that take what is around them, are found in normalized text only, or stand alone.
_WIDE = [
    {"content": "<b>", "rstrip": True},
    {"content": "x", "single_word": True},
    {"content": "oftext", "lstrip": True, "normalized": True},
    {"content": " the end.", "lstrip": True, "rstrip": True, "special": True},
]

_FILES: dict[str, dict[str, Any]] = {
    "llama": {"model": _bpe(with_bytes=True, fuse_unk=True), "normalizer": _LLAMA,
              "decoder": _LLAMA_DECODER, "added": [_B]},
    "llama, first": {"model": _bpe(with_bytes=True), "added": [_B],
                     "pre_tokenizer": _metaspace("first", split=False),
                     "decoder": _LLAMA_DECODER},
    "llama, always": {"model": _bpe(fuse_unk=True), "added": [_B, {"content": "▁"}],
                      "pre_tokenizer": _metaspace("always", split=False),
                      "decoder": {**_metaspace("always")}},
    "llama, names": {"model": _bpe(fuse_unk=True), "normalizer": _LLAMA,
                     "added": [{"content": "<b>", "normalized": True}, {"content": "e "}],
                     "decoder": {"type": "Fuse"}},
    "gemma": {"model": _bpe(with_bytes=True, fuse_unk=True), "normalizer": _replace(" ", "▁"),
              "pre_tokenizer": {"type": "Split", "pattern": {"String": " "},
                                "behavior": "MergedWithPrevious", "invert": False},
              "decoder": _all("decoders", _replace("▁", " "), {"type": "ByteFallback"})},
    "characters only": {"model": _bpe(unk_token=None), "decoder": None},
    "end of word": {"model": _bpe(suffix="</w>"), "normalizer": BERT_NORMALIZER, "added": [_B],
                    "pre_tokenizer": {"type": "BertPreTokenizer"},
                    "decoder": {"type": "BPEDecoder", "suffix": "</w>"}},
    "word pieces": {"model": _word_piece(), "normalizer": BERT_NORMALIZER, "added": _WIDE,
                    "pre_tokenizer": {"type": "BertPreTokenizer"},
                    "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True}},
    "unigram, always": {"model": _unigram(), "normalizer": {"type": "NFKC"}, "added": [_B],
                        "pre_tokenizer": _metaspace("always"), "decoder": _metaspace("always")},
    "unigram, first": {"model": _unigram(with_bytes=True), "added": _WIDE,
                       "pre_tokenizer": _metaspace("first"), "decoder": _metaspace("first")},
    "unigram, never": {"model": _unigram(), "pre_tokenizer": _metaspace("never", split=False),
                       "decoder": _metaspace("never")},
    "t5": {"model": _unigram(), "normalizer": _T5, "added": [_B],
           "pre_tokenizer": _metaspace("always"), "decoder": _metaspace("always")},
    "stripped": {"model": _unigram(), "normalizer": _all("normalizers", _STRIP, _PREPEND),
                 "added": [{"content": "AB", "normalized": True}],
                 "pre_tokenizer": {"type": "WhitespaceSplit"}, "decoder": None},
    "word level": {"model": _word_level(), "normalizer": {"type": "Lowercase"},
                   "added": [{"content": "AB", "normalized": True}, *_WIDE],
                   "pre_tokenizer": {"type": "Whitespace"}, "decoder": None},
    "ctc": {"model": _word_level(), "pre_tokenizer": {"type": "Whitespace"},
            "decoder": {"type": "CTC", "pad_token": "the", "word_delimiter_token": ".",
                        "cleanup": True}},
}  # fmt: skip


def _file(*, added: Any = (), **parts: Any) -> dict[str, Any]:
    tokens = [token_of(number, **token) for number, token in enumerate(added, 1010)]
    return tokenizer_file(added_tokens=tokens, **parts)


_DEFAULT = NormalizerSpec()


def _model(
    kind: int,
    *,
    spec: NormalizerSpec = _DEFAULT,
    types: dict[str, int] | None = None,
    with_bytes: bool = False,
    suffix: bool = False,
) -> SentencePieceModel:
    scored = [*_SCORED, *((byte, 0.0) for byte in _BYTES if with_bytes)]
    if kind == WORD:
        scored += [("▁x", -4.0), ("▁end.", -5.0)]
    texts = [text for text, _ in scored]
    others = {"<unk>": UNKNOWN, **dict.fromkeys(_BYTES, BYTE), **(types or {})}
    return SentencePieceModel(
        texts,
        [score - at / 64 for at, (_, score) in enumerate(scored)],
        bytes(others.get(text, NORMAL) for text in texts),
        normalizer=spec,
        kind=kind,
        whitespace_as_suffix=suffix,
        byte_fallback=with_bytes,
    )


_AS_IT_IS = NormalizerSpec(add_dummy_prefix=False, remove_extra_whitespaces=False)
_PREFIX_ONLY = NormalizerSpec(remove_extra_whitespaces=False)
_REMOVED = NormalizerSpec(add_dummy_prefix=False)
_MODELS: dict[str, SentencePieceModel] = {
    "spm bpe": _model(BPE, spec=_PREFIX_ONLY, with_bytes=True),
    "spm bpe, removed": _model(BPE),
    "spm bpe, not put": _model(BPE, spec=_REMOVED),
    "spm bpe, as it is": _model(BPE, spec=_AS_IT_IS, with_bytes=True),
    "spm bpe, symbols": _model(BPE, types={"<b>": USER_DEFINED, "▁a": USER_DEFINED}),
    "spm bpe, unused": _model(BPE, types={"ab": UNUSED}, with_bytes=True),
    "spm bpe, suffix": _model(BPE, suffix=True),
    "spm unigram": _model(UNIGRAM),
    "spm characters": _model(CHAR, types={"<b>": USER_DEFINED}),
    "spm words": _model(WORD),
}

#: The names of all of them.
KINDS = [*_FILES, *_MODELS]
#: Those without cut points.
UNCUT = [
    *("characters only", "unigram, never", "spm bpe, unused", "spm bpe, suffix", "spm unigram"),
    "spm words",
]


def small_kind(name: str) -> Encoding:
    """One of the tokenizers in ``KINDS``."""
    if name in _MODELS:
        return SentencePiece(name, _MODELS[name])
    return Tokenizer(name, parse_tokenizer(Json(_file(**_FILES[name]), name)))
