"""Tokens with their places in the original text.

The plain rule of each stage keeps the places (see ``aligned``). The result is that of ``Encoding``
in tokenizers 0.23.3 without a post-processor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import accumulate
from typing import NamedTuple

from ..pattern.splitter import Splitter
from ..unicode.surrogates import repair_with_places
from .aligned import Aligned
from .pre_tokenizers.splitter import Joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .core import Added, Definition
    from .models.base import ChunkToken


class Located(NamedTuple):
    """A token in a text.

    Args:
        id: its id.
        text: the token as the reference shows it: the piece as in the vocabulary, or the text of
            the token.
        start, end: its place in the original text, in characters.
        word: the number of its chunk or added token, counted from 0.
    """

    id: int
    text: str
    start: int
    end: int
    word: int


def locate(
    definition: Definition, text: str, allowed_special: Set[str], *, goes_on: bool = False
) -> list[Located]:
    r"""Return the tokens of a text with their places.

    The ids are those of ``Core.encode``. Surrogates are repaired; the places are those in the
    original text.

    Args:
        definition: the parts of a tokenizer.
        text: any text.
        allowed_special: the names of special tokens that are tokens in the text.
        goes_on: True if the text continues after a cut point (see ``Core.continued``).

    Raises:
        ValueError: the model has no token for a part of the text.

    >>> from compat_bpe import get_encoding
    >>> definition = get_encoding("gpt2").core.definition
    >>> [token[1:] for token in locate(definition, "hi \U0001f600!", set())]
    [('hi', 0, 2, 0), ('ĠðŁĺ', 2, 4, 1), ('Ģ', 3, 4, 1), ('!', 4, 5, 1)]
    """
    repaired, places = repair_with_places(text)
    added = definition.added.continued if goes_on else definition.added
    tokens = list(_located(definition, added, repaired, allowed_special))
    origin = added.origin
    if origin:
        tokens = [
            token._replace(start=token.start - origin, end=token.end - origin) for token in tokens
        ]
    if len(repaired) == len(text):
        return tokens
    return [token._replace(start=places[token.start], end=places[token.end]) for token in tokens]


def _located(
    definition: Definition, added: Added, text: str, allowed: Set[str]
) -> Iterator[Located]:
    splitter = definition.splitter
    align = _matches(splitter) if isinstance(splitter, Splitter) else splitter.align
    convert = _converter("x" * added.origin + text)
    word = 0
    for span, token_id in added.align(text, allowed):
        if token_id is not None:
            yield Located(token_id, span.text, span.start, span.end, word)
            word += 1
            continue
        if definition.words is None:
            words = ([chunk] for chunk in align(span))
        else:
            words = (align(chunk) for chunk in definition.words.align(span))
        for parts in words:
            for part in parts:
                tokens = definition.model.find(part.text)
                for token, (start, end) in zip(tokens, _places(part, tokens, convert)):
                    yield Located(token.id, token.text, start, end, word)
            word += 1


def _matches(splitter: Splitter) -> Callable[[Aligned], list[Aligned]]:
    step = Joined(splitter)
    return lambda text: step.align([text])


def _places(
    chunk: Aligned,
    tokens: Sequence[ChunkToken],
    convert: Callable[[int, int, int], tuple[int, int]],
) -> Iterator[tuple[int, int]]:
    """Yield the places of tokens in the original text, given their places in a chunk.

    Two odd cases are as in tokenizers: an empty token, and a token that reaches beyond the end of
    its chunk, from a model that counts too many bytes.
    """
    char_of = [index for index, char in enumerate(chunk.text) for _ in char.encode()]
    for token in tokens:
        start, end = token.start, token.end
        if start == end:
            yield convert(start, end, chunk.start)
        elif end > len(char_of):
            yield convert(start, end, 0)
        else:
            yield chunk.places[char_of[start]][0], chunk.places[char_of[end - 1]][1]


def _converter(text: str) -> Callable[[int, int, int], tuple[int, int]]:
    """Return a function from places in bytes, counted from a character on, to characters.

    Its tables are built at the first call, since hardly any text needs them.
    """
    chars: list[int] = []
    bytes_before: list[int] = []

    def convert(start: int, end: int, origin: int) -> tuple[int, int]:
        if not bytes_before:
            chars.extend(index for index, char in enumerate(text) for _ in char.encode())
            bytes_before.extend(accumulate((len(char.encode()) for char in text), initial=0))
        start += bytes_before[origin]
        end += bytes_before[origin]
        # A place beyond the end of the text is cut, so that it is valid.
        first = chars[start] if start < len(chars) else len(text)
        if end > len(chars):
            return first, min(first + 2, len(text))  # as in tokenizers, except for the cut
        return first, chars[end] if end < len(chars) else len(text)

    return convert
