"""Other encoders, where they are installed: megabytes a second on one text."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator

from compat_bpe.encodings.published import PUBLISHED, load_ranks
from compat_bpe.formats.gpt2 import format_vocab_bpe
from compat_bpe.pipeline.byte_level import encode_bytes
from tools.benchmark import interleaved

Encode = Callable[[str], object]


def _tokenizers(name: str) -> Encode:
    """Hugging Face's, made from the same vocabulary and pattern."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    published = PUBLISHED[name]
    ranks = load_ranks(published.pack)
    lines = format_vocab_bpe(ranks).decode().splitlines()
    merges = [
        (left, right)
        for left, right in (line.split(" ") for line in lines if not line.startswith("#version"))
    ]
    vocab = {encode_bytes(token): rank for token, rank in ranks.items()}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges, ignore_merges=True))
    # Its regex engine has no possessive quantifier after a brace.
    pattern = published.pattern.replace("{1,3}+", "{1,3}")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def _rs_bpe(name: str) -> Encode:
    tokenizer = getattr(importlib.import_module("rs_bpe.bpe").openai, name)()
    encode: Encode = tokenizer.encode
    return encode


def _quicktok(name: str) -> Encode:
    encode: Encode = importlib.import_module("quicktok").get_encoding(name).encode_ordinary
    return encode


def _educational(name: str) -> Encode:
    educational = importlib.import_module("tiktoken._educational")
    encoding = educational.SimpleBytePairEncoding.from_tiktoken(name)
    return lambda text: encoding.encode(text, visualise=None)


PEERS = {
    "tokenizers": _tokenizers,
    "rs_bpe": _rs_bpe,
    "quicktok": _quicktok,
    "tiktoken._educational": _educational,
}


def peers(name: str, text: str) -> Iterator[tuple[str, float]]:
    """The name and speed of each peer that can be used, in megabytes of UTF-8 a second.

    A peer whose ids are not the reference's is said to have others: these are not our bugs.
    """
    import tiktoken

    expected = tiktoken.get_encoding(name).encode_ordinary(text)
    for peer, make in PEERS.items():
        try:
            encode = make(name)
            found = encode(text)
        except (ImportError, AttributeError, NotImplementedError) as error:
            print(f"  {peer}: not measured ({type(error).__name__})")
            continue
        if found != expected:
            print(f"  {peer}: its ids are not tiktoken's")
        (seconds,) = interleaved(3, lambda: encode(text))  # noqa: B023
        yield peer, len(text.encode()) / 1e6 / seconds
