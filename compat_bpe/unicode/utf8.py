r"""Incremental decoding of UTF-8."""

from __future__ import annotations

import codecs


class StreamDecodeError(UnicodeDecodeError):
    """An error for bytes of a stream that are not UTF-8.

    ``offset`` is the position of the wrong bytes in the whole stream, in bytes. The wrong bytes
    themselves are ``object[start:end]``, as in every ``UnicodeDecodeError``.
    """

    offset: int = 0

    def __str__(self) -> str:
        wrong = self.object[self.start]
        return f"not UTF-8: byte 0x{wrong:02x} at offset {self.offset}: {self.reason}"


class Utf8Decoder:
    r"""A decoder of UTF-8 in pieces, which holds back an incomplete character.

    Args:
        errors: the error handler for bytes that are not UTF-8, as in ``bytes.decode``.

    >>> decoder = Utf8Decoder("strict")
    >>> decoder.feed(b"caf\xc3"), decoder.feed(b"\xa9"), decoder.finish()
    ('caf', 'é', '')
    """

    def __init__(self, errors: str) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors)
        self._takes_surrogates = errors == "surrogatepass"
        self._fed = 0

    def feed(self, data: bytes) -> str:
        """Return the text that these further bytes complete.

        Raises:
            StreamDecodeError: with ``errors="strict"``, the bytes are not UTF-8. The decoder
                keeps the state that it had before the call.
        """
        text = self._decode(data, final=False)
        self._fed += len(data)
        return text

    def finish(self) -> str:
        """Return the text of the bytes held back, and reset the decoder.

        Raises:
            StreamDecodeError: as in ``feed``.
        """
        text = self._decode(b"", final=True)
        self._fed = 0
        return text

    def _decode(self, data: bytes, *, final: bool) -> str:
        state = self._decoder.getstate()
        try:
            text = self._decoder.decode(data, final)
            if not final and self._holds_surrogate():
                text += self._decoder.decode(b"", True)
            return text
        except UnicodeDecodeError as error:
            self._decoder.setstate(state)
            # `error.object` is the bytes held back, then `data`.
            before = self._fed + len(data) - len(error.object)
            moved = StreamDecodeError(*error.args)
            moved.offset = before + error.start
            raise moved from None

    def _holds_surrogate(self) -> bool:
        """Return True if the bytes held back begin a surrogate, which is never UTF-8.

        Python's decoder waits for the third byte of a surrogate, whatever the error handler.
        """
        held = self._decoder.getstate()[0]
        return len(held) == 2 and b"\xed\xa0" <= held < b"\xee" and not self._takes_surrogates
