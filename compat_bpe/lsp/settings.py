"""The settings: the encoding and the budget of each file, and what is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Callable, NamedTuple

from ..encodings.resolve import DEFAULT_ENCODING
from ..files.ignore import alternatives, matcher
from .rpc import Params, in_json, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..encodings.resolve import Field

#: The name of the section of settings, in editors that have sections.
SECTION = "compatBpe"

#: Each thing that is shown, and True if it is unless the settings say otherwise.
SHOWN = {
    "codeLens": True,
    "inlayHints": False,  # the same counts, for editors without lenses
    "hover": False,  # it comes among what another server says of the place
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
    """The settings of a file; None for what the settings do not say."""

    choice: Choice | None
    budget: int | None


class _Rule(NamedTuple):
    matches: Callable[[str], bool]
    settings: ForFile


class Settings(NamedTuple):
    """All settings.

    Args:
        general: those of files that no rule is for.
        rules: those of files by their paths; the first rule that has a say decides.
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
    """Return the function that says if a file pattern matches a path.

    The pattern is as in a ``.gitignore``, and ``{a,b}`` is either. With a slash it is for a path:
    one that does not begin with ``/`` may begin at any folder. Without one it is for a name.

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
