"""Files with a byte changed, or cut short: refused by name, or a vocabulary that is whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compat_bpe
from tests.examples import scaled
from tests.formats.small_files import (
    BYTES,
    NAME,
    PATTERN,
    TEKKEN_TOKENS,
    WHOLE,
    grok,
    run,
    tekken,
)

#: One bit each: a digit or a letter becomes its neighbour, a letter changes its case, a byte is no
#: longer ASCII.
MASKS = (0x01, 0x20, 0x80)


#: The bytes from one damage to the next: a prime, so that each field is hit somewhere.
_STEP = 7


def spread_damage(data: bytes) -> Iterator[bytes]:
    """Beginnings of a file, and the file with a byte changed by a mask in turn, all over it."""
    for end in range(0, len(data), _STEP):
        yield data[:end]
    for place in range(0, len(data), _STEP):
        yield flipped(data, place, MASKS[place % len(MASKS)])


def some_damage(data: bytes) -> st.SearchStrategy[bytes]:
    """Some of these."""
    places = st.integers(0, len(data) - 1)
    flips = st.builds(flipped, st.just(data), places, st.sampled_from(MASKS))
    return flips | places.map(lambda end: data[:end])


def flipped(data: bytes, place: int, mask: int) -> bytes:
    return data[:place] + bytes([data[place] ^ mask]) + data[place + 1 :]


class Small(NamedTuple):
    """A small file, and what holds of any vocabulary that is left of it.

    Args:
        data: its content.
        text: a text with all that the tokens are of, and more.
        sizes: the numbers of ids that it may have.
        drops_text: True if text that a damaged pattern does not match is dropped.
    """

    data: bytes
    text: str
    sizes: range
    drops_text: bool = False


TEXT = "he said 123\r\n\x07é中 \x80"
SMALL = {
    "tekken.json": Small(
        json.dumps(tekken(), separators=(",", ":")).encode(),
        "abc said 123\r\n\x07é中 \x80",
        range(len(TEKKEN_TOKENS) + 11),
        drops_text=True,
    ),
    "o200k_base.json": Small(
        json.dumps(
            {
                "explicit_n_vocab": 259,
                "pat_str": PATTERN,
                "special_tokens": {"<s>": 258},
                "bpe_ranks": "\n".join([run(0, *BYTES), run(256, b"he", b"she")]),
            }
        ).encode(),
        TEXT,
        range(258, 262),
        drops_text=True,
    ),
    "tokenizer.tok.json": Small(
        json.dumps(grok(vocab_size=261), separators=(",", ":")).encode(), TEXT, range(261, 262)
    ),
    NAME: Small(WHOLE, "so he said 123\r\n\x07é中文 \x80", range(257, 265)),
}


def check(path: Path, small: Small, data: bytes) -> None:
    """A damaged file is refused by name, or what is loaded is right."""
    path.write_bytes(data)
    try:
        enc = compat_bpe.load(path)
    except ValueError as error:
        assert str(error).startswith(f"{path}: ")  # noqa: PT017
    else:
        text = small.text
        kept = "".join(enc.core.splitter.chunks(text)) if small.drops_text else text
        assert enc.decode(enc.encode_ordinary(text)) == kept, data
        assert enc.n_vocab in small.sizes, data


@pytest.mark.parametrize("name", SMALL)
@given(draw=st.data())
@settings(max_examples=scaled(1000))
def test_some_damage(
    tmp_path_factory: pytest.TempPathFactory, name: str, draw: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / name
    check(path, SMALL[name], draw.draw(some_damage(SMALL[name].data)))


@pytest.mark.sweep
@pytest.mark.parametrize("name", SMALL)
def test_damage_all_over(tmp_path: Path, name: str) -> None:
    for data in spread_damage(SMALL[name].data):
        check(tmp_path / name, SMALL[name], data)
