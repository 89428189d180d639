"""Settings of truncation and padding as they stand in a ``tokenizer.json``, drawn at random."""

from __future__ import annotations

from hypothesis import strategies as st

DIRECTIONS = st.sampled_from(["Left", "Right"])
truncations = st.fixed_dictionaries(
    {
        "direction": DIRECTIONS,
        "max_length": st.integers(0, 12),
        "strategy": st.sampled_from(["LongestFirst", "OnlyFirst", "OnlySecond"]),
        "stride": st.integers(0, 3),
    }
)
paddings = st.fixed_dictionaries(
    {
        "strategy": st.one_of(
            st.just("BatchLongest"), st.builds(lambda n: {"Fixed": n}, st.integers(0, 20))
        ),
        "direction": DIRECTIONS,
        "pad_to_multiple_of": st.sampled_from([None, 0, 1, 4, 7]),
        "pad_id": st.integers(0, 9),
        "pad_type_id": st.integers(0, 3),
        "pad_token": st.sampled_from(["[PAD]", ""]),
    }
)
