"""What is no UTF-8 is refused as ``str.encode`` refuses it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe.unicode.surrogates import check_text


def refusal(call: Callable[[], object]) -> tuple[object, ...]:
    """What a call says of the text it refuses; empty if it does not."""
    try:
        call()
    except UnicodeEncodeError as error:
        return error.args
    return ()


@given(st.text(st.sampled_from("aé中😀\ud83d\ude00\udfff"), max_size=8))
@example("\ud83d\ude00")
@example("é" * 9 + "\udfff")
@example("😀" * 9 + "\ud800")
def test_surrogates_are_refused(text: str) -> None:
    assert refusal(lambda: check_text(text)) == refusal(text.encode)


@pytest.mark.parametrize("code_point", [0xD7FF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xE000])
def test_the_borders_of_the_surrogates(code_point: int) -> None:
    for text in (chr(code_point), chr(code_point) + "\U0010ffff"):
        if 0xD800 <= code_point <= 0xDFFF:
            with pytest.raises(UnicodeEncodeError, match="'utf-8' codec"):
                check_text(text)
        else:
            check_text(text)


def test_only_text_is_taken() -> None:
    with pytest.raises(TypeError, match="text must be a str, not bytes"):
        check_text(b"a")  # type: ignore[arg-type]
