"""Small models of SentencePiece, trained by the reference itself for the tests."""

from __future__ import annotations

import io
import random
from functools import cache
from typing import Any

import sentencepiece
from hypothesis import strategies as st
from sentencepiece import sentencepiece_model_pb2

from compat_bpe.encodings.sentencepiece import SentencePiece
from compat_bpe.formats.sentencepiece import parse_sentencepiece
from compat_bpe.pipeline.aligned import Aligned

#: Texts that the models are trained with.
SENTENCES = [
    "the cat sat on the mat and the other cat sat on the hat",
    "a long time ago, in 1984 or 2001, there was a theatre; then it was not",
    "def f(x):  return x + 1  # code   with runs    of spaces",
    "Grüße aus Köln, où l'été est très chaud — naïve façade",
    "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。",
    "天地玄黃,宇宙洪荒。日月盈昃,辰宿列張。",
    "aaaa aaaaaaaa abab ababab bbbb baba aabb",
    "that this these those there then than though through thought",
]


@cache
def _trained(items: tuple[tuple[str, Any], ...]) -> bytes:
    model = io.BytesIO()
    options: dict[str, Any] = {"vocab_size": 200, "hard_vocab_limit": False}
    options |= {name: list(value) if isinstance(value, tuple) else value for name, value in items}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 3),
        model_writer=model,
        **{"num_threads": 1, "minloglevel": 2, **options},
    )
    return model.getvalue()


def trained(**options: Any) -> bytes:
    """Return a model with some options of the trainer, lists as tuples."""
    return _trained(tuple(sorted(options.items())))


def parsed(data: bytes) -> Any:
    """Return a model as a message that can be changed."""
    message: Any = sentencepiece_model_pb2.ModelProto()  # type: ignore[attr-defined]
    message.ParseFromString(data)
    return message


def processor(data: bytes) -> Any:
    """Return the reference's processor for a model."""
    return sentencepiece.SentencePieceProcessor(model_proto=data)


def both(data: bytes) -> tuple[SentencePiece, Any]:
    """Return a model in both packages."""
    return SentencePiece("x", parse_sentencepiece(data, "x")), processor(data)


def check(enc: SentencePiece, sp: Any, text: str) -> None:
    """Compare ids, pieces and places, and the normalized text."""
    ids = sp.encode(text)
    assert enc.encode(text) == ids
    assert enc.count(text) == len(ids)
    assert enc.encode_as_pieces(text) == sp.encode(text, out_type=str)
    mapping = sp.encode(text, out_type="offset_mapping")
    found = enc.encode_as_placed_pieces(text)
    assert [one.id for one in found] == mapping["ids"]
    assert [one.piece for one in found] == mapping["pieces"]
    assert [(one.begin, one.end) for one in found] == mapping["offsets"]
    normalized = sp.normalize(text)
    assert enc.normalize(text) == normalized
    assert enc._normalizer.align(Aligned.of(text)).text == normalized


_BYTES = {"byte_fallback": True, "vocab_size": 420}
_IDENTITY = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False}
#: Options of the trainer, by a name for the test, which begins with the type of the model.
OPTIONS: dict[str, dict[str, Any]] = {
    "bpe": {},
    "bpe_bytes": _BYTES,
    "bpe_like_llama": {
        **_BYTES,
        **_IDENTITY,
        "allow_whitespace_only_pieces": True,
        "split_digits": True,
    },
    "bpe_like_gemma": {
        **_BYTES,
        **_IDENTITY,
        "add_dummy_prefix": False,
        "user_defined_symbols": ("\n", "\n\n", "▁▁", "▁▁▁", "<b>"),
    },
    "bpe_suffix": {"treat_whitespace_as_suffix": True},
    "bpe_symbols": {
        "user_defined_symbols": ("the", "he cat", "ab", "aba", "<x>", "é"),
        "control_symbols": ("<c>", "a"),
    },
    "bpe_over_words": {"split_by_whitespace": False, "vocab_size": 300},
    "unigram": {},
    "unigram_bytes": _BYTES,
    "unigram_cf": {"normalization_rule_name": "nmt_nfkc_cf"},
    "unigram_identity": {**_IDENTITY, "add_dummy_prefix": False},
    "unigram_suffix": {"treat_whitespace_as_suffix": True},
    "unigram_symbols": {
        "user_defined_symbols": ("the", "ab", "aba", "▁▁", "猫である"),
        "control_symbols": ("<c>", "a"),
    },
    "unigram_over_words": {"split_by_whitespace": False},
    "word": {},
    "word_bytes": _BYTES,
    "char": {"user_defined_symbols": ("the", "he cat")},
    "char_bytes": _BYTES,
}


@cache
def model(name: str) -> bytes:
    """Return a model; ``_unused`` at the end of the name: with many pieces unused."""
    if not name.endswith("_unused"):
        return trained(model_type=name.partition("_")[0], **OPTIONS[name])
    message = parsed(model(name[: -len("_unused")]))
    draw = random.Random(3)
    for piece in message.pieces:
        if piece.type == 1 and draw.random() < 0.4:
            piece.type = 5
    found: bytes = message.SerializeToString()
    return found


NAMES = [*OPTIONS, "bpe_unused", "bpe_bytes_unused", "unigram_unused", "word_unused", "char_unused"]


@cache
def ours(name: str) -> SentencePiece:
    return SentencePiece(name, parse_sentencepiece(model(name), name))


@cache
def theirs(name: str) -> Any:
    return processor(model(name))


WORDS = [
    *("the", "cat", "that", "theatre", "abab", "aaaa", "a", " ", "  ", "   ", "\n", "\t", "▁"),
    *("é", "e\u0301", "猫", "猫である", "ｶﾞ", "か\u3099", "\u3000", "\u200b", "\0", "<s>", "</s>"),
    *("<unk>", "<0x0A>", "<c>", "<x>", "<b>", "\u2047", "\ufeff", "\U0001d400", "🙂", "1", "2001"),
    *("▁▁", "▁▁", "...", "....", "he cat", "(", ")", "\r\n", "\x01", "ﬁ", "İ", "ß", "ǅ"),
]
TEXTS = st.lists(
    st.one_of(st.sampled_from(WORDS), st.text(st.characters(exclude_categories=["Cs"]), max_size=3))
).map("".join)
