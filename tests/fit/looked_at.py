"""How much of a text is looked at: the characters that an encoding counts."""

from __future__ import annotations

import pytest

from compat_bpe import Encoding


class Counted:
    """The characters of all texts that an encoding has counted since ``characters`` was set to 0.

    Args:
        encoding: the encoding, whose core is replaced for the test.
        patch: the test's ``monkeypatch``.
    """

    def __init__(self, encoding: Encoding, patch: pytest.MonkeyPatch) -> None:
        self.characters = 0
        self._count = encoding.core.count
        patch.setattr(encoding.core, "count", self._note)

    def _note(self, text: str) -> int:
        self.characters += len(text)
        return self._count(text)
