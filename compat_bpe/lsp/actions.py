"""Code actions: copy as a prompt, cut to the budget, count the selection."""

from __future__ import annotations

import os
from typing import Any

from ..encodings.encoding import Encoding
from ..fit.longest_part import message_of
from ..fit.sections import Section, fit_sections
from ..fit.truncate import truncate
from ..unicode.text import fence
from .documents import SOURCE, OpenDocument, offsets_of, path_of, range_at, read_range
from .rpc import Params, invalid
from .session import Session
from .shown import refuse_if_outdated

#: Commands that the server carries out: ``workspace/executeCommand`` with a URI and a range.
COPY, COUNT = "compatBpe.copyAsPrompt", "compatBpe.countSelection"
COMMANDS = (COPY, COUNT)

#: The kinds of actions, by which a client may ask for them: a cut fixes what a diagnostic reports.
REFACTOR, QUICK_FIX = "refactor.compatBpe", "quickfix.compatBpe"
KINDS = (REFACTOR, QUICK_FIX)
#: ``CodeActionTriggerKind.Invoked``: the user has asked, not the editor for its light bulb.
_INVOKED = 1


def actions(session: Session, params: Params) -> list[dict[str, Any]] | None:
    """Return the actions for a selection; for the whole document if nothing is selected.

    Without a selection there are actions only if the user asks: otherwise every line would have a
    light bulb. A place with the diagnostic of the budget always has the cut that fixes it.
    """
    opened = session.document(params)
    shown = params.inner("range")
    start, end = offsets_of(opened.document, read_range(shown), session.unit)
    opened.selection = start, end
    if not session.settings.shown["codeActions"]:
        return None
    refuse_if_outdated(session, opened)
    context = params.inner("context") if "context" in params else Params({})
    is_selection = start < end
    if not is_selection:
        start, end = 0, len(opened.document)
    selected = range_at(opened.document, start, end, session.unit)
    offered = []
    if is_selection or _is_asked(context):
        if COPY in session.client.commands:
            offered.append(_command("Copy as prompt", COPY, opened.uri, selected))
        if is_selection:
            offered.append(_command("Count the selection", COUNT, opened.uri, selected))
    budget = opened.budget
    may_cut = is_selection or _is_asked(context) or _is_over(context)
    if budget is not None and may_cut and opened.count(start, end) > budget:
        offered.append(_cut(session, opened, start, end, budget))
    return [action for action in offered if _is_wanted(action["kind"], context)] or None


def execute(session: Session, params: Params) -> dict[str, Any]:
    """Carry out a command.

    Returns:
        For ``compatBpe.copyAsPrompt`` the prompt as ``text``, for the client to copy, and its
        ``count``; for ``compatBpe.countSelection`` the ``count``, which is also shown.
    """
    command, arguments = params.text("command"), params.array("arguments")
    if command not in COMMANDS:
        raise params.wrong("command", f"it must be one of {', '.join(COMMANDS)}")
    if len(arguments) != 2:
        raise params.wrong("arguments", "they must be the URI of a document, and a range")
    opened = session.documents.get(arguments[0]) if isinstance(arguments[0], str) else None
    if opened is None:
        raise invalid("arguments[0]", "no such document is open")
    document = opened.document
    range_ = read_range(Params(arguments[1], "arguments[1]"))
    start, end = offsets_of(document, range_, session.unit)
    if command == COUNT:
        message = opened.in_words(start, end)
        session.notify("window/showMessage", {"type": 3, "message": message})
        return {"count": opened.count(start, end)}
    return as_prompt(opened, document.slice(start, end))


def as_prompt(opened: OpenDocument, text: str) -> dict[str, Any]:
    """Return a text for a prompt: its file's name, then the text in a fence, within the budget.

    The fence is longer than any run of the same signs in the text, so nothing in it ends it.
    """
    encoding = opened.document.encoding
    assert isinstance(encoding, Encoding)
    mark = fence(text, 3)
    name = os.path.basename(path_of(opened.uri)) or "text"
    end = "" if text.endswith("\n") else "\n"
    before, after = f"{name}\n{mark}{opened.language}\n", f"{end}{mark}\n"
    if opened.budget is None:
        whole = before + text + after
        count = opened.answer.tokens(encoding.count(whole))
        return {"text": whole, "count": count, "wasCut": False}
    try:
        fitted = fit_sections(
            encoding,
            [
                Section(before, priority=2, required=True),
                Section(text, priority=1, cut="lines"),
                Section(after, priority=2, required=True),
            ],
            opened.answer.limit(opened.budget),
        )
    except ValueError as error:
        reason = message_of(error, opened.answer.tokens)
        raise invalid("", f"the prompt does not fit in the budget: {reason}") from None
    was_cut = fitted.sections[1].status != "kept" and bool(text)
    count = opened.answer.tokens(fitted.count)
    return {"text": fitted.text, "count": count, "wasCut": was_cut}


def _is_wanted(kind: str, context: Params) -> bool:
    """Return True unless the client asks for actions of other kinds only."""
    if "only" not in context:
        return True
    return any(
        isinstance(one, str) and (not one or f"{kind}.".startswith(f"{one}."))
        for one in context.array("only")
    )


def _is_asked(context: Params) -> bool:
    """Return True if the user asks for actions, or the client for our kinds."""
    if "triggerKind" in context:
        return bool(context.get("triggerKind") == _INVOKED)
    return "only" in context and any(one in KINDS for one in context.array("only"))


def _is_over(context: Params) -> bool:
    """Return True if the diagnostic of the budget is at the place."""
    here = context.array("diagnostics") if "diagnostics" in context else []
    return any(isinstance(one, dict) and one.get("source") == SOURCE for one in here)


def _command(title: str, command: str, uri: str, selected: dict[str, Any]) -> dict[str, Any]:
    return {
        "title": title,
        "kind": REFACTOR,
        "command": {"title": title, "command": command, "arguments": [uri, selected]},
    }


def _cut(
    session: Session, opened: OpenDocument, start: int, end: int, budget: int
) -> dict[str, Any]:
    """Return the action that deletes the text above the budget."""
    document = opened.document
    encoding = document.encoding
    # As much text as may fit, and one character more.
    longest = encoding.core.longest_token
    limit = opened.answer.limit(budget)
    most = end if longest is None else min(end, start + limit * longest + 1)
    kept = truncate(encoding, document.slice(start, most), limit)
    taken = range_at(document, start + len(kept.text), end, session.unit)
    return {
        "title": f"Cut to {budget:,} tokens",
        "kind": QUICK_FIX,
        "edit": {"changes": {opened.uri: [{"range": taken, "newText": ""}]}},
    }
