"""Decoders of pieces against tokenizers: alone, in sequences, and those of whole tokenizers."""

from __future__ import annotations

import json
from functools import partial
from random import Random
from typing import Any

import pytest
import tokenizers
from hypothesis import assume
from hypothesis import strategies as st

from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.tokenizer_parts import read_decoder
from compat_bpe.pipeline.decoders.pieces import PieceDecoder
from compat_bpe.pipeline.decoders.steps import ESCAPED
from tests.differential.any_tokenizer import DECODERS, decoder, decoder_step
from tests.differential.small_tokenizers import Both, answer, error_of, file
from tests.examples import drawn
from tests.strategies import texts as any_texts
from tests.tokenizer_files import added


def sequence(*steps: Any) -> dict[str, Any]:
    return {"type": "Sequence", "decoders": list(steps)}


randoms = st.randoms(use_true_random=False)
LLAMA = [
    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
    {"type": "ByteFallback"},
    {"type": "Fuse"},
    {"type": "Strip", "content": " ", "start": 1, "stop": 0},
]
REAL = [
    *(sequence(*LLAMA[:count]) for count in (4, 3, 2)),
    sequence(LLAMA[1], sequence(LLAMA[2])),
]
PIECES = [
    *("", "a", "▁", "▁▁a", "▁ab", "##b", "##", "a</w>", "</w>", " ", "  ", "<pad>", "|", "'"),
    *(".", "?", "n't", "'m", "do", "not", "do not", "'s", "'ve", "'re", " ' ", "!"),
    *("<0x61>", "<0xC3>", "<0xA9>", "<0xc3>", "<0xE4>", "<0x+1>", "<0xZZ>", "<0x20>", "<0x-1>"),
    *("<0x 1>", "<0xé>", "<0x61", "Ġa", "Ã", "©", "中", "é"),
]
pieces = st.one_of(
    st.sampled_from(PIECES),
    st.text("ab▁ #é<>", max_size=6),
    any_texts.filter(lambda text: text.isascii()),
)
lists = st.lists(pieces, max_size=8)


def check(part: Any, given_pieces: list[str]) -> None:
    theirs: Any = tokenizers.Tokenizer.from_str(json.dumps(file(decoder=part))).decoder
    by_id = dict(enumerate(given_pieces))
    decoder = PieceDecoder(by_id, read_decoder(Json(part, "x", "decoder")))
    ids = list(by_id)
    plain = decoder.plain(ids, "replace")
    assert decoder.decode_text(ids, "replace") == plain
    assert decoder.decode_text(ids, ESCAPED) == decoder.plain(ids, ESCAPED)
    # It panics where a piece is shorter than what Strip looks at.
    expected, kind = answer(lambda: theirs.decode(given_pieces))
    assert kind or plain == expected
    for number in ids:
        decoder.decode_one(number)


@pytest.mark.parametrize("name", DECODERS)
@drawn(300, draw=randoms, given_pieces=lists)
def test_each_kind(name: str, draw: Random, given_pieces: list[str]) -> None:
    check(decoder_step(draw, name), given_pieces)


some_parts = st.one_of(randoms.map(decoder).filter(bool), st.sampled_from(REAL))
runs_of_bytes = st.lists(st.sampled_from(["<0xE4>", "<0xB8>", "<0xAD>", "", "▁a"]))


@drawn(
    600, st.one_of(randoms.map(decoder).filter(bool), st.sampled_from(REAL)), lists | runs_of_bytes
)
def test_sequences(part: Any, given_pieces: list[str]) -> None:
    check(part, given_pieces)


@drawn(300, randoms.map(decoder), st.lists(pieces, min_size=1, unique=True), st.data())
def test_pieces_of_byte_level_models(part: Any, names: list[str], data: Any) -> None:
    """Whatever the decoder is: pieces of the vocabulary and added tokens, special ones skipped."""
    names = [name for name in names if name and name != "[UNK]"]
    assume(names)
    model = file()["model"]
    vocabulary = {**model["vocab"]}
    for name in names[::2]:
        vocabulary.setdefault(name, len(vocabulary))
    listed = [
        added(5000 + at, name, special=data.draw(st.booleans()), normalized=at % 2 == 0)
        for at, name in enumerate(names[len(names) // 3 :])
    ]
    parts = {"model": {**model, "vocab": vocabulary}, "decoder": part, "added_tokens": listed}
    parts["normalizer"] = data.draw(st.sampled_from([None, {"type": "Lowercase"}]))
    both = Both(file(**parts))
    known = [*vocabulary.values(), *(token.id for token in both.ours.added_tokens)]
    ids = data.draw(st.lists(st.sampled_from(known), max_size=12))
    for number in ids:
        assert both.ours.id_to_token(number) == both.theirs.id_to_token(number)
    for skip in (False, True):
        expected, kind = answer(partial(both.theirs.decode, ids, skip_special_tokens=skip))
        if not kind:
            assert both.ours.decode(ids, skip_special_tokens=skip) == expected
            assert both.ours.decode_batch([ids, ids], skip_special_tokens=skip) == [expected] * 2


METASPACE = {"type": "Metaspace", "replacement": "▁"}
SPELLINGS: list[Any] = [
    *({"type": "Nothing"}, {"type": "Nothing", "suffix": "</w>"}, {"suffix": "a"}, {}, []),
    *({"prefix": "##", "cleanup": True}, {"prefix": "##"}, {"type": "WordPiece", "prefix": "##"}),
    *({"type": "BPEDecoder"}, {"pad_token": "a", "word_delimiter_token": "|", "cleanup": True}),
    {"pattern": {"String": "a"}, "content": "b"},
    {"content": "a", "start": 1, "stop": 0},
    {"type": "Strip", "content": "ab", "start": 1, "stop": 0},
    {"type": "Strip", "content": "a", "start": -1, "stop": 0},
    *(METASPACE, *({**METASPACE, "add_prefix_space": flag} for flag in (True, False))),
    {**METASPACE, "prepend_scheme": "never"},
    {**METASPACE, "add_prefix_space": False, "prepend_scheme": "never"},
    {**METASPACE, "str_rep": "▁", "prepend_scheme": "none"},
    {"replacement": "▁", "prepend_scheme": "never", "split": True},
    *({"decoders": []}, {"type": "Sequence", "decoders": []}, {"type": "Sequence"}),
]


@pytest.mark.parametrize("part", SPELLINGS, ids=str)
def test_spellings(part: Any) -> None:
    if error_of(lambda: tokenizers.Tokenizer.from_str(json.dumps(file(decoder=part)))):
        with pytest.raises(ValueError, match="decoder"):
            read_decoder(Json(part, "x", "decoder"))
    else:
        check(part, ["▁a", "▁b▁", "##a", "aa", "b"])
