"""Templates, encodings and short texts for prompts."""

from __future__ import annotations

from hypothesis import strategies as st

from compat_bpe import Encoding
from tests.fit.hard_encodings import NAMES, encoding_of
from tests.strategies import texts

#: Nothing may be cut anywhere, and a longer text often has fewer tokens.
ONE_CHUNK = Encoding(
    "one chunk",
    pat_str=r"[\s\S]+",
    mergeable_ranks={
        **{bytes([i]): i for i in range(256)},
        **{t: 256 + i for i, t in enumerate([b"ab", b"cd", b"\n\n", b"b\n", b"abcd", b"abcdab"])},
        b"xabcdab": 262,
    },
    special_tokens={"<|endoftext|>": 300, "<b>": 301},
)

#: Their added tokens are parts of those of the templates.
ODD = ("word pieces", "unigram, first", "word level", "llama, always", "llama, names")
encodings = st.sampled_from([*(name for name in NAMES if name not in ODD), "one chunk"]).map(
    lambda name: ONE_CHUNK if name == "one chunk" else encoding_of(name)
)

#: Templates by their parts, of which each is a token to some encodings and text to others.
templates = st.sampled_from(
    [
        ["<|fim_prefix|>", "{prefix}", "<|fim_suffix|>", "{suffix}", "<|fim_middle|>"],
        ["<｜fim▁begin｜>", "{prefix}", "<｜fim▁hole｜>", "{suffix}", "<｜fim▁end｜>"],
        ["<|endoftext|>", "{suffix}", "<|endoftext|>", "{prefix}"],
        ["<b>", "{prefix}", "<b>", "{suffix}"],
        ["{prefix}", "{suffix}"],
        ["{suffix}", "ab", "{prefix}", "<b>", "x"],
        ["Fill {} in:\n", "{prefix}", "<|fim_", "{suffix}", "prefix|>\n{0} ok"],
        ["it's", "<|endoftext|>", "a", "{prefix}", "'", "<|endoftext|>", "\n", "{suffix}", "b"],
    ]
)
NAMES_OF_TOKENS = ["<｜fim▁hole｜>", "<|endoftext|>", "<|fim_prefix|>", "<b>", "x<b>", "<", "b>"]

#: So short that every place can be tried.
short_texts = st.one_of(
    texts.map(lambda text: text[:60]),
    st.text("abcd \n\r", max_size=40),
    st.lists(st.sampled_from([*NAMES_OF_TOKENS, "a", "\n"]), max_size=6).map("".join),
)
