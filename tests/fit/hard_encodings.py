"""Encodings that differ in where a text may be cut."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding, load
from compat_bpe.encodings.tokenizer import Rwkv
from compat_bpe.formats.rwkv import RwkvVocabulary
from compat_bpe.save import save_tokenizer_json
from tests.fit.small_kinds import KINDS, small_kind
from tests.strategies import texts
from tests.tokenizer_files import added as token_of

RANKS = {bytes([byte]): byte for byte in range(256)}
RANKS.update(
    {token: 256 + n for n, token in enumerate([b" a", b"ab", b"abc", b"\n\n", b"  ", b"\xc3\xa9"])}
)
#: Tokens over several words, within characters and of parts of two.
_LONGEST = dict(RANKS)
for _token in (b"e ", b"\n a", "é\n中".encode(), "a\u0301".encode(), b"\xb8\xad1", b"the end. a"):
    _LONGEST[_token] = len(_LONGEST)

#: Shipped encodings, and small ones that are hard in one way each.
NAMES = [
    "gpt2",
    "cl100k_base",
    "o200k_base",
    "deepseek_v3",
    "leaves text out",
    "looks back",
    "added tokens",
    "NFC",
    "prefix space",
    *("metaspace", "metaspace, signs"),
    *("bert", "words", "first word", "scripts"),
    *("characters", "words_and_punctuation"),
    "longest tokens",
    *KINDS,
]

_METASPACE = {"type": "Metaspace", "replacement": "_"}
_SPLIT = {"type": "WhitespaceSplit"}

#: The steps of those that have steps of their own.
_STEPS: dict[str, list[dict[str, Any]]] = {
    "metaspace": [_METASPACE],
    "metaspace, signs": [_METASPACE, {"type": "Punctuation"}],
    "bert": [{"type": "BertPreTokenizer"}],
    "words": [_SPLIT, _METASPACE],
    "first word": [_SPLIT, {**_METASPACE, "prepend_scheme": "first"}],
    "scripts": [{"type": "UnicodeScripts"}, {"type": "Digits", "individual_digits": True}],
}


@cache
def encoding_of(name: str) -> Encoding:
    """One of the encodings in ``NAMES``."""
    if name == "leaves text out":
        return _small("[a-z]+")
    if name == "looks back":
        return _small(r"(?<=a)b+|\w+|\W")
    if name == "added tokens":
        # Always a token, but not within one that is special.
        return _tokenizer(
            {"content": "<b>"}, {"content": "e "}, {"content": "x<b>", "special": True}
        )
    if name == "NFC":
        return _tokenizer(normalizer={"type": "NFC"})
    if name == "prefix space":
        return _tokenizer({"content": "<b>"}, add_prefix_space=True)
    if name == "longest tokens":
        return Rwkv(name, RwkvVocabulary({token: 1 + id_ for token, id_ in _LONGEST.items()}, name))
    if name in _STEPS:
        return _tokenizer({"content": "<b>"}, steps=_STEPS[name])
    return small_kind(name) if name in KINDS else get_encoding(name)


encodings = st.sampled_from(NAMES).map(encoding_of)


def _small(pattern: str) -> Encoding:
    special = {"<|endoftext|>": 1000, "<|end": 1001, " the end.": 1002}
    return Encoding("small", pat_str=pattern, mergeable_ranks=RANKS, special_tokens=special)


def _tokenizer(
    *added: dict[str, Any],
    normalizer: Any = None,
    add_prefix_space: bool = False,
    steps: list[dict[str, Any]] | None = None,
) -> Encoding:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        save_tokenizer_json(_small(r" ?[a-z]+|\s+(?!\S)|\s|\S"), path)
        content = json.loads(path.read_text("utf-8"))
        for number, token in enumerate(added, 1010):
            content["added_tokens"].append(token_of(number, **token))
        content["normalizer"] = normalizer
        if add_prefix_space:
            [*_, last] = content["pre_tokenizer"]["pretokenizers"]
            last["add_prefix_space"] = True
        if steps is not None:
            content["pre_tokenizer"]["pretokenizers"][:-1] = steps
        path.write_text(json.dumps(content), "utf-8")
        return load(path)


#: Texts that are hard for these.
hard_texts = st.one_of(
    texts,
    st.lists(
        st.one_of(
            st.text("abcex <>.é\u0301\n_中1▁'", max_size=6),
            st.sampled_from(["x<b>", "<b>", "e ", " the end.", "<|end", "<|endoftext|>", "oftext"]),
            st.sampled_from(["the", "  ", "ab", "AB", "▁▁", " a", "ﬁ"]),
        ),
        max_size=12,
    ).map("".join),
)
