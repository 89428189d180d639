"""Extending: old ids stay, text without new material stays, and new tokens are what was learned."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from compat_bpe import Encoding
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.pipeline.core import chunks_of
from compat_bpe.train.extend import Change, Extended, Extender, changes, extend
from tests.examples import scaled
from tests.train.small_vocabularies import BYTES, PATTERN, corpora, encodings, terms


def has_new_material(old: Encoding, found: Extended, chunk: bytes) -> bool:
    """Whether two neighbours in what the old vocabulary makes of a chunk are an added merge's."""
    parts = old.decode_tokens_bytes(old.core.byte_level.ids_of(chunk))
    pairs = {(merge.left, merge.right) for merge in found.merges}
    return not pairs.isdisjoint(zip(parts, parts[1:]))


def chunks_in(encoding: Encoding, texts: list[str], *, special: bool = False) -> list[bytes]:
    names = encoding.special_tokens_set if special else frozenset()
    found = (chunk for text in texts for chunk in chunks_of(encoding.core, text, names))
    return [chunk for chunk in found if isinstance(chunk, bytes)]


@settings(max_examples=scaled(150))
@given(
    old=encodings,
    corpus=corpora,
    number=st.integers(0, 6),
    wanted=terms,
    with_space=st.booleans(),
    others=corpora,
)
def test_what_stays_and_what_comes(
    old: Encoding,
    corpus: list[str],
    number: int,
    wanted: list[str],
    with_space: bool,
    others: list[str],
) -> None:
    found = extend(old, corpus, number, terms=wanted, with_space=with_space, min_frequency=1)
    new, merges = found.encoding, found.merges
    # Old ids stay, and new ones follow after them.
    first = old.n_vocab
    assert [merge.id for merge in merges] == list(range(first, first + len(merges)))
    assert new.n_vocab == first + len(merges)
    assert new.core.encoder == {
        **old.core.encoder,
        **{merge.left + merge.right: merge.id for merge in merges},
    }
    assert new.core.special == old.core.special
    # What is without new material stays, and other chunks do not.
    for chunk in {*chunks_in(old, corpus), *chunks_in(old, others)}:
        is_same = old.core.byte_level.ids_of(chunk) == new.core.byte_level.ids_of(chunk)
        assert is_same == (not has_new_material(old, found, chunk))
    for text in others:
        chunks = chunks_in(old, [text], special=True)
        if not any(has_new_material(old, found, one) for one in chunks):
            assert new.encode(text, allowed_special="all") == old.encode(
                text, allowed_special="all"
            )
    # A new token is made by its merge, also where chunks that are tokens are not looked up.
    for merge in merges:
        assert new.core.byte_level.merge(merge.left + merge.right) == [merge.id]
    assert sum(merge.frequency > 0 for merge in merges) <= number
    # A term is one token, or there is a reason.
    for term in found.terms:
        assert term.before == old.encode_ordinary(term.text)
        assert term.after == new.encode_ordinary(term.text)
        assert bool(term.reason) == (len(term.after) > 1)
    assert {term.text.strip(" ") for term in found.terms} == set(wanted)
    # The changes are those of the texts.
    assert found.changes == changes(old, new, corpus)
    counts = Counter(chunks_in(old, corpus))
    # The figures are those of counting, added tokens that are found in any text included.
    assert found.changes.before == sum(len(old.encode_ordinary(text)) for text in corpus)
    assert found.changes.after == sum(len(new.encode_ordinary(text)) for text in corpus)
    assert {one.chunk: one.frequency for one in found.changes.chunks} == {
        chunk: count
        for chunk, count in counts.items()
        if old.core.byte_level.ids_of(chunk) != new.core.byte_level.ids_of(chunk)
    }
    event(f"{len(merges)} merges")


@settings(max_examples=scaled(60))
@given(old=encodings, corpus=corpora, least=st.integers(1, 3), longest=st.integers(2, 6))
def test_the_most_frequent_pair_is_learned_again_and_again(
    old: Encoding, corpus: list[str], least: int, longest: int
) -> None:
    at_once = extend(old, corpus, 4, min_frequency=least, max_token_length=longest)
    current, merges = old, []
    for _ in range(4):
        found = extend(current, corpus, 1, min_frequency=least, max_token_length=longest)
        counts: Counter[tuple[int, int]] = Counter()
        taken = {*current.core.encoder, *(name.encode() for name in current.core.special)}
        model = current.definition.model if isinstance(current, Tokenizer) else None
        if getattr(getattr(model, "unknown", None), "byte_fallback", False):
            taken.add(b"<0x61>")
        for chunk in chunks_in(current, corpus):
            ids = current.core.byte_level.ids_of(chunk)
            if current.core.decode_bytes(ids) != chunk:
                continue  # with unknown bytes
            for pair in zip(ids, ids[1:]):
                made = current.decode_bytes(pair)
                if made not in taken and len(made) <= longest:
                    counts[pair] += 1
        if not found.merges:
            assert max(counts.values(), default=0) < least
            break
        (merge,) = found.merges
        most = max(counts.values())
        best = min(pair for pair, count in counts.items() if count == most)
        assert (merge.left, merge.right) == tuple(current.decode_tokens_bytes(best))
        assert merge.frequency == most >= least
        current = found.encoding
        merges.append(merge)
    assert at_once.merges == merges


def small(ranks: dict[bytes, int], special: dict[str, int] | None = None) -> Encoding:
    return Encoding("small", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens=special or {})


def test_an_old_token_that_comes_about_by_a_new_one() -> None:
    # Merging never made "abc", as neither "ab" nor "bc" is a token: only as a chunk it is one.
    old = small({**BYTES, b"abc": 256})
    assert old.encode("abc") == [256]
    assert old.encode("abcd") == [BYTES[b"a"], BYTES[b"b"], BYTES[b"c"], BYTES[b"d"]]
    found = extend(old, ["abcd abcd abcd abx"], 3, min_frequency=1)
    # Where "ab" is a token, "abc" is made of it, and learning goes on from there, not by "cd".
    assert [merge[:2] for merge in found.merges] == [
        (b"a", b"b"),
        (b"abc", b"d"),
        (b" ", b"abcd"),
    ]
    assert found.encoding.encode("abcx") == [256, BYTES[b"x"]]


@pytest.mark.parametrize(
    ("term", "reason"),
    [
        ("ab cd", "it is split into 'ab', ' cd'"),
        ("1", "it has no chunks"),
        ("<s>", "it is split into '<s', '>'"),
        ("", "it has no chunks"),
        ("ab1", "the pattern leaves some of it out"),
    ],
)
def test_terms_that_cannot_be_one_token(term: str, reason: str) -> None:
    found = extend(small(BYTES, {"<s>": 256}), terms=[term, "okay"])
    assert found.terms[0].reason == reason
    assert [one.text for one in found.terms if not one.reason] == ["okay", " okay"]
    assert found.encoding.encode("okay okay") == [one.after[0] for one in found.terms[1:]]


def test_a_term_that_is_named_like_a_special_token() -> None:
    found = extend(small(BYTES, {"ab": 256}), terms=["abc", "xab"])
    assert [one.reason for one in found.terms[:1]] == [
        "'ab' is already a token, and no merge makes it"
    ]
    assert [one.text for one in found.terms if not one.reason] == [" abc", "xab", " xab"]


def test_terms_share_what_they_begin_with() -> None:
    old = small(BYTES)
    found = extend(old, terms=["abcd", "abce", "abcd"], with_space=False)
    assert [merge.left + merge.right for merge in found.merges] == [b"ab", b"abc", b"abcd", b"abce"]
    assert [one.after for one in found.terms] == [[258], [259], [258]]
    # Text has them within longer words, too.
    assert found.encoding.encode("xabcdx") == [BYTES[b"x"], 258, BYTES[b"x"]]


def test_a_term_with_a_space_stays_as_it_is() -> None:
    assert [one.text for one in extend(small(BYTES), terms=[" ab"]).terms] == [" ab"]


def test_pieces_of_a_text_are_one_text() -> None:
    old = small(BYTES)
    with Extender(old, 9) as extender:
        for piece in ("ribo", "somes, polyri", "bosomes, ribosomes"):
            extender.feed(piece, is_last=piece.endswith("ribosomes"))
        found = extender.extend()
    at_once = extend(old, ["ribosomes, polyribosomes, ribosomes"], 9)
    assert found == at_once._replace(encoding=found.encoding)
    assert found.encoding.encode("ribosomes") == [found.merges[-1].id]


def test_the_old_encoding_is_as_it_was() -> None:
    old = small(dict(BYTES))
    extend(old, ["aaaa bbbb"], 3, terms=["cc"])
    assert old.core.encoder == BYTES
    assert old.encode("aaaa") == [BYTES[b"a"]] * 4


def test_nothing_to_add() -> None:
    found = extend(small(BYTES), name="same")
    assert (found.merges, found.terms, found.changes.chunks) == ([], [], [])
    assert (found.encoding.name, found.encoding.n_vocab) == ("same", 256)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"number": -1}, "number is -1; it must be 0 or more"),
        ({"min_frequency": -1}, "min_frequency is -1; it must be 0 or more"),
        ({"max_token_length": 0}, "max_token_length is 0; it must be 1 or more"),
    ],
)
def test_what_is_out_of_range(arguments: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        extend(small(BYTES), ["a"], **arguments)  # type: ignore[arg-type]


def test_a_single_text_is_refused() -> None:
    for call in (
        lambda: extend(small(BYTES), "text"),
        lambda: extend(small(BYTES), terms="term"),
        lambda: changes(small(BYTES), small(BYTES), "text"),
    ):
        with pytest.raises(TypeError, match="str"):
            call()


def test_there_are_no_more_ids() -> None:
    old = small({**BYTES, b"xy": 2**32 - 3})
    assert extend(old, ["ab"], 1, min_frequency=1).merges[0].id == 2**32 - 2
    with pytest.raises(ValueError, match="the highest possible"):
        extend(old, ["abcd"], 2, min_frequency=1)


def test_changes_are_counted() -> None:
    old = small(BYTES)
    new = small({**BYTES, b"ab": 256})
    found = changes(old, new, ["ab ab c", "ab"])
    a, b = BYTES[b"a"], BYTES[b"b"]
    assert found.chunks == [
        Change(b"ab", 2, [a, b], [256]),
        Change(b" ab", 1, [BYTES[b" "], a, b], [BYTES[b" "], 256]),
    ]
    assert (found.before, found.after) == (9, 6)
