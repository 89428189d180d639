from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.encodings import model_names as models

reference = pytest.importorskip("tiktoken.model")


@pytest.mark.parametrize("table", ["MODEL_TO_ENCODING", "MODEL_PREFIX_TO_ENCODING"])
def test_tables_are_the_same_and_in_the_same_order(table: str) -> None:
    assert list(getattr(models, table).items()) == list(getattr(reference, table).items())


known = st.sampled_from([*reference.MODEL_TO_ENCODING, *reference.MODEL_PREFIX_TO_ENCODING])
changed = st.builds(
    lambda before, name, cut, after: before + name[:cut] + after,
    st.sampled_from(["", "", "ft:", " "]),
    known,
    st.one_of(st.none(), st.integers(-2, -1)),
    st.one_of(st.sampled_from(["", "-", "-mini", "o"]), st.text(max_size=4)),
)


@given(st.one_of(changed, st.text()))
def test_same_name_or_both_know_none(model: str) -> None:
    try:
        expected = reference.encoding_name_for_model(model)
    except KeyError:
        with pytest.raises(KeyError):
            models.openai_encoding_name(model)
    else:
        assert models.openai_encoding_name(model) == expected
