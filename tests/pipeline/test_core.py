"""The core of a tokenizer of several steps: what each part changes, where it is cut, its places."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.encodings.core import EncodingCore
from compat_bpe.pattern.parser import parse
from compat_bpe.pipeline.added_tokens import AddedToken, AddedTokens
from compat_bpe.pipeline.byte_level import BYTE_TO_UNICODE, decode_bytes
from compat_bpe.pipeline.core import Definition
from compat_bpe.pipeline.models.base import ChunkToken
from compat_bpe.pipeline.models.bpe.by_merges import ListedMergesEncoder, UnknownPolicy
from compat_bpe.pipeline.models.bpe.by_rank import _WORTH_UNSPACED, ByteLevelBPE, BytePairEncoder
from compat_bpe.pipeline.normalizers.base import Normalizer
from compat_bpe.pipeline.normalizers.forms import UnicodeForm
from compat_bpe.pipeline.normalizers.simple import Lowercase
from compat_bpe.pipeline.offsets import locate
from compat_bpe.pipeline.pre_tokenizers.base import PreTokenizerStep, SpanPrefix
from compat_bpe.pipeline.pre_tokenizers.split import Split
from compat_bpe.pipeline.pre_tokenizers.splitter import make_splitter
from compat_bpe.pipeline.pre_tokenizers.steps import ByteAlphabet, to_bytes
from tests.drawn_models import BYTES
from tests.fit.hard_encodings import NAMES, encoding_of, encodings, hard_texts
from tests.fit.helpers import all_found
from tests.fit.small_kinds import KINDS, UNCUT

TOKENS = {**BYTES, b"ab": 256, b"abc": 257, b"xyz": 258}
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


def all_cuts(encoding: Encoding, text: str, fine: bool, names: frozenset[str]) -> list[int]:
    core = encoding.core
    return all_found(lambda at: core.next_cut_point(text, at, names=names, fine=fine))


@given(encodings, hard_texts, st.booleans(), st.data())
def test_the_sides_of_a_cut_are_encoded_alone(
    encoding: Encoding, text: str, fine: bool, data: st.DataObject
) -> None:
    names = sorted(encoding.special_tokens_set)
    allowed = data.draw(st.frozensets(st.sampled_from(names)) if names else st.just(frozenset()))

    def encode(encoder: Encoding, part: str) -> list[int]:
        return encoder.encode(part, allowed_special=allowed, disallowed_special=())

    continued = encoding.continued
    for cut in all_cuts(encoding, text, fine, allowed):
        right = encode(continued, text[cut:])
        assert len(right) == continued.count(text[cut:]) or allowed
        for encoder in (encoding, continued):
            assert encode(encoder, text[:cut]) + right == encode(encoder, text)


@given(encodings, hard_texts)
def test_what_goes_on_goes_on_in_the_same_way(encoding: Encoding, text: str) -> None:
    continued = encoding.continued
    assert continued.continued is continued
    assert (continued is encoding) == (continued.core is encoding.core)
    found, expected = (all_cuts(one, text, True, frozenset()) for one in (continued, encoding))
    assert found == expected
    assert continued.count(text) == len(continued.encode_ordinary(text))


@pytest.mark.parametrize(
    ("name", "text"),
    [("llama", "the"), ("llama, first", "the"), ("llama, always", "the"), ("spm bpe", "the"),
     ("unigram, first", "the"), ("stripped", "  the")],
)  # fmt: skip
def test_what_goes_on_has_no_prefix(name: str, text: str) -> None:
    encoding = encoding_of(name)
    assert encoding.continued.encode_ordinary(text) != encoding.encode_ordinary(text)
    after_a_name = "<b>" + text
    assert encoding.encode_ordinary(after_a_name) == encoding.continued.encode_ordinary(
        after_a_name
    ) or name not in ("llama", "llama, always")


@given(encodings, hard_texts, st.booleans(), st.data())
def test_a_cut_depends_on_the_characters_beside_it_alone(
    encoding: Encoding, text: str, fine: bool, data: st.DataObject
) -> None:
    cuts = set(all_cuts(encoding, text, fine, frozenset()))
    for place in range(1, len(text)):
        around = text[place - 1 : place + 1]
        found = encoding.core.next_cut_point(around, fine=fine)
        assert found == (1 if place in cuts else None), (place, around)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    between = [cut for cut in sorted(cuts) if start < cut < end]
    expected = between[0] if between else None
    assert encoding.core.next_cut_point(text, start, end, fine=fine) == expected


@pytest.mark.parametrize("name", NAMES)
def test_there_are_cuts_where_it_is_known_that_they_are_safe(name: str) -> None:
    text = "some words, and\n\tothers <b> they are x<b> a b a 中 b a the end."
    cuts = all_cuts(encoding_of(name), text, False, frozenset())
    if name in ("looks back", *UNCUT):
        assert not cuts
    else:
        assert len(cuts) > 3


@pytest.mark.parametrize("name", ["llama", "llama, always", "unigram, always", "word pieces"])
@pytest.mark.parametrize("text", ["a<b>the<b> the", "<b>a  <b>  a", " x x. xa<b>oftext \n  oftext"])
def test_spans_after_added_tokens_begin_anew(name: str, text: str) -> None:
    encoding = encoding_of(name)
    continued = encoding.continued
    for cut in all_cuts(encoding, text, True, frozenset()):
        left, right = encoding.encode_ordinary(text[:cut]), continued.encode_ordinary(text[cut:])
        assert left + right == encoding.encode_ordinary(text), (cut, text[cut - 1 : cut + 1])


def test_no_cut_is_within_a_name() -> None:
    core = get_encoding("cl100k_base").core
    text = "a<|endoftext|>b"
    assert core.next_cut_point(text, 3) == 12
    assert core.next_cut_point(text, 3, names={"<|endoftext|>"}) is None


#: ``abc``, or ``<|endoftext|>``, which a tokenizer has in its vocabulary, or 128 spaces.
LONGEST = {
    "looks back": 3,
    "added tokens": 13,
    "prefix space": 13,
    "longest tokens": 13,
    **dict.fromkeys(["leaves text out", "NFC", "metaspace", "bert", "words", "first word"]),
    **dict.fromkeys(["scripts", "metaspace, signs", "characters", "words_and_punctuation", *KINDS]),
}


@pytest.mark.parametrize("name", NAMES)
def test_longest_token_of_a_kind(name: str) -> None:
    assert encoding_of(name).core.longest_token == LONGEST.get(name, 128)


@pytest.mark.parametrize("name", [name for name in NAMES if LONGEST.get(name, 128)])
def test_a_text_has_as_many_tokens_as_its_length_says(name: str) -> None:
    encoding = encoding_of(name)
    longest = encoding.core.longest_token
    assert longest is not None
    tokens = sorted(encoding.core.encoder, key=len)[-20:]
    long_texts = st.sampled_from([token.decode("utf-8", "ignore") for token in tokens])

    @given(st.lists(long_texts, min_size=1, max_size=9).map("".join) | hard_texts)
    @example(tokens[-1].decode() * 9)
    def check(text: str) -> None:
        size = len(text.encode("utf-8", "replace"))
        assert encoding.count(text) * longest >= size

    check()


def odd_model(*places: tuple[int, int]) -> Any:
    """Parts of a tokenizer whose model finds a token at some places, in bytes."""
    model = SimpleNamespace(find=lambda _: [ChunkToken(1, "x", *place) for place in places])
    added = AddedTokens([AddedToken("<b>", 2)])
    return SimpleNamespace(added=added, splitter=make_splitter([]), model=model, words=None)


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ((0, 2), (5, 6)),
        ((1, 3), (5, 7)),  # from within a character
        ((2, 2), (6, 6)),  # empty
        ((4, 4), (8, 8)),
        ((2, 5), (1, 3)),  # longer than the chunk, so it counts from the beginning of the text
        ((0, 9), (0, 6)),
        ((4, 40), (2, 4)),  # longer than the text
        ((9, 40), (6, 8)),
        ((11, 40), (8, 8)),
    ],
)
def test_places_of_odd_tokens(place: tuple[int, int], expected: tuple[int, int]) -> None:
    [_, _, token] = locate(odd_model(place), "éé<b>éab", set())
    assert (token.start, token.end) == expected


def test_a_chunk_without_tokens_is_a_word_all_the_same() -> None:
    assert [token.word for token in locate(odd_model(), "a<b>a<b>", set())] == [1, 3]
