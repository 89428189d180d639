"""The capabilities of the server: those it announces at first, and as settings change."""

from __future__ import annotations

from typing import Any

from ..check.source import NAME, PYPROJECT
from . import actions, shown
from .session import Session

#: Each thing that is shown on request: the setting, the field that announces it, and the method.
_PROVIDERS = (
    ("codeLens", "codeLensProvider", "textDocument/codeLens"),
    ("hover", "hoverProvider", "textDocument/hover"),
    ("inlayHints", "inlayHintProvider", "textDocument/inlayHint"),
    ("semanticTokens", "semanticTokensProvider", "textDocument/semanticTokens"),
    ("codeActions", "codeActionProvider", "textDocument/codeAction"),
)
_OPTIONS: dict[str, dict[str, Any]] = {
    "codeLens": {"resolveProvider": False},
    "hover": {},
    "inlayHints": {"resolveProvider": False},
    "semanticTokens": {
        "legend": {"tokenTypes": list(shown.TOKEN_TYPES), "tokenModifiers": []},
        "range": True,
        "full": False,
    },
    "codeActions": {"codeActionKinds": list(actions.KINDS)},
}
#: The kinds of what is shown that a client is asked to show anew.
_REFRESHED = (
    ("codeLens", "codeLens"),
    ("inlayHint", "inlayHint"),
    ("semanticTokens", "semanticTokens"),
    ("diagnostics", "diagnostic"),
)


def announced(session: Session) -> dict[str, Any]:
    """Return the capabilities of the server.

    A client that asks a server for hovers says that there are none, if it gets none. So nothing is
    announced that the settings do not show; ``register`` announces it when they come to.
    """
    found: dict[str, Any] = {
        "positionEncoding": session.unit,
        "textDocumentSync": {"openClose": True, "change": 2},
        "executeCommandProvider": {"commands": list(actions.COMMANDS)},
        "experimental": {"hoverRange": True},
    }
    for name, provider, method in _PROVIDERS:
        is_shown = session.settings.shown[name]
        if is_shown or not (session.has_settings or _can_register(session, method)):
            found[provider] = _OPTIONS[name]
            session.announced.add(name)
    if session.client.pulls_diagnostics:
        found["diagnosticProvider"] = {
            "identifier": "compat-bpe",
            "interFileDependencies": False,
            "workspaceDiagnostics": False,
        }
    return found


def register(session: Session) -> None:
    """Announce what the settings have come to show, to a client that takes such news."""
    new = []
    for name, _, method in _PROVIDERS:
        is_new = session.settings.shown[name] and name not in session.announced
        if is_new and _can_register(session, method):
            session.announced.add(name)
            options = {"documentSelector": None, **_OPTIONS[name]}
            new.append({"id": f"compat-bpe-{name}", "method": method, "registerOptions": options})
    if new:
        session.ask("client/registerCapability", {"registrations": new}, lambda _: None)


def watch(session: Session) -> None:
    """Ask the client to tell of changes in files that may have the project's budgets."""
    if session.client.can("workspace", "didChangeWatchedFiles", "dynamicRegistration"):
        watchers = [{"globPattern": f"**/{name}"} for name in (NAME, PYPROJECT)]
        new = {
            "id": "compat-bpe-budgets",
            "method": "workspace/didChangeWatchedFiles",
            "registerOptions": {"watchers": watchers},
        }
        session.ask("client/registerCapability", {"registrations": [new]}, lambda _: None)


def refresh(session: Session) -> None:
    """Ask the client to show anew what it shows."""
    for kind, method in _REFRESHED:
        if session.client.can("workspace", kind, "refreshSupport"):
            session.ask(f"workspace/{method}/refresh", None, lambda _: None)


def _can_register(session: Session, method: str) -> bool:
    return session.client.can("textDocument", method.partition("/")[2], "dynamicRegistration")
