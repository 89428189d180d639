"""Fill-in-the-middle prompts: as much text around the cursor as a limit allows.

A prompt for a completion holds the text before the cursor, the text after it, and the tokens that
tell a model which is which. Text far from the cursor is left out.

The ids are those of the template's tokens and of the texts between them. Each of these texts is
encoded as one text. So the prompt is counted as it is sent, and nothing in the caller's text
becomes a token of the template.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from operator import index
from typing import NamedTuple, Union, overload

from ..pipeline.cutter import TextEncoder, check_encoding, last_cut_point
from ..pipeline.special_tokens import split_special
from .boundary import Boundary, rule_of, with_finer
from .edited_document import Document
from .longest_part import LimitError, check_limit, fits, longest_prefix, longest_suffix


@dataclass(frozen=True)
class FittedPrompt:
    """A prompt that fits.

    Args:
        ids: the prompt, exactly as it must be sent.
        prefix, suffix: the kept text before and after the cursor.
        prefix_start: the offset in the given prefix at which the kept part begins.
        suffix_end: the offset in the given suffix at which the kept part ends.
        prefix_was_cut, suffix_was_cut: True if a part of it was left out.
    """

    ids: list[int]
    prefix: str
    suffix: str
    prefix_start: int
    suffix_end: int
    prefix_was_cut: bool
    suffix_was_cut: bool

    @property
    def count(self) -> int:
        """The number of tokens of the prompt: the length of ``ids``, at most the limit."""
        return len(self.ids)


@overload
def fit_prompt(
    encoding: TextEncoder,
    prefix: str,
    suffix: str,
    limit: int,
    *,
    template: str | None = None,
    model: str | None = None,
    share: float = 0.75,
    boundary: Boundary = "line",
) -> FittedPrompt: ...


@overload
def fit_prompt(
    document: Document,
    offset: int,
    /,
    *,
    limit: int,
    template: str | None = None,
    model: str | None = None,
    share: float = 0.75,
    boundary: Boundary = "line",
) -> FittedPrompt: ...


def fit_prompt(
    encoding: TextEncoder | Document,
    prefix: str | int,
    suffix: str | None = None,
    limit: int | None = None,
    *,
    template: str | None = None,
    model: str | None = None,
    share: float = 0.75,
    boundary: Boundary = "line",
) -> FittedPrompt:
    """Return a fill-in-the-middle prompt with as much text around the cursor as fits.

    The end of the prefix is kept, and the beginning of the suffix. If all fits, nothing is cut.
    If not, the prefix gets its share of the room, the suffix gets the remaining room, and then the
    prefix gets the room that the suffix leaves. In the end neither can be extended to its next
    boundary without exceeding the limit. The time taken grows with the limit, not with the texts.

    The name of a special token in the prefix or suffix is plain text. This is so for the
    template's names even if the encoding has them as tokens everywhere, as DeepSeek's and Qwen's
    do. The text then has other tokens in the prompt than ``encoding.encode_ordinary`` gives.

    ``fit_prompt(document, offset, limit=…)`` makes the same prompt from a ``Document`` with the
    cursor at an offset. Only the text near the cursor is joined.

    Args:
        encoding: the model's encoding; or a ``Document``, which has one.
        prefix: the text before the cursor; for a ``Document`` the offset of the cursor.
        suffix: the text after it; for a ``Document`` none.
        limit: the most tokens that the prompt may have, those of the template included.
        template: a text with ``{prefix}`` and ``{suffix}`` in it, each once, in any order. Names
            of special tokens in it become these tokens. All else, other braces too, is text.
            Unless given, it is ``fim_template(encoding, model)``.
        model: the name of the model, for an encoding without fill-in-the-middle tokens.
        share: the part of the room for text that the prefix gets at first, from 0 to 1. The
            default is a convention: the text before the cursor is usually more relevant.
        boundary: the positions at which a text may be cut: ``"char"``, ``"word"`` or ``"line"``.
            If not even the line at the cursor fits, it is cut at a word. If not even a word fits,
            it is cut anywhere, so that text next to the cursor is kept.

    Raises:
        IndexError: the offset is not in the document.
        TypeError: an argument is missing or of the wrong type.
        ValueError: the limit is negative or below the tokens of the template alone; the template
            does not have each placeholder once; no template is given or known for the encoding and
            the model; ``share`` is not from 0 to 1; or the boundary is not known.

    >>> from compat_bpe import get_encoding
    >>> enc = get_encoding("cl100k_base")
    >>> prompt = fit_prompt(enc, "import re\\ndef f(x):\\n    return ", "\\nprint(f(1))\\nf(2)", 16)
    >>> prompt.prefix, prompt.suffix, prompt.count
    ('def f(x):\\n    return ', '\\nprint(f(1))\\n', 16)
    >>> enc.decode(prompt.ids)
    '<|fim_prefix|>def f(x):\\n    return <|fim_suffix|>\\nprint(f(1))\\n<|fim_middle|>'
    >>> document = Document(enc, "import re\\ndef f(x):\\n    return \\nprint(f(1))\\nf(2)")
    >>> fit_prompt(document, 31, limit=16) == prompt
    True
    """
    check_encoding(encoding)
    if limit is None:
        raise TypeError("fit_prompt() needs a limit")
    check_limit(limit)
    rule_of(boundary)
    if not 0 <= share <= 1:
        raise ValueError(f"share is {share}; it must be from 0 to 1")
    if isinstance(encoding, Document):
        document, encoding = encoding, encoding.encoding
        if suffix is not None:
            raise TypeError("fit_prompt() of a Document needs an offset, not texts")
        texts = around_offset(document, prefix, limit)  # type: ignore[arg-type]
    elif isinstance(prefix, str) and isinstance(suffix, str):
        texts = around_cursor(encoding, prefix, suffix, limit)
    else:
        raise TypeError("fit_prompt() needs a prefix and a suffix that are str")
    parts = _parse(encoding, fim_template(encoding, model) if template is None else template)
    fitting = _Fitting(encoding, parts, texts, limit, boundary)
    start, end = fitting.fit(share)
    return FittedPrompt(
        fitting.ids(start, end),
        texts.prefix[start - texts.left_out :],
        texts.suffix[:end],
        start,
        end,
        start > 0,
        end < texts.suffix_length,
    )


class _Side(Enum):
    """The placeholders of a template."""

    PREFIX = "{prefix}"
    SUFFIX = "{suffix}"


class _Token(NamedTuple):
    """A special token in a template."""

    name: str
    id: int


#: A part of a template. Once its placeholders are filled, texts and tokens alternate.
_Part = Union[str, _Token, _Side]
_Filled = Union[str, _Token]


class _Around(NamedTuple):
    """The surroundings of one placeholder of a prompt whose other one is filled.

    Args:
        lead: the text before it, from its last cut point on.
        trail: the text after it, up to its first cut point.
        rest: the number of tokens of everything else.
        encoding: the encoding of the text that begins with ``lead``, which may continue a text.
    """

    lead: str
    trail: str
    rest: int
    encoding: TextEncoder


def _parse(encoding: TextEncoder, template: str) -> list[_Part]:
    """Return the texts, tokens and placeholders of a template, in order.

    Raises:
        ValueError: the template does not have each placeholder once.
    """
    for side in _Side:
        times = template.count(side.value)
        if times != 1:
            raise ValueError(
                f"the template has {side.value} {times} times; it must have it exactly once"
            )
    special = encoding.core.special
    parts: list[_Part] = []
    for piece in re.split(r"(\{prefix\}|\{suffix\})", template):
        if piece in ("{prefix}", "{suffix}"):
            parts.append(_Side(piece))
            continue
        for text, name in split_special(piece, special.keys()):
            parts.append(text)
            if name is not None:
                parts.append(_Token(name, special[name]))
    return parts


def _fill(parts: list[_Part], texts: Mapping[_Side, str]) -> list[_Filled]:
    """Return parts with their placeholders filled: tokens, and one text around and between them.

    A text may be empty.
    """
    filled: list[_Filled] = []
    text = ""
    for part in parts:
        if isinstance(part, _Token):
            filled += [text, part]
            text = ""
        else:
            text += part if isinstance(part, str) else texts[part]
    return [*filled, text]


class _Fitting:
    """A prefix and a suffix to fit into a template."""

    def __init__(
        self,
        encoding: TextEncoder,
        parts: list[_Part],
        texts: Surroundings,
        limit: int,
        boundary: Boundary,
    ) -> None:
        self._parts = parts
        self._limit = limit
        # Next to the cursor, finer boundaries may be used.
        self._boundaries = with_finer(boundary)
        self._left_out, self._prefix, self._suffix, _ = texts
        self._encoding = self._names_as_text(encoding)

    def fit(self, share: float) -> tuple[int, int]:
        """Return the start of the kept prefix and the end of the kept suffix.

        Raises:
            ValueError: the template alone takes more than the limit.
        """
        least = self._count(_fill(self._parts, {_Side.PREFIX: "", _Side.SUFFIX: ""}))
        if least > self._limit:
            raise LimitError(
                "limit is ", self._limit, ", but the template alone has ", least, " tokens"
            )
        if self._all_fits():
            return 0, len(self._suffix)
        start = self._start(0, least + int(share * (self._limit - least)))
        end = self._end(start)
        # Mostly once is enough. But a longer text may have fewer tokens, and so make room for the
        # other text.
        while True:
            before, start = start, self._start(end, self._limit)
            if start == before:
                break
            before, end = end, self._end(start)
            if end == before:
                break
        return self._left_out + start, end

    def ids(self, start: int, end: int) -> list[int]:
        """Return the ids of the prompt with the kept texts."""
        kept = {_Side.PREFIX: self._prefix[start - self._left_out :]}
        kept[_Side.SUFFIX] = self._suffix[:end]
        ids: list[int] = []
        for part in _fill(self._parts, kept):
            if isinstance(part, _Token):
                ids.append(part.id)
            else:
                ids += self._encoding.encode_ordinary(part)
        return ids

    def _start(self, end: int, limit: int) -> int:
        """Return the start of the longest prefix that fits with the suffix up to ``end``."""
        lead, trail, rest, encoding = self._around(_Side.PREFIX, self._suffix[:end])
        text = self._prefix + trail
        for boundary in self._boundaries:
            start = longest_suffix(encoding, text, limit - rest, boundary=boundary, lead=lead)
            # At the end of the prefix or later, nothing of the prefix itself fits.
            if start is not None and start < len(self._prefix):
                return start
        return len(self._prefix)

    def _end(self, start: int) -> int:
        """Return the end of the longest suffix that fits with the prefix from ``start``."""
        lead, trail, rest, encoding = self._around(_Side.SUFFIX, self._prefix[start:])
        text, room = lead + self._suffix, self._limit - rest
        for boundary in self._boundaries:
            end = longest_prefix(encoding, text, room, boundary=boundary, trail=trail)
            if end is not None and end > len(lead):
                return end - len(lead)
        return 0

    def _around(self, side: _Side, other: str) -> _Around:
        """Return the surroundings of a placeholder when the other one is filled."""
        at = self._parts.index(side)
        texts = {_Side.PREFIX: other, _Side.SUFFIX: other}
        before = _fill(self._parts[:at], texts)
        after = _fill(self._parts[at + 1 :], texts)
        lead, trail = str(before.pop()), str(after.pop(0))
        lead_cut = last_cut_point(self._encoding, lead, len(lead))
        trail_cut = self._encoding.core.next_cut_point(trail) or len(trail)
        encoding = self._encoding
        rest = self._count([*before, lead[:lead_cut], *after])
        rest += encoding.continued.count(trail[trail_cut:])
        goes_on = encoding.continued if lead_cut else encoding
        return _Around(lead[lead_cut:], trail[:trail_cut], rest, goes_on)

    def _count(self, filled: Iterable[_Filled]) -> int:
        """Return the number of tokens of a filled template."""
        count = self._encoding.count
        return sum(count(part) if isinstance(part, str) else 1 for part in filled)

    def _all_fits(self) -> bool:
        """Return True if both texts fit whole and are encoded as one text.

        If a token is between them, there is no need to ask: ``_start`` and ``_end`` then find that
        both fit.
        """
        first, last = sorted(map(self._parts.index, _Side))
        if any(isinstance(part, _Token) for part in self._parts[first:last]):
            return False
        filled = _fill(self._parts, {_Side.PREFIX: self._prefix, _Side.SUFFIX: self._suffix})
        room = self._limit - sum(isinstance(part, _Token) for part in filled)
        for part in filled:
            if isinstance(part, str):
                if not fits(self._encoding, part, room):
                    return False
                room -= self._encoding.count(part)
        return True

    def _names_as_text(self, encoding: TextEncoder) -> TextEncoder:
        """Return an encoding to which the template's names in the texts are plain text."""
        names = frozenset(part.name for part in self._parts if isinstance(part, _Token))
        filled = _fill(self._parts, {_Side.PREFIX: self._prefix, _Side.SUFFIX: self._suffix})
        texts = [part for part in filled if isinstance(part, str)]
        # Normalization may make a name of text that does not contain it.
        if encoding.core.is_normalized or any(name in text for name in names for text in texts):
            return encoding.with_special(names)
        return encoding


#: Templates of models: OpenAI's and Qwen's, StarCoder's, SantaCoder's, DeepSeek's, Mistral's, Code
#: Llama's, Seed-Coder's.
_TEMPLATES = (
    "<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>",
    "<fim_prefix>{prefix}<fim_suffix>{suffix}<fim_middle>",
    "<fim-prefix>{prefix}<fim-suffix>{suffix}<fim-middle>",
    "<｜fim▁begin｜>{prefix}<｜fim▁hole｜>{suffix}<｜fim▁end｜>",
    "[SUFFIX]{suffix}[PREFIX]{prefix}",
    "▁<PRE>{prefix}▁<SUF>{suffix}▁<MID>",
    "<[fim-suffix]>{suffix}<[fim-prefix]>{prefix}<[fim-middle]>",
)

#: The template in words, for models that talk and have no tokens for this.
_IN_WORDS = (
    "Fill in the text at <CURSOR>. Answer with the missing text only.\n\n{prefix}<CURSOR>{suffix}"
)

#: Prefixes of the names of models that take it, without the maker's name and a slash.
_TALKING = re.compile(
    r"(ft:)?(gpt-(3\.5|35|4|5|6|oss)|chatgpt|o[134](-|$)|claude|gemini|deepseek|command-|grok|kimi|"
    r"llama-?[34]|mi[sx]tral|ministral|magistral|phi-[34]|qwen|gemma|glm)",
    re.IGNORECASE,
)


def fim_template(encoding: TextEncoder, model: str | None = None, *, in_words: bool = False) -> str:
    """Return the template with an encoding's own fill-in-the-middle tokens, or one in words.

    The token for the beginning of a text is not in it. Some models want that token first, and
    most servers add it. Put its name in front to have it in the prompt.

    Args:
        encoding: the model's encoding.
        model: the name of the model. If the encoding has no fill-in-the-middle tokens and this is a
            chat model, the template is an instruction in words.
        in_words: True for a template in words with any model, or without a model.

    Raises:
        ValueError: the encoding has no known fill-in-the-middle tokens, and neither a chat model
            nor ``in_words`` is given.

    >>> from compat_bpe import get_encoding
    >>> fim_template(get_encoding("cl100k_base"))
    '<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>'
    >>> print(fim_template(get_encoding("o200k_base"), "gpt-4o"))
    Fill in the text at <CURSOR>. Answer with the missing text only.
    <BLANKLINE>
    {prefix}<CURSOR>{suffix}
    """
    check_encoding(encoding)
    names = encoding.core.special.keys()
    for template in _TEMPLATES:
        if names >= set(filter(None, re.split(r"\{prefix\}|\{suffix\}", template))):
            return template
    if in_words or (model is not None and _TALKING.match(model.rpartition("/")[2])):
        return _IN_WORDS
    of_model = "" if model is None else f", and no template is known for model {model!r}"
    raise ValueError(
        f"encoding {encoding.name!r} has no fill-in-the-middle tokens{of_model}; "
        "give a template that contains {prefix} and {suffix}, or model= for a chat model"
    )


class Surroundings(NamedTuple):
    """The text around a cursor.

    Args:
        left_out: the number of characters at the beginning that are surely too far away.
        prefix: the text before the cursor, from there on.
        suffix: the text after it, as far as it may fit.
        suffix_length: the number of characters after the cursor.
    """

    left_out: int
    prefix: str
    suffix: str
    suffix_length: int


def around_cursor(encoding: TextEncoder, prefix: str, suffix: str, limit: int) -> Surroundings:
    """Return as much of each text as may fit, and one character that cannot."""
    longest = encoding.core.longest_token
    most = max(len(prefix), len(suffix)) if longest is None else limit * longest + 1
    left_out = max(0, len(prefix) - most)
    return Surroundings(left_out, prefix[left_out:], suffix[:most], len(suffix))


def around_offset(document: Document, offset: int, limit: int) -> Surroundings:
    """Return as much of the text on each side of an offset as may fit, and hardly more.

    Raises:
        IndexError: the offset is not in the document.
        TypeError: it is not an integer.
    """
    start, end = document.range_around(offset, limit)
    prefix, suffix = document.slice(start, offset), document.slice(offset, end)
    return Surroundings(start, prefix, suffix, len(document) - index(offset))
