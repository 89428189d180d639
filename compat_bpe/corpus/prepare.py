r"""Preparing a corpus: normalize, mask, drop duplicates, and hold out a share.

The result depends on the text alone: it is the same on every machine and with every version of
Python. (One exception: the matches of ``\w`` or ``\d`` in a rule depend on Python's version of
Unicode.)

**Rules** mask text before anything is learned from it. A rule is a regular expression of Python's
``re`` and a replacement as in ``re.sub``. A file of rules is UTF-8, one rule per line::

    # Addresses and long numbers are not worth tokens.
    [\w.+-]+@[\w-]+(\.[\w-]+)+ → <mail>
    (\d{4})\d+ => \1…

Blank lines, and lines that begin with ``#``, are skipped. The first ``→``, ``=>`` or tab in a line
separates pattern and replacement. Inside a pattern, these are written ``\u2192``, ``=[>]`` and
``\t``. Blanks around an arrow, and at both ends of a line with an arrow, are ignored; in a
pattern, write ``[ ]``. With a tab every character counts, so a replacement can be a blank.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b, sha256
from typing import Any, Callable, Literal, NamedTuple, Protocol, get_args

from ..files.text import read_text
from ..pipeline.normalizers.forms import Form, UnicodeForm
from .documents import DocumentPart, Spool

Duplicates = Literal["lines", "documents"]

#: The size in bytes of the digests that identify lines and documents. Among 2**40 different ones,
#: two have the same digest with a probability below 2**-48.
_DIGEST = 16

#: The size in bits of the digest that decides if a part is held out.
_FRACTION = 64


@dataclass(frozen=True)
class Preparation:
    """The steps that prepare a corpus, in this order.

    Args:
        normalization: the Unicode normalization form, as of Unicode 9.0.
        rules: the rules that mask text, applied one after the other. A rule sees one part at a
            time, so it has no match that goes from one part of a document into the next.
        drop_duplicates: ``"lines"``: of equal lines, wherever they are in the corpus, only the
            first stays; the others are taken out of their documents. Lines of white space stay,
            and so do lines longer than a part. ``"documents"``: of equal documents, only the first
            stays; a long one waits in a temporary file until its end is read. Each different line
            or document takes some 110 bytes of memory.
        validation: the share that is held out, at least 0 and less than 1. The text of a part
            alone decides: the part is held out if its BLAKE2b digest of 8 bytes, as a big-endian
            number, is below that share of 2**64. It is taken out of its document, which becomes
            two.

    Raises:
        ValueError: a value is not allowed.
    """

    normalization: Form | None = None
    rules: Sequence[Rule] = ()
    drop_duplicates: Duplicates | None = None
    validation: float = 0.0

    def __post_init__(self) -> None:
        for name, value, known in (
            ("normalization", self.normalization, get_args(Form)),
            ("drop_duplicates", self.drop_duplicates, get_args(Duplicates)),
        ):
            if value is not None and value not in known:
                raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(known)}")
        if not 0 <= self.validation < 1:
            raise ValueError(f"validation is {self.validation}; it must be at least 0 and below 1")

    def described(self) -> dict[str, Any]:
        """Return the steps for a manifest."""
        return {
            "normalization": self.normalization,
            "mask": [[rule.pattern.pattern, rule.replacement] for rule in self.rules],
            "drop_duplicates": self.drop_duplicates,
            "validation": self.validation,
        }


@dataclass
class Amount:
    """An amount of text."""

    documents: int = 0
    parts: int = 0
    characters: int = 0
    #: The size in bytes of UTF-8.
    bytes: int = 0

    def add(self, part: DocumentPart, size: int | None = None) -> None:
        """Add a part, with its size in bytes if known; the last part adds its document."""
        self.documents += part.is_last
        self.parts += 1
        self.characters += len(part.text)
        self.bytes += len(part.text.encode()) if size is None else size


class CorpusCounts:
    """The counts of a prepared corpus; they are complete when all parts have been taken.

    ``sha256`` is the digest of the text that was passed on: each document as UTF-8, followed by a
    byte 0xFF, which is in no UTF-8.
    """

    def __init__(self) -> None:
        self.read = Amount()
        #: The text that was passed on; a document with a part held out inside counts as two.
        self.kept = Amount()
        self.held_out = Amount()
        #: The number of replacements by each rule.
        self.masked: list[int] = []
        self.dropped_lines = 0
        self.dropped_documents = 0
        self._hash = sha256()

    @property
    def sha256(self) -> str:
        """The SHA-256 digest in hexadecimal digits."""
        return self._hash.hexdigest()

    def keep(self, part: DocumentPart) -> None:
        """Count a part that is passed on."""
        data = part.text.encode()
        self.kept.add(part, len(data))
        self._hash.update(data)
        if part.is_last:
            self._hash.update(b"\xff")

    def as_dict(self) -> dict[str, Any]:
        """Return all counts, for a JSON file."""
        return {
            "read": asdict(self.read),
            "kept": asdict(self.kept),
            "held_out": asdict(self.held_out),
            "masked": list(self.masked),
            "dropped_lines": self.dropped_lines,
            "dropped_documents": self.dropped_documents,
            "sha256": self.sha256,
        }


class Seen(Protocol):
    """A set of digests, as far as ``prepare`` uses it: it asks for each before it adds it."""

    def __contains__(self, digest: object) -> bool: ...

    def add(self, digest: bytes) -> None: ...


def prepare(
    parts: Iterable[DocumentPart],
    preparation: Preparation,
    held_out: Callable[[DocumentPart], None] = lambda part: None,
    counts: CorpusCounts | None = None,
    seen: Seen | None = None,
) -> Iterator[DocumentPart]:
    r"""Yield the prepared parts of a corpus, as the given parts come.

    They begin and end where the given parts do, with one exception. If a part ends within a line,
    normalization moves its end to before a character that never joins the one before. A part that
    becomes empty is not passed on.

    Args:
        parts: all parts of a document, then those of the next, as from ``read_corpus``.
        preparation: the steps.
        held_out: called with each part that is held out, in their order. Parts of one document
            that follow each other are parts of one document here, too.
        counts: the counts to fill in.
        seen: the digests of the lines or documents that came before; an empty set unless given.

    Raises:
        OSError: there is no room for a temporary file.

    >>> from compat_bpe.corpus.documents import parts_of
    >>> parts = parts_of(["une\nIl a dit:\nune\n"], "fr", "a.txt")
    >>> [part.text for part in prepare(parts, Preparation(drop_duplicates="lines"))]
    ['une\nIl a dit:\n']
    """
    counts = CorpusCounts() if counts is None else counts
    seen = set() if seen is None else seen
    parts = _counted(parts, counts)
    if preparation.normalization is not None:
        parts = _normalized(parts, preparation.normalization)
    if preparation.rules:
        parts = _masked(parts, preparation.rules, counts)
    if preparation.drop_duplicates == "lines":
        parts = _different_lines(parts, counts, seen)
    elif preparation.drop_duplicates == "documents":
        parts = _different_documents(parts, counts, seen)
    return _without_held_out(parts, preparation.validation, held_out, counts)


# Between these stages a part may be empty, since it may be the last part of its document.


def _counted(parts: Iterable[DocumentPart], counts: CorpusCounts) -> Iterator[DocumentPart]:
    for part in parts:
        counts.read.add(part)
        yield part


def _normalized(parts: Iterable[DocumentPart], form: Form) -> Iterator[DocumentPart]:
    """Yield parts that, joined, are the normalized documents.

    The property: normalizing the parts gives the normalized document if nothing is ordered or
    composed across their ends. This holds after a newline, and before a character that always
    begins a composed one (``_stands_first``). So each part ends at one of these.
    """
    normalize = UnicodeForm(form)
    waiting: list[str] = []
    for part in parts:
        text = part.text
        if part.is_last or text.endswith("\n"):
            end = len(text)
        else:
            end = next((at for at in reversed(range(len(text))) if _stands_first(text[at])), -1)
        if end < 0:  # a part of marks alone, or of Hangul vowels alone
            waiting.append(text)
            continue
        yield part._replace(text=normalize("".join([*waiting, text[:end]])))
        waiting = [text[end:]]


def _stands_first(char: str) -> bool:
    """Return True if a character is never reordered before, or composed with, the one before it.

    It is False for three kinds of characters:

    - marks: all characters of a combining class other than 0 are marks, by the stability policy of
      Unicode;
    - the vowels and final consonants of Hangul (Unicode Standard, 3.12);
    - characters whose decomposition begins with one of these.

    Later scripts have some others. They are unassigned in Unicode 9.0, so they are not changed.
    """
    first = unicodedata.normalize("NFKD", char)[0]
    return not (unicodedata.category(first)[0] == "M" or "\u1160" <= first <= "\u11ff")


def _masked(
    parts: Iterable[DocumentPart], rules: Sequence[Rule], counts: CorpusCounts
) -> Iterator[DocumentPart]:
    counts.masked = [0] * len(rules)
    for part in parts:
        text = part.text
        for number, rule in enumerate(rules):
            text, replacements = rule.apply(text)
            counts.masked[number] += replacements
        yield part._replace(text=text)


def _different_lines(
    parts: Iterable[DocumentPart], counts: CorpusCounts, seen: Seen
) -> Iterator[DocumentPart]:
    """Yield the parts without the lines that have been seen before."""
    starts_line = True
    for part in parts:
        lines = part.text.split("\n")
        last = len(lines) - 1
        kept = []
        for number, line in enumerate(lines):
            # A line that goes on in another part is longer than a part.
            is_whole = (number > 0 or starts_line) and (number < last or part.is_last)
            if is_whole and line and not line.isspace():
                digest = blake2b(line.encode(), digest_size=_DIGEST).digest()
                if digest in seen:
                    counts.dropped_lines += 1
                    continue
                seen.add(digest)
            kept.append(line + "\n" if number < last else line)
        if part.is_last or part.text:
            starts_line = part.is_last or not lines[-1]
        yield part._replace(text="".join(kept))


def _different_documents(
    parts: Iterable[DocumentPart], counts: CorpusCounts, seen: Seen
) -> Iterator[DocumentPart]:
    """Yield the parts of the documents that have not been seen before."""
    digest = blake2b(digest_size=_DIGEST)
    with Spool() as held:
        for part in parts:
            held.add(part)
            digest.update(part.text.encode())
            if not part.is_last:
                continue
            known = digest.digest()
            if known in seen:
                counts.dropped_documents += 1
                held.clear()
            else:
                seen.add(known)
                yield from held.take()
            digest = blake2b(digest_size=_DIGEST)


def _without_held_out(
    parts: Iterable[DocumentPart],
    share: float,
    held_out: Callable[[DocumentPart], None],
    counts: CorpusCounts,
) -> Iterator[DocumentPart]:
    """Yield the parts with text that are not held out; the others go to ``held_out``."""

    def give(part: DocumentPart, out: bool) -> Iterator[DocumentPart]:
        if out:
            counts.held_out.add(part)
            held_out(part)
        else:
            counts.keep(part)
            yield part

    bound = share * 2**_FRACTION
    # The next part decides if a part is the last of its document, so one waits.
    waiting: tuple[DocumentPart, bool] | None = None
    for part in parts:
        if part.text:
            out = bound > 0 and _fraction(part.text) < bound
            if waiting is not None:
                before, before_out = waiting
                yield from give(before._replace(is_last=out != before_out), before_out)
            waiting = part, out
        if part.is_last and waiting is not None:
            before, before_out = waiting
            yield from give(before._replace(is_last=True), before_out)
            waiting = None


def _fraction(text: str) -> int:
    """Return a pseudorandom number below ``2**_FRACTION``, always the same for a text."""
    return int.from_bytes(blake2b(text.encode(), digest_size=_FRACTION // 8).digest(), "big")


#: An arrow with the blanks around it, or a tab.
_SEPARATOR = re.compile(r"[ \t]*(?P<arrow>→|=>)[ \t]*|\t")


class Rule(NamedTuple):
    """A pattern and the replacement of its matches, made by ``rule``."""

    pattern: re.Pattern[str]
    replacement: str

    def apply(self, text: str) -> tuple[str, int]:
        r"""Return the masked text and the number of replacements.

        >>> rule(r"\d+", "0").apply("Room 12, 3rd floor")
        ('Room 0, 0rd floor', 2)
        """
        return self.pattern.subn(self.replacement, text)


def rule(pattern: str, replacement: str) -> Rule:
    r"""Return a rule of a pattern and a replacement, both as in ``re.sub``.

    Raises:
        ValueError: one of them is wrong, or has another meaning in another version of Python.

    >>> rule(r"(\d+)", r"\2")
    Traceback (most recent call last):
    ValueError: the replacement '\\2': invalid group reference 2 at position 1
    """
    if not pattern:
        raise ValueError("the pattern is missing")
    try:
        with warnings.catch_warnings():
            # Python warns about patterns that later versions refuse or match otherwise.
            warnings.simplefilter("error")
            compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError, Warning) as error:
        raise ValueError(f"the pattern {pattern!r}: {error}") from None
    try:
        compiled.sub(replacement, "")  # checks the replacement even if nothing matches
    except (re.error, IndexError) as error:
        raise ValueError(f"the replacement {replacement!r}: {error}") from None
    return Rule(compiled, replacement)


def read_rules(path: str) -> list[Rule]:
    """Return the rules of a file, in their order.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is not UTF-8, or a line is not a rule; the message says which, and why.
    """
    try:
        text, _ = read_text(path)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    rules = []
    # Editors put a byte-order mark at the beginning, and "\r" before each "\n".
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        line = line.removesuffix("\r")
        if line.strip() and not line.startswith("#"):
            try:
                rules.append(_parse(line))
            except ValueError as error:
                raise ValueError(f"{path}:{number}: {error}") from None
    return rules


def _parse(line: str) -> Rule:
    r"""Return the rule of a line.

    >>> _parse(r" \d+ =>  0 ")
    Rule(pattern=re.compile('\\d+'), replacement='0')
    >>> _parse(" +\t ")
    Rule(pattern=re.compile(' +'), replacement=' ')
    """
    separator = _SEPARATOR.search(line)
    if separator is None:
        raise ValueError(
            "no separator: pattern and replacement must be separated by →, => or a tab"
        )
    pattern, replacement = line[: separator.start()], line[separator.end() :]
    if separator["arrow"]:
        pattern, replacement = pattern.lstrip(" \t"), replacement.rstrip(" \t")
    return rule(pattern, replacement)
