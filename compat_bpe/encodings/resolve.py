"""The meaning of a tokenizer's name: one answer for the library, the command and every server.

A name is given as a model, as an encoding or as a path. ``resolve`` returns the encoding that
counts its tokens, or the estimate, or it raises ``UnresolvedError``. Each surface words that error
in its own terms. No other module decides what a name means.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from .families import FAMILIES, Family, NeedsFile, NotPublic
from .local_stores import STORES, in_hugging_face
from .model_names import OTHER_MODEL_PREFIX_TO_ENCODING, model_names, resolve_model, rule_of
from .published import all_encoding_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from .estimates import Estimate

    Field = Literal["model", "encoding", "path"]

#: The default encoding.
DEFAULT_ENCODING = "o200k_base"

#: The encoding whose tokens a maker's factor divides.
CHARACTERS = "characters"

#: A repository of Hugging Face, ``OWNER/NAME``.
_REPOSITORY = re.compile(r"\w[\w.-]*/\w[\w.-]*", re.ASCII)
#: Endings of file names that no encoding has.
_OF_FILES = (".gguf", ".json", ".model", ".tiktoken", ".txt")
#: The longest name that an error repeats whole, and for which similar names are searched.
_LONGEST = 100
#: The most similar names in an error, as in difflib, and the shortest name to search inside others.
_MOST_SIMILAR = 3
_SHORTEST_WORD = 3

_NO_FACTOR = "it cannot be estimated: no published number of characters per token is known for it"


class Terms(NamedTuple):
    """The advice of a surface in errors, with its verb, as in "use -m {}"; ``{}`` is the name.

    Args:
        model: how to give a model; empty if that is not possible.
        encoding: how to give an encoding that ships.
        path: how to give a file or folder, or a name such as ``hf:OWNER/NAME``; empty if that is
            not possible.
        estimate: how to ask for an estimate; empty if that is not possible.
        listing: how to list the models; empty if that is not possible.
        adding: how to add an encoding under a name; empty if that is not possible.
    """

    model: str
    encoding: str
    path: str
    estimate: str = ""
    listing: str = ""
    adding: str = ""


#: The terms of the library.
LIBRARY = Terms(
    "use encoding_for_model({!r})",
    "use get_encoding({!r})",
    "use load({!r})",
    listing="if you know its encoding, pass that to get_encoding",
)


class Answer(NamedTuple):
    """The encoding that counts the tokens for a name, or the estimate.

    Args:
        encoding_name: the name of an encoding that ships; empty for a file.
        path: the argument for ``load``; None for an encoding that ships.
        model: the model, as it was named; None if no model was named.
        rule: the reason for the model's encoding, in words; empty if no model was named.
        estimate: the factor that turns a count of the encoding into tokens of the model; None if
            the count is exact. For a maker's factor, the encoding is ``characters``.
    """

    encoding_name: str
    path: str | None = None
    model: str | None = None
    rule: str = ""
    estimate: Estimate | None = None

    def tokens(self, number: int) -> int:
        """Return the tokens of the model for a number of tokens of the encoding.

        >>> claude = resolve("claude-sonnet-4-5", "model", estimate=True)
        >>> claude.encoding_name, claude.tokens(7), resolve("gpt2").tokens(7)
        ('characters', 2, 7)
        """
        return number if self.estimate is None else self.estimate.tokens(number)

    def limit(self, tokens: int) -> int:
        """Return the most tokens of the encoding for at most this many tokens of the model.

        >>> resolve("claude-sonnet-4-5", "model", estimate=True).limit(2)
        7
        """
        return tokens if self.estimate is None else self.estimate.limit(tokens)

    def times(self, factor: str) -> Answer:
        """Return the answer with a factor that the caller has measured, such as ``"1.18"``."""
        from .estimates import Factor, OwnFactor  # imported here: only estimates need it

        of: Factor | str = self.encoding_name or self.path or ""
        if isinstance(self.estimate, Factor):
            of = self.estimate
        return self._replace(estimate=OwnFactor.of_text(factor, of))

    @property
    def note(self) -> str:
        """The basis of an estimate; empty if the number of tokens is exact."""
        return "" if self.estimate is None else self.estimate.reason


class UnresolvedError(ValueError, KeyError):
    """The error for a name without a tokenizer, with advice.

    Args:
        name: the name.
        field: the kind that it was given as.
        reason: the error, in words that fit every surface.
        similar: similar known names.
        meant: the kind that the name is of, and the name in that kind; None if there is none.
        family: the family of the model, whose tokenizer does not ship or is not public.
        can_estimate: True if the tokens can be estimated.
        notes: further hints, in words that fit every surface.
    """

    def __init__(
        self,
        name: object,
        field: Field,
        reason: str,
        *,
        similar: Iterable[str] = (),
        meant: tuple[Field, str] | None = None,
        family: Family | None = None,
        can_estimate: bool = False,
        notes: Iterable[str] = (),
    ) -> None:
        self.name = name
        self.field = field
        self.reason = reason
        self.similar = tuple(similar)
        self.meant = meant
        self.family = family
        self.can_estimate = can_estimate
        self.notes = tuple(notes)
        super().__init__(self.message(LIBRARY))

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[type[ValueError], tuple[str]]:
        # A worker process sends only the message.
        return ValueError, (str(self),)

    def message(self, terms: Terms) -> str:
        """Return the reason and what to do, in the terms of a surface."""
        question = f" (did you mean {' or '.join(map(repr, self.similar))}?)" * bool(self.similar)
        hints = "; ".join(self._hints(terms))
        is_answer = self.meant is not None or isinstance(self.family, NeedsFile)
        return f"{self.reason}{question}{hints and (': ' if is_answer else '; ')}{hints}"

    def _hints(self, terms: Terms) -> Iterator[str]:
        family = self.family
        if self.meant is not None:
            field, name = self.meant
            what = {"model": "a model", "encoding": "an encoding", "path": "a file or folder"}
            written = getattr(terms, field)
            if field == "model" and not written:
                encoding_name = resolve_model(name)
                if isinstance(encoding_name, str):
                    name, written = encoding_name, terms.encoding
            yield f"that is {what[field]}{written and '; ' + written.format(name)}"
        elif isinstance(family, NeedsFile):
            if not terms.path:
                return
            own = family.of(str(self.name))
            written = terms.path.format(own.taken_as or "PATH")
            if own.taken_as is None:
                yield f"download {own.source}, then {written}"
            else:
                yield f"run `{own.source}`, then {written}, or give the path of your file"
        elif family is not None:
            yield family.counted_by
            if self.can_estimate and terms.estimate:
                yield f"{terms.estimate} estimates it"
        else:
            if self.field == "model" and terms.listing:
                yield terms.listing
            if _is_repository(self.name) and terms.path:
                written = terms.path.format(f"hf:{self.name}")
                yield f"{written} if this is a Hugging Face repository"
        yield from self.notes
        if self.field == "encoding" and self.meant is None and family is None and terms.adding:
            yield terms.adding


def resolve(
    name: str, field: Field = "encoding", *, files: bool = True, estimate: bool = False
) -> Answer:
    """Return the encoding or the estimate that a name stands for.

    An encoding that ships comes before a file of its name; ``./NAME`` is the file. A model that has
    no encoding here may be in Hugging Face's cache, and only files of that cache are opened.

    Args:
        name: the name.
        field: the kind of the name. An encoding may be a path.
        files: False to allow only encodings that ship, and no files.
        estimate: True to estimate the tokens of a model without a public tokenizer.

    Raises:
        UnresolvedError: the name has no tokenizer. It is a ``ValueError`` and a ``KeyError``.

    >>> resolve("gpt-4o-2099", "model").rule
    "tiktoken has the prefix 'gpt-4o-'"
    >>> resolve("gpt-4o")
    Traceback (most recent call last):
    compat_bpe.encodings.resolve.UnresolvedError: unknown encoding 'gpt-4o': that is a model; ...
    """
    if field == "model":
        return _model(name, files=files, estimate=estimate)
    if field == "path":
        return Answer("", name)
    if isinstance(name, str):
        if name in all_encoding_names():
            return Answer(name)
        if files and is_path(name):
            return Answer("", name)
    raise _unknown_encoding(name, files=files)


def is_path(name: str) -> bool:
    """Return True if the name of an encoding is taken for a path.

    Names that stand for files of other programs, such as ``hf:OWNER/NAME``, are paths, and so are
    names with a folder in them. ``OWNER/NAME`` is a path only if there is such a file.

    >>> is_path("o200k_base"), is_path("hf:Qwen/Qwen3-8B"), is_path("Qwen/Qwen3-8B")
    (False, True, False)
    """
    if name in all_encoding_names():
        return False
    if name.startswith(STORES) or _exists(name):
        return True
    return os.path.basename(name) != name and not _is_repository(name)


def _exists(name: str) -> bool:
    try:
        return os.path.exists(name)
    except ValueError:  # a NUL
        return False


def _is_repository(name: object) -> bool:
    return isinstance(name, str) and _REPOSITORY.fullmatch(name) is not None


def _model(name: str, *, files: bool, estimate: bool) -> Answer:
    resolved = resolve_model(name)
    if isinstance(resolved, str):
        return Answer(resolved, model=name, rule=rule_of(name))
    if files:
        stored = in_hugging_face(name)
        if stored is not None:
            return Answer("", stored, name, "Hugging Face's cache has it")
    if isinstance(resolved, NotPublic):
        return _estimated(name, resolved, is_wanted=estimate)
    if resolved is not None:
        reason = (
            f"model {_quoted(name)} uses the tokenizer of {resolved.name}, which is not included"
        )
        raise UnresolvedError(name, "model", reason, family=resolved)
    reason = f"unknown model {_quoted(name)}"
    if name in all_encoding_names():
        raise UnresolvedError(name, "model", reason, meant=("encoding", name))
    if name.startswith(STORES) or (files and _exists(name)):
        raise UnresolvedError(name, "model", reason, meant=("path", name))
    similar = _similar(name, _names_of_models())
    raise UnresolvedError(name, "model", reason, similar=similar)


def _estimated(name: str, family: NotPublic, *, is_wanted: bool) -> Answer:
    from .estimates import factor_of  # imported here: only these models need it

    factor = factor_of(name, family)
    if is_wanted and factor is not None:
        return Answer(CHARACTERS, None, name, factor.reason, factor)
    reason = (
        f"model {_quoted(name)} is one of {family.name}, for which no public tokenizer is known"
    )
    notes = [_NO_FACTOR] if is_wanted else []
    raise UnresolvedError(
        name, "model", reason, family=family, can_estimate=factor is not None, notes=notes
    )


def _unknown_encoding(name: object, *, files: bool) -> UnresolvedError:
    """Return the error for a name that is neither an encoding nor a file."""
    reason = f"unknown encoding {_quoted(name)}"
    names = all_encoding_names()
    if not isinstance(name, str):
        return UnresolvedError(name, "encoding", reason, notes=[_listed(names)])
    try:
        model = _model(name, files=files, estimate=False)
    except UnresolvedError as error:
        if isinstance(error.family, NeedsFile):
            return UnresolvedError(
                name, "encoding", f"{reason}: {error.reason}", family=error.family
            )
        if error.family is not None:
            return UnresolvedError(name, "encoding", reason, meant=("model", name))
    else:
        meant: tuple[Field, str] = ("model", name)
        if model.path is not None:
            meant = "path", model.path
        return UnresolvedError(name, "encoding", reason, meant=meant)
    is_written_as_path = (
        name.startswith(STORES) or name.endswith(_OF_FILES) or os.path.basename(name) != name
    )
    if not files and is_written_as_path and not _is_repository(name):
        return UnresolvedError(name, "encoding", reason, meant=("path", name))
    similar = _similar(name, names)
    notes = ["no file has this name either"] if files else []
    if not similar:
        notes.append(_listed(names))
    return UnresolvedError(name, "encoding", reason, similar=similar, notes=notes)


def _listed(names: Sequence[str]) -> str:
    return f"the encodings are {', '.join(names)}"


def _names_of_models() -> list[str]:
    """Return the names of models to suggest, the newest of a family last."""
    names = [one for one in OTHER_MODEL_PREFIX_TO_ENCODING if resolve_model(one) is not None]
    names = [*model_names(), *filter(str.islower, names)]
    for family in FAMILIES:
        if isinstance(family, NeedsFile):
            names += [family.repository.rpartition("/")[2].lower()] * bool(family.files)
        else:
            names += family.examples
    return names


def _similar(name: str, known: Sequence[str]) -> Sequence[str]:
    """Return known names that are spelled like a name, or else the last ones that contain it."""
    if len(name) > _LONGEST:
        return ()
    from difflib import get_close_matches  # imported here: only errors need it

    word = name.lower()
    close = get_close_matches(word, known)
    if close or len(word) < _SHORTEST_WORD:
        return close
    return [one for one in known if word in one][: -_MOST_SIMILAR - 1 : -1]


def _quoted(name: object) -> str:
    quoted = repr(name)
    return quoted if len(quoted) <= _LONGEST + 2 else f"{quoted[:_LONGEST]}…"
