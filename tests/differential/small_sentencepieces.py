"""Small models of SentencePiece, trained by the reference itself for the tests."""

from __future__ import annotations

import io
from functools import cache
from typing import Any

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

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
    options: dict[str, Any] = {
        "vocab_size": 200,
        "hard_vocab_limit": False,
        "num_threads": 1,
        "minloglevel": 2,
        **{name: list(value) if isinstance(value, tuple) else value for name, value in items},
    }
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 3), model_writer=model, **options
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
