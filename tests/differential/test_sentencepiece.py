"""Models of SentencePiece, against sentencepiece itself."""

from __future__ import annotations

import copy
import pickle
import random
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compat_bpe
from compat_bpe.encodings.save import save_sentencepiece
from compat_bpe.encodings.sentencepiece import SentencePiece
from compat_bpe.formats.sentencepiece import parse_sentencepiece
from compat_bpe.pipeline.aligned import Aligned
from compat_bpe.pipeline.models.explain import explain
from compat_bpe.pipeline.models.sentencepiece.unigram import (
    PieceLattice,
    SentencePieceUnigram,
    rounded,
)
from compat_bpe.pipeline.special_tokens import FEW
from tests.differential.small_sentencepieces import (
    NAMES,
    SENTENCES,
    TEXTS,
    WORDS,
    model,
    ours,
    parsed,
    processor,
    theirs,
    trained,
)
from tests.examples import scaled


@pytest.mark.parametrize("name", NAMES)
@given(text=TEXTS)
@settings(max_examples=scaled(100))
def test_ids_pieces_and_places(name: str, text: str) -> None:
    enc, sp = ours(name), theirs(name)
    ids = sp.encode(text)
    assert enc.encode(text) == ids
    assert enc.count(text) == len(ids)
    assert enc.encode_as_pieces(text) == sp.encode(text, out_type=str)
    mapping = sp.encode(text, out_type="offset_mapping")
    found = enc.encode_as_placed_pieces(text)
    assert [one.id for one in found] == mapping["ids"]
    assert [one.piece for one in found] == mapping["pieces"]
    assert [(one.begin, one.end) for one in found] == mapping["offsets"]


@pytest.mark.parametrize("name", NAMES)
@given(text=TEXTS)
@settings(max_examples=scaled(40))
def test_the_fast_way_is_the_plain_rule(name: str, text: str) -> None:
    enc = ours(name)
    rule = enc.core.definition.model
    chunk = enc.normalize(text)
    assert rule.quick_split(chunk) == rule.split(chunk)  # type: ignore[attr-defined]
    assert list(rule.encode(chunk)) == [found.id for found in rule.find(chunk)]


@pytest.mark.parametrize("name", NAMES)
@given(text=TEXTS)
@settings(max_examples=scaled(40))
def test_normalization(name: str, text: str) -> None:
    enc, sp = ours(name), theirs(name)
    normalized = sp.normalize(text)
    assert enc.normalize(text) == normalized
    normalize = enc._normalizer
    assert normalize.align(Aligned.of(text)).text == normalized


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(max_examples=scaled(40))
def test_decoded_text(name: str, data: st.DataObject) -> None:
    enc, sp = ours(name), theirs(name)
    ids = data.draw(st.lists(st.integers(0, enc.vocab_size - 1), max_size=12))
    assert enc.decode(ids) == sp.decode(ids)
    texts = [*map(enc.id_to_piece, ids), *data.draw(st.lists(st.sampled_from(WORDS), max_size=3))]
    data.draw(st.randoms()).shuffle(texts)
    if texts:
        assert enc.decode_pieces(texts) == sp.decode(texts)


def test_bytes_with_an_invisible_piece_between_them() -> None:
    """They are no character: each is replaced by itself."""
    enc, sp = ours("bpe_bytes"), theirs("bpe_bytes")
    first, second, letter = map(enc.piece_to_id, ("<0xC3>", "<0xA9>", "<0x41>"))
    for ids in ([first, 1, second], [first, 1, 2, second, letter], [letter, 1, first, second]):
        assert enc.decode(ids) == sp.decode(ids)
        names = [*map(enc.id_to_piece, ids)]
        assert enc.decode_pieces(names) == sp.decode(names)
    assert enc.decode([first, second]) == "é"


@pytest.mark.parametrize("name", NAMES)
@given(left=TEXTS, right=TEXTS)
@settings(max_examples=scaled(50))
def test_cut_points(name: str, left: str, right: str) -> None:
    """Each cut point that is claimed is one."""
    text = left + right
    encoding = ours(name)
    cut = encoding.core.next_cut_point(text)
    while cut is not None:
        rest = encoding.continued.encode_ordinary(text[cut:])
        assert encoding.encode_ordinary(text) == encoding.encode_ordinary(text[:cut]) + rest
        cut = encoding.core.next_cut_point(text, cut)


@pytest.mark.parametrize("name", ["bpe", "bpe_like_gemma"])
def test_there_are_cut_points(name: str) -> None:
    assert ours(name).core.next_cut_point("the cat sat") == 3


@pytest.mark.parametrize("name", NAMES)
def test_long_texts(name: str) -> None:
    enc, sp = ours(name), theirs(name)
    draw = random.Random(5)
    for words in (WORDS, WORDS[:8], ["."], ["ab", "a"], ["猫", "で"]):
        text = "".join(draw.choices(words, k=8_000))
        assert enc.encode(text) == sp.encode(text)


@pytest.mark.parametrize("name", NAMES)
def test_the_vocabulary(name: str) -> None:
    enc, sp = ours(name), theirs(name)
    assert enc.vocab_size == enc.n_vocab == sp.vocab_size()
    numbers = (enc.unk_id, enc.bos_id, enc.eos_id, enc.pad_id)
    assert numbers == (sp.unk_id(), sp.bos_id(), sp.eos_id(), sp.pad_id())
    for number in range(enc.vocab_size):
        assert enc.id_to_piece(number) == sp.id_to_piece(number)
        assert enc.get_score(number) == sp.get_score(number)
        assert enc.is_unknown(number) == sp.is_unknown(number)
        assert enc.is_control(number) == sp.is_control(number) == enc.is_special_token(number)
        assert enc.is_unused(number) == sp.is_unused(number)
        assert enc.is_byte(number) == sp.is_byte(number)
    for piece in [*map(enc.id_to_piece, range(enc.vocab_size)), *WORDS]:
        assert enc.piece_to_id(piece) == sp.piece_to_id(piece)
    for number in (-1, enc.vocab_size):
        with pytest.raises(KeyError, match="not in the vocabulary"):
            enc.id_to_piece(number)
    with pytest.raises(KeyError, match="not in the vocabulary"):
        enc.decode([enc.vocab_size])


def test_ids_for_the_beginning_and_the_end() -> None:
    enc, sp = ours("bpe"), theirs("bpe")
    assert enc.encode("the cat", add_bos=True, add_eos=True) == sp.encode(
        "the cat", add_bos=True, add_eos=True
    )
    assert enc.encode("", add_special_tokens=True) == [sp.bos_id(), sp.eos_id()]
    without = SentencePiece(
        "x", parse_sentencepiece(trained(model_type="bpe", bos_id=-1, eos_id=-1), "x")
    )
    assert without.encode("the", add_special_tokens=True) == without.encode("the")
    found = enc.encode_with_offsets("the", add_special_tokens=True)
    assert found.ids == [sp.bos_id(), *sp.encode("the"), sp.eos_id()]
    assert found.special_tokens_mask == [1, *[0] * (len(found) - 2), 1]
    mapping = sp.encode("the", out_type="offset_mapping")
    assert enc.encode_with_offsets("the").offsets == mapping["offsets"]
    assert enc.encode_with_offsets("the").tokens == mapping["pieces"]
    with pytest.raises(ValueError, match="no rule for pairs"):
        enc.encode_with_offsets("the", "cat")
    for encode in (enc.encode, enc.encode_with_offsets):
        with pytest.raises(ValueError, match="no rule for words"):
            encode(["the"], is_pretokenized=True)
    with pytest.raises(ValueError, match="no more tokens"):
        enc.add_tokens(["<tool>"])
    with pytest.raises(ValueError, match="no control piece '<s>'"):
        without.encode("the", add_bos=True)


def test_copies_and_batches(tmp_path: Path) -> None:
    path = tmp_path / "spiece.model"
    path.write_bytes(model("unigram_bytes"))
    enc = compat_bpe.load(tmp_path)
    assert isinstance(enc, SentencePiece)
    texts = ["the cat", "猫 🙂"]
    expected = theirs("unigram_bytes").encode(texts)
    for one in (enc, copy.copy(enc), copy.deepcopy(enc), pickle.loads(pickle.dumps(enc))):
        assert type(one) is SentencePiece
        assert one.encode_batch(texts) == expected
    assert enc.decode_batch(expected) == texts
    assert enc.encode_batch(texts * 2000, num_threads=2) == expected * 2000
    assert enc.with_special({"<s>"}) is enc
    with pytest.raises(ValueError, match="cannot be extended"):
        enc.extended("more", {}, [])
    assert enc.decode_with_offsets(enc.encode("the 🙂!", add_bos=True))[0] == "the 🙂!"
    with pytest.raises(ValueError, match="is given no pattern"):
        compat_bpe.load(path, pattern="gpt2")


@pytest.mark.parametrize("name", NAMES)
def test_saved_models(name: str, tmp_path: Path) -> None:
    enc, path = ours(name), tmp_path / "saved.model"
    save_sentencepiece(enc, path)
    again = compat_bpe.load(path)
    assert isinstance(again, SentencePiece)
    assert again.definition._replace(source=name) == enc.definition
    saved, sp = processor(path.read_bytes()), theirs(name)
    draw = random.Random(2)
    for _ in range(50):
        text = "".join(draw.choices(WORDS, k=6))
        assert saved.encode(text) == again.encode(text) == sp.encode(text)
        assert saved.decode(sp.encode(text)) == sp.decode(sp.encode(text))
    numbers = (saved.unk_id(), saved.bos_id(), saved.eos_id(), saved.pad_id())
    assert numbers == (sp.unk_id(), sp.bos_id(), sp.eos_id(), sp.pad_id())


def test_other_encodings_are_no_model(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no model of SentencePiece"):
        save_sentencepiece(compat_bpe.get_encoding("gpt2"), tmp_path / "gpt2.model")


def test_special_pieces_without_a_name() -> None:
    message = parsed(model("unigram"))
    for name in ("unk_piece", "bos_piece", "eos_piece", "pad_piece"):
        setattr(message.trainer_spec, name, "")
    data = message.SerializeToString()
    enc, sp = SentencePiece("x", parse_sentencepiece(data, "x")), processor(data)
    numbers = (enc.unk_id, enc.bos_id, enc.eos_id, enc.pad_id)
    assert numbers == (sp.unk_id(), sp.bos_id(), sp.eos_id(), sp.pad_id())


def test_a_denormalizer() -> None:
    message = parsed(model("unigram"))
    message.denormalizer_spec.CopyFrom(message.normalizer_spec)
    message.denormalizer_spec.escape_whitespaces = False
    message.denormalizer_spec.add_dummy_prefix = False
    data = message.SerializeToString()
    enc, sp = SentencePiece("x", parse_sentencepiece(data, "x")), processor(data)
    ids = enc.encode("the cat  ... <x> 🙂 the") + [0, 1, 2, 0]
    assert enc.decode(ids) == sp.decode(ids)


# Unigram: rounding, ways


@given(data=st.data(), seed=st.integers(0, 10**6))
@settings(max_examples=scaled(40), deadline=None)
def test_ties_and_rounding(data: st.DataObject, seed: int) -> None:
    """Scores with many ties, texts so long that scores are subtracted."""
    draw = random.Random(seed)
    message = parsed(model("unigram_identity"))
    del message.pieces[3:]
    scale = data.draw(st.sampled_from([1.0, 100.0, 30_000.0, 1e-3]))
    texts = {"".join(draw.choices("ab.▁", k=draw.randrange(1, 5))) for _ in range(30)}
    for text in sorted(texts):
        kind = 4 if draw.random() < 0.1 else 1
        score = -scale * draw.choice([0.1, 0.2, 0.3, 1.1, draw.random()])
        message.pieces.add(piece=text, score=score if draw.random() < 0.95 else -score, type=kind)
    found = message.SerializeToString()
    enc, sp = SentencePiece("x", parse_sentencepiece(found, "x")), processor(found)
    for size in (5, 50, 5000):
        text = "".join(draw.choices("aabb.. c", k=size))
        ids = sp.encode(text)
        assert enc.encode(text) == ids
        rule = enc.core.definition.model
        plain = rule.split(enc.normalize(text))  # type: ignore[attr-defined]
        assert enc.pieces.ids_of(plain) == ids


@pytest.mark.parametrize("name", ["unigram", "unigram_bytes", "unigram_symbols"])
def test_the_best_ways(name: str) -> None:
    enc, sp = ours(name), theirs(name)
    for text in ("the cat", "theatre abab", "aaaa", "xé", ""):
        for number in (1, 2, 5, 20):
            found = enc.nbest_encode(text, number)
            expected = sp.nbest_encode(text, nbest_size=number, out_type="proto")
            assert found[:1] == [[one.id for one in expected.nbests[0].pieces]]
            assert len(found) == len(expected.nbests)
            ways = {tuple(piece.id for piece in way.pieces): way.score for way in expected.nbests}
            last = min(ways.values())
            # Of those with the lowest score some may be left out.
            certain = {way for way, score in ways.items() if score > last + 1e-4}
            assert certain <= set(map(tuple, found))
    with pytest.raises(ValueError, match="from 1 to 512"):
        enc.nbest_encode("a", 0)
    with pytest.raises(ValueError, match="no Unigram model"):
        ours("bpe").nbest_encode("a", 2)


@pytest.mark.parametrize(
    ("name", "alpha", "size"),
    [("unigram", 0.5, -1), ("unigram", 0.2, 4), ("bpe", 0.3, -1), ("bpe_symbols", 0.5, -1)],
)
def test_random_ways_are_as_often(name: str, alpha: float, size: int) -> None:
    enc, sp = ours(name), theirs(name)
    draws = 3000
    found: dict[tuple[int, ...], int] = {}
    expected: dict[tuple[int, ...], int] = {}
    for seed in range(draws):
        one = tuple(enc.sample_encode("the ab", alpha, size, seed=seed))
        other = tuple(sp.encode("the ab", enable_sampling=True, alpha=alpha, nbest_size=size))
        found[one] = found.get(one, 0) + 1
        expected[other] = expected.get(other, 0) + 1
    for way in found.keys() | expected.keys():
        mean = (found.get(way, 0) + expected.get(way, 0)) / 2
        # Five standard deviations.
        assert abs(found.get(way, 0) - mean) <= 5 * (mean / 2) ** 0.5 + 1


def test_wrong_requests_for_random_ways() -> None:
    for arguments in ({"alpha": -1.0}, {"alpha": float("nan")}, {"nbest_size": 513}):
        with pytest.raises(ValueError, match="must be"):
            ours("unigram").sample_encode("a", **arguments)
    with pytest.raises(ValueError, match="neither Unigram nor BPE"):
        ours("word").sample_encode("a")
    first = ours("unigram").sample_encode("the cat sat", seed=1)
    assert first == ours("unigram").sample_encode("the cat sat", seed=1)


UNIGRAM_NAMES = [
    *("unigram", "unigram_bytes", "unigram_symbols", "unigram_over_words", "unigram_suffix"),
    *("unigram_identity", "unigram_unused"),
]


def drawn_model(draw: Random) -> bytes:
    """Return a model, often with other scores, of which many are the same, or large, or small."""
    message = parsed(model(draw.choice(UNIGRAM_NAMES)))
    if draw.random() < 0.5:
        scale = draw.choice([1.0, 100.0, 30_000.0, 1e-3])
        for piece in message.pieces:
            if piece.type == 1:
                piece.score = -scale * draw.choice([0.1, 0.2, 0.3, 1.1, draw.random()])
    found: bytes = message.SerializeToString()
    return found


def drawn_text(draw: Random) -> str:
    if draw.random() < 0.3:
        sentence = draw.choice(SENTENCES)
        start = draw.randrange(len(sentence))
        return sentence[start : start + draw.randint(1, 30)]
    return "".join(draw.choices(WORDS, k=draw.choice([0, 1, 2, 3, 5, 8])))


def score(lattice: PieceLattice, way: list[tuple[str, int]]) -> float:
    """Return the score of a way as the search adds it up: from the end, in 32 bits."""
    place, total = len(lattice.ending) - 1, 0.0
    for piece in reversed(way):
        (node,) = (one for one in lattice.ending[place] if (one.text, one.id) == piece)
        total, place = rounded(node.score + total), node.start
    return total


def check_ways(seed: int) -> None:
    draw = Random(seed)
    data = drawn_model(draw)
    ours, theirs = SentencePiece("x", parse_sentencepiece(data, "x")), processor(data)
    rule = ours.core.definition.model
    assert isinstance(rule, SentencePieceUnigram)
    text, size = drawn_text(draw), draw.choice([2, 3, 5, 20, 100, 512])
    expected: list[Any] = list(theirs.nbest_encode(text, nbest_size=size, out_type="proto").nbests)
    found = ours.nbest_encode(text, size)
    assert len(found) == len(expected)
    normalized = ours.normalize(text)
    if not normalized:
        return
    lattice = PieceLattice(rule, normalized)
    scores = [score(lattice, way) for way in lattice.best(size)]
    assert scores == [way.score for way in expected]
    assert found == [[piece.id for piece in way.pieces] for way in expected]


@pytest.mark.parametrize("seed", range(30))
def test_the_best_ways_have_the_references_scores(seed: int) -> None:
    check_ways(seed)


@pytest.mark.sweep
def test_the_best_ways_of_many_texts() -> None:
    for seed in range(30, 1500):
        check_ways(seed)


SYMBOL_KINDS = ["bpe", "unigram", "char"]


def both_with_symbols(kind: str, rule: str, symbols: set[str]) -> tuple[SentencePiece, Any]:
    message = parsed(trained(model_type=kind, normalization_rule_name=rule))
    known = {piece.piece for piece in message.pieces}
    for symbol in sorted(symbols - known):
        message.pieces.add(piece=symbol, score=0.0, type=4)
    data = message.SerializeToString()
    return SentencePiece(kind, parse_sentencepiece(data, kind)), processor(data)


def check_symbols(kind: str, rule: str, symbols: set[str], text: str) -> None:
    ours, theirs = both_with_symbols(kind, rule, symbols)
    assert ours.encode(text) == theirs.encode(text)
    assert ours.normalize(text) == theirs.normalize(text)
    mapping = theirs.encode(text, out_type="offset_mapping")
    found = ours.encode_as_placed_pieces(text)
    assert [(one.begin, one.end) for one in found] == mapping["offsets"]


SYMBOL_PARTS = st.text("abt é▁ﬁ<", min_size=1, max_size=4)


@pytest.mark.sweep
@pytest.mark.parametrize("kind", SYMBOL_KINDS)
@given(st.sets(SYMBOL_PARTS, max_size=12), st.lists(SYMBOL_PARTS, max_size=6), st.booleans())
@settings(max_examples=scaled(15))
def test_random_symbols(kind: str, symbols: set[str], parts: list[str], is_mapped: bool) -> None:
    # So many that no pattern of them all is made.
    symbols = symbols | {f"<{number}>" for number in range(FEW)}
    text = "".join([*parts, *sorted(symbols)[:9], *parts])
    check_symbols(kind, "nmt_nfkc" if is_mapped else "identity", symbols, text)


@pytest.mark.parametrize("kind", SYMBOL_KINDS)
@pytest.mark.parametrize(
    ("symbols", "text"),
    [
        ({f"<reserved_{number}>" for number in range(2000)}, "<reserved_" * 50 + "<reserved_77>x"),
        ({"a" * length + "b" for length in range(1, 150)}, "a" * 500 + "b"),
        # Of those that begin at one place, sentencepiece sees the 64 shortest.
        ({"q" * length for length in range(2, 90)}, "q" * 300 + "a" + "q" * 70),
    ],
    ids=["one beginning", "tails", "prefixes"],
)
def test_hostile_symbols(kind: str, symbols: set[str], text: str) -> None:
    check_symbols(kind, "nmt_nfkc", symbols, text)


@settings(max_examples=scaled(30))
@given(text=st.text(st.sampled_from("thecatsonmab 猫であるé<x>"), max_size=12))
@pytest.mark.parametrize("name", NAMES)
def test_the_steps_end_with_the_pieces(name: str, text: str) -> None:
    encoding = ours(name)
    found = explain(encoding.core.definition.model, encoding.normalize(text))
    assert list(found.ids) == theirs(name).encode(text)
    members = found.members(bytes.decode)
    if "steps" in members:
        steps = members["steps"]
        parts = steps[-1]["parts"]
        assert [pair["rank"] for step in steps for pair in step["pairs"][:1]] == [
            min(pair["rank"] for pair in step["pairs"]) for step in steps[:-1]
        ]
    elif "ways" in members:
        parts = members["ways"][0]["pieces"]
        scores = [way["score"] for way in members["ways"]]
        assert len(scores) < 2 or scores[0] >= scores[1] - 1e-3 or "symbols" in name
    else:
        parts = [token["token"] for token in members["tokens"]]
    pieces = theirs(name).encode(text, out_type=str)
    if not encoding.pieces.byte_fallback:
        # Unknown pieces that follow each other are one for the reference.
        assert "".join(parts) == "".join(pieces)
        is_known = theirs(name).unk_id() not in found.ids
        # An unused piece is taken apart after merging.
        if is_known and name != "bpe_unused":
            assert parts == pieces
