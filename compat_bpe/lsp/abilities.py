"""The capabilities that a client has told, any of which may be missing or of another shape."""

from __future__ import annotations

from typing import Any


class Abilities:
    """What a client can do.

    Args:
        told: its capabilities, as it has sent them.

    >>> client = Abilities({"workspace": {"configuration": True, "codeLens": {}}})
    >>> client.can("workspace", "configuration"), client.can("workspace", "inlayHint")
    (True, False)
    """

    def __init__(self, told: object = None) -> None:
        self._told = told

    def can(self, *path: str) -> bool:
        """Return True if the client has a capability: true, or an object of options."""
        value = self._at(path)
        return value is True or isinstance(value, dict)

    def list_of(self, *path: str) -> list[str]:
        """Return the strings of a list; none if there is no such list."""
        value = self._at(path)
        return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []

    @property
    def commands(self) -> list[str]:
        """The commands that the client carries out by itself, in rust-analyzer's form."""
        return self.list_of("experimental", "commands", "commands")

    @property
    def pulls_diagnostics(self) -> bool:
        """True if the client asks for diagnostics, again when told to; then none come unasked."""
        can_be_told = self.can("workspace", "diagnostics", "refreshSupport")
        return can_be_told and self.can("textDocument", "diagnostic")

    def _at(self, path: tuple[str, ...]) -> Any:
        value: Any = self._told
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return value
