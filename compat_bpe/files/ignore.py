"""Rules of ignore files, and globs, matched by the rules of git's ``wildmatch``.

The first file with a rule that matches decides. As in ripgrep, the ``.ignore`` files of the
directory and those above it come first. Then, as in git: the ``.gitignore`` of the directory, those
of the directories above it, the repository's ``info/exclude``, the user's ``core.excludesFile``.
Git's rules do not apply to files that it tracks.

A pattern of a name is runs of characters with stars between them. A pattern of a path is runs of
names with ``**`` between them. In both, a run between two stars has a fixed length. The first place
where it fits leaves the most text for the rest, so no other place has to be tried. So each
character of a pattern is compared with each character of a text a few times at most. A regular
expression would try the stars in all combinations.

Git compares bytes. So a text here is the bytes of a text, each as a character (``as_bytes``).

With ``core.ignoreCase``, which git sets if the disk does not tell ``A`` from ``a``, git lowercases
the text and the pattern, but not the sets of a pattern and not a character behind a backslash
(``_Set`` has the exceptions). So ``[A]`` then matches neither ``A`` nor ``a``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Union

from .whole import read_gits_text

if TYPE_CHECKING:
    from .git import TrackedFiles


#: The characters that make a pattern more than plain text.
_SPECIAL = re.compile(r"[*?\[\\]")
_STARS = re.compile(r"\*+")
#: The classes that may be in a set, as in ``[[:digit:]]``: C's, for ASCII, as sets of ``re``.
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
    "space": r"\t\n\r ",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


#: Letters of ASCII in lower case: git folds no others.
_LOWER = {ord(char): char.lower() for char in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


class _Set:
    """A set of characters, or its complement.

    Args:
        chars: single characters.
        ranges: the first and last characters of ranges. They are not written out, since a range may
            have a million characters.
        negated: True for the complement.
        any_case: True if a range with a letter in upper case also has it in lower case.
    """

    __slots__ = ("_any_case", "_chars", "_negated", "_ranges")

    def __init__(
        self,
        chars: frozenset[str],
        ranges: tuple[tuple[str, str], ...],
        negated: bool,
        any_case: bool = False,
    ) -> None:
        self._chars = chars
        self._ranges = ranges
        self._negated = negated
        self._any_case = any_case

    def __contains__(self, char: str) -> bool:
        is_in = char in self._chars
        upper = char.upper() if self._any_case and char.isascii() else char
        for first, last in self._ranges:
            is_in = is_in or first <= char <= last or first <= upper <= last
        return is_in is not self._negated


_EVERY = _Set(frozenset(), (), True)

#: The pattern of one character of a text: itself, or the set of all that match.
_Char = Union[str, _Set]
#: A part of a pattern: one character's, or a number of stars.
_Part = Union[_Char, int]


#: Braces with a comma in them; and escapes and sets, in which a brace is a character.
_BRACES = re.compile(r"\\.|\[[!^]?\]?[^\]]*\]|\{([^{}\\\[\]]*,[^{}\\\[\]]*)\}", re.DOTALL)
#: The most patterns that a pattern with braces may stand for.
MOST_ALTERNATIVES = 256


class InvalidPatternError(ValueError):
    """The error for a pattern that is refused.

    Nothing can match it (a set has no end, or nothing follows a backslash), or its braces stand for
    too many patterns.
    """


def alternatives(glob: str) -> list[str]:
    r"""Return the patterns that a glob with braces stands for: ``{a,b}`` is ``a`` or ``b``.

    Git's ignore files have no braces. Braces without a comma, escaped or in a set are characters.

    Raises:
        InvalidPatternError: there are more than ``MOST_ALTERNATIVES``.

    >>> alternatives("src/*.{py,pyi}")
    ['src/*.py', 'src/*.pyi']
    >>> alternatives(r"{a},\{b,c}")
    ['{a},\\{b,c}']
    """
    choices: list[list[str]] = []
    at = 0
    for found in _BRACES.finditer(glob):
        if found[1] is not None:
            choices += [[glob[at : found.start()]], found[1].split(",")]
            at = found.end()
    choices.append([glob[at:]])
    if prod(map(len, choices)) > MOST_ALTERNATIVES:
        raise InvalidPatternError(f"the braces stand for more than {MOST_ALTERNATIVES} patterns")
    return ["".join(chosen) for chosen in product(*choices)]


def as_bytes(text: str) -> str:
    """Return the bytes of a path or a pattern, each as a character.

    >>> as_bytes("é")
    'Ã©'
    """
    return text if text.isascii() else os.fsencode(text).decode("latin-1")


def lowered(text: str) -> str:
    """Return a text, as by ``as_bytes``, with its letters of ASCII in lower case.

    >>> lowered("A\xc4")
    'aÄ'
    """
    return text.translate(_LOWER)


def matcher(pattern: str, *, is_name: bool, any_case: bool = False) -> Callable[[str], bool]:
    r"""Return a function that returns True for a text that a pattern matches.

    Args:
        pattern: the pattern; like the texts, it is converted by ``as_bytes``.
        is_name: the pattern is for a name. Otherwise it is for a path, in which only ``**``
            between slashes matches a slash.
        any_case: the pattern matches in upper and lower case; texts must be ``lowered``.

    Raises:
        InvalidPatternError: the pattern matches nothing.

    >>> matcher("*.py[co]", is_name=True)("a.pyc")
    True
    >>> matches = matcher("b/**/x", is_name=False)
    >>> [path for path in ("x", "b/x", "a/b/x", "b/c/d/x") if matches(path)]
    ['b/x', 'b/c/d/x']
    """
    special = _SPECIAL.search(pattern)
    if special is None:
        return (lowered(pattern) if any_case else pattern).__eq__
    if is_name:
        return _name(_parts(pattern, any_case)).matches
    # Git compares the part before the first special character as a text. So two stars there begin a
    # pattern and match slashes, although they are within a name.
    stars = _STARS.match(pattern, special.start())
    before, after = pattern[: special.start()], pattern[stars.end() if stars else 0 :]
    before = lowered(before) if any_case else before
    if stars and len(stars[0]) > 1 and before and not before.endswith("/"):
        if not after:
            return lambda path: path.startswith(before)
        if after.startswith(("/", "\\/")):
            rest = after[after.index("/") + 1 :]
            below = _path_matcher(f"{before}*/**/{rest}", any_case)
            if after.startswith("\\"):
                return below
            beside = _path_matcher(before + rest, any_case)
            return lambda path: beside(path) or below(path)
    return _path_matcher(pattern, any_case)


def _path_matcher(pattern: str, any_case: bool) -> Callable[[str], bool]:
    """Return a function that matches paths, name by name; see ``matcher``."""
    names: list[_Name | None] = []
    parts: list[_Part] = []
    for part in [*_parts(pattern, any_case), "/"]:
        if part not in ("/", _ESCAPED_SLASH):
            parts.append(part)
            continue
        if not (len(parts) == 1 and isinstance(parts[0], int) and parts[0] > 1):
            names.append(_name(parts))
        elif part == "/":
            names.append(None)
        else:
            names += [_ANY, None]  # as git has it, at least one directory
        parts = []
    if names[-1] is None:
        names.append(_ANY)
    path = _Path(names)
    return lambda text: path.matches(text.split("/"))


def _name(parts: Iterable[_Part]) -> _Name:
    return _Name(None if isinstance(part, int) else part for part in parts)


class _Starred:
    """A pattern of runs with stars between them.

    Args:
        parts: each matches one item of the text; None is a star.
    """

    def __init__(self, parts: Iterable[Any]) -> None:
        runs: list[list[Any]] = [[]]
        for part in parts:
            if part is not None:
                runs[-1].append(part)
            elif runs[-1] or len(runs) == 1:  # a star beside a star adds nothing
                runs.append([])
        self._length = sum(map(len, runs))
        self._first, *between = map(self.run, runs)
        self._last = between.pop() if between else None
        self._between = between

    def matches(self, text: Any) -> bool:
        """Return True if the whole text, or the whole list of names, matches."""
        if self._last is None:
            return len(text) == self._length and self.fits(self._first, text, 0)
        end = len(text) - len(self._last)
        if (
            len(text) < self._length
            or not self.fits(self._first, text, 0)
            or not self.fits(self._last, text, end)
        ):
            return False
        at = len(self._first)
        for run in self._between:
            at = self.find(run, text, at, end)
            if at < 0:
                return False
            at += len(run)
        return True

    def run(self, parts: list[Any]) -> Any:
        """Return a run in the form in which it is compared."""
        return parts

    def fits(self, run: Any, text: Any, at: int) -> bool:
        """Return True if a run is at a place of a text that is long enough."""
        raise NotImplementedError

    def find(self, run: Any, text: Any, at: int, end: int) -> int:
        """Return the first place of a run between two places, or -1."""
        places = range(at, end - len(run) + 1)
        return next((place for place in places if self.fits(run, text, place)), -1)


class _Name(_Starred):
    """A pattern of a name, or of the part of a path between slashes: runs of characters."""

    def run(self, parts: list[_Char]) -> str | list[_Char]:
        chars = [part for part in parts if isinstance(part, str)]
        return "".join(chars) if len(chars) == len(parts) else parts

    def fits(self, run: str | list[_Char], text: str, at: int) -> bool:
        if isinstance(run, str):
            return text.startswith(run, at)
        return all(char in part for char, part in zip(text[at : at + len(run)], run))

    def find(self, run: str | list[_Char], text: str, at: int, end: int) -> int:
        return text.find(run, at, end) if isinstance(run, str) else super().find(run, text, at, end)


class _Path(_Starred):
    """A pattern of a path: runs of names."""

    def fits(self, run: list[_Name], text: list[str], at: int) -> bool:
        return all(name.matches(text[at + index]) for index, name in enumerate(run))


#: The pattern that any name matches.
_ANY = _Name([None])
#: The part of a pattern for a slash after a backslash.
_ESCAPED_SLASH = "\\/"


def _parts(pattern: str, any_case: bool) -> Iterator[_Part]:
    """Yield the parts of a pattern; with ``any_case`` its letters in lower case, as in git.

    Raises:
        InvalidPatternError: the pattern matches nothing.
    """
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "*":
            stars = len(pattern) - at - len(pattern[at:].lstrip("*"))
            yield stars
            at += stars
        elif char == "?":
            yield _EVERY
            at += 1
        elif char == "[":
            chars, at = _set(pattern, at + 1, any_case)
            yield chars
        elif char == "\\":
            escaped = _char(pattern, at + 1)
            yield _ESCAPED_SLASH if escaped == "/" else escaped
            at += 2
        else:
            yield lowered(char) if any_case else char
            at += 1


def _char(pattern: str, at: int) -> str:
    """Return a character of a pattern.

    Raises:
        InvalidPatternError: the pattern ends before it.
    """
    if at >= len(pattern):
        raise InvalidPatternError(f"{pattern!r} ends within a set or behind a backslash")
    return pattern[at]


def _set(pattern: str, at: int, any_case: bool) -> tuple[_Set, int]:
    """Return the set whose bracket is before ``at``, and the place behind the set.

    Raises:
        InvalidPatternError: the set has no end, or has a class that does not exist.
    """
    negated = _char(pattern, at) in "!^"
    at += negated
    chars: set[str] = set()
    ranges: list[tuple[str, str]] = []
    last = ""  # the character before, with which a range may begin
    first = True
    while first or _char(pattern, at) != "]":
        first = False
        char = _char(pattern, at)
        if char == "\\":
            at += 1
            last = _char(pattern, at)
            chars.add(last)
        elif char == "-" and last and pattern[at + 1 : at + 2] not in ("", "]"):
            at += 1
            if pattern[at] == "\\":
                at += 1
            ranges.append((last, _char(pattern, at)))
            last = ""
        elif char == "[" and pattern[at + 1 : at + 2] == ":":
            end = pattern.find("]", at + 2)
            if end < 0:
                raise InvalidPatternError(f"{pattern!r} ends within a set")
            if end > at + 2 and pattern[end - 1] == ":":
                name = pattern[at + 2 : end - 1]
                if name not in _CLASSES:
                    raise InvalidPatternError(f"there is no class [:{name}:]")
                members = _CLASSES["alpha" if any_case and name == "upper" else name]
                chars.update(re.findall(f"[{members}]", "".join(map(chr, range(128)))))
                at, last = end, ""
            else:
                chars.add(char)
                last = char
        else:
            chars.add(char)
            last = char
        at += 1
    return _Set(frozenset(chars), tuple(ranges), negated, any_case), at + 1


#: The files in a directory with the rules for everything below it: of git, of ripgrep and others.
GIT_IGNORE = ".gitignore"
DOT_IGNORE = ".ignore"
#: The entry at the top of a repository: its directory, or a file that says where this is.
GIT = ".git"


class _Rule(NamedTuple):
    matches: Callable[[str], bool]
    ignores: bool
    only_directories: bool
    #: True if it is matched against the last part of a path alone.
    only_name: bool


class Rules:
    """The rules of one ignore file, or some globs.

    Args:
        base: the absolute path of the directory that the rules are for.
        lines: patterns, as in a ``.gitignore``.
        any_case: the patterns match in upper and lower case, as with git's ``core.ignoreCase``.

    >>> rules = Rules("/src", ["*.log", "!keep.log", "build/"])
    >>> rules.verdict("/src/a.log", False), rules.verdict("/src/keep.log", False)
    (True, False)
    >>> rules.verdict("/src/build", True), rules.verdict("/src/build", False)
    (True, None)
    """

    def __init__(self, base: str, lines: Iterable[str], any_case: bool = False) -> None:
        self.any_case = any_case
        self._skip = len(base.rstrip(os.sep)) + 1
        rules = [rule for line in lines for rule in _parse(line, any_case)]
        # The last rule that matches decides.
        self._rules = rules[::-1]

    def verdict(self, path: str, is_directory: bool) -> bool | None:
        """Return True if a path below the base is ignored; None if no rule matches the path.

        Only the path itself is looked at, since a walk does not enter ignored directories.
        """
        relative = path[self._skip :]
        if os.sep != "/":
            relative = relative.replace(os.sep, "/")
        relative = as_bytes(relative)
        if self.any_case:
            relative = lowered(relative)
        name = relative.rpartition("/")[2]
        for matches, ignores, only_directories, only_name in self._rules:
            if only_directories and not is_directory:
                continue
            if matches(name if only_name else relative):
                return ignores
        return None


class Globs:
    """The patterns of ``--include`` and ``--exclude``.

    A glob is a pattern as in a ``.gitignore`` of the current directory, except that ``{a,b}`` means
    ``a`` or ``b``, and that ``!`` and ``#`` are ordinary characters.

    >>> globs = Globs(["*.{py,pyi}", "docs/"], ["test_*"])
    >>> globs.include("docs/api/a.md"), globs.include("a.md")
    (True, False)
    >>> globs.exclude("src/test_a.py", False), globs.exclude("test_data/a.py", False)
    (True, False)
    """

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self._include = Rules(os.sep, _patterns(include))
        self._exclude = Rules(os.sep, _patterns(exclude))
        self._all = not include

    def include(self, path: str) -> bool:
        """Return True if a file, or a directory around it, matches ``--include``."""
        return self._all or _any_part(self._include, path)

    def exclude(self, path: str, is_directory: bool) -> bool:
        """Return True if a path matches ``--exclude``; a walk does not enter such a directory."""
        return bool(self._exclude.verdict(os.sep + path, is_directory))


def _patterns(globs: Iterable[str]) -> Iterator[str]:
    for glob in globs:
        for pattern in alternatives(glob):
            yield "\\" + pattern if pattern.startswith(("!", "#")) else pattern


def _any_part(rules: Rules, path: str) -> bool:
    """Return True if rules match a file, or a directory around it."""
    is_directory = False
    while path:
        if rules.verdict(os.sep + path, is_directory):
            return True
        path, is_directory = os.path.dirname(path), True
    return False


class Scope(NamedTuple):
    """The rules for the entries of a directory, nearest first; the first that match decide.

    Args:
        dotted: the rules of ``.ignore`` files, which come before all others.
        git: the rules of git.
        tracked: the tracked files of the repository; None outside a repository.
        is_ignored: True if git ignores the directory itself. Then only tracked files are found.
    """

    dotted: tuple[Rules, ...] = ()
    git: tuple[Rules, ...] = ()
    tracked: TrackedFiles | None = None
    is_ignored: bool = False

    def below(self, path: str, is_directory: bool) -> Scope | None:
        """Return the scope below a directory, or for a file; None if it is ignored.

        Git never ignores a tracked file, and enters a directory with such a file.

        Raises:
            OSError: git's index cannot be read.
        """
        verdict = _verdict(self.dotted, path, is_directory)
        if verdict:
            return None
        by_git = self.is_ignored or (verdict is None and _verdict(self.git, path, is_directory))
        if not by_git:
            return self
        if self.tracked is None or not self.tracked.has(path, is_directory):
            return None
        return self._replace(is_ignored=True)

    def inside(self, directory: str, names: Container[str] | None = None) -> Scope:
        """Return the scope for the entries of a directory: with its own rules first.

        A repository within another has only its own rules of git, and the user's.

        Args:
            directory: an absolute path.
            names: the names in it, in lower case, if they are known.

        Raises:
            OSError: an ignore file or git's configuration cannot be read.
        """
        scope = self
        if (names is None or GIT in names) and os.path.lexists(os.path.join(directory, GIT)):
            scope = _scope_of_repository(directory)._replace(dotted=self.dotted)
        any_case = scope.tracked is not None and scope.tracked.ignores_case
        if rules := _rules_in(directory, GIT_IGNORE, names, any_case):
            scope = scope._replace(git=(rules, *scope.git))
        if rules := _rules_in(directory, DOT_IGNORE, names):
            scope = scope._replace(dotted=(rules, *scope.dotted))
        return scope


def _rules_in(
    directory: str, name: str, names: Container[str] | None, any_case: bool = False
) -> Rules | None:
    """Return the rules of an ignore file in a directory, if there are any.

    As in git, a link is not followed: it might lead out of the repository.
    """
    path = os.path.join(directory, name)
    if (names is not None and name not in names) or os.path.islink(path):
        return None
    lines = _lines(path)
    return Rules(directory, lines, any_case) if lines else None


def _verdict(chain: Iterable[Rules], path: str, is_directory: bool) -> bool | None:
    """Return the verdict of the first rules that match a path; None if none match it."""
    for rules in chain:
        verdict = rules.verdict(path, is_directory)
        if verdict is not None:
            return verdict
    return None


def scope_around(directory: str) -> Scope:
    """Return the scope that a directory has from those above it.

    ``.gitignore`` files count from the top of the repository on, and not outside of one;
    ``.ignore`` files count from the root on.

    Args:
        directory: an absolute path without symbolic links.

    Raises:
        OSError: an ignore file or git's configuration cannot be read.
    """
    above = [directory]
    while above[-1] != os.path.dirname(above[-1]):
        above.append(os.path.dirname(above[-1]))
    in_git = (at for at, path in enumerate(above) if os.path.lexists(os.path.join(path, GIT)))
    top = next(in_git, 0)
    scope = Scope()
    for at in range(len(above) - 1, 0, -1):
        scope = scope.inside(above[at], None if at <= top else (DOT_IGNORE,))
    return scope


def _scope_of_repository(top: str) -> Scope:
    """Return the scope at the top of a working tree, without the ignore files there."""
    from .git import TrackedFiles, read_settings  # only repositories need these

    own, shared = _git_directories(top)
    settings = read_settings(shared, top)
    paths = (os.path.join(shared, "info", "exclude"), settings.excludes_file)
    rules = tuple(
        Rules(top, lines, settings.ignores_case)
        for path in paths
        if path and (lines := _lines(path))
    )
    return Scope(git=rules, tracked=TrackedFiles(top, own, settings))


def _git_directories(top: str) -> tuple[str, str]:
    """Return the directory of a working tree's index, and that of its configuration.

    Worktrees and submodules have them elsewhere; a worktree shares its repository's configuration.
    """
    own = os.path.join(top, GIT)
    if os.path.isfile(own):
        for line in _lines(own)[:1]:
            own = os.path.join(top, line.removeprefix("gitdir:").strip())
    shared = own
    for line in _lines(os.path.join(own, "commondir"))[:1]:
        shared = os.path.join(own, line.strip())
    return own, shared


def _lines(path: str) -> list[str]:
    """Return the lines of a file. As in git, a missing file or a device has no lines."""
    lines = read_gits_text(path).split("\n")
    return [line.removesuffix("\r") for line in lines if line.removesuffix("\r")]


def _parse(line: str, any_case: bool) -> list[_Rule]:
    """Return the rule of a line; none for a comment or an invalid pattern, as in git."""
    if line.startswith("#"):
        return []
    # Git reads a pattern as a string of C, which ends at a NUL.
    pattern = as_bytes(_without_spaces_behind(line.partition("\0")[0]))
    ignores = not pattern.startswith("!")
    pattern = pattern[not ignores :]
    only_directories = pattern.endswith("/")
    if only_directories:
        pattern = pattern[:-1]
    only_name = "/" not in pattern
    try:
        matches = matcher(pattern.removeprefix("/"), is_name=only_name, any_case=any_case)
    except InvalidPatternError:
        return []
    return [_Rule(matches, ignores, only_directories, only_name)]


def _without_spaces_behind(line: str) -> str:
    """Return a line without the spaces at its end; a backslash keeps the space after it."""
    stripped = line.rstrip(" ")
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    return line[: len(stripped) + backslashes % 2]
