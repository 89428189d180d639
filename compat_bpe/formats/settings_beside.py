"""The files that Hugging Face transformers keeps beside a vocabulary.

``tokenizer_config.json`` has the name of a class and its settings, and the special tokens by what
they are for.  Older folders have those in ``special_tokens_map.json``, other added tokens in
``added_tokens.json``, and no more than the type of the model in ``config.json``.  All of them may
be missing.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .checked_json import Json, read_json

#: The roles of special tokens, in the order in which new ones are numbered.
ROLES = (
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
)
_MORE = "additional_special_tokens"

#: The class for each type of model, for folders whose files do not name it.
_CLASS_OF_MODEL = {
    "bart": "BartTokenizer",
    "bert": "BertTokenizer",
    "clip": "CLIPTokenizer",
    "codegen": "CodeGenTokenizer",
    "convbert": "ConvBertTokenizer",
    "distilbert": "DistilBertTokenizer",
    "electra": "ElectraTokenizer",
    "flaubert": "FlaubertTokenizer",
    "funnel": "FunnelTokenizer",
    "gpt2": "GPT2Tokenizer",
    "herbert": "HerbertTokenizer",
    "layoutlm": "LayoutLMTokenizer",
    "layoutlmv2": "LayoutLMv2Tokenizer",
    "led": "LEDTokenizer",
    "longformer": "LongformerTokenizer",
    "lxmert": "LxmertTokenizer",
    "mobilebert": "MobileBertTokenizer",
    "mpnet": "MPNetTokenizer",
    "mvp": "MvpTokenizer",
    "openai-gpt": "OpenAIGPTTokenizer",
    "qwen2": "Qwen2Tokenizer",
    "roberta": "RobertaTokenizer",
    "squeezebert": "SqueezeBertTokenizer",
    "xlm": "XLMTokenizer",
}

_FILES = (
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "config.json",
)
_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


class Special(NamedTuple):
    """The special token that a class has for a role, unless a file names another.

    ``lstrip`` and ``normalized`` are as for any added token.
    """

    content: str
    lstrip: bool = False
    normalized: bool = False


class Settings:
    """The files beside a vocabulary.

    Args:
        config: ``tokenizer_config.json``; an empty object if there is none.
        names: ``special_tokens_map.json``, in the same way.
        added: ``added_tokens.json``, in the same way.
        model: ``config.json``, in the same way.
    """

    def __init__(self, config: Json, names: Json, added: Json, model: Json) -> None:
        self.config = config
        # Both are older than the list of all added tokens, and count only without it.
        is_old = config.get("added_tokens_decoder") is None
        self._names = names if is_old else Json({}, names.source)
        self._added = added if is_old else Json({}, added.source)
        self._model = model

    def class_name(self, known: Container[str]) -> Json | None:
        """Return the name of the class, without "Fast" at its end, with its place; None if unknown.

        Args:
            known: the names of classes.  The type of model says the class only if that is one of
                them, since models of any type may have a vocabulary of another's kind.
        """
        for file in (self.config, self._model):
            named = file.get("tokenizer_class")
            if named is not None:
                return Json(named.text().removesuffix("Fast"), named.source, named.place)
        kind = self._model.get("model_type")
        name = None if kind is None else _CLASS_OF_MODEL.get(kind.text())
        if kind is None or name not in known:
            return None
        return Json(name, kind.source, kind.place)

    def flag(self, name: str) -> bool | None:
        """Return a flag of the class; None if it is null or missing."""
        found = self.config.get(name)
        return None if found is None else found.truth()

    def special_tokens(self, known: Mapping[str, Special]) -> dict[str, dict[str, Any]]:
        """Return the special token for each role that there is one for, as in a file.

        Args:
            known: the tokens that the class has.
        """
        found: dict[str, dict[str, Any]] = {}
        for role in ROLES:
            default = known.get(role)
            part = self._names.get(role) or self.config.get(role)
            if part is None and (default is None or role in self.config.mapping()):
                continue
            flags = default or Special("")
            found[role] = _token(
                flags.content if part is None else part,
                lstrip=flags.lstrip,
                normalized=flags.normalized,
            )
        return found

    def added_tokens(
        self,
        vocabulary: Mapping[str, int],
        special: Mapping[str, dict[str, Any]],
        more: Sequence[str] = (),
    ) -> list[dict[str, Any]]:
        """Return all added tokens as in a ``tokenizer.json``.

        Those that are not in the vocabulary are numbered from its end on: first the listed ones,
        then the special ones in the order of their roles.

        Args:
            vocabulary: the tokens of the model, and their ids.
            special: the special token for each role.
            more: the other special tokens, unless a file lists some.
        """
        by_role = [*special.values(), *self._more(more)]
        names = {token["content"] for token in by_role}
        found: dict[str, dict[str, Any]] = {}
        for token in (*self.listed(), *self._listed_by_name(names), *by_role):
            found.setdefault(token["content"], token)
        following = len(vocabulary)
        for name, token in found.items():
            token["special"] = token["special"] or name in names
            token["id"] = vocabulary.get(name, following)
            following += name not in vocabulary
        return list(found.values())

    def listed(self) -> Iterator[dict[str, Any]]:
        """Yield the tokens of ``added_tokens_decoder`` as in a ``tokenizer.json``, by their ids.

        Raises:
            ValueError: it is damaged.
        """
        listed = self.config.get("added_tokens_decoder")
        if listed is None:
            return
        for number in listed.mapping():
            if not re.fullmatch("[0-9]{1,10}", number):
                listed.fail(f"{number[:20]!r} is not an id")
        for number in sorted(listed.mapping(), key=int):
            listed[number].mapping()
            yield {**_token(listed[number], is_special=False), "id": int(number)}

    def _listed_by_name(self, special: set[str]) -> Iterator[dict[str, Any]]:
        """Yield the tokens of ``added_tokens.json`` by their ids."""
        for name in sorted(self._added.mapping(), key=lambda name: self._added[name].number()):
            yield _token(name, normalized=name not in special, is_special=False)

    def _more(self, known: Sequence[str]) -> Iterator[dict[str, Any]]:
        parts = [file.get(_MORE) for file in (self.config, self._names)]
        if not any(parts):
            yield from map(_token, known)
        for part in parts:
            if part is not None:
                yield from map(_token, part.items())


def settings_beside(path: Path) -> Settings:
    """Read the files beside a vocabulary.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is damaged.
    """
    files = [_read(path.with_name(name)) for name in _FILES]
    return Settings(*files)


def _read(path: Path) -> Json:
    file = read_json(path) if path.exists() else Json({}, str(path))
    file.mapping()
    return file


def _token(
    part: Json | str,
    *,
    lstrip: bool = False,
    normalized: bool = False,
    is_special: bool = True,
) -> dict[str, Any]:
    """Return an added token as in a ``tokenizer.json``, but for its id.

    Args:
        part: its name, or an object with its name and its flags.
        lstrip, normalized: the flags for a name without flags.
        is_special: True if it is special even where no flag says so.
    """
    if isinstance(part, Json) and isinstance(part.value, dict):
        flags = {name: part.get(name) for name in _FLAGS}
        token = {name: flag is not None and flag.truth() for name, flag in flags.items()}
        if flags["normalized"] is None:
            token["normalized"] = not (token["special"] or is_special)
        token["special"] = token["special"] or is_special
        return {"content": part["content"].text(), **token}
    return {
        "content": part.text() if isinstance(part, Json) else part,
        "single_word": False,
        "lstrip": lstrip,
        "rstrip": False,
        "normalized": normalized,
        "special": is_special,
    }
