"""Extending: old ids stay, text without new material stays, and all changes are listed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from compat_bpe import Encoding
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.tokenizer_bpe import ListedModel
from compat_bpe.formats.tokenizer_json import TokenizerDefinition
from compat_bpe.pipeline.added_tokens import AddedToken
from compat_bpe.pipeline.core import parts_of_text, texts_of_chunks
from compat_bpe.pipeline.models.bpe.by_merges import UnknownPolicy
from compat_bpe.train import CharacterBpeSettings, WordLevelSettings, WordPieceSettings, train
from compat_bpe.train.extend import Change, Extended, Extender, changes, extend
from tests.examples import scaled
from tests.kinds import of_kind
from tests.train.small_vocabularies import BYTES, PATTERN, corpora, encodings, terms


def has_new_material(old: Encoding, found: Extended, chunk: bytes) -> bool:
    """Whether two neighbours in what the old vocabulary makes of a chunk are an added merge's."""
    parts = old.decode_tokens_bytes(old.core.byte_level.ids_of(chunk))
    pairs = {(merge.left, merge.right) for merge in found.merges}
    return not pairs.isdisjoint(zip(parts, parts[1:]))


def chunks_in(encoding: Encoding, texts: list[str], *, special: bool = False) -> list[bytes]:
    names = encoding.special_tokens_set if special else frozenset()
    core = encoding.core
    found = (chunk for text in texts for chunk in parts_of_text(core, text, names))
    return [core.model.to_bytes(chunk) for chunk in found if isinstance(chunk, str)]


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


OLD = ["hug pug pun bun hugs " * 5]

words = st.text("hugs#x", min_size=1, max_size=8)
lines = st.lists(words, max_size=8).map(" ".join)
lines_of_words = st.lists(lines, max_size=4)

MADE: dict[str, Any] = {
    "words": lambda: train(OLD, WordLevelSettings(5, special_tokens=["<s>", "sun"])),
    "pieces": lambda: train(OLD, WordPieceSettings(16, special_tokens=["[CLS]", "sun"])),
    "suffix": lambda: train(OLD, CharacterBpeSettings(16, special_tokens=["<s>", "sun</w>"])),
    "prefix": lambda: train(
        OLD, CharacterBpeSettings(16, prefix="#", suffix="", pre_tokenizer="whitespace-split")
    ),
    "spaces": lambda: train(OLD, CharacterBpeSettings(16, suffix="", pre_tokenizer="metaspace")),
    "bytes": lambda: of_kind("characters_byte_fallback"),
}
OLD_BY_NAME = {name: make() for name, make in MADE.items()}
for own in ("words", "pieces", "suffix"):
    made = OLD_BY_NAME[own]
    some = (*made.added_tokens, AddedToken("x#", 70), AddedToken("hugx", 71, lstrip=True))
    OLD_BY_NAME[f"{own}, added"] = Tokenizer(own, made.definition._replace(added_tokens=some))


def vocabulary(encoding: Any) -> dict[str, int]:
    return dict(encoding.definition.model.vocabulary)


def check(old: Tokenizer, found: Extended, texts: list[str], others: list[str]) -> None:
    new = found.encoding
    before, after = vocabulary(old), vocabulary(new)
    added = {token: number for token, number in after.items() if token not in before}
    assert {**before, **added} == after
    first = old.max_token_value + 1
    assert [*added.values()] == [*range(first, first + len(added))]
    assert [token.encode() for token in added] == list(found.tokens)
    assert [merge.id for merge in found.merges] == [*added.values()]
    # Each chunk of the texts is encoded as before, unless it is listed.
    changed = {change.chunk.decode(): change for change in found.changes.chunks}
    spans = (span for text in texts for span in texts_of_chunks(old.core, text))
    chunks = [chunk for some, _ in spans for chunk in some]
    for chunk in chunks:
        then, now = [*old.core.model.encode(chunk)], [*new.core.model.encode(chunk)]
        assert (then != now) == (chunk in changed)
        if chunk in changed:
            change = changed[chunk]
            assert (change.before, change.after) == (then, now)
            assert change.frequency == chunks.count(chunk)
    assert found.changes.before == sum(len(old.encode_ordinary(text)) for text in texts)
    assert found.changes.after == sum(len(new.encode_ordinary(text)) for text in texts)
    # What has nothing new in it stays as it was.
    pairs = {(merge.left, merge.right) for merge in found.merges}
    for text in others:
        ids = old.encode_ordinary(text)
        names = [old.id_to_token(number).encode() for number in ids]  # type: ignore[union-attr]
        now_ids = new.encode_ordinary(text)
        if ids != now_ids:
            is_merged = not pairs.isdisjoint(zip(names, names[1:]))
            assert is_merged or any(number >= first for number in now_ids)


@pytest.mark.parametrize("name", OLD_BY_NAME)
@settings(max_examples=scaled(15))
@given(lines_of_words, lines_of_words, st.integers(0, 4), st.lists(words, max_size=3))
def test_no_id_changes_and_all_changes_are_listed(
    name: str, texts: list[str], others: list[str], number: int, terms: list[str]
) -> None:
    old = OLD_BY_NAME[name]
    found = extend(old, texts, number, terms=terms, workers=1)
    check(old, found, texts, others)
    learned = [merge for merge in found.merges if merge.frequency]
    assert len(learned) <= number
    assert all(merge.frequency >= 2 for merge in learned)
    for term in found.terms:
        assert bool(term.reason) == (
            len(term.after) != 1 or term.after[0] == found.encoding.core.model.unknown_id
        )


def extended(name: str, *args: Any, **options: Any) -> list[str]:
    found = extend(OLD_BY_NAME[name], *args, **options)
    return [token.decode() for token in found.tokens]


def test_words() -> None:
    texts = ["snug snug bugs bugs mugs hug", "bugs"]
    assert extended("words", texts, 9) == ["bugs", "snug"]
    assert extended("words", texts, 1) == ["bugs"]
    assert extended("words", texts, 9, min_frequency=1) == ["bugs", "snug", "mugs"]
    assert extended("words", texts, 9, max_token_length=3) == []
    assert extended("words", texts, 9, terms=["mugs", "a b", "hug", "sun"]) == [
        "mugs",
        "bugs",
        "snug",
    ]


def test_pieces() -> None:
    assert extended("pieces", ["snug snug snug"], 9) == ["sn", "snug"]
    assert extended("pieces", ["snug snug snug"], 9, max_token_length=3) == ["sn"]
    assert extended("pieces", ["snug snug snug"], 9, min_frequency=4) == []
    # Unknown characters are learned from only where they are terms.
    assert extended("pieces", ["xug xug"], 9, terms=["xux", "HUGS"]) == ["xux", "hugs"]
    found = extend(OLD_BY_NAME["pieces"], terms=["h" * 101])
    assert found.terms[0].reason == "words of more than 100 characters are unknown"


def test_merges() -> None:
    assert extended("suffix", ["snug snug snug"], 9) == ["nu", "snu", "snug</w>"]
    assert extended("suffix", ["gun gun gun"], 9, max_token_length=3) == ["gu", "gun</w>"]
    assert extended("suffix", ["gun gun gun"], 9, max_token_length=2) == ["gu"]
    assert extended("suffix", terms=["snug", "snub", "xx"]) == ["sn", "snu", "snug</w>"]
    # Both pairs are joined by one merge.
    assert extended("suffix", terms=["snsns"]) == ["sn", "snsn", "snsns</w>"]
    assert extend(OLD_BY_NAME["suffix"], terms=["snsns"]).encoding.count("snsns") == 1
    found = extend(OLD_BY_NAME["suffix"], terms=["snug", "snun", "xx", "sun"])
    assert [token.decode() for token in found.tokens] == ["sn", "snu", "snug</w>", "snun</w>"]
    reasons = {term.text: term.reason for term in found.terms}
    assert reasons["xx"] == "the vocabulary has no token for one of its characters"
    assert reasons["sun"] == "'sun</w>' is already a token, and no merge makes it"
    # A space is a part of a chunk here.
    found = extend(OLD_BY_NAME["spaces"], terms=["guns"])
    assert found.encoding.count("guns") == 1


def test_nothing_makes_a_token_that_is_there() -> None:
    for name, special in (("suffix", "sun</w>"), ("pieces", "sun"), ("words", "sun")):
        assert special in vocabulary(OLD_BY_NAME[name])
        assert special not in extended(name, ["sun sun sun snun"], 9)


@pytest.mark.parametrize("name", ["suffix", "pieces", "words"])
def test_added_tokens_keep_their_ids_and_texts(name: str) -> None:
    old = OLD_BY_NAME[name]
    text = "snug</w>" if name == "suffix" else "snug"
    added = (*old.added_tokens, AddedToken(text, 50, special=True))
    old = Tokenizer("old", old.definition._replace(added_tokens=added))
    found = extend(old, ["snug snug snubs snubs"], 9)
    assert text.encode() not in found.tokens
    assert found.merges[0].id == 51
    assert found.encoding.special_tokens[text] == 50
    found = extend(old, terms=["snug"])
    assert found.terms[0].reason == (
        "'snug</w>' is already a token, and no merge makes it"
        if name == "suffix"
        else "'snug' is an added token"
    )


def test_no_token_is_made_that_would_stand_for_a_byte() -> None:
    vocabulary = {char: number for number, char in enumerate("<0x61>")}
    part = ListedModel(vocabulary, ([], []), unknown=UnknownPolicy(None, byte_fallback=True))
    parts = dict.fromkeys(("normalizer", "pre_tokenizer", "post_processor", "decoder"))
    old = Tokenizer("old", TokenizerDefinition(part, (), parts, "old"))
    found = extend(old, ["<0x61>"] * 3, 9, terms=["<0x61>"], with_space=False)
    assert b"<0x61>" not in found.tokens
    assert found.terms[0].reason == "'<0x61>' is already a token, and no merge makes it"


def test_a_special_token_is_no_word() -> None:
    found = extend(OLD_BY_NAME["words"], terms=["sun"])
    assert (found.tokens, found.terms[0].reason) == ([], "")


def test_step_by_step() -> None:
    with Extender(OLD_BY_NAME["pieces"], 1, name="new") as extender:
        extender.feed("snug sn", is_last=False)
        extender.feed("ug")
        steps: list[int] = []
        found = extender.extend(steps.append)
    assert (found.encoding.name, found.tokens, steps) == ("new", [b"sn"], [1])
    for name in ("number", "min_frequency"):
        wrong: Any = {name: -1}
        with pytest.raises(ValueError, match=f"{name} is -1; it must be 0 or more"):
            Extender(OLD_BY_NAME["pieces"], **wrong)
