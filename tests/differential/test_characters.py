"""BPE over characters, against tokenizers: ids, tokens and places, with every option."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.tokenizer_json import parse_tokenizer
from compat_bpe.unicode.surrogates import repair
from tests.differential.small_tokenizers import file
from tests.strategies import texts as any_texts

#: What vocabularies are made of: characters of one to four bytes, and some that are special here.
ALPHABET = "abé▁\n。中#😀"
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]

texts = st.one_of(st.text(f"{ALPHABET}x ü", max_size=40), any_texts.map(repair))


@st.composite
def models(draw: st.DrawFn, alphabet: str = ALPHABET) -> dict[str, Any]:
    """A model of some of the characters, and of merges in any order, also of odd symbols."""
    prefix = draw(st.sampled_from([None, None, "", "##", "#", "▁", "é", "<0x41>"]))
    suffix = draw(st.sampled_from([None, None, "", "</w>", "é", "a"]))
    unknown = draw(st.sampled_from([None, "<unk>", "<unk>", "a", "##", "absent"]))
    singles = draw(st.sets(st.sampled_from(alphabet), min_size=1))
    names = sorted(singles)
    if prefix:
        names += [prefix + name for name in names if draw(st.booleans())]
    if suffix:
        names += [name + suffix for name in names if draw(st.booleans())]
    if unknown not in (None, "absent"):
        names.append(unknown)
    if draw(st.booleans()):
        names += BYTES if draw(st.booleans()) else ["<0x61>", "<0xC3>", "<0xA9>", "<0x0A>"]
    names = list(dict.fromkeys(names))
    parts = [name for name in names if name not in BYTES[98:]]
    length = len((prefix or "").encode())
    pairs: list[tuple[str, str]] = []
    for _ in range(draw(st.integers(0, 14))):
        left, right = draw(st.tuples(*[st.sampled_from(parts)] * 2))
        if len(right.encode()) < length:
            continue
        try:
            made = (left.encode() + right.encode()[length:]).decode()
        except UnicodeDecodeError:
            continue
        if len(made) < 14:
            pairs.append((left, right))
            parts.append(made)
            names.append(made)
    others = draw(st.lists(st.text(alphabet, min_size=2, max_size=4), max_size=3))
    names = list(dict.fromkeys([*draw(st.permutations(names)), *others]))
    merges: list[Any] = draw(st.permutations(pairs))
    if not any(" " in name for name in names) and draw(st.booleans()):
        merges = ["#version: 0.2", *map(" ".join, merges)]
    else:
        merges = list(map(list, merges))
    return {
        "type": "BPE",
        "dropout": draw(st.sampled_from([None, 0.0])),
        "unk_token": unknown,
        "continuing_subword_prefix": prefix,
        "end_of_word_suffix": suffix,
        "fuse_unk": draw(st.booleans()),
        "byte_fallback": draw(st.booleans()),
        "ignore_merges": draw(st.booleans()),
        "vocab": {name: 3 * number for number, name in enumerate(names)},
        "merges": merges,
    }


class Both:
    """One tokenizer in both packages."""

    def __init__(self, model: dict[str, Any], pre_tokenizer: Any = None) -> None:
        content = file(model=model, pre_tokenizer=pre_tokenizer, decoder=None)
        self.theirs: Any = tokenizers.Tokenizer.from_str(json.dumps(content))
        self.ours = Tokenizer("small", parse_tokenizer(Json(content, "small")))

    def check(self, text: str) -> None:
        """Compare the ids of a text; and the tokens of its chunks, with their places."""
        try:
            ids = self.theirs.encode(text).ids
        except Exception as error:
            assert "Unk token" in str(error) or "UnkToken" in str(error), error
            with pytest.raises(ValueError, match="not the token for unknown characters, 'absent'"):
                self.ours.encode_ordinary(text)
            return
        assert self.ours.encode_ordinary(text) == ids
        model = self.ours.core.model
        for chunk in self.ours.core.splitter.chunks(text):
            assert tuple(token.id for token in model.find(chunk)) == model.encode(chunk)


@settings(max_examples=600)
@given(models(), st.lists(texts, max_size=5))
def test_any_options(model: dict[str, Any], several: list[str]) -> None:
    made = Both(model)
    for text in several:
        made.check(text)


@settings(max_examples=400)
@given(models(), st.lists(texts, max_size=5))
def test_tokens_and_places_in_a_chunk(model: dict[str, Any], several: list[str]) -> None:
    made = Both(model)
    for text in several:
        try:
            expected = made.theirs.model.tokenize(text)
        except Exception:
            continue
        found = made.ours.core.model.find(text)
        assert [tuple(token) for token in found] == [
            (token.id, token.value, *token.offsets) for token in expected
        ]
