"""The format of a model's requests, by the name of the model, its encoding, or a template.

Some names of DeepSeek's service have meant different models over time. The days are those of the
service's change log; since 2026-07-24 it refuses both names.

https://api-docs.deepseek.com/updates
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from datetime import date
from typing import Callable, NamedTuple

from ..encodings.encoding import Encoding
from ..encodings.load import load
from ..encodings.model_names import plain_model_name
from ..encodings.registry import encoding_of
from ..encodings.resolve import LIBRARY, UnresolvedError, resolve
from .base import ChatFormat, MessageCount, Request
from .deepseek import DeepSeekFormat, DeepSeekV32Format
from .deepseek_v4 import DeepSeekV4Format, Version
from .estimate import EstimateFormat
from .harmony import HarmonyFormat
from .messages import Plain
from .openai import OpenAIFormat
from .template import ChatTemplate, TemplateFormat, find_chat_template

#: The advice in errors about a request, for its caller.
TERMS = LIBRARY._replace(estimate="estimate=True")


class Meaning(NamedTuple):
    """The model that a name means from a day on.

    Args:
        since: the day, as ISO 8601 writes it.
        model: the name of the model.
        thinks: True if it thinks unless a request says otherwise.
        note: a remark on recorded requests that differ from its format.
    """

    since: str
    model: str
    thinks: bool
    note: str = ""


def _meanings(first: Meaning, *, thinks: bool) -> tuple[Meaning, ...]:
    later = (
        ("2025-08-21", "deepseek-v3.1"),
        ("2025-09-29", "deepseek-v3.2-exp"),
        ("2025-12-01", "deepseek-v3.2"),
        ("2026-04-24", "deepseek-v4-flash"),
    )
    return (first, *(Meaning(since, model, thinks) for since, model in later))


_R1 = Meaning(
    "2025-01-20",
    "deepseek-r1",
    False,
    "; each of 2 recorded requests was billed 2 more tokens",
)
ALIASES = {
    "deepseek-chat": _meanings(Meaning("2024-12-26", "deepseek-v3", False), thinks=False),
    "deepseek-reasoner": _meanings(_R1, thinks=True),
}


def meaning_of(name: str, as_of: str | None) -> Meaning | None:
    """Return the meaning of a name on a day; None if it is not an alias.

    Args:
        name: the plain name of a model.
        as_of: the day; None for the last meaning.

    Raises:
        ValueError: the day is not a date, or before the first meaning.

    >>> meaning_of("deepseek-chat", "2025-10-01").model
    'deepseek-v3.2-exp'
    """
    if as_of is not None:
        try:
            as_of = date.fromisoformat(as_of).isoformat()
        except (TypeError, ValueError):
            raise ValueError(f"as_of: {as_of!r} is not a date such as 2025-06-30") from None
    meanings = ALIASES.get(name)
    if meanings is None:
        return None
    held = [one for one in meanings if as_of is None or one.since <= as_of]
    if not held:
        raise ValueError(f"as_of: {name!r} has no known meaning before {meanings[0].since}")
    return held[-1]


class NoFormatError(ValueError):
    """A model or an encoding without a known chat format.

    Args:
        reason: the message without the advice, which depends on the caller.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}; pass template=load_chat_template(…)")
        self.reason = reason


class AliasFormat(ChatFormat):
    """The format of the model that an alias means.

    Args:
        chat: the format of that model.
        name: the alias.
        meaning: its meaning.
    """

    def __init__(self, chat: ChatFormat, name: str, meaning: Meaning) -> None:
        super().__init__(chat.encoding)
        self._chat = chat
        self._thinks = meaning.thinks
        self._note = (
            f"{name} has meant different models over time; it is counted as {meaning.model}, its "
            f"meaning since {meaning.since}{meaning.note}"
        )
        self.members = chat.members
        self.service_variables = chat.service_variables

    def count(self, request: Request) -> MessageCount:
        """Return the number of tokens of a request.

        Raises:
            ValueError: as the format of the model does.
        """
        return self.counter(request)(request.messages)

    def counter(self, request: Request) -> Callable[[list[Plain]], MessageCount]:
        """Return a function that counts a request with other messages, again and again."""
        variables = {"thinking": self._thinks, **request.variables}
        count = self._chat.counter(replace(request, variables=variables))

        def noted(messages: list[Plain]) -> MessageCount:
            found = count(messages)
            return MessageCount(found, "; ".join(filter(None, (self._note, found.note))))

        return noted


class _Kind(NamedTuple):
    """The models of an encoding whose names a pattern matches, and the maker of their format.

    The format is made of the encoding and the name of the model.
    """

    encoding: str
    models: str
    make: Callable[[Encoding, str], ChatFormat]


#: The first kind that fits a model's encoding and its name is used; without a model's name, the
#: first kind of the encoding whose pattern matches the empty name.
_KINDS = (
    _Kind("cl100k_base", r"((?!.*instruct)(ft:)?gpt-(3\.5|35|4).*)?", OpenAIFormat),
    _Kind("o200k_base", r".*", OpenAIFormat),
    _Kind("o200k_harmony", r".*", lambda encoding, _: HarmonyFormat(encoding)),
    # V3.2-Exp came before V3.2, and has the template of V3.1.
    _Kind(
        "deepseek_v3",
        r".*[vV]3[.-]2(?!\d|.*[eE]xp).*",
        lambda encoding, _: DeepSeekV32Format(encoding),
    ),
    _Kind(
        "deepseek_v3",
        r".*[vV]3[.-][12](?!\d).*",
        lambda encoding, _: DeepSeekFormat(encoding, opens_thinking=True),
    ),
    _Kind("deepseek_v3", r".*", lambda encoding, _: DeepSeekFormat(encoding)),
    _Kind("deepseek_r1", r".*", lambda encoding, _: DeepSeekFormat(encoding)),
    _Kind(
        "deepseek_v4",
        r".*[vV]4[.-]1(?!\d).*",
        lambda encoding, _: DeepSeekV4Format(encoding, Version.V4_1),
    ),
    _Kind("deepseek_v4", r".*", lambda encoding, _: DeepSeekV4Format(encoding, Version.V4)),
)


def chosen_format(
    model: str | None,
    encoding: Encoding | str | os.PathLike[str] | None,
    template: ChatTemplate | str | None,
    as_of: str | None = None,
    *,
    estimate: bool = False,
) -> ChatFormat:
    """Return the format that the arguments of ``count_messages`` mean.

    Raises:
        KeyError: the model is unknown.
        OSError: a file cannot be read.
        ValueError: there is neither a model nor an encoding; the format is not known; the model has
            another format than the chat template beside the encoding; or a file is damaged.
    """
    meaning = meaning_of("" if model is None else plain_model_name(model), as_of)
    if model is not None and meaning is not None:
        return AliasFormat(chosen_format(meaning.model, encoding, template), model, meaning)
    if model is not None:
        is_estimated = estimate and encoding is None and template is None
        try:
            answer = resolve(model, "model", files=False, estimate=is_estimated)
        except UnresolvedError as error:
            error.args = (error.message(TERMS),)
            raise
        if answer.estimate is not None:
            return EstimateFormat(answer.estimate)
        of_model, model = answer.encoding_name, plain_model_name(model)
        if encoding is None:
            encoding = of_model
    else:
        of_model = ""
    if encoding is None:
        raise ValueError("give a model or an encoding")
    loaded, beside = _loaded(encoding)
    if isinstance(template, str):
        template = ChatTemplate(template, {} if beside is None else beside.special_tokens)
    if template is None and beside is not None:
        if model is not None:
            raise ValueError(
                f"model {model!r} has a chat format of its own, but a chat template is beside the "
                "encoding: leave out the model, or give the encoding by its name"
            )
        template = beside
    if template is not None:
        return TemplateFormat(loaded, template)
    name = of_model or loaded.name
    for kind in _KINDS:
        if kind.encoding == name and re.fullmatch(kind.models, model or ""):
            return kind.make(loaded, model or "")
    what = f"model {model!r}" if model is not None else f"encoding {loaded.name!r}"
    raise NoFormatError(f"no chat format is known for {what}")


def _loaded(encoding: Encoding | str | os.PathLike[str]) -> tuple[Encoding, ChatTemplate | None]:
    """Return an encoding, and the chat template that is beside its file."""
    if isinstance(encoding, Encoding):
        return encoding, None
    path: str | os.PathLike[str] = encoding
    if isinstance(encoding, str):
        answer = resolve(encoding)
        if answer.path is None:
            return encoding_of(answer), None
        path = answer.path
    return load(path), find_chat_template(path)
