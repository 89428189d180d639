"""Models of SentencePiece and their files, against sentencepiece itself and Protocol Buffers."""

from __future__ import annotations

import copy
import math
import pickle
import random
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import strategies as st

import compat_bpe
from compat_bpe.encodings.save import save_sentencepiece
from compat_bpe.encodings.sentencepiece import SentencePiece
from compat_bpe.formats.protobuf import BYTES, FIXED32, VARINT, write_field
from compat_bpe.formats.sentencepiece import SentencePieceModel, parse_sentencepiece
from compat_bpe.pipeline.models.explain import explain
from compat_bpe.pipeline.models.sentencepiece.unigram import SentencePieceUnigram
from compat_bpe.pipeline.models.sentencepiece.ways import PieceLattice, rounded
from compat_bpe.pipeline.special_tokens import FEW
from tests.corpora import TEXTS as CORPORA
from tests.differential.small_sentencepieces import (
    NAMES,
    SENTENCES,
    TEXTS,
    WORDS,
    both,
    check,
    model,
    ours,
    parsed,
    processor,
    theirs,
    trained,
)
from tests.differential.small_tokenizers import answer
from tests.examples import drawn
from tests.fit.helpers import all_found
from tools.reference_files import reference_file

ALL = pytest.mark.parametrize("name", NAMES)


@ALL
@drawn(100, text=TEXTS)
def test_ids_pieces_and_places(name: str, text: str) -> None:
    enc = ours(name)
    check(enc, theirs(name), text)
    # The fast way is the plain rule.
    rule: Any = enc.core.definition.model
    chunk = enc.normalize(text)
    assert rule.quick_split(chunk) == rule.split(chunk)
    assert list(rule.encode(chunk)) == [found.id for found in rule.find(chunk)]


@ALL
@drawn(40, data=st.data())
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


@ALL
@drawn(50, text=st.builds("{}{}".format, TEXTS, TEXTS))
def test_cut_points(name: str, text: str) -> None:
    """Each cut point that is claimed is one."""
    encoding = ours(name)
    for cut in all_found(partial(encoding.core.next_cut_point, text)):
        rest = encoding.continued.encode_ordinary(text[cut:])
        assert encoding.encode_ordinary(text) == encoding.encode_ordinary(text[:cut]) + rest


@pytest.mark.parametrize("name", ["bpe", "bpe_like_gemma"])
def test_there_are_cut_points(name: str) -> None:
    assert ours(name).core.next_cut_point("the cat sat") == 3


@ALL
def test_long_texts(name: str) -> None:
    draw = random.Random(5)
    for words in (WORDS, WORDS[:8], ["."], ["ab", "a"], ["猫", "で"]):
        text = "".join(draw.choices(words, k=8_000))
        assert ours(name).encode(text) == theirs(name).encode(text)


def special_ids(sp: Any) -> tuple[int, ...]:
    return sp.unk_id(), sp.bos_id(), sp.eos_id(), sp.pad_id()


@ALL
def test_the_vocabulary(name: str) -> None:
    enc, sp = ours(name), theirs(name)
    assert enc.vocab_size == enc.n_vocab == sp.vocab_size()
    assert (enc.unk_id, enc.bos_id, enc.eos_id, enc.pad_id) == special_ids(sp)
    for number in range(enc.vocab_size):
        for ask in ("id_to_piece", "get_score", "is_unknown", "is_control", "is_unused", "is_byte"):
            assert getattr(enc, ask)(number) == getattr(sp, ask)(number), ask
        assert enc.is_special_token(number) == sp.is_control(number)
    for piece in [*map(enc.id_to_piece, range(enc.vocab_size)), *WORDS]:
        assert enc.piece_to_id(piece) == sp.piece_to_id(piece)
    for number in (-1, enc.vocab_size):
        with pytest.raises(KeyError, match="not in the vocabulary"):
            enc.id_to_piece(number)
    with pytest.raises(KeyError, match="not in the vocabulary"):
        enc.decode([enc.vocab_size])


def test_ids_for_the_beginning_and_the_end() -> None:
    enc, sp = ours("bpe"), theirs("bpe")
    options: dict[str, Any] = {"add_bos": True, "add_eos": True}
    assert enc.encode("the cat", **options) == sp.encode("the cat", **options)
    assert enc.encode("", add_special_tokens=True) == [sp.bos_id(), sp.eos_id()]
    without, _ = both(trained(model_type="bpe", bos_id=-1, eos_id=-1))
    assert without.encode("the", add_special_tokens=True) == without.encode("the")
    found = enc.encode_with_offsets("the", add_special_tokens=True)
    assert found.ids == [sp.bos_id(), *sp.encode("the"), sp.eos_id()]
    assert found.special_tokens_mask == [1, *[0] * (len(found) - 2), 1]
    mapping = sp.encode("the", out_type="offset_mapping")
    assert enc.encode_with_offsets("the").offsets == mapping["offsets"]
    assert enc.encode_with_offsets("the").tokens == mapping["pieces"]
    with pytest.raises(ValueError, match="does not accept pairs"):
        enc.encode_with_offsets("the", "cat")
    for encode in (enc.encode, enc.encode_with_offsets):
        with pytest.raises(ValueError, match="does not accept words"):
            encode(["the"], is_pretokenized=True)
    with pytest.raises(ValueError, match=r"only a tokenizer\.json, or a file read as"):
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
    with pytest.raises(
        ValueError, match="the file defines how text is split; leave out the pattern"
    ):
        compat_bpe.load(path, pattern="gpt2")


@ALL
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
    assert special_ids(saved) == special_ids(sp)


def test_other_encodings_are_no_model(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is not a SentencePiece model"):
        save_sentencepiece(compat_bpe.get_encoding("gpt2"), tmp_path / "gpt2.model")


def test_special_pieces_without_a_name() -> None:
    message = parsed(model("unigram"))
    for name in ("unk_piece", "bos_piece", "eos_piece", "pad_piece"):
        setattr(message.trainer_spec, name, "")
    enc, sp = both(message.SerializeToString())
    assert (enc.unk_id, enc.bos_id, enc.eos_id, enc.pad_id) == special_ids(sp)


def test_a_denormalizer() -> None:
    message = parsed(model("unigram"))
    message.denormalizer_spec.CopyFrom(message.normalizer_spec)
    message.denormalizer_spec.escape_whitespaces = False
    message.denormalizer_spec.add_dummy_prefix = False
    enc, sp = both(message.SerializeToString())
    ids = enc.encode("the cat  ... <x> 🙂 the") + [0, 1, 2, 0]
    assert enc.decode(ids) == sp.decode(ids)


# Many user-defined symbols

KINDS = ["bpe", "unigram", "char"]


def check_symbols(kind: str, rule: str, symbols: set[str], text: str) -> None:
    message = parsed(trained(model_type=kind, normalization_rule_name=rule))
    known = {piece.piece for piece in message.pieces}
    for symbol in sorted(symbols - known):
        message.pieces.add(piece=symbol, score=0.0, type=4)
    check(*both(message.SerializeToString()), text)


PARTS = st.text("abt é▁ﬁ<", min_size=1, max_size=4)


@pytest.mark.sweep
@pytest.mark.parametrize("kind", KINDS)
@drawn(
    15,
    symbols=st.sets(PARTS, max_size=12),
    parts=st.lists(PARTS, max_size=6),
    is_mapped=st.booleans(),
)
def test_random_symbols(kind: str, symbols: set[str], parts: list[str], is_mapped: bool) -> None:
    # So many that no pattern of them all is made.
    symbols = symbols | {f"<{number}>" for number in range(FEW)}
    text = "".join([*parts, *sorted(symbols)[:9], *parts])
    check_symbols(kind, "nmt_nfkc" if is_mapped else "identity", symbols, text)


@pytest.mark.parametrize("kind", KINDS)
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


# Unigram: rounding, ways


@drawn(40, st.sampled_from([1.0, 100.0, 30_000.0, 1e-3]), st.integers(0, 10**6))
def test_ties_and_rounding(scale: float, seed: int) -> None:
    """Scores with many ties, texts so long that scores are subtracted."""
    draw = random.Random(seed)
    message = parsed(model("unigram_identity"))
    del message.pieces[3:]
    texts = {"".join(draw.choices("ab.▁", k=draw.randrange(1, 5))) for _ in range(30)}
    for text in sorted(texts):
        kind = 4 if draw.random() < 0.1 else 1
        score = -scale * draw.choice([0.1, 0.2, 0.3, 1.1, draw.random()])
        message.pieces.add(piece=text, score=score if draw.random() < 0.95 else -score, type=kind)
    enc, sp = both(message.SerializeToString())
    rule: Any = enc.core.definition.model
    for size in (5, 50, 5000):
        text = "".join(draw.choices("aabb.. c", k=size))
        ids = sp.encode(text)
        assert enc.encode(text) == ids
        assert enc.pieces.ids_of(rule.split(enc.normalize(text))) == ids


UNIGRAMS = [name for name in NAMES if name.startswith("unigram") and name != "unigram_cf"]


def drawn_model(draw: Random) -> bytes:
    """Return a model, often with other scores, of which many are the same, or large, or small."""
    message = parsed(model(draw.choice(UNIGRAMS)))
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
    """The best ways to cut a text, and their scores."""
    draw = Random(seed)
    enc, sp = both(drawn_model(draw))
    rule = enc.core.definition.model
    assert isinstance(rule, SentencePieceUnigram)
    text, size = drawn_text(draw), draw.choice([2, 3, 5, 20, 100, 512])
    expected: list[Any] = list(sp.nbest_encode(text, nbest_size=size, out_type="proto").nbests)
    found = enc.nbest_encode(text, size)
    assert len(found) == len(expected)
    assert enc.nbest_encode(text, 1) == sp.nbest_encode(text, nbest_size=1)
    if normalized := enc.normalize(text):
        lattice = rule.lattice(normalized)
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


def test_wrong_requests_for_ways() -> None:
    for number in (0, 513):
        with pytest.raises(ValueError, match="from 1 to 512"):
            ours("unigram").nbest_encode("a", number)
    with pytest.raises(ValueError, match="is not a Unigram model"):
        ours("bpe").nbest_encode("a", 2)
    for arguments in ({"alpha": -1.0}, {"alpha": float("nan")}, {"nbest_size": 513}):
        with pytest.raises(ValueError, match="must be"):
            ours("unigram").sample_encode("a", **arguments)
    with pytest.raises(ValueError, match="neither Unigram nor BPE"):
        ours("word").sample_encode("a")
    first = ours("unigram").sample_encode("the cat sat", seed=1)
    assert first == ours("unigram").sample_encode("the cat sat", seed=1)


@pytest.mark.parametrize(
    ("name", "alpha", "size"),
    [("unigram", 0.5, -1), ("unigram", 0.2, 4), ("bpe", 0.3, -1), ("bpe_symbols", 0.5, -1)],
)
def test_random_ways_are_as_often(name: str, alpha: float, size: int) -> None:
    enc, sp = ours(name), theirs(name)
    options: dict[str, Any] = {"enable_sampling": True, "alpha": alpha, "nbest_size": size}
    draws = range(3000)
    found = Counter(tuple(enc.sample_encode("the ab", alpha, size, seed=seed)) for seed in draws)
    expected = Counter(tuple(sp.encode("the ab", **options)) for _ in draws)
    for way in found.keys() | expected.keys():
        mean = (found[way] + expected[way]) / 2
        # Five standard deviations.
        assert abs(found[way] - mean) <= 5 * (mean / 2) ** 0.5 + 1


# The steps that are shown lead to the reference's pieces


@ALL
@drawn(30, text=st.text(st.sampled_from("thecatsonmab 猫であるé<x>"), max_size=12))
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


# Files: the reader against Protocol Buffers, and published models


@cache
def small(kind: str = "unigram") -> bytes:
    """Return a model with few pieces, so that most mutations change something that matters."""
    message = parsed(trained(model_type=kind, normalization_rule_name="identity"))
    del message.pieces[12:]
    message.pieces[9].type = 4
    message.pieces[10].type = 5
    message.trainer_spec.ClearField("input")
    message.denormalizer_spec.name = "x"
    found: bytes = message.SerializeToString()
    return found


def shown(text: str | bytes) -> str:
    """Return text; what is none is bytes in Protocol Buffers."""
    return text if isinstance(text, str) else text.decode("utf-8", "replace")


def check_equal(model: SentencePieceModel, message: Any) -> None:
    assert model.texts == [piece.piece for piece in message.pieces]
    assert model.scores == [piece.score for piece in message.pieces]
    assert list(model.types) == [piece.type for piece in message.pieces]
    trainer = message.trainer_spec
    assert model.kind == trainer.model_type
    assert model.byte_fallback == trainer.byte_fallback
    assert model.whitespace_as_suffix == trainer.treat_whitespace_as_suffix
    for name in ("unk_surface", "unk_piece", "bos_piece", "eos_piece", "pad_piece"):
        assert getattr(model, name) == shown(getattr(trainer, name))
    pairs = [(model.normalizer, message.normalizer_spec)]
    assert (model.denormalizer is not None) == message.HasField("denormalizer_spec")
    if model.denormalizer is not None:
        pairs.append((model.denormalizer, message.denormalizer_spec))
    for here, there in pairs:
        assert here.name == shown(there.name)
        assert here.charsmap == there.precompiled_charsmap
        assert here.add_dummy_prefix == there.add_dummy_prefix
        assert here.remove_extra_whitespaces == there.remove_extra_whitespaces
        assert here.escape_whitespaces == there.escape_whitespaces


def is_refused(data: bytes) -> bool:
    """Return True if sentencepiece does not take a model."""
    return answer(lambda: processor(data))[1] == "RuntimeError"


def check_like_the_references(data: bytes) -> None:
    """What they refuse is refused, and what is read is equal."""
    try:
        model = parse_sentencepiece(data, "file")
    except ValueError as error:
        reason = str(error)
    else:
        check_equal(model, parsed(data))
        return
    # Pieces that are no text, and no scores, are refused here only.
    is_known = reason.endswith((" is not UTF-8", "the score is nan"))
    assert reason.startswith("file: ")
    assert is_known or is_refused(data), reason


@pytest.mark.parametrize("kind", ["unigram", "bpe", "word", "char"])
def test_fields(kind: str) -> None:
    data = small(kind)
    check_equal(parse_sentencepiece(data, "file"), parsed(data))


@drawn(400, st.data())
def test_mutated_files(data: st.DataObject) -> None:
    original = small(data.draw(st.sampled_from(["unigram", "bpe", "word"])))
    changed = bytearray(original)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(changed)))
        end = at + data.draw(st.integers(0, 3))
        changed[at:end] = data.draw(st.binary(max_size=3))
    check_like_the_references(bytes(changed))


@drawn(200, st.integers(1, 400))
def test_truncated_files(at: int) -> None:
    check_like_the_references(small()[:at])


def test_every_byte_of_a_small_file() -> None:
    draw = random.Random(11)
    data = small("bpe")
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] = draw.randrange(256)
        check_like_the_references(bytes(changed))


def piece(text: bytes, score: bytes = bytes(4), kind: int = 1) -> bytes:
    inside = write_field(1, BYTES, text) + write_field(2, FIXED32, score)
    return write_field(1, BYTES, inside + write_field(3, VARINT, kind))


UNK = piece(b"<unk>", kind=2)
TRAINER = write_field(2, BYTES, write_field(35, VARINT, 1))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (UNK + piece(b"a") + piece(b"a"), "file: piece 2: 'a' is also piece 1"),
        (UNK + UNK + piece(b"a"), "file: piece 1: '<unk>' is also piece 0"),
        (UNK + piece(b"b", kind=2) + piece(b"a"), "file: piece 1: it is the second unknown piece"),
        (piece(b"a"), "file: there is no unknown piece"),
        (UNK, "file: it has no piece that may be in text"),
        (UNK + piece(b""), "file: piece 1: it is empty"),
        (UNK + piece(b"a\0"), "file: piece 1: it has a NUL"),
        (UNK + piece(b"a" * 8000), "file: piece 1: it has 8000 bytes or more"),
        (UNK + piece(b"\xff"), r"file: piece 1: b'\xff' is not UTF-8"),
        (UNK + piece(b"a", b"\0\0\xc0\x7f"), "file: piece 1: the score is nan"),
        (UNK + piece(b"a", b"\0\0\x80\xff"), "file: piece 1: the score is -inf"),
        (
            UNK + piece(b"a") + piece(b"<0x00>", kind=6),
            "file: piece 2: it is a byte, but byte_fall",
        ),
        (UNK + piece(b"a") + TRAINER, "file: the byte <0x00> is missing"),
        (UNK + piece(b"<0x0>", kind=6) + TRAINER, "file: piece 1: '<0x0>' is not a byte"),
        (UNK + b"\x0a\x05abc", "file: byte 17: a field is longer than its message"),
        (UNK + b"\x0a", "file: byte 17: a number has no end"),
        (UNK + b"\x0a" + b"\x80" * 11, "file: byte 17: a number is longer than 10 bytes"),
        (UNK + piece(b"a") + b"\x22\x80\x80\x80\x80\x80\0", "file: byte 29: the length of a field"),
        (UNK + b"\x07", "file: byte 16: the number or type of a field is not valid"),
        (UNK + b"\x04", "file: byte 16: the number or type of a field is not valid"),
        (UNK + b"\x0c", "file: byte 16: a group ends that did not begin"),
        (UNK + b"\x0b" * 200, "file: byte "),
        (UNK + b"\x0b\x14", "file: byte 17: a group ends that did not begin"),
    ],
)
def test_what_is_refused_and_why(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match="file: ") as caught:
        parse_sentencepiece(data, "file")
    assert str(caught.value).startswith(message)
    assert is_refused(data) or "UTF-8" in message


@pytest.mark.parametrize(
    "extra",
    [
        b"\x0b\x08\x01\x0c",  # a group
        b"\xc2\x0c\x03abc",  # an extension
        b"\x10\x05",  # the number of a message, but another wire type
        b"\x98\x3f\x01",
        b"\xa1\x06" + bytes(8),
        write_field(2, BYTES, b"\x18\x09"),  # a kind that there is not
        write_field(2, BYTES, b"\x18\x82\x80\x80\x80\x10"),  # BPE, in more bits than it has
        write_field(2, BYTES, b"\x18\x02") + write_field(2, BYTES, b"\xc0\x01\x05"),
        write_field(3, BYTES, b"\x18\x00\x18\x01\x20\x00"),
        write_field(1, BYTES, b"\x15\0\0\x80\xbf\x0a\x01b"),  # the fields in another order
        write_field(1, BYTES, b"\x0a\x01b\x15\0\0\x80\xbf\x18\x09"),
        write_field(1, BYTES, b"\x0a\x01b\x0a\x01c"),
        piece("é".encode() * 100, b"\0\0\x80\xbf"),
    ],
)
def test_what_is_unusual_is_read(extra: bytes) -> None:
    data = UNK + piece(b"a") + extra
    check_equal(parse_sentencepiece(data, "file"), parsed(data))
    processor(data)


def usual(text: bytes, kind: int, score: bytes = b"\n\x15\n\x18") -> bytes:
    inside = write_field(1, BYTES, text) + write_field(2, FIXED32, score)
    return write_field(1, BYTES, inside + (b"" if kind == 1 else write_field(3, VARINT, kind)))


#: Ways to write a piece; the last three only look like the usual one.
WRITTEN: list[Callable[[bytes, int], bytes]] = [
    usual,
    lambda text, kind: piece(text, kind=kind),
    lambda text, kind: write_field(
        1, BYTES, write_field(2, FIXED32, b"abcd") + write_field(1, BYTES, text)
    ),
    lambda text, kind: usual(text + b"\x15\n\3\n\1a\x15", kind),
    lambda text, kind: write_field(1, BYTES, write_field(1, BYTES, text)) + b"\x15abcd",
    lambda text, kind: usual(text, 1) + b"\x18\3",
]
LENGTHS = st.sampled_from([1, 2, 60, 110, 116, 117, 118, 119, 120, 121, 130])
KINDS_OF_FILES = st.sampled_from([1, 1, 4, 5])


@drawn(300, st.lists(st.tuples(st.sampled_from([0, 0, 0, *range(6)]), LENGTHS, KINDS_OF_FILES)))
def test_usual_pieces_between_others(parts: list[tuple[int, int, int]]) -> None:
    data = UNK
    for number, (way, length, kind) in enumerate(parts):
        data += WRITTEN[way](f"{number}".ljust(length, "x").encode(), kind)
    check_like_the_references(data)


def test_a_piece_in_text_may_be_a_control_piece_too() -> None:
    both = UNK + piece(b"a") + piece(b"a", kind=3)
    assert parse_sentencepiece(both, "file").texts == ["<unk>", "a", "a"]
    processor(both)
    bpe = both + write_field(2, BYTES, b"\x18\x02")
    with pytest.raises(ValueError, match="'a' is also piece 1"):
        parse_sentencepiece(bpe, "file")


def test_scores_of_32_bits() -> None:
    data = UNK + piece(b"a", b"\xcd\xcc\xcc\x3d")
    assert parse_sentencepiece(data, "file").scores[1] == 0.10000000149011612
    infinite = UNK + piece(b"a", b"\0\0\x80\x7f") + write_field(2, BYTES, b"\x18\x02")
    assert parse_sentencepiece(infinite, "file").scores[1] == math.inf


SMALL = ["botchan_bpe", "botchan_unigram", "kyoto_unigram", "llama_2", "mistral_v3"]
LARGE = ["mistral_v1", "mistral_v2", "mistral_v7", "yi", "jamba", "nerdstash", "nerdstash_v2"]
LARGE += ["gemma_model", "j2"]
MODELS = [*SMALL, *(pytest.param(name, marks=pytest.mark.sweep) for name in LARGE)]

#: The texts of corpora are cut to this many characters.
LONGEST = 400_000


@cache
def published(name: str) -> tuple[SentencePiece, Any]:
    path = reference_file(name)
    enc = compat_bpe.load(path)
    assert isinstance(enc, SentencePiece)
    return enc, processor(path.read_bytes())


@pytest.mark.parametrize("name", MODELS)
@drawn(50, text=TEXTS)
def test_hard_texts(name: str, text: str) -> None:
    enc, sp = published(name)
    check(enc, sp, text)
    ids = sp.encode(text)
    assert enc.decode(ids) == sp.decode(ids)


@pytest.mark.sweep
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("path", CORPORA, ids=lambda path: path.name)
def test_corpora(name: str, path: Path) -> None:
    """Line by line, and as one text."""
    enc, sp = published(name)
    text = path.read_text("utf-8")
    lines = text.splitlines(keepends=True)
    for line, ids in zip(lines, sp.encode(lines)):
        assert enc.encode(line) == ids
        assert enc.decode(ids) == sp.decode(ids)
    assert enc.encode(text[:LONGEST]) == sp.encode(text[:LONGEST])
