"""The choice of a tokenizer's decoder: one of its own, or that of bytes.

Whether it has one of its own is known to what reads its file: for a ``tokenizer.json`` to
``formats/tokenizer_json.py``, by the steps of the decoder there.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .base import IdDecoder


def choose_decoder(
    make_decoder: Callable[[], IdDecoder] | None,
    tokens: Callable[[], Mapping[bytes, int]],
    other_tokens: Callable[[], Mapping[int, bytes]],
    others_win: bool,
) -> IdDecoder:
    """Return the decoder of a tokenizer; the arguments are as in ``Definition``.

    Args:
        make_decoder: returns the decoder; None for the one that joins the tokens' bytes.
        tokens: returns each token's bytes and its id; not called for a decoder of its own.
        other_tokens: returns the bytes of ids that are not in ``tokens``, or decoded otherwise.
        others_win: True if ``other_tokens`` decides for an id that is in both.
    """
    if make_decoder is not None:
        return make_decoder()
    from .byte_decoder import ByteDecoder

    return ByteDecoder(tokens(), other_tokens(), others_win)
