"""The core of a tokenizer of several steps: what each of its parts changes, and where it is cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest

from compat_bpe.encodings.core import EncodingCore
from compat_bpe.pattern.parser import parse
from compat_bpe.pipeline.added.added_tokens import AddedToken, AddedTokens
from compat_bpe.pipeline.byte_level import BYTE_TO_UNICODE, decode_bytes
from compat_bpe.pipeline.definition import Definition
from compat_bpe.pipeline.models.bpe.by_merges import ListedMergesEncoder, UnknownPolicy
from compat_bpe.pipeline.models.bpe.by_rank import _WORTH_UNSPACED, ByteLevelBPE, BytePairEncoder
from compat_bpe.pipeline.normalizers.case import Lowercase
from compat_bpe.pipeline.normalizers.forms import UnicodeForm
from compat_bpe.pipeline.pre_tokenizers.base import PreTokenizerStep
from compat_bpe.pipeline.pre_tokenizers.byte_alphabet import ByteAlphabet, to_bytes
from compat_bpe.pipeline.pre_tokenizers.span_prefix import SpanPrefix
from compat_bpe.pipeline.pre_tokenizers.split import Split
from compat_bpe.pipeline.pre_tokenizers.step_splitter import make_splitter

if TYPE_CHECKING:
    from compat_bpe.pipeline.normalizers.base import Normalizer

TOKENS = {**{bytes([byte]): byte for byte in range(256)}, b"ab": 256, b"abc": 257, b"xyz": 258}
SPLIT = Split(parse(r" ?[a-z]+|\s+(?!\S)|\s|[^a-z\s]"))


def core(
    *added: AddedToken,
    merges: BytePairEncoder | None = None,
    tokens: dict[bytes, int] = TOKENS,
    other_tokens: dict[int, bytes] | None = None,
    whole_chunks: bool = False,
    normalize: Normalizer | None = None,
    prefix: SpanPrefix | None = None,
    steps: Sequence[PreTokenizerStep] = (SPLIT, ByteAlphabet()),
) -> EncodingCore:
    names = {token.id: token.content.encode() for token in added}
    definition = Definition(
        added=AddedTokens(added, normalize, prefix=prefix),
        splitter=make_splitter(steps[:-1] if isinstance(steps[-1], ByteAlphabet) else steps),
        model=ByteLevelBPE(
            merges or BytePairEncoder(tokens), tokens if whole_chunks else {}, to_bytes(steps)
        ),
        tokens=lambda: tokens,
        other_tokens=lambda: names if other_tokens is None else other_tokens,
        others_win=True,
    )
    return EncodingCore(definition)


S = AddedToken("<s>", 300, special=True)
A = AddedToken("<a>", 301)
WIDE = AddedToken("<w>", 302, lstrip=True)


def test_added_tokens_are_found_and_special_ones_where_allowed() -> None:
    tested = core(S, A)
    assert tested.encode("ab<s>ab<a>", {"<s>"}) == [256, 300, 256, 301]
    assert tested.encode("ab<s>ab<a>", set()) == [256, *b"<", *b"s", *b">", 256, 301]
    assert tested.encode_ordinary("<a>") == [301]
    assert tested.count("<a> abc<s>") == len(tested.encode_ordinary("<a> abc<s>")) == 6
    assert tested.decode_bytes([300, 256, 301]) == b"<s>ab<a>"


@pytest.mark.parametrize(("whole", "ids"), [(False, list(b"xyz")), (True, [258])])
def test_a_chunk_that_is_a_token_is_merged_unless_it_counts_as_a_whole(
    whole: bool, ids: list[int]
) -> None:
    assert core(whole_chunks=whole).encode_ordinary("xyz") == ids


def test_unknown_bytes_are_one_token_in_long_chinese_texts_too() -> None:
    """A token for several unknown bytes in a row depends on its neighbours: no part is alone."""
    known = [char for byte, char in BYTE_TO_UNICODE.items() if byte not in "国".encode()]
    ids = {name: number for number, name in enumerate([*known, "<unk>"])}
    encoder = ListedMergesEncoder(ids, ([], []), UnknownPolicy("<unk>", fuse=True))
    tokens = {decode_bytes(name): number for name, number in ids.items() if len(name) == 1}
    tested = core(merges=encoder, tokens=tokens, steps=[Split(parse(r"\p{L}+"))])
    words = ["国" * length for length in range(2, 302)]
    assert len("".join(words).encode()) > 2 * _WORTH_UNSPACED
    for word in words:
        assert tested.encode_ordinary(word) == [ids["<unk>"]]
    # And one for each space.
    assert tested.encode_ordinary(" ".join(words))[::2] == [ids["<unk>"]] * 300


def test_text_is_normalized_before_it_is_split() -> None:
    assert core(normalize=Lowercase()).encode_ordinary("ABC") == [257]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("ab", [32, 256]),
        (" ab", [32, 256]),
        ("", []),
        ("ab<a>ab<a> ab", [32, 256, 301, 32, 256, 301, 32, 256]),
    ],
)
def test_prefix_space_is_put_before_each_span(text: str, ids: list[int]) -> None:
    tested = core(A, prefix=SpanPrefix(" "))
    assert tested.encode_ordinary(text) == ids
    # Where a space begins the right side, that gets no other.
    assert tested.next_cut_point("ab ab ab") == 2
    assert tested.splitter_of("ab") is None


def test_a_token_may_be_decoded_otherwise_than_it_is_encoded() -> None:
    tested = core(other_tokens={256: b"<ab>"})
    assert tested.encode_ordinary("abc ab") == [257, 32, 256]
    assert tested.decode_bytes([256, 257]) == b"<ab>abc"


@pytest.mark.parametrize(
    ("added", "changes", "length"),
    [
        ((), {}, 3),
        ((AddedToken("<five>", 300),), {}, 6),
        ((AddedToken("éé", 300),), {}, 4),
        ((WIDE,), {}, None),
        # One that is special is no token in plain text, whatever it would take.
        ((WIDE._replace(special=True),), {}, 3),
        ((), {"normalize": Lowercase()}, None),
        ((), {"steps": [Split(parse("[a-z]"), "Removed")]}, None),
    ],
)
def test_longest_token(
    added: tuple[AddedToken, ...], changes: dict[str, Any], length: int | None
) -> None:
    assert core(*added, **changes).longest_token == length


def test_cuts_are_not_within_a_name_nor_beside_one_that_takes_more() -> None:
    text = "ab <s> ab"
    assert core(S).next_cut_point("ab<s>", 2) == 4  # one that is not allowed may be cut
    assert core(S).next_cut_point(text, 3, names={"<s>"}) == 6
    assert core(A).next_cut_point("ab<a> b", 2) == 5
    # What takes the spaces before it must be on one side with them.
    for wide in (core(WIDE), core(WIDE._replace(special=True))):
        assert wide.next_cut_point("ab  <w> ab", names={"<w>"}) == 2
        assert wide.next_cut_point("ab  <w> ab", 2, names={"<w>"}) is None
    assert core(WIDE._replace(special=True)).next_cut_point("ab  <w> ab", 2) == 6


def test_normalized_text_is_cut_before_characters_that_no_mark_changes() -> None:
    text = "é ab< =b. b"
    tested = core(normalize=UnicodeForm("NFC"))
    cuts = [tested.next_cut_point(text, start) for start in range(len(text))]
    assert sorted({cut for cut in cuts if cut is not None}) == [1, 5, 8, 9]


def test_a_text_with_an_added_token_in_it_is_not_split_as_it_stands() -> None:
    tested = core(S, A)
    assert tested.splitter_of("ab<s>") is not None
    assert tested.splitter_of("ab<a>") is None
    assert core(normalize=Lowercase()).splitter_of("ab") is None
