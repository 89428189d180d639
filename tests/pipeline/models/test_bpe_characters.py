"""BPE over characters, and of text without spaces: the fast ways give what the rule gives."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.tokenizer_bpe import read_bpe
from compat_bpe.pattern.tree import Chars, Sequence
from compat_bpe.pipeline.models.bpe import unspaced
from compat_bpe.pipeline.models.bpe.by_merges import UnknownPolicy
from compat_bpe.pipeline.models.bpe.by_rank import BytePairEncoder
from compat_bpe.pipeline.models.bpe.characters import CharacterBPE, CharacterCuts, Cutter
from compat_bpe.pipeline.models.bpe.merging import Symbol, absent_from, merge
from compat_bpe.pipeline.models.bpe.unspaced import Boundaries, UnspacedEncoder
from compat_bpe.pipeline.pre_tokenizers.split import Split
from compat_bpe.pipeline.pre_tokenizers.splitter import make_splitter
from compat_bpe.pipeline.pypy.core import PyPyCore
from compat_bpe.unicode.properties import CodePoints
from tests.drawn_models import BARE, BYTES, CHARACTERS, CHARS, char_ranks, character_models, chars
from tests.examples import scaled

texts = st.text(f"{CHARACTERS}x ü", max_size=40)


def built(model: dict[str, Any], steps: list[Split] | None = None) -> tuple[CharacterBPE, Any]:
    """A model, and the splitter of its spans."""
    definition = read_bpe(Json(model, "small", "model")).define(steps or [], "small")
    assert isinstance(definition.model, CharacterBPE)
    return definition.model, definition.splitter


def plain(model: CharacterBPE, chunk: str) -> list[str]:
    return [one.name for one in merge(model.first_symbols(chunk), model.rank, model.join)]


def names(model: CharacterBPE, ids: tuple[int, ...], vocabulary: dict[str, int]) -> list[str]:
    name_of = {number: name for name, number in vocabulary.items()}
    return [name_of[number] for number in ids]


@settings(max_examples=scaled(150))
@given(
    character_models(),
    st.lists(st.one_of(texts, st.text("ab▁", min_size=80, max_size=200)), max_size=4),
)
def test_each_way_gives_what_the_plain_rule_gives(
    content: dict[str, Any], several: list[str]
) -> None:
    # With such a merge it is not as plain; tests/differential has it.
    length = len((content["continuing_subword_prefix"] or "").encode())
    assume(not length or all(len(name.encode()) != length for name in content["vocab"]))
    content = {**content, "ignore_merges": False}
    assume(content["unk_token"] in {None, *content["vocab"]})
    model, _ = built(content)
    for text in several:
        expected = plain(model, text)
        assert names(model, model.encode(text), content["vocab"]) == expected
        found = model.find(text)
        assert [token.text for token in found] == expected
        assert [token.start for token in found[1:]] == [token.end for token in found[:-1]]


SPACES = Split(Sequence((Chars(CodePoints.of(" ")),)), "MergedWithPrevious")


#: A token of a full stop and a character above U+FFFF.
JOINED_STOP: dict[str, Any] = {
    **BARE,
    "unk_token": None,
    "vocab": {"。": 0, "😀": 1, "。😀": 2},
    "merges": [["。", "😀"]],
}


@settings(max_examples=scaled(250))
@given(character_models(decorated=False), st.lists(texts, min_size=3, max_size=5), st.booleans())
@example(JOINED_STOP, ["。😀"], False)
def test_words_have_the_ids_of_the_span(
    content: dict[str, Any], several: list[str], spaces: bool
) -> None:
    """The property of ``character_cuts``, by the splitter and in a long chunk."""
    assume(content["unk_token"] in {None, *content["vocab"]})
    steps = [SPACES] if spaces else []
    model, splitter = built(content, steps)
    for text in several:
        chunks = splitter.chunks(text)
        assert "".join(chunks) == text
        pieces = make_splitter(steps).chunks(text)
        whole = [number for piece in pieces for number in model.encode(piece)]
        assert [*chain.from_iterable(map(model.encode, chunks))] == whole
        if model.cuts.are_possible and text:
            cutter = Cutter(model.encode, model.cuts)
            assert tuple(cutter.ids(text)) == model.encode(text)


def test_a_long_chunk_is_cut_once_many_were_seen() -> None:
    content = {**BARE, "unk_token": "b", "vocab": {"a": 0, "▁": 1, "b": 2, "aa": 3}}
    model, _ = built({**content, "merges": ["a a"]})
    text = "aaa▁▁xaab" * 5
    expected = model.encode(text)
    for _ in range(400):
        assert model.encode(text) == expected
    assert model._cutter is not None
    model.clear_cache()
    assert model._cutter is None
    assert model.encode(text) == expected


CUT = {**BARE, "unk_token": "<unk>", "merges": ["▁ a", "▁a b", "▁ ▁", "a 。", "。 b"]}
VOCABULARY = ["<unk>", "▁", "a", "b", "。", "▁a", "▁ab", "▁▁", "a。", "。b", "\n"]


def cuts_of(*more: str, **options: Any) -> list[str]:
    """The chunks of a text for a model with more merges, or other options."""
    extra = [merge.replace(" ", "") for merge in more]
    parts = [part for merge in more for part in merge.split(" ")]
    vocabulary = {name: i for i, name in enumerate(dict.fromkeys([*VOCABULARY, *parts, *extra]))}
    content = {**CUT, "vocab": vocabulary, "merges": [*CUT["merges"], *more], **options}
    _, splitter = built(content)
    return list(splitter.chunks("a▁▁ab\n\nx。b。a▁"))


WORDS = ["a", "▁▁ab", "\n\n", "x。b。", "a", "▁"]
WHOLE = ["a▁▁ab\n\nx。b。a▁"]


@pytest.mark.parametrize(
    ("chunks", "more", "options"),
    [
        (WORDS, [], {}),
        (WORDS, ["x y"], {}),
        (["a", "▁▁ab", "\n\n", "x。b。a", "▁"], ["。 a"], {}),
        (["a▁▁ab", "\n\n", "x。b。", "a▁"], ["b ▁"], {}),
        (["a", "▁▁ab\n\nx。b。", "a", "▁"], ["b \n"], {}),
        (["a", "▁▁ab\n\nx。b。", "a", "▁"], ["\n b"], {}),
        (WORDS, ["\n \n"], {}),
        (WHOLE, ["b ▁", "b \n"], {}),
        (WHOLE, ["<unk> b"], {}),
        (WHOLE, [], {"unk_token": None}),
        (WHOLE, [], {"ignore_merges": True}),
        (WHOLE, [], {"end_of_word_suffix": "b"}),
        (WORDS, [], {"end_of_word_suffix": ""}),
        (WORDS, [], {"byte_fallback": True}),
        (WHOLE, ["<0x0A> b"], {"byte_fallback": True}),
        (WORDS, ["<0x0A> b"], {}),
    ],
)
def test_where_spans_are_cut(chunks: list[str], more: list[str], options: dict[str, Any]) -> None:
    assert cuts_of(*more, **options) == chunks


def test_what_is_no_token_is_cut_off_only_if_all_have_bytes() -> None:
    vocabulary = {"<unk>": 0, "a": 1, **{f"<0x{byte:02X}>": 2 + byte for byte in range(256)}}
    content = {**BARE, "vocab": vocabulary, "byte_fallback": True, "unk_token": "<unk>"}
    model, splitter = built(content)
    assert splitter.chunks("a▁\n▁。\n") == ["a", "▁", "\n", "▁。", "\n"]
    assert model.is_complete
    del vocabulary["<0x41>"]
    model, splitter = built(content)
    assert splitter.chunks("a▁\n▁。\n") == ["a▁\n▁。\n"]
    assert not model.is_complete


@pytest.mark.sweep
@pytest.mark.parametrize("text", ["a" * 24_000, "ab▁" * 8_000, "中文" * 12_000])
@pytest.mark.parametrize("merges", [["a a", "aa aa", "aaaa aaaa"], []])
def test_long_chunks(text: str, merges: list[str]) -> None:
    vocabulary = {name: i for i, name in enumerate(["a", "b", "aa", "aaaa", "a" * 8, "<unk>"])}
    content = {**BARE, "unk_token": "<unk>", "vocab": vocabulary, "merges": merges}
    model, _ = built({**content, "fuse_unk": False})
    ids = model.encode(text)
    if text[0] == "a" == text[1]:
        assert ids == ((4,) * (len(text) // 8) if merges else (0,) * len(text))
    else:
        assert len(ids) == len(text)
    found = model.find(text)
    assert found[-1].end == len(text.encode())
    assert tuple(token.id for token in found) == ids


@pytest.mark.sweep
@pytest.mark.parametrize("options", [{"end_of_word_suffix": "</w>"}, {"unk_token": None}, {}])
def test_a_long_chunk_that_cannot_be_cut(options: dict[str, Any]) -> None:
    vocabulary = {name: i for i, name in enumerate(["a", "b", "ab", "aba", "<unk>", "b</w>"])}
    merges = ["a b", "ab a", "<unk> a"] if not options else ["a b", "ab a"]
    vocabulary["<unk>a"] = 7
    content = {**BARE, "unk_token": "<unk>", "vocab": vocabulary, "merges": merges, **options}
    model, _ = built(content)
    ids = model.encode("ababx" * 20_000)
    assert len(ids) >= 40_000


def test_a_character_that_is_absent() -> None:
    assert absent_from("") == absent_from("a\x00") == " "
    assert absent_from("a b") == "\x00"
    assert absent_from("\x00\x01 ") == "\x02"


def test_neighbours_in_a_token() -> None:
    cuts = CharacterCuts({"abc": 0, "c": 1, "d": 2, "?": 3}, ([], []), UnknownPolicy("?"))
    assert not cuts.are_between("a", "b")
    assert not cuts.are_between("b", "c")
    assert cuts.are_between("c", "d")
    assert cuts.are_between("x", "d")
    assert cuts.are_between("d", "x")
    assert not cuts.are_between("x", "y")


def test_the_plain_rule_takes_the_leftmost_of_equals() -> None:
    ranks = {("a", "a"): 0}
    found = merge([Symbol("a", 1)] * 3, lambda *pair: ranks.get(pair))
    assert found == [Symbol("aa", 2), Symbol("a", 1)]


words = st.lists(chars, min_size=1, max_size=8).map("".join)
chunks = st.lists(words, min_size=1, max_size=5)


@given(chunks, char_ranks())
@example(["中国"], {**BYTES, "中国".encode()[2:4]: 256})
@example(["a中", "中a"], {**BYTES, "a中".encode()[:2]: 256, "中a".encode()[1:]: 257})
@example(["éé中"], {**BYTES, b"\xa9\xc3": 256})
# Of two narrow characters.
@example(["aé"], {**BYTES, "aé".encode()[:2]: 256, "aé".encode(): 257})
# No byte of it begins a wide character, but it ends one.
@example(["中a"], {**BYTES, "中a".encode()[2:]: 256})
def test_merges_as_the_encoder(some: list[str], ranks: dict[bytes, int]) -> None:
    encoder = BytePairEncoder(ranks)
    expected = [found for chunk in some for found in encoder.merge(chunk.encode())]
    wide = UnspacedEncoder(ranks, encoder.merge)
    for _ in range(2):
        assert list(wide.merge(some)) == expected


def test_what_is_remembered_is_bounded() -> None:
    encoder = UnspacedEncoder(BYTES, BytePairEncoder(BYTES).merge)
    text = "".join(map(chr, range(0x4E00, 0x9FFF)))
    text += "".join(map(chr, range(0x20000, 0x2A000)))
    assert bytes(encoder.merge([text])) == text.encode()
    for held in (encoder._after, encoder._begun, encoder._char_ids):
        assert 0 < len(held) <= unspaced._KEPT
    # Nothing joins any of them.
    assert not encoder._run_ids


def test_tokens_that_no_rank_makes_are_seen_as_wholes() -> None:
    whole = {"中国".encode(): 300}
    encoder = UnspacedEncoder(BYTES, BytePairEncoder(BYTES).merge, whole)
    assert encoder.merge(["国中", "人"]) == tuple("国中人".encode())
    assert encoder.merging_makes_tokens
    encoder.merge(["人", "中国"])
    assert not encoder.merging_makes_tokens


def encoding(ranks: dict[bytes, int]) -> Encoding:
    return Encoding("some", pat_str=r"\p{L}+|\P{L}", mergeable_ranks=ranks, special_tokens={})


@given(st.lists(words, min_size=40, max_size=50).map(lambda some: some * 4), char_ranks())
def test_long_texts_encode_as_their_chunks(some: list[str], ranks: dict[bytes, int]) -> None:
    text = " ".join(some)
    tested = encoding(ranks)
    core = tested.core
    encoder = BytePairEncoder(ranks)
    # As when enough of it was met: then all passages of it go this way.
    core.byte_level._unspaced = UnspacedEncoder(ranks, encoder.merge)
    expected: list[int] = []
    for chunk in core.splitter.chunks(text):
        expected += encoder.encode(chunk.encode())
    assert tested.encode_ordinary(text) == expected
    assert tested.count(text) == len(expected)


def test_a_token_that_no_merge_makes() -> None:
    """As a chunk it is that token, and within a longer one it is not."""
    ranks = {**BYTES, "中国人".encode(): 256}
    text = ("中国人 中国人国 " * 100).strip()
    tested = encoding(ranks)
    used = tested.core.byte_level._unspaced = UnspacedEncoder(ranks, BytePairEncoder(ranks).merge)
    whole, longer = [256], list("中国人国".encode())
    assert tested.encode_ordinary(text) == ([*whole, 32, *longer, 32] * 100)[:-1]
    assert not used.merging_makes_tokens


def test_shipped_vocabularies_go_this_way(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(1)
    text = "".join(rng.choices("今天气很好我们去公园散步吧的是不了人，。", k=20_000))
    for name in ("cl100k_base", "o200k_base"):
        tested = get_encoding(name)
        tested.clear_cache()
        if isinstance(tested.core, PyPyCore):  # which has another way after some text
            monkeypatch.setattr(tested.core._loops, "encoder_for", lambda span: None)
        ids = tested.encode_ordinary(text)
        assert tested.decode(ids) == text
        used = tested.core.byte_level._unspaced
        assert used is not None
        assert used.merging_makes_tokens


def reaches_over(tokens: dict[bytes, int], left: str, right: str) -> bool:
    """The plain rule: some token has bytes of both characters next to each other.

    It begins with the last bytes of the left one or has all of it, and ends with the first bytes of
    the right one or has all of it.
    """
    if max(left, right) < "\u0800":
        return True
    before, after = left.encode(), right.encode()
    for token in tokens:
        for place in range(1, len(token)):
            some, others = token[:place], token[place:]
            if (some.endswith(before) or before.endswith(some)) and (
                others.startswith(after) or after.startswith(others)
            ):
                return True
    return False


@given(char_ranks(), st.lists(st.tuples(chars, chars), max_size=12))
@example({**BYTES, "中国".encode()[:4]: 256}, [("中", "国"), ("中", "圽"), ("国", "中")])
@example({**BYTES, "a中".encode()[:2]: 256}, [("a", "中"), ("é", "中"), ("中", "a")])
@example({**BYTES, "中a".encode()[2:]: 256}, [("中", "a"), ("国", "a"), ("丮", "a")])
@example({**BYTES, "ࠀ中".encode()[:4]: 256}, [("ࠀ", "中"), ("中", "ࠀ")])
def test_each_pair_by_the_plain_rule(ranks: dict[bytes, int], pairs: list[tuple[str, str]]) -> None:
    found = Boundaries(ranks)
    # What comes first decides in which order the vocabulary is looked through.
    for left, right in [*pairs, *((one, other) for one in CHARS for other in CHARS)]:
        assert found.joins(left, right) == reaches_over(ranks, left, right), (left, right)


@given(char_ranks())
def test_shared_bits_join_more_and_never_less(ranks: dict[bytes, int]) -> None:
    few, many = unspaced._BITS, Boundaries(ranks)
    try:
        unspaced._BITS = 3
        shared = Boundaries(ranks)
        for left in CHARS:
            for right in CHARS:
                assert shared.joins(left, right) >= many.joins(left, right)
    finally:
        unspaced._BITS = few


def test_only_what_a_text_has_is_looked_for() -> None:
    ranks = get_encoding("o200k_base")._mergeable_ranks
    found = Boundaries(ranks)
    assert not found._after_family
    assert found.joins("的", "人")
    assert not found.joins("人", "鑫")
    assert set(found._after_family) == {b"\xe7", b"\xe4"}  # of 的 and 人
    assert all(member[:1] == b"\xe7" for member in found._after_family[b"\xe7"])


def test_threads_find_the_same() -> None:
    ranks = get_encoding("cl100k_base")._mergeable_ranks
    pairs = [(one, other) for one in "的中国はいのaé가देह" for other in "人，。がの Aय"]
    alone = Boundaries(ranks)
    expected = [alone.joins(*pair) for pair in pairs]
    assert True in expected
    assert False in expected
    for _ in range(5):
        shared = Boundaries(ranks)
        with ThreadPoolExecutor(4) as executor:
            jobs = [executor.submit(lambda: [shared.joins(*p) for p in pairs]) for _ in range(4)]  # noqa: B023
        assert all(job.result() == expected for job in jobs)
