"""The settings in the files beside a vocabulary: of Hugging Face transformers, and of training.

``tokenizer_config.json`` has the name of a class and its settings, and the special tokens by their
roles. Older folders have the special tokens in ``special_tokens_map.json``, other added tokens in
``added_tokens.json``, and only the type of the model in ``config.json``. Any of these files may be
missing.

``manifest.json`` has the settings that are not in the files of a trained vocabulary.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..caches import cached_property
from ..files.whole import read_whole
from .checked_json import Json, read_json

#: The roles of special tokens, in the order in which new ones are numbered.
ROLES = tuple(
    """
        bos_token eos_token unk_token sep_token pad_token cls_token mask_token
    """.split()
)
#: transformers' name for the unknown token if a file has none.
NO_UNKNOWN = "None"
_MORE = "additional_special_tokens"
_EXTRA = "extra_special_tokens"

#: The class for each type of model, for folders whose files do not name it.
_CLASS_OF_MODEL = {
    name.lower(): f"{name}Tokenizer"
    for name in """
        Bart Bert CLIP CodeGen ConvBert DistilBert Electra Flaubert Funnel GPT2 Herbert LayoutLM
        LayoutLMv2 LED Longformer Lxmert MobileBert MPNet Mvp Qwen2 Roberta SqueezeBert XLM
    """.split()
}
_CLASS_OF_MODEL["openai-gpt"] = "OpenAIGPTTokenizer"

_FILES = (
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "config.json",
)
_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


class Special(NamedTuple):
    """The default special token of a class for a role.

    ``lstrip`` and ``normalized`` are as for any added token. They also apply to a name without
    flags in a file. ``content`` is None if the class has no such token. ``is_bare`` is True if a
    list of added tokens with the name decides about its flags.
    """

    content: str | None = None
    lstrip: bool = False
    normalized: bool = False
    is_bare: bool = True


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
        # Both are older than the list of all added tokens, and are used only without it.
        self._is_old = config.get("added_tokens_decoder") is None
        self._names = names if self._is_old else Json({}, names.source)
        self._added = added if self._is_old else Json({}, added.source)
        self.model = model

    def class_name(self, known: Container[str]) -> Json | None:
        """Return the name of the class, without "Fast" at its end, with its place; None if unknown.

        Args:
            known: the names of classes. The class of the type of model is used only if it is one
                of them, since a model of any type may have a vocabulary of another kind.
        """
        for file in (self.config, self.model):
            named = file.get("tokenizer_class")
            if named is not None:
                return Json(named.text().removesuffix("Fast"), named.source, named.place)
        kind = self.model.get("model_type")
        name = None if kind is None else _CLASS_OF_MODEL.get(kind.text())
        if kind is None or name not in known:
            return None
        return Json(name, kind.source, kind.place)

    def flag(self, name: str) -> bool | None:
        """Return a flag of the class; None if it is null or missing."""
        member = self.config.get(name)
        return None if member is None else member.truth()

    def special_tokens(self, known: Mapping[str, Special]) -> dict[str, dict[str, Any]]:
        """Return the special token of each role that has one, as in a file.

        A role that is null in a file has no token, even if the class has one.

        Args:
            known: the default tokens of the class.
        """
        tokens: dict[str, dict[str, Any]] = {}
        for role in ROLES:
            default = known.get(role, Special())
            part = self._field(role)
            content = default.content if part is None else part
            if content is None or (isinstance(content, Json) and content.value in (None, "")):
                continue
            token = _token(content, lstrip=default.lstrip, normalized=default.normalized)
            is_bare = default.is_bare and (part is None or isinstance(part.value, str))
            if is_bare or (part is not None and not self._is_old):
                token = self._listed.get(token["content"], token)
            tokens[role] = token
        return tokens

    @cached_property
    def _listed(self) -> dict[str, dict[str, Any]]:
        """The tokens of both lists of added tokens by their names; the last ones count."""
        return {token["content"]: token for token in (*self.listed(), *self._listed_by_name())}

    def _field(self, key: str) -> Json | None:
        """Return the value of a key in the files, which may be null; None if no file has it."""
        for file in (self._names, self.config):
            if key in file.mapping():
                return file[key]
        return None

    def added_tokens(
        self,
        vocabulary: Mapping[str, int],
        special: Mapping[str, dict[str, Any]],
        more: Sequence[str] = (),
    ) -> AddedBeside:
        """Return all added tokens.

        Tokens that are not in the vocabulary are numbered from its end on: first the listed ones,
        in the order of their ids in the list, then the special ones, in the order of their roles.

        Args:
            vocabulary: the tokens of the model, and their ids.
            special: the special token for each role.
            more: the default of the other special tokens.
        """
        roles = {token["content"] for token in special.values()}
        more_tokens = [token for token in self._more(more) if token["content"] not in roles]
        by_role = [*special.values(), *more_tokens]
        names = {token["content"] for token in by_role}
        listed = [*self.listed(), *self._listed_by_name()]
        # transformers numbers them twice. Around a text it puts the ids in the files, even if the
        # tokens get other ids in the end.
        around = {**vocabulary, **{token["content"]: token["id"] for token in listed}}
        for name in dict.fromkeys(token["content"] for token in by_role):
            around.setdefault(name, len(around))
        tokens: dict[str, dict[str, Any]] = {}
        first_of_roles: dict[str, dict[str, Any]] = {}
        for token in special.values():
            first_of_roles.setdefault(token["content"], token)
        for token in (*listed, *first_of_roles.values(), *more_tokens):
            name = token["content"]
            if name in tokens and token is self._listed.get(name):
                continue
            # A repeated token keeps its place, but gets the last flags.
            tokens[name] = {**token, "special": token["special"] or name in names}
        tokens.pop("", None)
        following = len(vocabulary)
        for name, token in tokens.items():
            token["id"] = vocabulary.get(name, following)
            following += name not in vocabulary
        return AddedBeside(list(tokens.values()), around)

    def listed(self) -> Iterator[dict[str, Any]]:
        """Yield the tokens of ``added_tokens_decoder`` as in a ``tokenizer.json``, by their ids.

        Raises:
            ValueError: the list is damaged.
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

    def _listed_by_name(self) -> Iterator[dict[str, Any]]:
        """Yield the tokens of ``added_tokens.json`` by their ids."""
        # Tokens of the class itself, and tokens with flags in the settings, do not count here.
        parts = filter(None, (*map(self._field, ROLES), *self._more_parts()))
        special = {
            _token(part)["content"]
            for part in parts
            if isinstance(part.value, str) or (part.value and part.source == self._names.source)
        }
        by_id = {self._added[name].number(): name for name in self._added.mapping()}
        for number in sorted(by_id):
            token = _token(by_id[number], is_special=by_id[number] in special)
            yield {**token, "normalized": not token["special"], "id": number}

    def _more(self, known: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield the special tokens that have no role.

        Args:
            known: the default tokens of the class.
        """
        if self._field(_MORE) is None:
            yield from map(_token, known)
        extra = self.config.get(_EXTRA)
        extra_parts = [] if extra is None else [extra[name] for name in extra.mapping()]
        for part in (*self._more_parts(), *extra_parts):
            token = _token(part)
            is_bare = isinstance(part.value, str)
            yield self._listed.get(token["content"], token) if is_bare else token

    def _more_parts(self) -> Iterator[Json]:
        parts = [file[_MORE] for file in (self.config, self._names) if _MORE in file.mapping()]
        # Null in the file that is read last overrides the other file.
        seen: list[Any] = []
        for part in parts if parts and parts[-1].value is not None else ():
            if part.value is not None:
                items = [item for item in part.items() if item.value not in seen]
                yield from items
                seen += [item.value for item in items]


class AddedBeside(NamedTuple):
    """The added tokens of a folder.

    Args:
        tokens: all added tokens as in a ``tokenizer.json``.
        around: the ids with which tokens are added around a text.
    """

    tokens: list[dict[str, Any]]
    around: Mapping[str, int]


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
    """Return an added token as in a ``tokenizer.json``, except for its id.

    Args:
        part: its name, or an object with its name and its flags.
        lstrip, normalized: the flags for a name without flags.
        is_special: True if it is special even without a flag.
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


MANIFEST = "manifest.json"

#: The pattern in a manifest if only a ``tokenizer.json`` defines how text is split.
AS_TOKENIZER_JSON = "that of tokenizer.json"

#: The formats of byte-level BPE, and the files of each; ``{name}`` stands for the name of the
#: vocabulary.
FORMATS: dict[str, tuple[str, ...]] = {
    "tiktoken": ("{name}.tiktoken",),
    "gpt2": ("encoder.json", "vocab.bpe"),
    "vocab-merges": ("vocab.json", "merges.txt", "tokenizer_config.json"),
    "tokenizer-json": ("tokenizer.json", "tokenizer_config.json"),
    "token-map": ("token_map.tsv",),
}

#: The format of SentencePiece models, and all formats.
SENTENCEPIECE = "sentencepiece"
ALL_FORMATS = {**FORMATS, SENTENCEPIECE: ("{name}.model", "{name}.vocab")}


class Manifest(NamedTuple):
    """A manifest, as far as ``load`` needs it.

    Args:
        pattern: how text is split: a pattern, the name of one, or ``AS_TOKENIZER_JSON``.
        special_tokens: names and ids.
    """

    pattern: str
    special_tokens: dict[str, int]


def manifest_of(*files: Path) -> Manifest | None:
    """Read the manifest in the folder of some files.

    Returns:
        The manifest; None if there is none, or if it does not list one of the files with its
        SHA-256. In that case the manifest is of another vocabulary, or of another kind.

    Raises:
        OSError: one of the files cannot be read.
    """
    try:
        manifest = json.loads(read_whole(files[0].with_name(MANIFEST)))
        listed, pattern, specials = (
            manifest[key] for key in ("files", "pattern", "special_tokens")
        )
        digests = [listed[file.name] for file in files]
        special_tokens = dict(specials.items())
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    # A bool is an int to isinstance().
    if not isinstance(pattern, str) or any(type(one) is not int for one in special_tokens.values()):
        return None
    for file, digest in zip(files, digests):
        if hashlib.sha256(read_whole(file)).hexdigest() != digest:
            return None
    return Manifest(pattern, special_tokens)
