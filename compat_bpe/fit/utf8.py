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
        try:
            return self._decoder.decode(data, final)
        except UnicodeDecodeError as error:
            # `error.object` is what was held back and then `data`.
            before = self._fed + len(data) - len(error.object)
            found = StreamDecodeError(*error.args)
            found.offset = before + error.start
            raise found from None
