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

    def what_is_needed(self, repository: str = "") -> str:
        """Return what to fetch, and how to name it.

        Args:
            repository: another one that has the files, that of the model itself.
        """
        repository = repository or self.repository
        if not self.files:
            return f"give the path of its file to -e or load: {repository}"
        return (
            f"give 'hf:{repository}' to -e or load, once "
            f"`hf download {repository} {self.files}` has fetched it, or the path of such a file"
        )

    def why(self, model_name: str) -> str:
        """Return the reason why a model of the family has no encoding here."""
        owner, _, name = model_name.partition("/")
        # Hugging Face's own names have capitals; services write the same names small.
        is_own = owner == self.repository.partition("/")[0] and re.fullmatch(r"[\w.-]*", name)
        needed = self.what_is_needed(model_name if is_own and name != name.lower() else "")
        return (
            f"model {model_name!r} has the tokenizer of {self.name}, which does not ship: {needed}"
        )


class NotPublic(NamedTuple):
    """A family for which no public tokenizer is known.

    Args:
        name: the name of the family.
        counted_by: what counts its tokens instead.
        models: as in ``NeedsFile``.
    """

    name: str
    counted_by: str
    models: str

    def what_is_needed(self) -> str:
        """Return what counts the tokens."""
        return f"no public tokenizer; {self.counted_by}"

    def why(self, model_name: str) -> str:
        """Return the reason why a model of the family has no encoding here."""
        return (
            f"model {model_name!r} is one of {self.name}, for which no public tokenizer is known; "
            f"{self.counted_by}"
        )


Family = Union[NeedsFile, NotPublic]
