"""The server: its announcements, its handlers, and its work on standard input and output."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, BinaryIO

from ..check.source import NAME, PYPROJECT
from ..encodings.registry import get_encoding
from ..encodings.resolve import Answer
from ..fit.edited_document import Document, Unit
from ..version import __version__
from . import actions, requests, shown
from .documents import Change, OpenDocument, changing, path_of, read_change
from .rpc import INVALID_REQUEST, Params, RpcError, Wire
from .session import Abilities, Handler, Session
from .settings import DEFAULT_CHOICE, SECTION, Choice, Encodings, Loaded, in_section, read_settings

#: The encoding of a document until its text is counted.
BYTES = Answer("bytes")

_UNITS: tuple[Unit, ...] = ("utf-8", "utf-16", "utf-32")


def initialize(session: Session, params: Params) -> dict[str, Any]:
    """Agree with the client on what both can do."""
    if session.is_initialized:
        raise RpcError(INVALID_REQUEST, "the server is initialized already")
    session.client = Abilities(params.get("capabilities") if "capabilities" in params else None)
    root = params.text_or("rootUri", None)
    session.encodings = Encodings(path_of(root) if root else "")
    # The client lists them in the order of its preference.
    offered = session.client.list_of("general", "positionEncodings")
    known = [one for one in offered if one in _UNITS]
    session.unit = known[0] if known else "utf-16"
    if "initializationOptions" in params:
        session.has_settings = change_settings(session, params.get("initializationOptions"))
    session.is_initialized = True
    return {
        "capabilities": announced(session),
        "serverInfo": {"name": "compat-bpe", "version": __version__},
    }


def initialized(session: Session, params: Params) -> None:
    """Ask for the settings, and load the vocabulary before the first count needs it."""
    if not session.has_settings:
        ask_settings(session)
    watch(session)
    loaded = load(session, session.settings.general.choice or DEFAULT_CHOICE)
    loaded.encoding.count("a")  # the first count builds what later ones use


def shutdown(session: Session, params: Params) -> None:
    """Prepare for the end."""
    session.is_shut_down = True


def leave(session: Session, params: Params) -> None:
    """End the work for this client."""
    session.is_over = True


def cancel(session: Session, params: Params) -> None:
    """Cancel a request."""
    session.cancel(params.get("id"))


def did_open(session: Session, params: Params) -> None:
    """Take a document that the client has opened."""
    item = params.inner("textDocument")
    uri, text = item.text("uri"), item.text("text")
    language = item.text_or("languageId", "")
    choice, budget, problem = wanted(session, uri)
    new = OpenDocument(
        uri, language, _version(item), Document(get_encoding("bytes")), choice, BYTES, budget
    )
    session.documents[uri] = new
    fill(session, new, choice, text, problem=problem)


def did_change(session: Session, params: Params) -> None:
    """Make the changes of a document.

    Versions are numbered by the client, and may go back: messages come in their order, so the last
    change is the newest, with any version.
    """
    opened = session.document(params)
    changes = [read_change(change) for change in params.objects("contentChanges")]
    version = _version(params.inner("textDocument"))
    before = copy(opened.document)

    def done(error: Exception | None) -> None:
        opened.version = version
        opened.selection = (0, 0)
        if isinstance(error, ValueError):
            fill_by_default(session, opened, opened.choice, error, before.text, changes)
        elif error is not None:
            opened.document = before
            raise error
        session.notices.changed(opened.uri)

    session.work_on(opened, changing(opened.document, changes, session.unit), done)


def did_close(session: Session, params: Params) -> None:
    """Forget a document that the client has closed."""
    gone = session.document(params)
    del session.documents[gone.uri]
    session.notices.forget(gone.uri)
    if gone.published:
        session.notify("textDocument/publishDiagnostics", {"uri": gone.uri, "diagnostics": []})


def configured(session: Session, params: Params) -> None:
    """Take settings that have changed, or ask the client for them if it has not sent them."""
    if "settings" in params and params.get("settings") != {}:
        change_settings(session, params.get("settings"))
    elif not ask_settings(session):
        change_settings(session, None)


def recount(session: Session, params: Params) -> None:
    """Count a document by the encoding that the settings now name."""
    opened = session.document(params)
    choice, _, problem = wanted(session, opened.uri)
    # A file may also have another vocabulary by now.
    if choice != opened.choice or load(session, choice).encoding is not opened.document.encoding:
        fill(session, opened, choice, opened.document.text, problem=problem)
    else:
        opened.problem = problem


# Settings


def ask_settings(session: Session) -> bool:
    """Ask the client for its settings; return False if it cannot be asked."""
    if not session.client.can("workspace", "configuration"):
        return False

    def take(result: Any) -> None:
        if isinstance(result, list) and result and result[0]:
            change_settings(session, result[0])

    session.ask("workspace/configuration", {"items": [{"section": SECTION}]}, take)
    return True


def change_settings(session: Session, value: Any) -> bool:
    """Use new settings; if any of them is wrong, tell the user and keep the old ones."""
    # At the start, clients repeat the settings that they sent with the first request.
    value = in_section(value)
    if value != session.last_settings:
        session.told.clear()
    session.last_settings = value
    session.encodings.forget()
    try:
        settings = read_settings(value)
        for one in (settings.general, *(rule.settings for rule in settings.rules)):
            if one.choice is not None:
                session.encodings.check(one.choice)
    except RpcError as error:
        session.problem = f"the settings are not used: {error.message}"
        session.show(session.problem)
        session.notices.changed(*session.documents)
        return False
    session.problem = ""
    session.settings = settings
    use_settings(session)
    if session.is_initialized:
        register(session)
        refresh(session)
    return True


def use_settings(session: Session) -> None:
    """Give each open document the budget and the encoding that its settings now name."""
    for opened in list(session.documents.values()):
        opened.budget = wanted(session, opened.uri)[1]
        session.notices.changed(opened.uri)
        identifier = {"textDocument": {"uri": opened.uri}}
        session.dispatch({"method": RECOUNT, "params": identifier})


def files_changed(session: Session, params: Params) -> None:
    """Read the budgets of the project again: a file that may have them has changed."""
    session.told.clear()
    use_settings(session)


def wanted(session: Session, uri: str) -> tuple[Choice, int | None, str]:
    """Return the encoding of a document, its budget, and why that is not the project's.

    The limit of ``compat-bpe check`` comes before the settings, so that an editor shows what fails
    in CI.
    """
    path, problem = path_of(uri), ""
    if uri.startswith("file:"):
        from ..check.configuration import budget_of_file  # imported here: it reads TOML
        from ..check.source import ConfigurationError

        try:
            budget = budget_of_file(path)
        except (OSError, ConfigurationError) as error:
            problem = f"the budgets of the project are not used: {error}"
            session.show(problem)
        else:
            if budget is not None:
                answer = budget.counted_by
                is_model = answer.estimate is not None and answer.model is not None
                choice = Choice("model", answer.model or "") if is_model else None
                return choice or Choice("encoding", answer.encoding_name), budget.limit, ""
    return (*session.settings.of(path), problem)


# Documents


def load(session: Session, choice: Choice) -> Loaded:
    """Return an encoding; if it cannot be loaded, tell the user, and return the default one."""
    try:
        return session.encodings.get(choice)
    except RpcError as error:
        problem = f"{DEFAULT_CHOICE.name} is used instead: {error.message}"
        session.show(problem)
        return session.encodings.get(DEFAULT_CHOICE)._replace(problem=problem)


def fill(
    session: Session,
    opened: OpenDocument,
    choice: Choice,
    text: str,
    changes: Sequence[Change] = (),
    problem: str = "",
) -> None:
    """Fill a document with a text, counted by an encoding, and make some changes in it.

    If the encoding cannot be used for the text, the default one is; a problem says why.
    """
    answer, encoding, failure = load(session, choice)
    new = Document(encoding)

    def steps() -> Iterator[None]:
        yield from new.replacing(0, 0, text)
        yield from changing(new, changes, session.unit)

    def done(error: Exception | None) -> None:
        if isinstance(error, ValueError) and choice != DEFAULT_CHOICE:
            fill_by_default(session, opened, choice, error, text, changes)
        elif error is not None:
            raise error
        else:
            opened.document, opened.answer, opened.problem = new, answer, problem or failure
            is_default = encoding is get_encoding(DEFAULT_CHOICE.name)
            opened.choice = DEFAULT_CHOICE if is_default else choice
            session.notices.changed(opened.uri)

    session.work_on(opened, steps(), done)


def fill_by_default(
    session: Session,
    opened: OpenDocument,
    choice: Choice,
    error: ValueError,
    text: str,
    changes: Sequence[Change],
) -> None:
    """Fill a document by the default encoding, since the one that was chosen cannot be used."""
    problem = f"{choice.name} is not used for {opened.uri}: {error}"
    session.show(problem)
    fill(session, opened, DEFAULT_CHOICE, text, changes, problem)


def _version(identifier: Params) -> int:
    version = identifier.get("version") if "version" in identifier else 0
    return version if isinstance(version, int) else 0


#: The message by which a session tells itself to count a document anew, in its turn.
RECOUNT = "compatBpe/recount"

REQUESTS: dict[str, Handler] = {
    "initialize": initialize,
    "shutdown": shutdown,
    "textDocument/codeLens": shown.lenses,
    "textDocument/diagnostic": shown.pulled_diagnostics,
    "textDocument/hover": shown.hover,
    "textDocument/inlayHint": shown.hints,
    "textDocument/semanticTokens/range": shown.colors,
    "textDocument/codeAction": actions.actions,
    "workspace/executeCommand": actions.execute,
    "compatBpe/count": requests.count,
    "compatBpe/tokens": requests.tokens,
    "compatBpe/fits": requests.text_fits,
    "compatBpe/truncate": requests.truncated,
    "compatBpe/fitPrompt": requests.prompt,
    "compatBpe/fitSections": requests.sections,
    "compatBpe/countMessages": requests.messages,
    "compatBpe/names": requests.names,
}

NOTIFICATIONS: dict[str, Handler] = {
    "initialized": initialized,
    "exit": leave,
    "$/cancelRequest": cancel,
    "textDocument/didOpen": did_open,
    "textDocument/didChange": did_change,
    "textDocument/didClose": did_close,
    "workspace/didChangeConfiguration": configured,
    "workspace/didChangeWatchedFiles": files_changed,
    RECOUNT: recount,
}


# Announcements

#: Each thing that is shown on request, by its setting: its name in the protocol, and its options.
_PROVIDERS: dict[str, tuple[str, dict[str, Any]]] = {
    "codeLens": ("codeLens", {"resolveProvider": False}),
    "hover": ("hover", {}),
    "inlayHints": ("inlayHint", {"resolveProvider": False}),
    "semanticTokens": (
        "semanticTokens",
        {
            "legend": {"tokenTypes": list(shown.TOKEN_TYPES), "tokenModifiers": []},
            "range": True,
            "full": False,
        },
    ),
    "codeActions": ("codeAction", {"codeActionKinds": list(actions.KINDS)}),
}
#: The names of the capabilities, and of the requests, for showing something anew.
_REFRESHED = (
    ("codeLens", "codeLens"),
    ("inlayHint", "inlayHint"),
    ("semanticTokens", "semanticTokens"),
    ("diagnostics", "diagnostic"),
)


def announced(session: Session) -> dict[str, Any]:
    """Return the capabilities of the server.

    Clients tell their users if a hover is empty. So only displays that the settings turn on are
    announced; ``register`` announces others when the settings turn them on later.
    """
    capabilities: dict[str, Any] = {
        "positionEncoding": session.unit,
        "textDocumentSync": {"openClose": True, "change": 2},
        "executeCommandProvider": {"commands": list(actions.COMMANDS)},
        "experimental": {"hoverRange": True},
    }
    for name, (kind, options) in _PROVIDERS.items():
        is_shown = session.settings.shown[name]
        if is_shown or not (session.has_settings or _can_register(session, kind)):
            capabilities[f"{kind}Provider"] = options
            session.announced.add(name)
    if session.client.pulls_diagnostics:
        capabilities["diagnosticProvider"] = {
            "identifier": "compat-bpe",
            "interFileDependencies": False,
            "workspaceDiagnostics": False,
        }
    return capabilities


def register(session: Session) -> None:
    """Announce displays that the settings have turned on, if the client allows that later."""
    new = []
    for name, (kind, options) in _PROVIDERS.items():
        is_new = session.settings.shown[name] and name not in session.announced
        if is_new and _can_register(session, kind):
            session.announced.add(name)
            new.append(
                {
                    "id": f"compat-bpe-{name}",
                    "method": f"textDocument/{kind}",
                    "registerOptions": {"documentSelector": None, **options},
                }
            )
    if new:
        session.ask("client/registerCapability", {"registrations": new}, lambda _: None)


def watch(session: Session) -> None:
    """Ask the client to report changes of files that may have the project's budgets."""
    if session.client.can("workspace", "didChangeWatchedFiles", "dynamicRegistration"):
        watchers = [{"globPattern": f"**/{name}"} for name in (NAME, PYPROJECT)]
        new = {
            "id": "compat-bpe-budgets",
            "method": "workspace/didChangeWatchedFiles",
            "registerOptions": {"watchers": watchers},
        }
        session.ask("client/registerCapability", {"registrations": [new]}, lambda _: None)


def refresh(session: Session) -> None:
    """Ask the client to update its displays."""
    for kind, method in _REFRESHED:
        if session.client.can("workspace", kind, "refreshSupport"):
            session.ask(f"workspace/{method}/refresh", None, lambda _: None)


def _can_register(session: Session, kind: str) -> bool:
    return session.client.can("textDocument", kind, "dynamicRegistration")


# Standard input and output


def serve(reader: BinaryIO, writer: BinaryIO) -> int:
    """Serve one client on two byte streams; return the exit status.

    The status is 1 if a client has begun a session and has not shut the server down, else 0.
    """
    return Session(Wire(reader, writer), REQUESTS, NOTIFICATIONS).run()


def serve_stdio() -> int:
    """Serve one client on standard input and output; return the exit status.

    There is no other way: on a socket, every user of the machine could have files read.
    """
    # At its end Python closes its standard input, which must not wait for the thread that reads.
    reader = open(sys.stdin.fileno(), "rb", closefd=False)  # noqa: SIM115
    writer = sys.stdout.buffer
    # Text printed by mistake must not come between the messages.
    sys.stdout = sys.stderr
    return serve(reader, writer)
