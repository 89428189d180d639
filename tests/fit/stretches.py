"""Long stretches of text without a cut point, and vocabularies for them."""

from __future__ import annotations

from hypothesis import strategies as st

SINGLE = {bytes([byte]): byte for byte in range(256)}
tokens = st.lists(
    st.sampled_from(["ab", "1", " ", "=", "中国"]).flatmap(
        lambda letters: st.text(letters, min_size=2, max_size=6)
    ),
    max_size=20,
    unique=True,
)
stretches = st.lists(
    st.builds(
        lambda part, times: part * times,
        st.sampled_from(["a", "b", "ab", "1", " ", "=", "中", "\n", "c", "国", "é"]),
        st.sampled_from([1, 1, 2, 3, 20, 50]),
    ),
    max_size=6,
).map("".join)
