"""The count of requests to a model: messages and tools as a service takes them, in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from ..chat import MessageCount, RequestPart
from ..chat.requests import Stored, stored_requests, whole_request
from ..chat.template import find_chat_template
from ..encodings.estimates import OwnFactor
from ..encodings.resolve import UnresolvedError, is_path, resolve
from ..files.text import check_mark, not_utf8, open_bytes
from ..files.whole import read_at_most
from .count_view import (
    Column,
    Table,
    by_title,
    limit_as_json,
    limit_of,
    numbers_as_json,
    over_limit,
    share,
    share_as_json,
)
from .input import announce_wait, reason_of
from .options.count import Choice, CountOptions
from .options.encoding import TERMS, chosen_encoding
from .output import CommandError, complaint, write_line, write_message

#: The largest request that is read, in bytes.
_SIZE_LIMIT = 1 << 28


class _RequestError(CommandError):
    """A request cannot be counted."""

    def __init__(self, name: str, reason: str, path: str) -> None:
        super().__init__(complaint(path, f"{name}: {reason}" if name else reason))
        self.reason = reason


class _Request(NamedTuple):
    """The tokens of a request, its parts, and its model."""

    name: str
    model: str | None
    tokens: MessageCount
    parts: Sequence[RequestPart]
    of: str  # the member that has its messages
    is_estimated: bool


def count_request(options: CountOptions) -> int:
    """Print the tokens of a request, or of each in a file of them, and return the exit status.

    If the options name no model or encoding, the request may name a model.

    Raises:
        CommandError: the file cannot be read or is not a request, or the model is not known.
    """
    path = options.messages
    assert path is not None
    if not options.quiet:
        announce_wait(path)
    stored = _read(path)
    if len(stored) != 1 and (options.parts or options.context):
        option = "--parts" if options.parts else "--context"
        raise CommandError(
            complaint(path, f"{option} is for a single request; this input has {len(stored)}")
        )
    is_one = len(stored) == 1
    rows: list[list[_Request]] = []
    failed: list[dict[str, Any]] = []
    for one in stored:
        try:
            rows.append([_counted(one, choice, options) for choice in options.choices])
        except CommandError as error:
            if is_one:
                raise
            write_message(str(error))
            reason = error.reason if isinstance(error, _RequestError) else error.message
            failed.append({"path": path, "name": one.name, "error": reason})
    of_choices = range(len(options.choices))
    columns = options.columns(any(row[at].is_estimated for row in rows) for at in of_choices)
    sums = [sum(row[at].tokens for row in rows) for at in of_choices]
    counted = _Requests(rows, is_one, columns, sums, options)
    contexts = [limit_of(one.model) for one in rows[0]] if options.context else []
    if options.is_json:
        members = counted.as_json()
        if not is_one:
            members["errors"] = failed
        shares = list(map(share_as_json, sums, contexts))
        if shares:
            members["context"] = shares[0] if len(columns) == 1 else shares
        write_line(json.dumps(members))
    else:
        for line in counted.lines():
            write_line(line)
        if not options.quiet:
            for note in dict.fromkeys(counted.notes()):
                write_message(f"an estimate: {note}")
        for total, context in zip(sums, contexts):
            write_line(share(total, context))
    over = over_limit("", columns, sums, options.limit)
    for message in over:
        write_message(message)
    return 2 if failed else int(bool(over))


class _Requests(NamedTuple):
    """The requests that were counted, by each tokenizer; ``is_one`` is False for a file of them."""

    rows: Sequence[Sequence[_Request]]
    is_one: bool
    columns: Sequence[Column]
    sums: Sequence[int]
    options: CountOptions

    def notes(self) -> Iterator[str]:
        """Yield why the numbers of a column are estimates, one column after the other."""
        for index, column in enumerate(self.columns):
            which = "" if column.title == "tokens" else f"{column.title}: "
            for row in self.rows:
                if row[index].tokens.note:
                    yield which + row[index].tokens.note

    def as_json(self) -> dict[str, Any]:
        """Return the members of the object about a request, or about many."""
        columns, is_alone = self.columns, len(self.columns) == 1
        described: list[dict[str, Any]] = []
        for row in self.rows:
            estimates = [one.tokens.note or None for one in row]
            members: dict[str, Any] = {"name": row[0].name}
            if is_alone:
                members["model"] = row[0].model
            members.update(numbers_as_json(columns, [one.tokens for one in row]))
            members["estimate"] = estimates[0] if is_alone else by_title(columns, estimates)
            described.append(members)
        limits = limit_as_json(self.sums, self.options.limit)
        if not self.is_one:
            total = numbers_as_json(columns, self.sums)
            return {"requests": described, "total": {**total, **limits}}
        (members,) = described
        del members["name"]
        if self.options.parts:
            members["parts"] = [asdict(part) for part in self.rows[0][0].parts]
        return {**members, **limits}

    def lines(self) -> Iterator[str]:
        """Yield a line for each request, or for each part of one, and the total.

        With ``--total-only``, there is the total alone.
        """
        table = Table(self.columns)
        if self.options.total_only:
            yield " ".join(table.cells(self.sums))
            return
        lines: list[tuple[Sequence[int], str]] = []
        if not self.is_one:
            lines = [([one.tokens for one in row], row[0].name) for row in self.rows]
        elif self.options.parts:
            only = self.rows[0][0]
            lines = [([part.tokens], _name(part, only.of)) for part in only.parts]
        table.align([max(numbers) for numbers in zip(self.sums, *(some for some, _ in lines))])
        if table.has_header:
            yield table.header()
        for numbers, name in lines:
            yield table.line(numbers, name)
        yield table.line(self.sums, "total" if lines else "")


def _counted(stored: Stored, choice: Choice, options: CountOptions) -> _Request:
    """Return the tokens of a request.

    Raises:
        CommandError: it is damaged, or its model is not known.
    """

    def wrong(reason: str) -> CommandError:
        return _RequestError(stored.name, reason, options.messages or "")

    body = stored.body
    model = choice.model
    if model is None and choice.encoding is None:
        model = body.get("model")
        if model is not None and not isinstance(model, str):
            raise wrong("model: must be a string")
    factor = in_store = encoding = template = None
    try:
        if model is not None and choice.encoding is None:
            wanted = options.estimate or options.factor is not None
            answer = resolve(model, "model", estimate=wanted)
            factor, in_store = answer.estimate, answer.path
        by_name = choice.encoding if in_store is None else in_store
        if model is None or in_store is not None or options.pattern is not None:
            encoding = chosen_encoding(None, by_name, options.pattern)
            if by_name is not None and is_path(by_name):
                template = find_chat_template(by_name)
        request = whole_request(
            body,
            model=model if in_store is None else None,
            encoding=encoding,
            template=template,
            estimate=factor is not None,
            strict=options.strict,
            as_of=options.as_of,
            left_out=stored.left_out,
        )
        tokens = request.count()
        if options.factor is not None:
            tokens = _times(tokens, options.factor)
        parts = request.parts() if options.parts else []
    except UnresolvedError as error:
        raise wrong(error.message(TERMS._replace(estimate="--estimate"))) from None
    except KeyError as error:
        raise wrong(str(error.args[0])) from None
    except (ImportError, ValueError) as error:
        raise wrong(str(error)) from None
    except OSError as error:
        raise CommandError(f"{error.filename}: {error.strerror or error}") from None
    is_estimated = factor is not None or options.factor is not None
    of = "messages" if "messages" in body else "input"
    return _Request(stored.name, model, tokens, parts, of, is_estimated)


def _times(tokens: MessageCount, factor: str) -> MessageCount:
    """Return a number of tokens times the caller's factor, rounded up."""
    own = OwnFactor.of_text(factor, "the request")
    return MessageCount(own.tokens(tokens), "; ".join(filter(None, (own.reason, tokens.note))))


def _name(part: RequestPart, of: str) -> str:
    """Return the name of a part; ``of`` is the member of the request that has its messages."""
    places = ", ".join(f"{of}[{number}]" for number in part.messages)
    return f"{part.name} ({places})" if places else part.name


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
