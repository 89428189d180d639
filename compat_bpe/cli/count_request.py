"""The count of requests to a model: messages and tools as a service takes them, in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from ..chat import MessageCount, RequestPart, count_messages, count_parts
from ..chat.choose import chosen_format
from ..chat.left_out import with_left_out
from ..chat.requests import Stored, arguments_of, stored_requests
from ..chat.service import service_variables
from ..chat.template_files import find_chat_template
from ..encodings.estimates import OwnFactor
from ..encodings.local_stores import stored_encoding
from ..files.text import check_mark, not_utf8, open_bytes
from ..files.whole import read_at_most
from .context_share import limit_of, share, share_as_json
from .count_output import Style, estimate_mark
from .input import announce_wait, reason_of
from .options.encoding import check_one_is_chosen, chosen_encoding, chosen_factor, is_path
from .output import CommandError, complaint, plural, write_line, write_message

#: The largest request that is read, in bytes.
_SIZE_LIMIT = 1 << 28


class Chosen(NamedTuple):
    """The options by which a request is counted."""

    model: str | None
    encoding: str | None
    pattern: str | None
    #: Estimate for a model without a public tokenizer.
    estimate: bool = False
    #: Refuse what cannot be counted.
    strict: bool = False
    #: The day of the requests.
    as_of: str | None = None
    #: What the number is multiplied by.
    factor: str | None = None


class Counted(NamedTuple):
    """The tokens of a request, its parts, and its model."""

    name: str
    model: str | None
    tokens: MessageCount
    parts: Sequence[RequestPart]
    is_estimated: bool

    def as_json(self) -> dict[str, Any]:
        """Return what --json prints of it."""
        return {"model": self.model, "tokens": self.tokens, "estimate": self.tokens.note or None}


def count_request(
    path: str,
    chosen: Chosen,
    *,
    limit: int | None,
    with_parts: bool,
    with_context: bool,
    json_wanted: bool,
    quiet: bool,
) -> int:
    """Print the tokens of a request, or of each in a file of them, and return the exit status.

    Args:
        path: the file, or ``-``.
        chosen: what to count by; unless it says a model or an encoding, a request may.
        limit: the number of tokens above which the status is 1.
        with_parts: True to print what each part of the request adds, too.
        with_context: True to print the share of the model's context, too.
        json_wanted: True to print an object.
        quiet: True to write no note.

    Raises:
        click.UsageError: both a model and an encoding are chosen.
        CommandError: the file cannot be read or is no request, or the model is not known.
    """
    check_one_is_chosen(chosen.model, chosen.encoding)
    if not quiet:
        announce_wait(path)
    stored = _read(path)
    if len(stored) != 1 and (with_parts or with_context):
        option = "--parts" if with_parts else "--context"
        raise CommandError(
            complaint(path, f"{option} is for a single request, here are {len(stored)}")
        )
    counted, failed = [], 0
    for one in stored:
        try:
            counted.append(_counted(one, chosen, path, with_parts=with_parts))
        except CommandError as error:
            if len(stored) == 1:
                raise
            write_message(str(error))
            failed += 1
    total = sum(one.tokens for one in counted)
    is_estimated = any(one.is_estimated for one in counted)
    mark = estimate_mark() if is_estimated else ""
    context = limit_of(counted[0].model) if with_context else None
    if json_wanted:
        result: dict[str, Any] = (
            counted[0].as_json()
            if len(stored) == 1
            else {
                "requests": [{"name": one.name, **one.as_json()} for one in counted],
                "total": total,
            }
        )
        if with_parts:
            result["parts"] = [asdict(part) for part in counted[0].parts]
        if context is not None:
            result["context"] = share_as_json(total, context)
        write_line(json.dumps(result))
    else:
        if with_parts:
            lines = _lines(counted[0].parts, total, mark)
        else:
            lines = (
                _lines_of_many(counted, total, mark)
                if len(stored) != 1
                else iter([f"{mark}{total}"])
            )
        for line in lines:
            write_line(line)
        if not quiet:
            for note in dict.fromkeys(one.tokens.note for one in counted if one.tokens.note):
                write_message(f"an estimate: {note}")
        if context is not None:
            write_line(share(total, context))
    if limit is not None and total > limit:
        estimated = " by the estimate" if is_estimated else ""
        write_message(f"{mark}{plural(total, 'token')}{estimated}, over the limit of {limit:,}")
        return 2 if failed else 1
    return 2 if failed else 0


def _counted(stored: Stored, chosen: Chosen, path: str, *, with_parts: bool) -> Counted:
    """Return the tokens of a request.

    Raises:
        CommandError: it is damaged, or its model is not known.
    """

    def wrong(reason: str) -> CommandError:
        return CommandError(complaint(path, f"{stored.name}: {reason}" if stored.name else reason))

    body = stored.body
    model = chosen.model
    if model is None and chosen.encoding is None:
        model = body.get("model")
        if model is not None and not isinstance(model, str):
            raise wrong("model: must be a string")
    factor = None
    if chosen.estimate or chosen.factor is not None:
        factor = chosen_factor(model, chosen.encoding)
    in_store = None if model is None or chosen.encoding is not None else stored_encoding(model)
    by_name = chosen.encoding if in_store is None else in_store
    encoding = template = None
    try:
        request, left_out = arguments_of(body)
        left_out += stored.left_out
        if body.get("system"):
            messages = request.get("messages")
            if factor is not None and isinstance(messages, list) and messages:
                # Anthropic's requests have it beside the messages. It is the last here, so that
                # errors name the places of the others in the request.
                request["messages"] = [*messages, {"role": "system", "content": body["system"]}]
            else:
                left_out.append("system")
        if model is None or in_store is not None or chosen.pattern is not None:
            encoding = chosen_encoding(None, by_name, chosen.pattern)
            if by_name is not None and is_path(by_name):
                template = find_chat_template(by_name)
        variables = body.get("chat_template_kwargs")
        named = model if in_store is None else None
        if factor is None and (variables is None or isinstance(variables, dict)):
            chat = chosen_format(named, encoding, template, chosen.as_of)
            variables = {**service_variables(body, chat), **(variables or {})}
        request.update(
            {
                "messages": request.get("messages"),
                "model": named,
                "encoding": encoding,
                "template": template,
                "variables": variables,
                "estimate": factor is not None,
                "strict": chosen.strict,
                "as_of": chosen.as_of,
            }
        )
        if chosen.strict and left_out:
            raise ValueError(f"{left_out[0]}: cannot be counted")
        tokens = with_left_out(count_messages(**request), left_out)
        if chosen.factor is not None:
            tokens = _times(tokens, chosen.factor)
        parts = count_parts(**request) if with_parts else []
    except KeyError as error:
        raise wrong(str(error.args[0])) from None
    except (ImportError, ValueError) as error:
        raise wrong(str(error)) from None
    except OSError as error:
        raise CommandError(f"{error.filename}: {error.strerror or error}") from None
    is_estimated = factor is not None or chosen.factor is not None
    return Counted(stored.name, model, tokens, parts, is_estimated)


def _times(tokens: MessageCount, factor: str) -> MessageCount:
    """Return a number of tokens times the caller's factor, rounded up."""
    own = OwnFactor.of_text(factor, "the request")
    return MessageCount(own.tokens(tokens), "; ".join(filter(None, (own.reason, tokens.note))))


def _lines(parts: Sequence[RequestPart], tokens: int, mark: str) -> Iterator[str]:
    """Yield a line for each part, and one for the request: without parts, its number alone."""
    numbers = [part.tokens for part in parts]
    style = Style(max(len(str(number)) for number in [*numbers, tokens]) + len(mark), mark=mark)
    for part in parts:
        places = ", ".join(f"messages[{number}]" for number in part.messages)
        yield style.line(part.tokens, f"{part.name} ({places})" if places else part.name)
    yield style.line(tokens, "total" if parts else "")


def _lines_of_many(counted: Sequence[Counted], total: int, mark: str) -> Iterator[str]:
    """Yield a line for each request, and one for all."""
    style = Style(len(str(total)) + len(mark), mark=mark)
    for one in counted:
        yield style.line(one.tokens, one.name)
    yield style.line(total, "total")


def _read(path: str) -> list[Stored]:
    """Return the requests of a file.

    Raises:
        CommandError: the file cannot be read, or has no request.
    """
    try:
        with open_bytes(path) as file:
            data = read_at_most(file.read, _SIZE_LIMIT + 1)
    except OSError as error:
        raise CommandError(complaint(path, reason_of(error, path))) from None
    if len(data) > _SIZE_LIMIT:
        raise CommandError(complaint(path, f"larger than {_SIZE_LIMIT:,} bytes"))
    try:
        check_mark(data)
        return stored_requests(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        reason = not_utf8(error, len(data) - len(error.object))
        raise CommandError(complaint(path, str(reason))) from None
    except ValueError as error:
        raise CommandError(complaint(path, str(error))) from None
