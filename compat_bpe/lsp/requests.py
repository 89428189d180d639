"""The requests of plug-ins: counts, tokens and prompts, with checked parameters."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from itertools import accumulate
from typing import Any

from ..encodings.encoding import Encoding
from ..encodings.families import NeedsFile
from ..encodings.registry import list_encoding_names
from ..encodings.resolve import Answer
from ..fit.boundary import BOUNDARIES
from ..fit.edited_document import Document, measure_of
from ..fit.longest_part import LimitError, fits, message_of
from ..fit.prompt import fim_template, fit_prompt
from ..fit.sections import CUTS, Section, fit_sections
from ..fit.truncate import KEEPS, truncate
from ..pipeline.stream import StreamCounter
from .documents import OpenDocument, offset_of, offsets_of, range_at, read_position, read_range
from .rpc import Params
from .session import Session
from .settings import DEFAULT_CHOICE, Choice, read_choice, reason_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..chat.known_models import KnownModel

#: The characters of a text that are counted in one step.
_STEP = 1 << 15
#: The longest range in characters whose tokens are listed in one answer.
_LONGEST_LIST = 1 << 20
#: The model of a conversation if neither a request nor a setting names one: the default encoding's.
_FOR_MESSAGES = Choice("model", "gpt-4o")


def count(session: Session, params: Params) -> Generator[None, None, dict[str, Any]]:
    """Return the count of a text, or of a document or a range of it."""
    if "text" in params:
        if "textDocument" in params or "range" in params:
            raise params.wrong("text", "give either this or textDocument")
        text = params.text("text")
        _, answer, encoding = _encoding(session, params)
        params.close()
        total = yield from _counted(encoding, text)
        return {"count": answer.tokens(total), **_estimate(answer)}
    opened = session.document(params)
    choice, answer, encoding = _encoding(session, params, opened)
    document, version = opened.document, opened.version
    start, end = 0, len(document)
    if "range" in params:
        start, end = offsets_of(document, read_range(params.inner("range")), session.unit)
    params.close()
    if choice == opened.choice:
        total = document.count_range(start, end)
    else:
        total = yield from _counted(encoding, document.slice(start, end))
    return {"count": answer.tokens(total), "version": version, **_estimate(answer)}


def tokens(session: Session, params: Params) -> Generator[None, None, dict[str, Any]]:
    """Return the tokens of a document that overlap a range."""
    opened = session.document(params)
    document, unit = opened.document, session.unit
    start, end = offsets_of(document, read_range(params.inner("range")), unit)
    choice, answer, encoding = _encoding(session, params, opened)
    params.close()
    if answer.note:
        raise params.wrong(choice.kind, f"{choice.name!r} has no public tokenizer: {answer.note}")
    if end - start > _LONGEST_LIST:
        raise params.wrong("range", f"it has more than {_LONGEST_LIST:,} characters")
    if choice != opened.choice:
        text, document = document.text, Document(encoding)
        yield from document.replacing(0, 0, text)
    return {
        "tokens": [
            {
                "id": token.id,
                "text": encoding.decode([token.id]),
                "range": range_at(document, token.start, token.end, unit),
            }
            for token in document.tokens(start, end)
        ],
        "version": opened.version,
    }


def text_fits(session: Session, params: Params) -> dict[str, Any]:
    """Return true if a text has at most ``limit`` tokens."""
    text, limit = params.text("text"), params.number("limit")
    _, answer, encoding = _encoding(session, params)
    params.close()
    return {"fits": fits(encoding, text, answer.limit(limit))}


def truncated(session: Session, params: Params) -> dict[str, Any]:
    """Cut a text to at most ``limit`` tokens."""
    text, limit = params.text("text"), params.number("limit")
    keep = params.choice_or("keep", KEEPS[0], KEEPS)
    boundary = params.choice_or("boundary", BOUNDARIES[0], BOUNDARIES)
    marker = params.text_or("marker", None)
    _, answer, encoding = _encoding(session, params)
    params.close()
    limit = answer.limit(limit)
    cut = truncate(encoding, text, limit, keep=keep, boundary=boundary, marker=marker)
    return {
        "text": cut.text,
        "count": answer.tokens(cut.count),
        "wasCut": cut.was_cut,
        "kept": _in_units(text, cut.kept, session),
    }


def prompt(session: Session, params: Params) -> dict[str, Any]:
    """Return a prompt to fill in the middle, around a position of a document."""
    opened = session.document(params)
    document = opened.document
    place = read_position(params.inner("position"))
    at, _ = offset_of(document, place, session.unit)
    limit = params.number("limit")
    template = params.text_or("template", None)
    share = params.real_or("share", 0.75)
    if not 0 <= share <= 1:
        raise params.wrong("share", f"share is {share}; it must be from 0 to 1")
    boundary = params.choice_or("boundary", "line", BOUNDARIES)
    choice, answer, encoding = _encoding(session, params, opened)
    params.close()
    if answer.note:
        raise params.wrong(choice.kind, f"{choice.name!r} has no public tokenizer: {answer.note}")
    if template is None:
        # A user in an editor has no other template at hand.
        template = fim_template(encoding, in_words=True)
    texts: tuple[Any, ...] = document, at
    if choice != opened.choice:
        # As much text as may fit, and one character more, so that the text is cut.
        longest = encoding.core.longest_token
        most = len(document) if longest is None else limit * longest + 1
        start, end = max(0, at - most), min(at + most, len(document))
        texts = encoding, document.slice(start, at), document.slice(at, end)
    try:
        fitted = fit_prompt(*texts, limit=limit, template=template, share=share, boundary=boundary)
    except ValueError as error:
        field = "limit" if isinstance(error, LimitError) else "template"
        raise params.wrong(field, str(error)) from None
    return {
        "prefix": fitted.prefix,
        "suffix": fitted.suffix,
        "ids": fitted.ids,
        "text": encoding.decode(fitted.ids),
        "count": fitted.count,
        "prefixWasCut": fitted.prefix_was_cut,
        "suffixWasCut": fitted.suffix_was_cut,
        "version": opened.version,
    }


def sections(session: Session, params: Params) -> dict[str, Any]:
    """Return a prompt of several sections that has at most ``limit`` tokens."""
    wanted = []
    for fields in params.objects("sections"):
        wanted.append(
            Section(
                fields.text("text"),
                priority=fields.real_or("priority", 0),
                min_tokens=fields.number_or("minTokens", 0),
                cut=fields.choice_or("cut", CUTS[0], CUTS),
                boundary=fields.choice_or("boundary", BOUNDARIES[0], BOUNDARIES),
                marker=fields.text_or("marker", None),
                required=fields.flag_or("required", False),
                name=fields.text_or("name", ""),
            )
        )
        fields.close()
    limit = params.number("limit")
    separator = params.text_or("separator", "")
    _, answer, encoding = _encoding(session, params)
    params.close()
    wanted = [one._replace(min_tokens=answer.limit(one.min_tokens)) for one in wanted]
    try:
        fitted = fit_sections(encoding, wanted, answer.limit(limit), separator=separator)
    except ValueError as error:
        raise params.wrong("sections", message_of(error, answer.tokens)) from None
    return {
        "text": fitted.text,
        "count": answer.tokens(fitted.count),
        "sections": [
            {
                "name": one.name,
                "status": one.status,
                "text": one.text,
                "count": answer.tokens(one.count),
                "kept": _in_units(section.text, one.kept, session),
            }
            for section, one in zip(wanted, fitted.sections)
        ],
    }


def messages(session: Session, params: Params) -> dict[str, Any]:
    """Return the count of a conversation, as a request of it is counted."""
    from ..chat import count_messages  # imported here: few plug-ins ask for this

    given = params.array("messages")
    tools = params.array("tools") if "tools" in params else None
    template = params.text_or("template", None)
    reply = params.flag_or("addGenerationPrompt", True)
    choice = read_choice(params) or session.settings.general.choice or _FOR_MESSAGES
    params.close()
    answer = session.encodings.answer(choice)
    try:
        total = count_messages(
            given,
            model=answer.model if answer.path is None else None,
            encoding=answer.path or (None if answer.model else answer.encoding_name),
            estimate=True,
            tools=tools,
            template=template,
            add_generation_prompt=reply,
        )
    except (ValueError, KeyError, OSError, ImportError) as error:
        raise params.wrong("messages", reason_of(error, choice)) from None
    return {"count": int(total), "isEstimate": total.is_estimate, "note": total.note}


def names(session: Session, params: Params) -> dict[str, Any]:
    """Return the models and encodings that the package knows, each with its encoding or family."""
    from ..chat.known_models import known_models  # imported here: a user asks for this

    params.close()
    models = [_described(model) for model in known_models()]
    return {"models": models, "encodings": list_encoding_names()}


def _described(model: KnownModel) -> dict[str, Any]:
    """Return a model with its ``encoding``, the ``note`` of its estimate, or its requirements."""
    found: dict[str, Any] = {"name": model.name, "group": model.group}
    if model.answer is not None:
        note = model.answer.note
        found.update({"note": note} if note else {"encoding": model.answer.encoding_name})
    elif isinstance(model.family, NeedsFile):
        found["file"] = model.family.where
    elif model.family is not None:
        found["service"] = model.family.counted_by
    return found if model.context is None else {**found, "context": model.context}


def _encoding(
    session: Session, params: Params, opened: OpenDocument | None = None
) -> tuple[Choice, Answer, Encoding]:
    """Return the encoding that parameters name; else that of the document, or the general one.

    Raises:
        RpcError: it is not known, or cannot be loaded.
    """
    named = read_choice(params)
    if named is None and opened is not None:
        encoding = opened.document.encoding
        assert isinstance(encoding, Encoding)
        return opened.choice, opened.answer, encoding
    chosen = named or session.settings.general.choice or DEFAULT_CHOICE
    answer, loaded, _ = session.encodings.get(chosen)
    return chosen, answer, loaded


def _estimate(answer: Answer) -> dict[str, Any]:
    """Return the members of a result that say that its count is an estimate."""
    return {"isEstimate": True, "note": answer.note} if answer.note else {}


def _counted(encoding: Encoding, text: str) -> Generator[None, None, int]:
    """Return the count of a text, in steps if it is long."""
    if len(text) <= _STEP:
        return encoding.count(text)
    counter = StreamCounter(encoding)
    for at in range(0, len(text), _STEP):
        counter.feed(text[at : at + _STEP])
        yield
    return counter.finish()


def _in_units(
    text: str, ranges: Iterable[tuple[int, int]], session: Session
) -> list[tuple[int, int]]:
    """Return ranges of a text, in characters, in the unit of the client."""
    ranges = list(ranges)
    measure = measure_of(session.unit)
    if measure is len or text.isascii():
        return ranges
    places = sorted({place for pair in ranges for place in pair})
    parts = (measure(text[start:end]) for start, end in zip([0, *places], places))
    units = dict(zip(places, accumulate(parts)))
    return [(units[start], units[end]) for start, end in ranges]
