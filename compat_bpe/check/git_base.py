"""The files of a git revision, without running anything that a repository may configure.

Git gets no names of files, only the ids of their contents. No hook, filter, external ``diff`` or
``textconv`` runs, nothing is fetched, and nothing is written. Renames are those of the index, since
git filters files of the working tree before it compares them.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from tempfile import TemporaryFile
from threading import Timer
from typing import NamedTuple

from ..files.whole import read_at_most

#: Seconds after which git is given up.
TIMEOUT = 120

#: The most bytes that git may print of a tree, and those of one content.
MOST_PRINTED = 1 << 28
LARGEST_CONTENT = 1 << 28
#: The most bytes, and the most contents, that are asked for at once.
_AT_ONCE = 1 << 24
_MOST_AT_ONCE = 10_000
#: The most bytes of a line about a content, and of messages.
_LONGEST_LINE = 200
_LONGEST_MESSAGE = 1 << 16

#: Settings of git that would run programs, or change its output.
_SETTINGS = (
    "-c",
    "core.fsmonitor=false",
    "-c",
    f"core.hooksPath={os.devnull}",
    "-c",
    "diff.relative=false",
    "-c",
    "core.pager=",
)
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # an older git does not know the line above
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C",
}

#: The modes of regular files in a tree; links have another.
_REGULAR = (b"100644", b"100755", b"100664")
_SUBMODULE = b"160000"


class GitError(Exception):
    """The revision cannot be read; the message says why."""


class Base(NamedTuple):
    """The files of a revision below a folder, by their paths relative to it.

    Args:
        revision: the id of its commit.
        blobs: the id of each file's content.
        renamed: the path of each file in the revision, by its path now, if these differ.
        submodules: the folders of submodules, which have a history of their own.
    """

    revision: str
    blobs: dict[str, str]
    renamed: dict[str, str]
    submodules: tuple[str, ...]

    def has_history(self, path: str) -> bool:
        """Return True if a file is one of this repository, and not of a submodule."""
        return not path.startswith(tuple(f"{folder}/" for folder in self.submodules))


def read_base(folder: str, revision: str) -> Base:
    """Return the files of a revision below a folder.

    Args:
        folder: a folder of the repository.
        revision: the revision, as git takes it.

    Raises:
        GitError: git is missing, the folder is in no repository, or there is no such revision.
    """
    if revision.startswith("-") or not revision or any(char in revision for char in "\0\n"):
        raise GitError(f"{revision!r} is not a revision")
    prefix = _git(folder, "rev-parse", "--show-prefix").removesuffix(b"\n")
    try:
        found = _git(folder, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    except GitError:
        raise GitError(
            f"there is no revision {revision!r}; in a shallow clone, fetch it first"
        ) from None
    commit = found.decode("ascii").strip()
    blobs: dict[str, str] = {}
    submodules: list[str] = []
    # Without --full-tree, git lists the files below the folder, by paths relative to it.
    for entry in _git(folder, "ls-tree", "-r", "-z", commit).split(b"\0"):
        about, _, name = entry.partition(b"\t")
        mode = about.split(b" ")[0]
        if mode in _REGULAR:
            blobs[os.fsdecode(name)] = about.split(b" ")[2].decode("ascii")
        elif mode == _SUBMODULE:
            submodules.append(os.fsdecode(name))
    return Base(commit, blobs, _renamed(folder, commit, prefix), tuple(submodules))


def _renamed(folder: str, commit: str, prefix: bytes) -> dict[str, str]:
    fields = _git(
        folder,
        "diff-index",
        "--cached",
        "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules=all",
        "--name-status",
        "--find-renames",
        "--diff-filter=R",
        "-z",
        commit,
        "--",
    ).split(b"\0")
    renamed = {}
    for at in range(0, len(fields) - 2, 3):
        before, after = fields[at + 1], fields[at + 2]
        if before.startswith(prefix) and after.startswith(prefix):
            renamed[_path(after, prefix)] = _path(before, prefix)
    return renamed


def _path(name: bytes, prefix: bytes) -> str:
    return os.fsdecode(name[len(prefix) :])


def read_blobs(folder: str, blobs: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    """Yield each id of a content with the content, a few of them in memory at a time.

    Args:
        folder: a folder of the repository.
        blobs: the ids, by the paths that messages name.

    Raises:
        GitError: git fails, or a content is too large or missing, as in a partial clone.
    """
    path_of = {one: path for path, one in blobs.items()}
    if not path_of:
        return
    asked = _lines(path_of)
    limit = _LONGEST_LINE * len(path_of)
    sizes: dict[str, int] = {}
    for line in _git(folder, "cat-file", "--batch-check", stdin=asked, limit=limit).splitlines():
        fields = line.split(b" ")
        one = fields[0].decode("ascii")
        if len(fields) != 3 or fields[1] != b"blob":
            raise GitError(f"{path_of[one]}: its content is not in this clone; fetch {one} first")
        sizes[one] = int(fields[2])
        if sizes[one] > LARGEST_CONTENT:
            raise GitError(
                f"{path_of[one]}: {sizes[one]:,} bytes in the revision, and at most "
                f"{LARGEST_CONTENT:,} are read; exclude it in the configuration"
            )
    for group in _groups(sizes):
        limit = sum(sizes[one] + _LONGEST_LINE for one in group)
        data = _git(folder, "cat-file", "--batch", stdin=_lines(group), limit=limit)
        at = 0
        for one in group:
            start = data.index(b"\n", at) + 1
            at = start + sizes[one]
            yield one, data[start:at]
            at += 1


def _lines(ids: Iterable[str]) -> bytes:
    return "".join(f"{one}\n" for one in ids).encode("ascii")


def _groups(sizes: Mapping[str, int]) -> Iterator[list[str]]:
    """Yield ids in groups to be asked for at once."""
    group: list[str] = []
    size = 0
    for one, more in sizes.items():
        if group and (size + more > _AT_ONCE or len(group) == _MOST_AT_ONCE):
            yield group
            group, size = [], 0
        group.append(one)
        size += more
    yield group


def _git(folder: str, *arguments: str, stdin: bytes = b"", limit: int = MOST_PRINTED) -> bytes:
    """Return what git prints.

    Raises:
        GitError: it fails, takes too long, or prints more than ``limit`` bytes.
    """
    with TemporaryFile() as requests, TemporaryFile() as messages:
        requests.write(stdin)
        requests.seek(0)
        try:
            process = subprocess.Popen(
                ["git", "--no-pager", *_SETTINGS, *arguments],
                cwd=folder,
                env={**os.environ, **_ENVIRONMENT},
                stdin=requests,
                stdout=subprocess.PIPE,
                stderr=messages,
            )
        except FileNotFoundError:
            raise GitError("git is not installed") from None
        started = time.monotonic()
        timer = Timer(TIMEOUT, process.kill)
        timer.daemon = True
        timer.start()
        with process:
            assert process.stdout is not None
            try:
                printed = read_at_most(process.stdout.read, limit + 1)
                if len(printed) <= limit:
                    process.wait()
            finally:
                process.kill()
                timer.cancel()
        if time.monotonic() - started >= TIMEOUT:
            raise GitError(f"git took more than {TIMEOUT} seconds")
        if len(printed) > limit:
            raise GitError(f"git {arguments[0]} prints more than {limit:,} bytes")
        if process.returncode:
            messages.seek(0)
            words = os.fsdecode(messages.read(_LONGEST_MESSAGE)).strip().split("\n")
            raise GitError(words[0] or f"git {arguments[0]} failed")
        return printed


def has_content(path: str, blob: str) -> bool:
    """Return True if a file has the content of an id."""
    return content_id(path, len(blob)) == blob


def content_id(path: str, length: int) -> str | None:
    """Return the id that git gives to the content of a file; None if it cannot be read.

    Args:
        path: the file.
        length: the length of the repository's ids, 40 for SHA-1.
    """
    from hashlib import sha1, sha256  # only this needs them

    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return None
    digest = (sha1 if length == 40 else sha256)(b"blob %d\0" % len(data))
    digest.update(data)
    return digest.hexdigest()
