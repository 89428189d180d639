"""Decoders of pieces against tokenizers: alone, in sequences, and those of whole tokenizers."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
import tokenizers
from hypothesis import assume
from hypothesis import strategies as st

from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.tokenizer_parts import read_decoder
from compat_bpe.pipeline.decoders.pieces import PieceDecoder
from compat_bpe.pipeline.decoders.steps import ESCAPED
from tests.differential.small_tokenizers import Both, answer, error_of, file
from tests.examples import drawn
from tests.strategies import texts as any_texts
from tests.tokenizer_files import BYTE_LEVEL, added

flags = st.booleans()
counts = st.integers(0, 3)
short = st.sampled_from(["", "▁", " ", "a", "##", "</w>", "|", "ab", "é", "<pad>"])
characters = st.sampled_from(["▁", " ", "a", "é", "中"])
patterns = st.sampled_from(
    [{"String": "▁"}, {"String": "ab"}, {"Regex": r"\s+"}, {"Regex": "[ab]+$"}, {"Regex": "^ "}]
)
schemes = st.sampled_from(["always", "first", "never"])
MEMBERS: dict[str, dict[str, Any]] = {
    "WordPiece": {"prefix": short, "cleanup": flags},
    "BPEDecoder": {"suffix": short},
    "Metaspace": {"replacement": characters, "prepend_scheme": schemes, "split": flags},
    "CTC": {"pad_token": short, "word_delimiter_token": short, "cleanup": flags},
    "ByteFallback": {},
    "Fuse": {},
    "Strip": {"content": characters, "start": counts, "stop": counts},
    "Replace": {"pattern": patterns, "content": short},
    "ByteLevel": {name: st.just(BYTE_LEVEL[name]) for name in BYTE_LEVEL if name != "type"},
}
KINDS = {
    name: st.fixed_dictionaries({"type": st.just(name), **members})
    for name, members in MEMBERS.items()
}


def sequence(*steps: Any) -> dict[str, Any]:
    return {"type": "Sequence", "decoders": list(steps)}


one = st.one_of(*KINDS.values())
sequences = st.lists(one, max_size=4).map(lambda found: sequence(*found))
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
pieces = st.one_of(
    *map(
        st.sampled_from,
        (
            [
                "",
                "a",
                "▁",
                "▁▁a",
                "▁ab",
                "##b",
                "##",
                "a</w>",
                "</w>",
                " ",
                "  ",
                "<pad>",
                "|",
                "'",
            ],
            [".", "?", "n't", "'m", "do", "not", "do not", "'s", "'ve", "'re", " ' ", "!"],
            ["<0x61>", "<0xC3>", "<0xA9>", "<0xc3>", "<0xE4>", "<0x+1>", "<0xZZ>"],
            ["<0x20>", "<0x-1>", "<0x 1>", "<0xé>", "<0x61", "Ġa", "Ã", "©", "中", "é"],
        ),
    ),
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


@pytest.mark.parametrize("name", KINDS)
@drawn(300, data=st.data(), given_pieces=lists)
def test_each_kind(name: str, data: st.DataObject, given_pieces: list[str]) -> None:
    check(data.draw(KINDS[name]), given_pieces)


@drawn(400, st.one_of(sequences, st.sampled_from(REAL)), lists)
def test_sequences(part: Any, given_pieces: list[str]) -> None:
    check(part, given_pieces)


@drawn(
    300, st.sampled_from(REAL), st.lists(st.sampled_from(["<0xE4>", "<0xB8>", "<0xAD>", "", "▁a"]))
)
def test_runs_of_bytes(part: Any, given_pieces: list[str]) -> None:
    check(part, given_pieces)


@drawn(
    300, st.one_of(st.none(), one, sequences), st.lists(pieces, min_size=1, unique=True), st.data()
)
def test_pieces_of_byte_level_models(part: Any, names: list[str], data: Any) -> None:
    """Whatever the decoder is: pieces of the vocabulary and added tokens, special ones skipped."""
    names = [name for name in names if name and name != "[UNK]"]
    assume(names)
    model = file()["model"]
    vocabulary = {**model["vocab"]}
    for name in names[::2]:
        vocabulary.setdefault(name, len(vocabulary))
    listed = [
        added(5000 + at, name, special=data.draw(flags), normalized=data.draw(flags))
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
