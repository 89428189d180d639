"""Post-processors as they stand in a ``tokenizer.json``, also drawn at random."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.tokenizer_files import BYTE_LEVEL

#: The text twice, not at all, in any order, of any type.
pieces = st.one_of(
    st.builds(
        lambda name, type_id: {"Sequence": {"id": name, "type_id": type_id}},
        st.sampled_from("AAAB"),
        st.integers(0, 3),
    ),
    st.builds(
        lambda name, type_id: {"SpecialToken": {"id": name, "type_id": type_id}},
        st.sampled_from(["[CLS]", "[SEP]", "long", "none"]),
        st.integers(0, 3),
    ),
)
SPECIAL = {
    "[CLS]": {"id": "[CLS]", "ids": [1000], "tokens": ["[CLS]"]},
    "[SEP]": {"id": "[SEP]", "ids": [1001], "tokens": [" Ġsep "]},
    "long": {"id": "long", "ids": [7, 8, 9], "tokens": ["a", "", "c"]},
}
BERT = {"type": "BertProcessing", "sep": ["[SEP]", 1001], "cls": ["[CLS]", 1000]}
FLAGS = [{"trim_offsets": t, "add_prefix_space": p} for t in (False, True) for p in (False, True)]
ROBERTA = [{**BERT, "type": "RobertaProcessing", **flags} for flags in FLAGS]
OFFSETS = [{**BYTE_LEVEL, **flags} for flags in FLAGS]


def template(single: list[Any], pair: list[Any]) -> dict[str, Any]:
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": pair,
        "special_tokens": SPECIAL,
    }


def special(name: str, type_id: int = 0) -> dict[str, Any]:
    return {"SpecialToken": {"id": name, "type_id": type_id}}


def text(name: str, type_id: int = 0) -> dict[str, Any]:
    return {"Sequence": {"id": name, "type_id": type_id}}


templates = st.builds(template, st.lists(pieces, max_size=3), st.lists(pieces, max_size=5))
one = st.one_of(templates, st.sampled_from([BERT, *ROBERTA, *OFFSETS]))
processors = st.one_of(
    one,
    st.recursive(
        one,
        lambda inner: st.builds(
            lambda found: {"type": "Sequence", "processors": found}, st.lists(inner, max_size=3)
        ),
        max_leaves=4,
    ),
)
