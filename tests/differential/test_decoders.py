"""Decoders of pieces against tokenizers: alone, in sequences, and those of whole tokenizers."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
import tokenizers
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.tokenizer_parts import read_decoder
from compat_bpe.pipeline.decoders.pieces import PieceDecoder
from compat_bpe.pipeline.decoders.steps import ESCAPED
from tests.differential.small_tokenizers import Both, error_of, file
from tests.examples import scaled
from tests.strategies import texts as any_texts
from tests.tokenizer_files import BYTE_LEVEL, added

flags = st.booleans()
counts = st.integers(0, 3)
short = st.sampled_from(["", "▁", " ", "a", "##", "</w>", "|", "ab", "é", "<pad>"])
characters = st.sampled_from(["▁", " ", "a", "é", "中"])
patterns = st.sampled_from(
    [{"String": "▁"}, {"String": "ab"}, {"Regex": r"\s+"}, {"Regex": "[ab]+$"}, {"Regex": "^ "}]
)


def a(name: str, **fields: Any) -> Any:
    return st.fixed_dictionaries({"type": st.just(name), **fields})


metaspaces = a(
    "Metaspace",
    replacement=characters,
    prepend_scheme=st.sampled_from(["always", "first", "never"]),
    split=flags,
)
strips = a("Strip", content=characters, start=counts, stop=counts)
replaces = a("Replace", pattern=patterns, content=short)
KINDS = {
    "WordPiece": a("WordPiece", prefix=short, cleanup=flags),
    "BPEDecoder": a("BPEDecoder", suffix=short),
    "Metaspace": metaspaces,
    "CTC": a("CTC", pad_token=short, word_delimiter_token=short, cleanup=flags),
    "ByteFallback": a("ByteFallback"),
    "Fuse": a("Fuse"),
    "Strip": strips,
    "Replace": replaces,
    "ByteLevel": st.just(BYTE_LEVEL),
}
one = st.one_of(*KINDS.values())
sequences = st.builds(
    lambda found: {"type": "Sequence", "decoders": found}, st.lists(one, max_size=4)
)
LLAMA = [
    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
    {"type": "ByteFallback"},
    {"type": "Fuse"},
    {"type": "Strip", "content": " ", "start": 1, "stop": 0},
]
REAL: list[Any] = [
    {"type": "Sequence", "decoders": LLAMA},
    {"type": "Sequence", "decoders": LLAMA[:3]},
    {"type": "Sequence", "decoders": LLAMA[:2]},
    {"type": "Sequence", "decoders": [LLAMA[1], {"type": "Sequence", "decoders": [LLAMA[2]]}]},
]
pieces = st.one_of(
    st.sampled_from(
        ["", "a", "▁", "▁▁a", "▁ab", "##b", "##", "a</w>", "</w>", " ", "  ", "<pad>", "|", "'"]
    ),
    st.sampled_from([".", "?", "n't", "'m", "do", "not", "do not", "'s", "'ve", "'re", " ' ", "!"]),
    st.sampled_from(["<0x61>", "<0xC3>", "<0xA9>", "<0xc3>", "<0xE4>", "<0x+1>", "<0xZZ>"]),
    st.sampled_from(["<0x20>", "<0x-1>", "<0x 1>", "<0xé>", "<0x61", "Ġa", "Ã", "©", "中", "é"]),
    st.text("ab▁ #é<>", max_size=6),
    any_texts.filter(lambda text: text.isascii()),
)
lists = st.lists(pieces, max_size=8)


def check(part: Any, given_pieces: list[str]) -> None:
    theirs: Any = tokenizers.Tokenizer.from_str(json.dumps(file(decoder=part))).decoder
    steps = read_decoder(Json(part, "x", "decoder"))
    by_id = dict(enumerate(given_pieces))
    decoder = PieceDecoder(by_id, steps)
    ids = list(by_id)
    plain = decoder.plain(ids, "replace")
    assert decoder.decode_text(ids, "replace") == plain
    assert decoder.decode_text(ids, ESCAPED) == decoder.plain(ids, ESCAPED)
    # It does where a piece is shorter than what Strip looks at.
    if not error_of(lambda: theirs.decode(given_pieces)):
        assert plain == theirs.decode(given_pieces)
    for number in ids:
        decoder.decode_one(number)


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", KINDS)
def test_each_kind(name: str) -> None:
    @settings(max_examples=scaled(300))
    @given(KINDS[name], lists)
    def run(part: Any, given_pieces: list[str]) -> None:
        check(part, given_pieces)

    run()


@settings(max_examples=scaled(400))
@given(st.one_of(sequences, st.sampled_from(REAL)), lists)
def test_sequences(part: Any, given_pieces: list[str]) -> None:
    check(part, given_pieces)


@settings(max_examples=scaled(300))
@given(st.sampled_from(REAL), st.lists(st.sampled_from(["<0xE4>", "<0xB8>", "<0xAD>", "", "▁a"])))
def test_runs_of_bytes(part: Any, given_pieces: list[str]) -> None:
    check(part, given_pieces)


@settings(max_examples=scaled(300))
@given(st.one_of(st.none(), one, sequences), st.lists(pieces, min_size=1, unique=True), st.data())
def test_pieces_of_byte_level_models(part: Any, names: list[str], data: Any) -> None:
    """Whatever the decoder is: pieces of the vocabulary and added tokens, special ones skipped."""
    names = [name for name in names if name and name != "[UNK]"]
    assume(names)
    content = file()
    vocabulary = {**content["model"]["vocab"]}
    for name in names[::2]:
        vocabulary.setdefault(name, len(vocabulary))
    model = {**content["model"], "vocab": vocabulary}
    listed = [
        added(5000, name, special=data.draw(flags), normalized=data.draw(flags))
        for name in names[len(names) // 3 :]
    ]
    normalizer = data.draw(st.sampled_from([None, {"type": "Lowercase"}]))
    for number, token in enumerate(listed):
        token["id"] += number
    both = Both(file(decoder=part, model=model, added_tokens=listed, normalizer=normalizer))
    known = [*vocabulary.values(), *(token.id for token in both.ours.added_tokens)]
    ids = data.draw(st.lists(st.sampled_from(known), max_size=12))
    for number in ids:
        assert both.ours.id_to_token(number) == both.theirs.id_to_token(number)
    for skip in (False, True):
        if not error_of(partial(both.theirs.decode, ids, skip_special_tokens=skip)):
            expected = both.theirs.decode(ids, skip_special_tokens=skip)
            assert both.ours.decode(ids, skip_special_tokens=skip) == expected
            assert both.ours.decode_batch([ids, ids], skip_special_tokens=skip) == [expected] * 2


SPELLINGS: list[Any] = [
    {"type": "Nothing"},
    {"type": "Nothing", "suffix": "</w>"},
    {"suffix": "a"},
    {"prefix": "##", "cleanup": True},
    {"prefix": "##"},
    {"type": "WordPiece", "prefix": "##"},
    {"type": "BPEDecoder"},
    {"pad_token": "a", "word_delimiter_token": "|", "cleanup": True},
    {"pattern": {"String": "a"}, "content": "b"},
    {"content": "a", "start": 1, "stop": 0},
    {"type": "Strip", "content": "ab", "start": 1, "stop": 0},
    {"type": "Strip", "content": "a", "start": -1, "stop": 0},
    {"type": "Metaspace", "replacement": "▁"},
    {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True},
    {"type": "Metaspace", "replacement": "▁", "add_prefix_space": False},
    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never"},
    {
        "type": "Metaspace",
        "replacement": "▁",
        "add_prefix_space": False,
        "prepend_scheme": "never",
    },
    {"type": "Metaspace", "replacement": "▁", "str_rep": "▁", "prepend_scheme": "none"},
    {"replacement": "▁", "prepend_scheme": "never", "split": True},
    {"decoders": []},
    {},
    [],
    {"type": "Sequence", "decoders": []},
    {"type": "Sequence"},
]


@pytest.mark.parametrize("part", SPELLINGS, ids=str)
def test_spellings(part: Any) -> None:
    try:
        tokenizers.Tokenizer.from_str(json.dumps(file(decoder=part)))
    except Exception:
        with pytest.raises(ValueError, match="decoder"):
            read_decoder(Json(part, "x", "decoder"))
        return
    check(part, ["▁a", "▁b▁", "##a", "aa", "b"])
