"""Tokenizers as they are published, built from vocabularies of SentencePiece."""

from __future__ import annotations

from tools.gguf import read_vocabulary
from tools.reference_files import reference_file
from tools.sentencepiece_model import BPE, CONTROL, USER_DEFINED, Model, read_model
from tools.tokenizer_json import (
    Part,
    added_token,
    metaspace,
    precompiled,
    replace,
    sequence,
    template,
    tokenizer_json,
)

# BPE of SentencePiece: Llama 2 and Mistral


def _model(name: str) -> Model:
    return read_model(reference_file(name).read_bytes())


def spm_merges(model: Model) -> list[tuple[str, str]]:
    """The merges that a BPE of SentencePiece amounts to, first to be made first.

    Every way to put a piece together of two others is a merge, and pieces of a higher score go
    first. Of one score (or piece), the longer left part goes first, then the longer right part,
    then the lower ids.
    """
    ids = {piece.text: number for number, piece in enumerate(model.pieces)}
    scores = {piece.text: piece.score for piece in model.pieces}
    ordered = []
    for at, (text, score) in enumerate(scores.items()):
        for cut in range(1, len(text)):
            left, right = text[:cut], text[cut:]
            if left in ids and right in ids:
                key = (-score, -len(left), -len(right), at, ids[left], ids[right])
                ordered.append((key, (left, right)))
    return [pair for _, pair in sorted(ordered)]


def _spm_added(model: Model, special: set[str]) -> list[Part]:
    """Control pieces and user-defined ones, as transformers adds them; these are not special."""
    return [
        added_token(number, piece.text, special=piece.type == CONTROL or piece.text in special)
        for number, piece in enumerate(model.pieces)
        if piece.type in (CONTROL, USER_DEFINED) or piece.text in special
    ]


def llama(name: str, *, legacy: bool) -> bytes:
    """Llama 2 and what is like it; not legacy, the dummy space is put by a Metaspace."""
    model = _model(name)
    assert model.kind == BPE
    vocab = {piece.text: number for number, piece in enumerate(model.pieces)}
    space = replace(" ", "▁")
    return tokenizer_json(
        {
            "type": "BPE",
            "dropout": None,
            "unk_token": "<unk>",
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": True,
            "vocab": vocab,
            "merges": [" ".join(pair) for pair in spm_merges(model)],
        },
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
    found = read_vocabulary(reference_file("xlm_r_gguf"))
    size = found.tokens.index("<mask>") + 1  # what follows fills a table up
    model, ids = _unigram(list(zip(found.tokens[:size], map(float, found.scores[:size]))), 3)
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
    specials = [added_token(ids[it], it) for it in ("<s>", "<pad>", "</s>", "<unk>")]
    return tokenizer_json(
        model,
        [*specials, added_token(ids["<mask>"], "<mask>", lstrip=True)],
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
    pieces = [(piece.text, piece.score) for piece in model.pieces]
    part, _ = _unigram(pieces, model.unk_id, byte_fallback=byte_fallback)
    return tokenizer_json(
        part,
        _spm_added(model, set()),
        normalizer=_spm_normalizer(model.charsmap),
        pre_tokenizer=metaspace("always"),
        decoder=metaspace("always"),
    )


def t5(name: str) -> bytes:
    """T5's components and its hundred more tokens, on another vocabulary."""
    model = _model(name)
    extra = [f"<extra_id_{number}>" for number in reversed(range(100))]
    pieces = [(piece.text, piece.score) for piece in model.pieces]
    part, ids = _unigram([*pieces, *((it, 0.0) for it in extra)], model.unk_id)
    return tokenizer_json(
        part,
        [added_token(ids[it], it) for it in ("</s>", "<unk>", *extra)],
        normalizer=_spm_normalizer(model.charsmap),
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
        for text, score, _ in model.pieces
    ]
    present = {text for text, _ in pieces}
    part, ids = _unigram(
        [*pieces, *((it, 0.0) for it in specials if it not in present)], model.unk_id
    )
    return tokenizer_json(
        part,
        [added_token(ids[it], it) for it in ["<unk>", *specials]],
        normalizer=sequence(
            "normalizers",
            replace("``", '"'),
            replace("''", '"'),
            {"type": "NFKD"},
            {"type": "StripAccents"},
            *([{"type": "Lowercase"}] if lowercase else []),
            *precompiled(model.charsmap),
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
