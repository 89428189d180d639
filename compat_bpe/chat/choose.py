"""The format of a model's requests, by the name of the model, its encoding, or a template."""

from __future__ import annotations

import os
import re
from typing import Callable, NamedTuple

from ..encodings.encoding import Encoding
from ..encodings.load import load
from ..encodings.model_names import plain_model_name
from ..encodings.registry import encoding_of
from ..encodings.resolve import resolve
from .aliases import AliasFormat, meaning_of
from .base import ChatFormat
from .deepseek import DeepSeekFormat, Version
from .deepseek_v4 import DeepSeekV4Format
from .deepseek_v4 import Version as V4Version
from .deepseek_v32 import DeepSeekV32Format
from .harmony import HarmonyFormat
from .openai import OpenAIFormat
from .template import ChatTemplate, TemplateFormat
from .template_files import find_chat_template


class _Kind(NamedTuple):
    """The models of an encoding whose names a pattern matches, and the maker of their format."""

    encoding: str
    models: str
    make: Callable[[Encoding, str], ChatFormat]


def _harmony(encoding: Encoding, _model: str) -> ChatFormat:
    return HarmonyFormat(encoding)


def _deepseek(version: Version) -> Callable[[Encoding, str], ChatFormat]:
    return lambda encoding, _model: DeepSeekFormat(encoding, version)


def _deepseek_v3_2(encoding: Encoding, _model: str) -> ChatFormat:
    return DeepSeekV32Format(encoding)


def _deepseek_v4(version: V4Version) -> Callable[[Encoding, str], ChatFormat]:
    return lambda encoding, _model: DeepSeekV4Format(encoding, version)


#: The first kind that fits a model's encoding and its name is taken. Without a model's name, the
#: first kind of the encoding whose pattern matches the empty name is.
_KINDS = (
    _Kind("cl100k_base", r"((?!.*instruct)(ft:)?gpt-(3\.5|35|4).*)?", OpenAIFormat),
    _Kind("o200k_base", r".*", OpenAIFormat),
    _Kind("o200k_harmony", r".*", _harmony),
    # V3.2-Exp came before V3.2, and has the template of V3.1.
    _Kind("deepseek_v3", r".*[vV]3[.-]2(?!\d|.*[eE]xp).*", _deepseek_v3_2),
    _Kind("deepseek_v3", r".*[vV]3[.-][12](?!\d).*", _deepseek(Version.V3_1)),
    _Kind("deepseek_v3", r".*", _deepseek(Version.V3)),
    _Kind("deepseek_r1", r".*", _deepseek(Version.R1)),
    _Kind("deepseek_v4", r".*[vV]4[.-]1(?!\d).*", _deepseek_v4(V4Version.V4_1)),
    _Kind("deepseek_v4", r".*", _deepseek_v4(V4Version.V4)),
)


def chosen_format(
    model: str | None,
    encoding: Encoding | str | os.PathLike[str] | None,
    template: ChatTemplate | str | None,
    as_of: str | None = None,
) -> ChatFormat:
    """Return the format that the arguments of ``count_messages`` mean.

    Raises:
        KeyError: the model is unknown.
        OSError: a file cannot be read.
        ValueError: nothing says the encoding, or nothing says the format, or both the model and a
            chat template beside the encoding say it; or a file is damaged.
    """
    meaning = meaning_of("" if model is None else plain_model_name(model), as_of)
    if model is not None and meaning is not None:
        return AliasFormat(chosen_format(meaning.model, encoding, template), model, meaning)
    if model is not None:
        of_model = resolve(model, "model", files=False).encoding_name
        model = plain_model_name(model)
        if encoding is None:
            encoding = of_model
    else:
        of_model = ""
    if encoding is None:
        raise ValueError("give a model or an encoding: nothing says how to count")
    loaded, beside = _loaded(encoding)
    if isinstance(template, str):
        template = ChatTemplate(template, {} if beside is None else beside.special_tokens)
    if template is None and beside is not None:
        if model is not None:
            raise ValueError(
                f"model {model!r} says one format, and the chat template beside the encoding "
                "another: leave out the model, or give its format's encoding by name"
            )
        template = beside
    if template is not None:
        return TemplateFormat(loaded, template)
    name = of_model or loaded.name
    for kind in _KINDS:
        if kind.encoding == name and re.fullmatch(kind.models, model or ""):
            return kind.make(loaded, model or "")
    what = f"model {model!r}" if model is not None else f"encoding {loaded.name!r}"
    raise ValueError(
        f"{what}: no chat format is known for it; give template=, as load_chat_template reads it"
    )


def _loaded(
    encoding: Encoding | str | os.PathLike[str],
) -> tuple[Encoding, ChatTemplate | None]:
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
