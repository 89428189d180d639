"""Finding the configuration: the nearest one in a folder or above it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..files.ignore import GIT
from .source import NAME, PYPROJECT, ConfigurationError, Source, read_source


def find_configuration(start: str) -> Source | None:
    """Return the nearest configuration in a folder or above it, up to the top of its repository.

    Outside a repository, the search goes up to the root. In one folder, ``.compat-bpe.toml`` comes
    before ``pyproject.toml``; files that say nothing of budgets are passed over.

    Raises:
        OSError, ConfigurationError: a file on the way cannot be read, or is no TOML.
    """
    for folder in _upward(os.path.abspath(start)):
        for name in (NAME, PYPROJECT):
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                top = os.path.realpath(top_of_repository(folder) or folder)
                if not os.path.realpath(path).startswith(os.path.join(top, "")):
                    raise ConfigurationError(
                        f"{path}: a link that leads outside {top}; name its target by --config"
                    )
                source = read_source(path)
                if source.table is not None:
                    return source
    return None


def top_of_repository(folder: str) -> str | None:
    """Return the folder of the repository that a folder is in; None if it is in none."""
    return next((one for one in _upward(folder) if os.path.lexists(os.path.join(one, GIT))), None)


def _upward(folder: str) -> Iterator[str]:
    """Yield a folder and those above it, up to the first with a repository."""
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder or os.path.lexists(os.path.join(folder, GIT)):
            return
        folder = parent
