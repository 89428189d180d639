r"""UTF-8 that comes in pieces, as text."""

from __future__ import annotations

import codecs


class StreamDecodeError(UnicodeDecodeError):
    """Bytes of a stream that are not UTF-8.

    ``offset`` is where in the whole stream, in bytes, the wrong ones begin; they themselves are
    ``object[start:end]``, as in every ``UnicodeDecodeError``.
    """

    offset: int = 0

    def __str__(self) -> str:
        wrong = self.object[self.start]
        return f"not UTF-8: byte 0x{wrong:02x} at offset {self.offset}: {self.reason}"


class Utf8Decoder:
    r"""Decodes UTF-8 in pieces, and holds back a character that is not complete.

    Args:
        errors: what to do with bytes that are not UTF-8, as in ``bytes.decode``.

    >>> decoder = Utf8Decoder("strict")
    >>> decoder.feed(b"caf\xc3"), decoder.feed(b"\xa9"), decoder.finish()
    ('caf', 'é', '')
    """

    def __init__(self, errors: str) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors)
        self._takes_surrogates = errors == "surrogatepass"
        self._fed = 0

    def feed(self, data: bytes) -> str:
        """What is certain of the text with these bytes after those before.

        Raises:
            StreamDecodeError: with ``errors="strict"``, the bytes are not UTF-8; the decoder stays
                as it was before.
        """
        text = self._decode(data, final=False)
        self._fed += len(data)
        return text

    def finish(self) -> str:
        """What is left; then the decoder is as new.  Errors as in ``feed``."""
        text = self._decode(b"", final=True)
        self._fed = 0
        return text

    def _decode(self, data: bytes, *, final: bool) -> str:
        state = self._decoder.getstate()
        try:
            text = self._decoder.decode(data, final)
            if not final and self._holds_what_is_wrong():
                text += self._decoder.decode(b"", True)
            return text
        except UnicodeDecodeError as error:
            self._decoder.setstate(state)
            # `error.object` is what was held back and then `data`.
            before = self._fed + len(data) - len(error.object)
            found = StreamDecodeError(*error.args)
            found.offset = before + error.start
            raise found from None

    def _holds_what_is_wrong(self) -> bool:
        """Whether what is held back is the beginning of a surrogate, which is never UTF-8.

        Python's decoder waits for the third byte of one, whatever the error handler.
        """
        held = self._decoder.getstate()[0]
        return len(held) == 2 and b"\xed\xa0" <= held < b"\xee" and not self._takes_surrogates
