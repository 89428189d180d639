"""The files of a git revision, without running anything that a repository may configure.

Names never go to git: files are asked for by the ids of their contents. No hook, filter, external
``diff`` or ``textconv`` runs, nothing is fetched, and nothing is written. Renames are those of the
index, since git filters files of the working tree before it compares them.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from typing import NamedTuple

#: Seconds after which git is given up.
TIMEOUT = 120

#: Settings of git that would run programs, or change what it prints.
_SETTINGS = (
    *("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}"),
    *("-c", "diff.relative=false", "-c", "core.pager="),
)
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # an older git does not know the line above
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C",
}

#: The modes of regular files in a tree; links and submodules have others.
_REGULAR = (b"100644", b"100755", b"100664")


class GitError(Exception):
    """The revision cannot be read; the message says why."""


class Base(NamedTuple):
    """The files of a revision below a folder, by their paths relative to it.

    Args:
        revision: the id of its commit.
        blobs: the id of each file's content.
        renamed: the path of each file in the revision, by its path now, if these differ.
    """

    revision: str
    blobs: dict[str, str]
    renamed: dict[str, str]


def read_base(folder: str, revision: str) -> Base:
    """Return the files of a revision below a folder.

    Args:
        folder: a folder of the repository.
        revision: the revision, as git takes it.

    Raises:
        GitError: git is missing, the folder is in no repository, or there is no such revision.
    """
    if revision.startswith("-") or not revision or any(char in revision for char in "\0\n"):
        raise GitError(f"{revision!r} is no revision")
    prefix = _git(folder, "rev-parse", "--show-prefix").removesuffix(b"\n")
    try:
        found = _git(folder, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    except GitError:
        raise GitError(
            f"there is no revision {revision!r}; in a shallow clone, fetch it first"
        ) from None
    commit = found.decode("ascii").strip()
    blobs: dict[str, str] = {}
    for entry in _git(folder, "ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0"):
        about, _, name = entry.partition(b"\t")
        if name.startswith(prefix) and about.split(b" ")[0] in _REGULAR:
            blobs[_path(name, prefix)] = about.split(b" ")[2].decode("ascii")
    return Base(commit, blobs, _renamed(folder, commit, prefix))


def _renamed(folder: str, commit: str, prefix: bytes) -> dict[str, str]:
    fields = _git(
        folder,
        *("diff-index", "--cached", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all"),
        *("--name-status", "--find-renames", "--diff-filter=R", "-z", commit, "--"),
    ).split(b"\0")
    renamed = {}
    for at in range(0, len(fields) - 2, 3):
        before, after = fields[at + 1], fields[at + 2]
        if before.startswith(prefix) and after.startswith(prefix):
            renamed[_path(after, prefix)] = _path(before, prefix)
    return renamed


def _path(name: bytes, prefix: bytes) -> str:
    return os.fsdecode(name[len(prefix) :])


def read_blobs(folder: str, ids: Iterable[str]) -> dict[str, bytes]:
    """Return contents by their ids.

    Raises:
        GitError: git fails, or a content is missing, as in a partial clone.
    """
    ids = list(dict.fromkeys(ids))
    if not ids:
        return {}
    data = _git(folder, "cat-file", "--batch", stdin="".join(f"{one}\n" for one in ids).encode())
    contents = {}
    at = 0
    for one in ids:
        end = data.index(b"\n", at)
        fields = data[at:end].split(b" ")
        if len(fields) != 3 or fields[1] != b"blob":
            raise GitError(f"the content {one} is not in this clone; fetch it first")
        at = end + 1 + int(fields[2])
        contents[one] = data[end + 1 : at]
        at += 1
    return contents


def _git(folder: str, *arguments: str, stdin: bytes = b"") -> bytes:
    try:
        done = subprocess.run(
            ["git", "--no-pager", *_SETTINGS, *arguments],
            cwd=folder,
            env={**os.environ, **_ENVIRONMENT},
            input=stdin,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
    except FileNotFoundError:
        raise GitError("git is not installed") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"git took more than {TIMEOUT} seconds") from None
    if done.returncode:
        words = os.fsdecode(done.stderr).strip().split("\n")
        raise GitError(words[0] or f"git {arguments[0]} failed")
    return done.stdout


def has_content(path: str, blob: str) -> bool:
    """Return True if a file has the content of an id."""
    from hashlib import sha1, sha256  # only this needs them

    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return False
    made = (sha1 if len(blob) == 40 else sha256)(b"blob %d\0" % len(data))
    made.update(data)
    return made.hexdigest() == blob
