"""The settings of the client: the encoding and budget of each file, and the displays."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Callable, NamedTuple

from ..encodings.encoding import Encoding
from ..encodings.local_stores import STORES
from ..encodings.registry import encoding_of
from ..encodings.resolve import DEFAULT_ENCODING, Answer, Terms, UnresolvedError, resolve
from ..files.ignore import alternatives, matcher
from .rpc import Params, RpcError, in_json, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..encodings.resolve import Field


#: The name of the section of settings, in editors that have sections.
SECTION = "compatBpe"

#: Each thing that is shown, and True if it is unless the settings say otherwise.
SHOWN = {
    "codeLens": True,
    "inlayHints": False,  # the same counts, for editors without lenses
    "hover": False,  # it would be added to the hovers of other servers
    "diagnostics": True,
    "semanticTokens": False,  # it takes the place of the colors of syntax
    "codeActions": True,
    "didCount": True,
}


class Choice(NamedTuple):
    """An encoding as it is named: by ``"encoding"``, ``"model"`` or ``"path"``, and the name."""

    kind: Field
    name: str


DEFAULT_CHOICE = Choice("encoding", DEFAULT_ENCODING)


class ForFile(NamedTuple):
    """The settings of a file; None for settings that are not given."""

    choice: Choice | None
    budget: int | None


class _Rule(NamedTuple):
    matches: Callable[[str], bool]
    settings: ForFile


class Settings(NamedTuple):
    """All settings.

    Args:
        general: those of files to which no rule applies.
        rules: those of files by their paths; the first rule that gives a setting decides it.
        shown: True for each thing that is shown.
    """

    general: ForFile
    rules: tuple[_Rule, ...]
    shown: Mapping[str, bool]

    def of(self, path: str) -> tuple[Choice, int | None]:
        """Return the encoding and the budget of a file.

        >>> rule = {"pattern": "*.md", "model": "gpt-4", "budget": 8000}
        >>> settings = read_settings({"encoding": "gpt2", "files": [rule]})
        >>> settings.of("/home/me/notes/todo.md")
        (Choice(kind='model', name='gpt-4'), 8000)
        >>> settings.of("/home/me/todo.py")
        (Choice(kind='encoding', name='gpt2'), None)
        """
        path = path.replace("\\", "/")
        choice = budget = None
        for rule in self.rules:
            if rule.matches(path):
                choice = choice or rule.settings.choice
                budget = rule.settings.budget if budget is None else budget
        return (
            choice or self.general.choice or DEFAULT_CHOICE,
            self.general.budget if budget is None else budget,
        )


def read_settings(value: object) -> Settings:
    """Return the settings that a client has sent.

    Args:
        value: the object of settings, or one that has it as its section; null for none.

    Raises:
        RpcError: a setting is wrong; the message names it.

    >>> read_settings({"compatBpe": {"budget": "big"}})
    Traceback (most recent call last):
    compat_bpe.lsp.rpc.RpcError: budget: it must be a whole number from 0 to 2147483647, not "big"
    """
    value = in_section(value)
    if value and not isinstance(value, dict):
        raise invalid("", f"they must be an object, not {in_json(value)}")
    params = Params(value or {})
    general = _for_file(params)
    rules = []
    if "files" in params:
        for rule in params.objects("files"):
            try:
                matches = _matcher(rule.text("pattern"))
            except ValueError as error:
                raise rule.wrong("pattern", str(error)) from None
            rules.append(_Rule(matches, _for_file(rule)))
            rule.close()
    shown = dict(SHOWN)
    if "show" in params:
        show = params.inner("show")
        shown = {name: show.flag_or(name, default) for name, default in SHOWN.items()}
        show.close()
    params.close()
    return Settings(general, tuple(rules), shown)


def in_section(value: object) -> object:
    """Return the settings in an object that has them as its section; other objects as they are."""
    return value[SECTION] if isinstance(value, dict) and SECTION in value else value


def read_choice(params: Params) -> Choice | None:
    """Return the encoding that parameters name; None if they name none.

    Raises:
        RpcError: they name more than one, or not by a string.
    """
    choices = [
        Choice(kind, params.text(kind)) for kind in ("encoding", "model", "path") if kind in params
    ]
    if len(choices) > 1:
        raise params.wrong(choices[1].kind, f"give either this or {choices[0].kind}")
    return choices[0] if choices else None


def _for_file(params: Params) -> ForFile:
    return ForFile(read_choice(params), params.number_or("budget", None))


def _matcher(pattern: str) -> Callable[[str], bool]:
    """Return the function that returns True if a file pattern matches a path.

    The pattern is as in a ``.gitignore``, and ``{a,b}`` is either. A pattern with a slash is for a
    path: unless it begins with ``/``, it may begin at any folder. Without one, it is for a name.

    Raises:
        InvalidPatternError: it stands for too many patterns, or for nothing.

    >>> matches = _matcher("src/**/*.{py,pyi}")
    >>> matches("/home/me/src/a/b.pyi"), matches("/home/me/src.py")
    (True, False)
    """
    is_name = "/" not in pattern
    if not (is_name or pattern.startswith("/")):
        pattern = f"**/{pattern}"
    matchers = [matcher(one.removeprefix("/"), is_name=is_name) for one in alternatives(pattern)]

    def matches(path: str) -> bool:
        text = path.rpartition("/")[2] if is_name else path.removeprefix("/")
        return any(one(text) for one in matchers)

    return matches


#: The advice in errors about settings and requests, for their users.
TERMS = Terms(
    "set model to {}",
    "set encoding to {}",
    "set path to {}",
    listing="if you know its tokenizer, set encoding or path",
)


class Loaded(NamedTuple):
    """The meaning of a choice and its encoding, or those of the default and the problem."""

    answer: Answer
    encoding: Encoding
    problem: str = ""


class Encodings:
    """Encodings, each loaded when it is first asked for.

    Args:
        root: the folder that relative paths count from.
    """

    def __init__(self, root: str = "") -> None:
        self._root = root
        self._loaded: dict[Choice, Loaded | RpcError] = {}

    def get(self, choice: Choice) -> Loaded:
        """Return the answer to a choice, and its encoding.

        Raises:
            RpcError: it is not known, or cannot be loaded. A file that cannot be loaded is
                remembered until ``forget``; there may be many names that are wrong.
        """
        loaded = self._loaded.get(choice)
        if loaded is None:
            answer = self.answer(choice)
            try:
                loaded = Loaded(answer, encoding_of(answer))
            except (OSError, ValueError) as error:
                loaded = invalid(choice.kind, reason_of(error, choice))
            self._loaded[choice] = loaded
        if isinstance(loaded, RpcError):
            raise RpcError(loaded.code, loaded.message)
        return loaded

    def check(self, choice: Choice) -> None:
        """Raise the error of ``get`` if an encoding cannot be loaded; load it only from a file.

        Raises:
            RpcError: as in ``get``.
        """
        if self.answer(choice).path is not None:
            self.get(choice)

    def answer(self, choice: Choice) -> Answer:
        """Return the answer to a choice; a path is relative to the root.

        Raises:
            RpcError: it is not known.
        """
        files = choice.kind != "encoding"
        try:
            answer = resolve(choice.name, choice.kind, files=files, estimate=True)
        except UnresolvedError as error:
            raise invalid(choice.kind, error.message(TERMS)) from None
        path = answer.path
        if path is None or path.startswith(STORES):
            return answer
        return answer._replace(path=os.path.join(self._root, os.path.expanduser(path)))

    def forget(self) -> None:
        """Forget encodings that may come from files, so that they are loaded again."""
        self._loaded = {
            choice: one for choice, one in self._loaded.items() if choice.kind == "encoding"
        }


def reason_of(error: Exception, choice: Choice) -> str:
    """Return why an encoding cannot be loaded, as a sentence for people.

    >>> reason_of(FileNotFoundError(2, "No such file"), Choice("path", "vocab.txt"))
    'vocab.txt: No such file'
    """
    if isinstance(error, UnresolvedError):
        return error.message(TERMS)
    if isinstance(error, OSError) and error.strerror:
        return f"{choice.name}: {error.strerror}"
    return str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
