"""``ByteFallback``: pieces such as ``<0xE4>`` become the bytes that they stand for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .steps import DecoderStep
from .streams import Runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .streams import StepStream

#: A sign is taken for a digit, as in tokenizers.
_BYTE = re.compile(r"<0x([0-9a-fA-F]{2}|\+[0-9a-fA-F])>")


class ByteFallback(DecoderStep):
    r"""The decoder ``ByteFallback``.

    >>> ByteFallback()(["<0xC3>", "<0xA9>", "a", "<0xC3>", "<0x41>"], "replace")
    ['é', 'a', '\ufffd', '\ufffd']
    """

    def __call__(self, pieces: Sequence[str], errors: str) -> list[str]:
        """Return the pieces with each run of bytes as text."""
        texts: list[str] = []
        run = bytearray()
        for piece in pieces:
            byte = byte_of(piece)
            if byte is not None:
                run.append(byte)
                continue
            if run:
                texts += text_of_run(bytes(run), errors)
                run.clear()
            texts.append(piece)
        return texts + text_of_run(bytes(run), errors) if run else texts

    def stream(self, errors: str) -> StepStream:
        """Return the step for pieces that arrive one after another."""
        return Runs(byte_of, lambda run: text_of_run(run, errors))


def byte_of(piece: str) -> int | None:
    """Return the byte that a piece stands for, if any.

    >>> byte_of("<0x0a>"), byte_of("a")
    (10, None)
    """
    match = len(piece) == 6 and _BYTE.fullmatch(piece)
    return int(match[1], 16) if match else None


def text_of_run(data: bytes, errors: str) -> list[str]:
    """Return the text of bytes that follow each other, in pieces.

    With ``errors="replace"`` all bytes of a run that is no UTF-8 become U+FFFD, as in tokenizers.

    Raises:
        UnicodeDecodeError: with ``errors="strict"``, the bytes are not UTF-8.
    """
    try:
        return [data.decode()]
    except UnicodeDecodeError:
        if errors == "replace":
            return ["\ufffd"] * len(data)
        return [data.decode("utf-8", errors)]
