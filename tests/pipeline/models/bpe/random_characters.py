"""Random models of BPE over characters, as they stand in a ``tokenizer.json``."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

#: What vocabularies are made of: characters of one to four bytes, and some that are special here.
ALPHABET = "abé▁\n。中#😀"
BARE: dict[str, Any] = {"type": "BPE", "merges": []}
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


@st.composite
def models(draw: st.DrawFn, alphabet: str = ALPHABET, *, decorated: bool = True) -> dict[str, Any]:
    """A model of some of the characters, and of merges in any order, also of odd symbols."""
    prefix = suffix = None
    if decorated:
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
