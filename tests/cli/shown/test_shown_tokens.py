"""The tokens of a text that comes in pieces are shown as those of the whole."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe import Encoding
from compat_bpe.cli.output import CommandError
from compat_bpe.cli.shown import shown_tokens
from compat_bpe.cli.shown.shown_tokens import Placed, placed_parts
from compat_bpe.pipeline.chunks import joins_to_text
from compat_bpe.pipeline.offsets import locate
from tests.fit.hard_encodings import NAMES, encoding_of
from tests.fit.small_kinds import UNCUT
from tests.kinds import KINDS as PUBLISHED
from tests.kinds import of_kind

SHIPPED = {"gpt2", "cl100k_base", "o200k_base", "deepseek_v3"}
ENCODINGS = {name: encoding_of(name) for name in NAMES if name not in SHIPPED}
#: Those whose tokens have to be located.
LOCATED = [name for name, encoding in ENCODINGS.items() if not joins_to_text(encoding.core)]
PARTS = ["a", "ab", "abc", " ", "  ", "\n", "the", "▁", "<b>", "x", "é", "中", ".", "1", "<"]


def placed(encoding: Encoding, pieces: list[str]) -> list[Placed]:
    """Return the tokens and gaps of all parts, with their places in the whole text."""
    found: list[Placed] = []
    at = 0
    for part, tokens in placed_parts(encoding, pieces, frozenset(), "x"):
        found += [one._replace(start=one.start + at, end=one.end + at) for one in tokens]
        at += len(part)
    assert at == len("".join(pieces))
    return found


def check(encoding: Encoding, pieces: list[str]) -> None:
    text = "".join(pieces)
    definition = encoding.core.definition
    try:
        whole = locate(definition, text, frozenset())
    except ValueError:
        with pytest.raises(CommandError):
            placed(encoding, pieces)
        return
    found = placed(encoding, pieces)
    tokens = [(one.look.id, one.start, one.end) for one in found if one.look.id is not None]
    assert tokens == [(one.id, one.start, one.end) for one in whole]
    # A part shows the same looks, gaps included, whatever the pieces are.
    assert found == placed(encoding, [text])


@pytest.mark.parametrize("name", LOCATED)
@given(pieces=st.lists(st.lists(st.sampled_from(PARTS), max_size=6).map("".join), max_size=8))
@settings(max_examples=8)
def test_pieces_make_no_difference(name: str, pieces: list[str]) -> None:
    check(ENCODINGS[name], pieces)


@pytest.mark.parametrize("name", PUBLISHED)
def test_pieces_make_no_difference_to_published_kinds(name: str) -> None:
    encoding = of_kind(name)
    if not joins_to_text(encoding.core):
        check(encoding, ["the cat s", "at on ", "the mat.\n", " Naïve ﬁ 中文 ", "the", "  hat"])


#: Kinds of which a long text comes in parts: one with a prefix, and in a sweep the others.
CUT = sorted(set(LOCATED) - {*UNCUT, "leaves text out"})


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "llama" else pytest.mark.sweep) for name in CUT]
)
def test_a_long_text_comes_in_parts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []

    def counted(definition: object, text: str, *args: object, **flags: bool) -> object:
        lengths.append(len(text))
        return locate(definition, text, *args, **flags)  # type: ignore[arg-type]

    monkeypatch.setattr(shown_tokens, "locate", counted)
    placed(ENCODINGS[name], ["abc the ab\n"] * 2000)
    assert max(lengths) < 2000
