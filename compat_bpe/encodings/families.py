"""Families of models whose vocabularies do not ship, and what counts their tokens."""

from __future__ import annotations

import re
from typing import NamedTuple, Union


class NeedsFile(NamedTuple):
    """A family whose tokenizer is published, and does not ship.

    Args:
        name: the name of the family.
        repository: a repository of Hugging Face that has the files, as ``OWNER/NAME``; or the
            address of the file.
        files: the names of the files to fetch, with a space between two; empty for an address.
        models: the pattern of the models' plain names, matched at their beginnings.
    """

    name: str
    repository: str
    files: str
    models: str

    @property
    def taken_as(self) -> str | None:
        """What ``-e`` and ``load`` take; None if that is no more than the path of the file."""
        return f"hf:{self.repository}" if self.files else None

    @property
    def source(self) -> str:
        """What fetches the files: a command, or the address of the file."""
        return f"hf download {self.repository} {self.files}" if self.files else self.repository

    def of(self, model_name: str) -> NeedsFile:
        """Return the family with a model's own repository, if the name is one of the maker's."""
        owner, _, name = model_name.partition("/")
        # Hugging Face's own names have capitals; services write the same names small.
        is_own = owner == self.repository.partition("/")[0] and re.fullmatch(r"[\w.-]*", name)
        return self._replace(repository=model_name) if is_own and name != name.lower() else self


class NotPublic(NamedTuple):
    """A family for which no public tokenizer is known.

    Args:
        name: the name of the family.
        counted_by: what counts its tokens instead.
        models: as in ``NeedsFile``.
        examples: names of some of its models, for suggestions.
    """

    name: str
    counted_by: str
    models: str
    examples: tuple[str, ...] = ()


Family = Union[NeedsFile, NotPublic]
