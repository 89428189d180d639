"""The steps of a decoder in a ``tokenizer.json``, which turn pieces into text.

They work one after the other on the list of the tokens' pieces, which is joined at the end. A piece
is a token as written in the vocabulary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby

from ..byte_level import decode_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .streams import StepStream

#: The error handler from whose output the bytes that are not UTF-8 can be restored.
ESCAPED = "surrogateescape"


class DecoderStep:
    """A step of a decoder."""

    #: True if the result is always one piece.
    joins = False
    #: True if the step is ``ByteLevel``, which makes bytes of each piece by itself.
    is_byte_level = False

    def __call__(self, pieces: Sequence[str], errors: str) -> list[str]:
        """Return the pieces after the step.

        Args:
            pieces: all pieces of a text.
            errors: as in ``bytes.decode``, for bytes that are not UTF-8.
        """
        raise NotImplementedError

    def stream(self, errors: str) -> StepStream:
        """Return the step for pieces that arrive one after another."""
        from .streams import Held

        return Held(lambda pieces: self(pieces, errors), is_joined=False)

    def joined_stream(self, errors: str) -> StepStream:
        """Return the step for one piece that arrives in parts."""
        from .streams import Held

        return Held(lambda pieces: self(pieces, errors), is_joined=True)

    def in_middle(self, piece: str) -> str:
        """Return the text of a piece that has others before and after it."""
        return "".join(self([piece], ESCAPED))

    def within(self, text: str) -> str:
        """Return the text after the step of a part within a joined text."""
        return "".join(self([text], ESCAPED))


class PieceStep(DecoderStep):
    """A step that changes each piece by itself; only the first and the last piece may differ."""

    def __call__(self, pieces: Sequence[str], errors: str) -> list[str]:
        """Return the changed pieces."""
        last = len(pieces) - 1
        return [
            self.change(piece, is_first=not index, is_last=index == last)
            for index, piece in enumerate(pieces)
        ]

    def stream(self, errors: str) -> StepStream:
        """Return the step for pieces that arrive one after another."""
        from .streams import OneByOne

        return OneByOne(self.change)

    def change(self, piece: str, *, is_first: bool, is_last: bool) -> str:
        """Return a piece, changed."""
        raise NotImplementedError

    def in_middle(self, piece: str) -> str:
        """Return the text of a piece that has others before and after it."""
        return self.change(piece, is_first=False, is_last=False)


class Fuse(DecoderStep):
    """The decoder ``Fuse``.

    >>> Fuse()(["a", "b"], "strict")
    ['ab']
    """

    joins = True

    def __call__(self, pieces: Sequence[str], errors: str) -> list[str]:
        """Return the joined pieces."""
        return ["".join(pieces)]

    def stream(self, errors: str) -> StepStream:
        """Return the step for pieces that arrive one after another."""
        from .streams import Through

        return Through()

    joined_stream = stream


class Spaced(DecoderStep):
    """The pieces joined by spaces, as in tokenizers for a file without a decoder.

    >>> Spaced()(["a", "b"], "strict")
    ['a b']
    """

    joins = True

    def __call__(self, pieces: Sequence[str], errors: str) -> list[str]:
        """Return the joined pieces."""
        return [" ".join(pieces)]

    def stream(self, errors: str) -> StepStream:
        """Return the step for pieces that arrive one after another."""
        from .streams import Through

        return Through(" ")

    def in_middle(self, piece: str) -> str:
        """Return a piece after a space."""
        return " " + piece


#: Spaces that are wrong in English text, in the order in which they are removed.
_ARTIFACTS = (
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
)


class WordPiece(PieceStep):
    """The decoder of WordPiece.

    Args:
        prefix: the beginning of a piece that continues a word.
        cleanup: remove some spaces, as before a full stop.

    >>> WordPiece("##", True)(["it", "'", "##s", "so", "!"], "strict")
    ['it', " '", 's', ' so', '!']
    """

    def __init__(self, prefix: str = "##", cleanup: bool = True) -> None:
        self._prefix = prefix
        self._cleanup = cleanup

    def change(self, piece: str, *, is_first: bool, is_last: bool) -> str:
        """Return a piece without the prefix, or after a space."""
        if not is_first:
            goes_on = piece.startswith(self._prefix)
            piece = piece[len(self._prefix) :] if goes_on else " " + piece
        return cleaned_up(piece) if self._cleanup else piece


def cleaned_up(text: str) -> str:
    """Return a text without some spaces.

    >>> cleaned_up("do not , please")
    'do not, please'
    """
    for old, new in _ARTIFACTS:
        text = text.replace(old, new)
    return text


class EndOfWord(PieceStep):
    """The decoder of BPE with a mark at the end of each word.

    Args:
        suffix: the mark; it becomes a space, and nothing in the last piece.

    >>> EndOfWord("</w>")(["a</w>", "b</w>"], "strict")
    ['a ', 'b']
    """

    def __init__(self, suffix: str = "</w>") -> None:
        self._suffix = suffix

    def change(self, piece: str, *, is_first: bool, is_last: bool) -> str:
        """Return a piece with a space for the mark."""
        return piece.replace(self._suffix, "" if is_last else " ")


class Metaspace(PieceStep):
    """The decoder of Metaspace.

    Args:
        sign: the character that stands for a space.
        drop_first: leave it out everywhere in the first piece.

    >>> Metaspace("▁", True)(["▁a", "▁b"], "strict")
    ['a', ' b']
    """

    def __init__(self, sign: str = "▁", drop_first: bool = True) -> None:
        self._sign = sign
        self._drop_first = drop_first

    def change(self, piece: str, *, is_first: bool, is_last: bool) -> str:
        """Return a piece with spaces."""
        return piece.replace(self._sign, "" if is_first and self._drop_first else " ")


class Replace(PieceStep):
    """The decoder ``Replace``.

    Args:
        replace: returns a text in which the matches are replaced.
    """

    def __init__(self, replace: Callable[[str], str]) -> None:
        self._replace = replace

    def change(self, piece: str, *, is_first: bool, is_last: bool) -> str:
        """Return a piece with its matches replaced."""
        return self._replace(piece)


class Strip(PieceStep):
    """The decoder ``Strip``.

    Args:
        content: the character.
        start, stop: the most of them that are left out at the beginning, and at the end.

    >>> Strip(" ", 1, 0)(["  a "], "strict")
    [' a ']
    """

    def __init__(self, content: str, start: int, stop: int) -> None:
        self._content = content
        self._start = start
        self._stop = stop

    def change(self, piece: str, *, is_first: bool, is_last: bool) -> str:
        """Return a piece without the character at its ends; it may be empty then."""
        start = min(self._start, len(piece) - len(piece.lstrip(self._content)))
        stop = min(self._stop, len(piece) - len(piece.rstrip(self._content)))
        return piece[start : len(piece) - stop]

    def joined_stream(self, errors: str) -> StepStream:
        """Return the step for one piece that arrives in parts."""
        from .streams import Ends

        return Ends(self._content, self._start, self._stop)

    def within(self, text: str) -> str:
        """Return the text: only its ends would change."""
        return text


class CTC(DecoderStep):
    """The decoder of connectionist temporal classification.

    Args:
        pad_token: a text that is left out of the pieces, after repeated pieces are.
        word_delimiter_token: a text that becomes a space, only with ``cleanup``.
        cleanup: remove some spaces, as before a full stop.

    >>> CTC("<pad>", "|", True)(["<pad>", "a", "a", "|", "b", "<pad>", "b"], "strict")
    ['a', ' ', 'b', 'b']
    """

    def __init__(
        self, pad_token: str = "<pad>", word_delimiter_token: str = "|", cleanup: bool = True
    ) -> None:
        self._pad = pad_token
        self._delimiter = word_delimiter_token
        self._cleanup = cleanup

    def __call__(self, pieces: Sequence[str], errors: str) -> list[str]:
        """Return the remaining pieces."""
        return list(filter(None, (self._change(piece) for piece, _ in groupby(pieces))))

    def stream(self, errors: str) -> StepStream:
        """Return the step for pieces that arrive one after another."""
        from .streams import Repeated

        return Repeated(self._change)

    def _change(self, piece: str) -> str:
        piece = piece.replace(self._pad, "")
        if self._cleanup:
            piece = cleaned_up(piece).replace(self._delimiter, " ")
        return piece


#: A plus sign may replace the first digit, as in tokenizers.
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
        from .streams import Runs

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

    With ``errors="replace"`` all bytes of a run that is not UTF-8 become U+FFFD, as in tokenizers.

    Raises:
        UnicodeDecodeError: with ``errors="strict"``, the bytes are not UTF-8.
    """
    try:
        return [data.decode()]
    except UnicodeDecodeError:
        if errors == "replace":
            return ["\ufffd"] * len(data)
        return [data.decode("utf-8", errors)]


class ByteLevel(DecoderStep):
    """The decoder ``ByteLevel``.

    >>> ByteLevel()(["Ã", "©", "Ġa", "中"], "strict")
    ['é a中']
    """

    joins = True
    is_byte_level = True

    def __call__(self, pieces: Sequence[str], errors: str) -> list[str]:
        """Return the text of the bytes of all pieces."""
        return [b"".join(map(bytes_of, pieces)).decode("utf-8", errors)]

    def stream(self, errors: str) -> StepStream:
        """Return the step for pieces that arrive one after another."""
        from .streams import Decoded

        return Decoded(bytes_of, errors)


def bytes_of(piece: str) -> bytes:
    """Return the bytes of a piece; those of UTF-8 if it is not in the byte alphabet.

    >>> bytes_of("Ġ中")
    b'\\xc4\\xa0\\xe4\\xb8\\xad'
    """
    try:
        return decode_bytes(piece)
    except ValueError:
        return piece.encode("utf-8", ESCAPED)
