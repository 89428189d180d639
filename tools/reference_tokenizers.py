"""Tokenizers as they are published, built for the tests from vocabularies in packages.

The files themselves are on no registry that tests can reach. They are made of the published
vocabularies (``tools/reference_files.py``) with the components that the published files have, or,
where the name ends in ``_like``, of another vocabulary. The same bytes come of it every time.

    python tools/reference_tokenizers.py        # build them all
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import sys
from functools import cache, partial
from pathlib import Path
from typing import Any, Callable, NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from compat_bpe.formats import sentencepiece
from compat_bpe.formats.gguf import container
from compat_bpe.formats.sentencepiece import BPE, SentencePieceModel, read_sentencepiece
from tests import tokenizer_files
from tests.tokenizer_files import added, bpe_model, tokenizer_file
from tools import reference_files
from tools.reference_files import reference_file, reference_folder, write_whole

Part = dict[str, Any]

#: Types of pieces, in a GGUF file as in a model.
UNKNOWN, CONTROL, USER_DEFINED = 2, 3, 4


def reference_tokenizer(name: str) -> Path:
    """The path of a file of ``TOKENIZERS``, built if it is not there yet.

    Raises:
        OSError: what it is built from cannot be fetched.
        ValueError: what was fetched is not what was published.
    """
    built = TOKENIZERS[name]
    # Under what builds it: other code may build something else.
    path = reference_folder() / f"built-{_builders()}" / name / built.file
    if not path.exists():
        write_whole(path, built.build())
    return path


@cache
def _builders() -> str:
    files = [
        __file__,
        *(
            module.__file__
            for module in (reference_files, tokenizer_files, container, sentencepiece)
        ),
    ]
    code = b"".join(Path(file).read_bytes() for file in files if file is not None)
    return hashlib.sha256(code).hexdigest()[:16]


class Vocabulary(NamedTuple):
    """What a GGUF file has of a vocabulary.

    ``scores`` and ``types`` (1 normal, 2 unknown, 3 control, 4 user defined, 5 unused, 6 byte) are
    as long as ``tokens`` or empty; ``merges`` are pairs joined by a space.
    """

    tokens: list[str]
    scores: list[float]
    types: list[int]
    merges: list[str]
    charsmap: bytes


def read_gguf(name: str) -> Vocabulary:
    """Return the vocabulary of a GGUF file of ``FILES``."""
    entries = container.read_entries(reference_file(name))

    def of(key: str) -> list[Any]:
        entry = entries.get(f"tokenizer.ggml.{key}")
        return list(entry.value) if entry else []  # type: ignore[arg-type]

    tokens, merges = ([text.decode() for text in of(key)] for key in ("tokens", "merges"))
    charsmap = bytes(number % 256 for number in of("precompiled_charsmap"))
    return Vocabulary(tokens, of("scores"), of("token_type"), merges, charsmap)


# The parts of a ``tokenizer.json``, written as Hugging Face's tokenizers writes them


def tokenizer_json(model: Part, tokens: list[Part], **parts: Part | None) -> bytes:
    """The file: what does not matter to the ids is as it is without truncation and padding."""
    tokens = sorted(tokens, key=lambda token: int(token["id"]))
    whole = tokenizer_file(added_tokens=tokens, **parts, model=model)
    return json.dumps(whole, ensure_ascii=False, indent=1).encode()


def special(number: int, content: str, **flags: bool) -> Part:
    """An added token, special unless the flags say otherwise."""
    return added(number, content, **{"special": True, **flags})


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


# BERT


def bert_vocabulary() -> list[str]:
    """The lines of bert-base-uncased's ``vocab.txt``."""
    return [
        token[1:] if token.startswith("▁") else token if _is_special(token) else f"##{token}"
        for token in read_gguf("bert_gguf").tokens
    ]


def _is_special(token: str) -> bool:
    return len(token) > 2 and token.startswith("[") and token.endswith("]")


def _bert_vocab_txt() -> bytes:
    return "".join(f"{token}\n" for token in bert_vocabulary()).encode()


def _bert_uncased() -> bytes:
    vocab = {token: number for number, token in enumerate(bert_vocabulary())}
    return tokenizer_json(
        {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": vocab,
        },
        [special(vocab[it], it) for it in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")],
        normalizer={
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        pre_tokenizer={"type": "BertPreTokenizer"},
        post_processor=template(
            {"[CLS]": vocab["[CLS]"], "[SEP]": vocab["[SEP]"]},
            "[CLS] $A [SEP]",
            "[CLS] $A [SEP] $B:1 [SEP]:1",
        ),
        decoder={"type": "WordPiece", "prefix": "##", "cleanup": True},
    )


# CLIP

_CLIP_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def _clip() -> bytes:
    text = gzip.decompress(reference_file("clip_merges").read_bytes()).decode()
    # The first line is a heading, and the vocabulary is of 49,408: 2 · 256 bytes, merges, 2 more.
    merges = [line.split() for line in text.split("\n")[1 : 49408 - 2 * 256 - 2 + 1]]
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    symbols = [chr(byte) for byte in shown]
    symbols += [chr(256 + at) for at in range(256 - len(shown))]
    start, end = "<|startoftext|>", "<|endoftext|>"
    pieces = symbols + [f"{symbol}</w>" for symbol in symbols] + ["".join(pair) for pair in merges]
    vocab = {piece: number for number, piece in enumerate([*pieces, start, end])}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    return tokenizer_json(
        bpe_model(
            vocab,
            [" ".join(pair) for pair in merges],
            unk_token=end,
            continuing_subword_prefix="",
            end_of_word_suffix="</w>",
        ),
        [special(vocab[start], start, normalized=True), special(vocab[end], end)],
        normalizer=sequence(
            "normalizers", {"type": "NFC"}, replace(r"\s+", " ", "Regex"), {"type": "Lowercase"}
        ),
        pre_tokenizer=sequence(
            "pretokenizers",
            {
                "type": "Split",
                "pattern": {"Regex": _CLIP_PATTERN},
                "behavior": "Removed",
                "invert": True,
            },
            {**byte_level, "use_regex": True},
        ),
        post_processor={
            "type": "RobertaProcessing",
            "sep": [end, vocab[end]],
            "cls": [start, vocab[start]],
            "trim_offsets": False,
            "add_prefix_space": False,
        },
        decoder={**byte_level, "add_prefix_space": True, "use_regex": True},
    )


# BPE of SentencePiece: Llama 2 and Mistral


def _model(name: str) -> SentencePieceModel:
    return read_sentencepiece(reference_file(name))


def _pieces(model: SentencePieceModel) -> list[tuple[str, float]]:
    return list(zip(model.texts, model.scores))


def spm_merges(model: SentencePieceModel) -> list[tuple[str, str]]:
    """The merges that a BPE of SentencePiece amounts to, first to be made first.

    Every way to put a piece together of two others is a merge, and pieces of a higher score go
    first. Of one score (or piece), the longer left part goes first, then the longer right part,
    then the lower ids.
    """
    ids = {text: number for number, text in enumerate(model.texts)}
    scores = dict(_pieces(model))
    ordered = []
    for at, (text, score) in enumerate(scores.items()):
        for cut in range(1, len(text)):
            left, right = text[:cut], text[cut:]
            if left in ids and right in ids:
                key = (-score, -len(left), -len(right), at, ids[left], ids[right])
                ordered.append((key, (left, right)))
    return [pair for _, pair in sorted(ordered)]


def _spm_added(model: SentencePieceModel, more: set[str]) -> list[Part]:
    """Control pieces and user-defined ones, as transformers adds them; these are not special."""
    return [
        special(number, text, special=kind == CONTROL or text in more)
        for number, (text, kind) in enumerate(zip(model.texts, model.types))
        if kind in (CONTROL, USER_DEFINED) or text in more
    ]


def llama(name: str, *, legacy: bool) -> bytes:
    """Llama 2 and what is like it; not legacy, the dummy space is put by a Metaspace."""
    model = _model(name)
    assert model.kind == BPE
    vocab = {text: number for number, text in enumerate(model.texts)}
    space = replace(" ", "▁")
    return tokenizer_json(
        bpe_model(
            vocab,
            [" ".join(pair) for pair in spm_merges(model)],
            unk_token="<unk>",
            fuse_unk=True,
            byte_fallback=True,
        ),
        _spm_added(model, {"<unk>"}),
        normalizer=(
            sequence("normalizers", {"type": "Prepend", "prepend": "▁"}, space) if legacy else None
        ),
        pre_tokenizer=None if legacy else metaspace("first", split=False),
        post_processor=template({"<s>": vocab["<s>"]}, "<s> $A", "<s> $A <s>:1 $B:1"),
        decoder=sequence(
            "decoders",
            replace("▁", " "),
            {"type": "ByteFallback"},
            {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ),
    )


# Unigram


def _unigram(
    pieces: list[tuple[str, float]], unk_id: int, *, byte_fallback: bool = False
) -> tuple[Part, dict[str, int]]:
    part = {"type": "Unigram", "unk_id": unk_id, "vocab": pieces, "byte_fallback": byte_fallback}
    return part, {text: number for number, (text, _) in enumerate(pieces)}


def xlm_r(kind: str) -> bytes:
    """XLM-R, with the components of three of its files.

    They are: ``published`` of the first, ``metaspace`` of a later one, ``converted`` of one that
    transformers makes of the model today.
    """
    found = read_gguf("xlm_r_gguf")
    size = found.tokens.index("<mask>") + 1  # what follows fills a table up
    model, ids = _unigram(list(zip(found.tokens[:size], found.scores[:size])), 3)
    (charsmap,) = precompiled(found.charsmap)
    old = {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True}
    always = metaspace("always")
    normalizer, pre_tokenizer = {
        "published": (charsmap, sequence("pretokenizers", {"type": "WhitespaceSplit"}, old)),
        "metaspace": (
            sequence("normalizers", charsmap, replace(" {2,}", " ", "Regex")),
            old,
        ),
        "converted": (_spm_normalizer(found.charsmap), always),
    }[kind]
    specials = [special(ids[it], it) for it in ("<s>", "<pad>", "</s>", "<unk>")]
    return tokenizer_json(
        model,
        [*specials, special(ids["<mask>"], "<mask>", lstrip=True)],
        normalizer=normalizer,
        pre_tokenizer=pre_tokenizer,
        post_processor=template({"<s>": 0, "</s>": 2}, "<s> $A </s>", "<s> $A </s> </s> $B </s>"),
        decoder=always if kind == "converted" else old,
    )


def _spm_normalizer(charsmap: bytes) -> Part:
    strip = {"type": "Strip", "strip_left": False, "strip_right": True}
    spaces = replace(" {2,}", "▁", "Regex")
    return sequence("normalizers", *precompiled(charsmap), strip, spaces)


def spm_unigram(name: str, *, byte_fallback: bool = False) -> bytes:
    """As transformers converts a model that has nothing of its own."""
    model = _model(name)
    unknown = model.types.index(UNKNOWN)
    part, _ = _unigram(_pieces(model), unknown, byte_fallback=byte_fallback)
    return tokenizer_json(
        part,
        _spm_added(model, set()),
        normalizer=_spm_normalizer(model.normalizer.charsmap),
        pre_tokenizer=metaspace("always"),
        decoder=metaspace("always"),
    )


def t5(name: str) -> bytes:
    """T5's components and its hundred more tokens, on another vocabulary."""
    model = _model(name)
    extra = [f"<extra_id_{number}>" for number in reversed(range(100))]
    more = [(it, 0.0) for it in extra]
    part, ids = _unigram([*_pieces(model), *more], model.types.index(UNKNOWN))
    return tokenizer_json(
        part,
        [special(ids[it], it) for it in ("</s>", "<unk>", *extra)],
        normalizer=_spm_normalizer(model.normalizer.charsmap),
        pre_tokenizer=metaspace("always"),
        post_processor=template({"</s>": ids["</s>"]}, "$A </s>", "$A </s> $B </s>"),
        decoder=metaspace("always"),
    )


def _albert(name: str, specials: list[str], single: str, pair: str, *, lowercase: bool) -> bytes:
    """ALBERT and XLNet: quotes, accents and case go before the model's own normalization."""
    model = _model(name)
    # A piece that ends in a comma after a digit is made dear, so that the comma stays alone.
    pieces = [
        (text, score - 100 if len(text) > 1 and text[-1] == "," and text[-2].isdigit() else score)
        for text, score in _pieces(model)
    ]
    present = {text for text, _ in pieces}
    more = [(it, 0.0) for it in specials if it not in present]
    part, ids = _unigram([*pieces, *more], model.types.index(UNKNOWN))
    return tokenizer_json(
        part,
        [special(ids[it], it) for it in ["<unk>", *specials]],
        normalizer=sequence(
            "normalizers",
            replace("``", '"'),
            replace("''", '"'),
            {"type": "NFKD"},
            {"type": "StripAccents"},
            *([{"type": "Lowercase"}] if lowercase else []),
            *precompiled(model.normalizer.charsmap),
            replace(" {2,}", " ", "Regex"),
        ),
        pre_tokenizer=metaspace("always"),
        post_processor=template({it: ids[it] for it in specials}, single, pair),
        decoder=metaspace("always"),
    )


def albert_like(name: str) -> bytes:
    """ALBERT's components on another vocabulary."""
    pair = "[CLS] $A [SEP] $B:1 [SEP]:1"
    return _albert(name, ["[CLS]", "[SEP]"], "[CLS] $A [SEP]", pair, lowercase=True)


def xlnet_like(name: str) -> bytes:
    """XLNet's components on another vocabulary."""
    pair = "$A <sep> $B:1 <sep>:1 <cls>:2"
    return _albert(name, ["<sep>", "<cls>"], "$A <sep> <cls>:2", pair, lowercase=False)


class Built(NamedTuple):
    """The name of a file, and what builds it."""

    file: str
    build: Callable[[], bytes]


_JSON = "tokenizer.json"

TOKENIZERS = {
    "bert_vocab": Built("vocab.txt", _bert_vocab_txt),
    "bert_uncased": Built(_JSON, _bert_uncased),
    "clip": Built(_JSON, _clip),
    "llama_2": Built(_JSON, partial(llama, "llama_2", legacy=True)),
    "llama_2_first": Built(_JSON, partial(llama, "llama_2", legacy=False)),
    "mistral_v1": Built(_JSON, partial(llama, "mistral_v1", legacy=True)),
    "mistral_v3": Built(_JSON, partial(llama, "mistral_v3", legacy=False)),
    "xlm_r": Built(_JSON, partial(xlm_r, "published")),
    "xlm_r_metaspace": Built(_JSON, partial(xlm_r, "metaspace")),
    "xlm_r_converted": Built(_JSON, partial(xlm_r, "converted")),
    "j2": Built(_JSON, partial(spm_unigram, "j2", byte_fallback=True)),
    "kyoto_unigram": Built(_JSON, partial(spm_unigram, "kyoto_unigram")),
    "t5_like": Built(_JSON, partial(t5, "botchan_unigram")),
    "albert_like": Built(_JSON, partial(albert_like, "botchan_unigram")),
    "xlnet_like": Built(_JSON, partial(xlnet_like, "kyoto_unigram")),
}


def main() -> None:
    """Build, and print each file's name, size in bytes and path."""
    for name in TOKENIZERS:
        path = reference_tokenizer(name)
        print(f"{name:16} {path.stat().st_size:>10,}  {path}")


if __name__ == "__main__":
    main()
