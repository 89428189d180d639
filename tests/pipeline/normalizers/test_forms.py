"""Normalization forms are those of Unicode 9.0, stretch by stretch."""

from __future__ import annotations

import unicodedata
from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.pipeline.normalizers.forms import Form, UnicodeForm
from compat_bpe.unicode import tables_tokenizers as tables
from compat_bpe.unicode.properties import parse_ranges
from tests.strategies import texts

FORMS: list[Form] = ["NFC", "NFD", "NFKC", "NFKD"]

#: Marks, and what is composed with them; of each some that are above U+FFFF, and some that are
#: assigned only later, on both sides of it.
marked = st.text(
    "ae\u0301\u0323가ﬁ\u32ff\U0001d15f\U0001d165\U00011099\U000110ba😀\U0001f929\U0001f970"
    "\U00016d63\U00016d67\u0c3c\u1dfa\ua7ff𝐀"
)


@given(texts | marked, st.sampled_from(FORMS))
def test_what_came_later_divides_a_text(text: str, form: Form) -> None:
    later = parse_ranges(tables.UNASSIGNED)
    expected = ""
    for is_later, group in groupby(text, lambda char: ord(char) in later):
        stretch = "".join(group)
        expected += stretch if is_later else unicodedata.normalize(form, stretch)
    assert UnicodeForm(form)(text) == expected


@given(st.text("ae\u0301\u0323\u0344\u302e\U0001d165가", max_size=8), st.sampled_from(FORMS))
def test_long_runs_of_marks(text: str, form: Form) -> None:
    """They are put in order the plain way, which takes no square of their length."""
    expected = unicodedata.normalize(form, text * 30)
    assert UnicodeForm(form)(text * 30) == expected


def test_a_very_long_run_of_marks() -> None:
    text = "a" + "\u0301\u0323" * 200_000
    assert UnicodeForm("NFC")(text) == "ạ" + "\u0323" * 199_999 + "\u0301" * 200_000
