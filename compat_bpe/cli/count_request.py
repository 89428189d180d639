"""The count of a request to a model: messages and tools as a service takes them, in JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from ..chat import RequestPart, count_messages, count_parts
from ..chat.choose import chosen_format
from ..chat.service import service_variables
from ..chat.template_files import find_chat_template
from ..encodings.local_stores import stored_encoding
from ..files.json_message import json_message
from ..files.text import check_mark, not_utf8, open_bytes
from ..files.whole import read_at_most
from .context_share import limit_of, share, share_as_json
from .count_output import Style, estimate_mark
from .input_path import announce_wait, complaint
from .options.encoding import check_one_is_chosen, chosen_encoding, chosen_factor, is_path
from .output import CommandError, plural, write_line, write_message

#: The largest request that is read, in bytes.
_SIZE_LIMIT = 1 << 28


class Chosen(NamedTuple):
    """The options by which a request is counted."""

    model: str | None
    encoding: str | None
    pattern: str | None
    #: Estimate for a model without a public tokenizer.
    estimate: bool = False


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
    """Print the tokens of a request, and return the exit status.

    Args:
        path: the file, or ``-``.
        chosen: what to count by; unless it says a model or an encoding, the request may.
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
    body = _read(path)
    model = chosen.model
    if model is None and chosen.encoding is None:
        named = body.get("model")
        if named is not None and not isinstance(named, str):
            raise CommandError(complaint(path, "model: must be a string"))
        model = named
    messages = body.get("messages")
    factor = chosen_factor(model, chosen.encoding) if chosen.estimate else None
    system = body.get("system")
    if factor is not None and system is not None and messages and isinstance(messages, list):
        # Anthropic's requests have it beside the messages. It is the last here, so that errors
        # name the places of the others in the request.
        messages = [*messages, {"role": "system", "content": system}]
    stored = None
    if model is not None and chosen.encoding is None:
        stored = stored_encoding(model)
        chosen = chosen._replace(encoding=stored)
    encoding = None
    template = None
    try:
        if model is None or stored is not None or chosen.pattern is not None:
            encoding = chosen_encoding(None, chosen.encoding, chosen.pattern)
            if chosen.encoding is not None and is_path(chosen.encoding):
                template = find_chat_template(chosen.encoding)
        variables = body.get("chat_template_kwargs")
        if factor is None and (variables is None or isinstance(variables, dict)):
            chat = chosen_format(model if stored is None else None, encoding, template)
            variables = {**service_variables(body, chat), **(variables or {})}
        request: dict[str, Any] = {
            "messages": messages,
            "model": model if stored is None else None,
            "encoding": encoding,
            "template": template,
            # OpenAI's requests had them under this name before.
            "tools": body.get("functions") if body.get("tools") is None else body["tools"],
            "documents": body.get("documents"),
            "variables": variables,
            "response_format": body.get("response_format"),
            "estimate": factor is not None,
        }
        tokens = count_messages(**request)
        parts = count_parts(**request) if with_parts else []
    except KeyError as error:
        raise CommandError(complaint(path, str(error.args[0]))) from None
    except (ImportError, ValueError) as error:
        raise CommandError(complaint(path, str(error))) from None
    except OSError as error:
        raise CommandError(f"{error.filename}: {error.strerror or error}") from None
    mark = "" if factor is None else estimate_mark()
    context = limit_of(model) if with_context else None
    if json_wanted:
        result: dict[str, Any] = {
            "model": model,
            "tokens": tokens,
            "estimate": tokens.note or None,
        }
        if with_parts:
            result["parts"] = [asdict(part) for part in parts]
        if context is not None:
            result["context"] = share_as_json(tokens, context)
        write_line(json.dumps(result))
    else:
        for line in _lines(parts, tokens, mark):
            write_line(line)
        if tokens.note and not quiet:
            write_message(f"an estimate: {tokens.note}")
        if context is not None:
            write_line(share(tokens, context))
    if limit is not None and tokens > limit:
        estimated = " by the estimate" if factor is not None else ""
        write_message(f"{mark}{plural(tokens, 'token')}{estimated}, over the limit of {limit:,}")
        return 1
    return 0


def _lines(parts: Sequence[RequestPart], tokens: int, mark: str) -> Iterator[str]:
    """Yield a line for each part, and one for the request: without parts, its number alone."""
    numbers = [part.tokens for part in parts]
    style = Style(max(len(str(number)) for number in [*numbers, tokens]) + len(mark), mark=mark)
    for part in parts:
        places = ", ".join(f"messages[{number}]" for number in part.messages)
        yield style.line(part.tokens, f"{part.name} ({places})" if places else part.name)
    yield style.line(tokens, "total" if parts else "")


def _read(path: str) -> Mapping[str, Any]:
    """Return a request; a list is one of messages alone.

    Raises:
        CommandError: the file cannot be read, or is no JSON, or neither an object nor a list.
    """
    try:
        with open_bytes(path) as file:
            data = read_at_most(file.read, _SIZE_LIMIT + 1)
    except OSError as error:
        raise CommandError(complaint(path, error.strerror or os.fspath(path))) from None
    if len(data) > _SIZE_LIMIT:
        raise CommandError(complaint(path, f"larger than {_SIZE_LIMIT:,} bytes"))
    try:
        check_mark(data)
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        reason = not_utf8(error, len(data) - len(error.object))
        raise CommandError(complaint(path, str(reason))) from None
    except ValueError as error:
        raise CommandError(complaint(path, str(error))) from None
    try:
        body = json.loads(text)
    except ValueError as error:
        raise CommandError(complaint(path, f"not JSON: {json_message(str(error))}")) from None
    except RecursionError:
        raise CommandError(complaint(path, "nested too deeply")) from None
    if isinstance(body, list):
        return {"messages": body}
    if not isinstance(body, dict) or "messages" not in body:
        raise CommandError(complaint(path, "must be an object with messages, or a list of them"))
    return body
