"""Small vocabularies of every kind, also such as no training gives, for hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from compat_bpe import Encoding
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.tokenizer_bpe import ListedModel, RankedModel
from compat_bpe.formats.tokenizer_json import TokenizerDefinition
from compat_bpe.formats.tokenizer_writing import byte_level_part, pre_tokenizers_part, split_part
from compat_bpe.pipeline.added_tokens import AddedToken
from compat_bpe.pipeline.byte_level import BYTE_TO_UNICODE
from compat_bpe.pipeline.models.bpe.by_merges import UnknownPolicy

BYTES = {bytes([byte]): number for number, byte in enumerate(BYTE_TO_UNICODE)}
PATTERN = r" ?[a-z<]+|\W"
PARTS: dict[str, Any] = {
    "normalizer": None,
    "pre_tokenizer": pre_tokenizers_part(split_part(PATTERN), byte_level_part(use_regex=False)),
    "post_processor": None,
    "decoder": byte_level_part(),
}
SPECIAL = ["<s>", "ab", "<0x61>"]

corpora = st.lists(st.text("abc  <", max_size=30), max_size=8)
terms = st.lists(st.text("abc", min_size=1, max_size=6), max_size=3)
tokens = st.text("abc ", min_size=2, max_size=5).map(str.encode)


@st.composite
def ranks(draw: st.DrawFn) -> dict[bytes, int]:
    """All bytes, and any tokens with any ranks; some of these merging cannot make."""
    found = [*draw(st.lists(tokens, unique=True, max_size=8)), *BYTES]
    size = min(len(found), 20)
    numbers = [*draw(st.permutations(range(size))), *range(size, len(found))]
    step = draw(st.sampled_from([1, 1, 3]))
    return {token: number * step for token, number in zip(found, numbers)}


@st.composite
def by_rank(draw: st.DrawFn, *, tokenizers: bool = True) -> Encoding:
    found = draw(ranks())
    names = draw(st.lists(st.sampled_from(SPECIAL), unique=True))
    first = max(found.values()) + 1
    special = {
        name: first + draw(st.integers(0, 2)) + 3 * number for number, name in enumerate(names)
    }
    special = {name: number for name, number in special.items() if name.encode() not in found}
    if tokenizers and draw(st.booleans()):
        added = tuple(AddedToken(name, number, special=True) for name, number in special.items())
        return Tokenizer("small", TokenizerDefinition(RankedModel(found), added, PARTS, "small"))
    return Encoding("small", pat_str=PATTERN, mergeable_ranks=found, special_tokens=special)


@st.composite
def by_list(draw: st.DrawFn) -> Tokenizer:
    """Merges in any order, some of which make the same token; tokens that no merge makes."""
    known = ["a", "b", "c", "Ġ"]
    merges: dict[tuple[str, str], None] = {}
    for _ in range(draw(st.integers(0, 8))):
        pair = draw(st.tuples(*[st.sampled_from(known)] * 2))
        if len("".join(pair)) < 7:
            merges[pair] = None
            known.append("".join(pair))
    listed = draw(st.permutations(list(merges)))
    names = [
        *BYTE_TO_UNICODE.values(),
        *known,
        *draw(st.lists(st.text("abc", min_size=2), max_size=2)),
    ]
    if not draw(st.booleans()):
        names.remove("c")  # It is in ``known``, too.
    vocabulary = {name: number for number, name in enumerate(dict.fromkeys(names))}
    unknown = UnknownPolicy()
    if draw(st.booleans()):
        missing = [name for name in ("<", "\u0109") if draw(st.booleans())]
        for name in missing:
            vocabulary.pop(name, None)
        vocabulary = {name: number for number, name in enumerate(vocabulary)}
        unknown = UnknownPolicy("a", draw(st.booleans()), draw(st.booleans()))
    added = []
    following = len(vocabulary)
    for name in draw(st.lists(st.sampled_from(SPECIAL), unique=True)):
        number = vocabulary.get(name, following)
        following += number == following
        added.append(AddedToken(name, number, special=draw(st.booleans())))
    lefts, rights = [left for left, _ in listed], [right for _, right in listed]
    model = ListedModel(vocabulary, (lefts, rights), draw(st.booleans()), unknown)
    return Tokenizer("small", TokenizerDefinition(model, tuple(added), PARTS, "small"))


encodings = st.one_of(by_rank(), by_list())
