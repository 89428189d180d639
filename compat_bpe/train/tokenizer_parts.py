"""The steps around a model that is to be trained: by name, as in a file, or those of a tokenizer.

The ids in a post-processor are those of a vocabulary, so a new vocabulary needs new ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from ..formats.tokenizer_json import PARTS, TokenizerDefinition
from ..formats.tokenizer_writing import (
    BERT_PRE_TOKENIZER,
    bert_normalizer_part,
    byte_level_part,
    sentence_part,
    template_part,
    text_item,
    token_item,
)
from ..pipeline.added_tokens import AddedToken
from ..pipeline.tokenized import Padding, Truncation

if TYPE_CHECKING:
    from ..formats.tokenizer_models import ModelPart

#: A part: its name, or the part as in a ``tokenizer.json``; None if nothing is said.
GivenPart = Union[str, Mapping[str, Any], None]

_METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}


def _frame(first: str, last: str) -> dict[str, Any]:
    one = [token_item(first), text_item("A"), token_item(last)]
    two = [*one, text_item("B", 1), token_item(last, 1)]
    return template_part(one, two, {first: 0, last: 0})


#: The named parts of each kind.
NAMED: dict[str, dict[str, dict[str, Any] | None]] = {
    "normalizer": {
        "none": None,
        "bert": bert_normalizer_part(lowercase=True),
        "bert-cased": bert_normalizer_part(lowercase=False),
        "lowercase": {"type": "Lowercase"},
        **{form.lower(): {"type": form} for form in ("NFC", "NFD", "NFKC", "NFKD")},
    },
    "pre_tokenizer": {
        "none": None,
        "bert": BERT_PRE_TOKENIZER,
        "whitespace": {"type": "Whitespace"},
        "whitespace-split": {"type": "WhitespaceSplit"},
        "byte-level": byte_level_part(),
        "metaspace": _METASPACE,
    },
    "post_processor": {
        "none": None,
        "bert": _frame("[CLS]", "[SEP]"),
        "roberta": sentence_part(
            *("RobertaProcessing", "<s>", "</s>", {"<s>": 0, "</s>": 0}),
            trim_offsets=True,
            add_prefix_space=False,
        ),
    },
    "decoder": {
        "none": None,
        "wordpiece": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "bpe": {"type": "BPEDecoder", "suffix": "</w>"},
        "byte-level": byte_level_part(),
        "metaspace": _METASPACE,
        "fuse": {"type": "Fuse"},
    },
}


class Surroundings(NamedTuple):
    """All of a tokenizer but its model.

    Args:
        parts: the parts, as in a ``tokenizer.json``. The ids in the post-processor mean nothing.
        special: the special tokens, whose ids mean nothing either.
        truncation, padding: as in ``TokenizerDefinition``.
    """

    parts: Mapping[str, Any]
    special: tuple[AddedToken, ...] = ()
    truncation: Truncation | None = None
    padding: Padding | None = None

    def around(self, model: ModelPart, name: str) -> TokenizerDefinition:
        """Return the definition of a tokenizer with a new model.

        Raises:
            ValueError: the post-processor needs a token that is not in the vocabulary.
        """
        ids = model.vocabulary
        padding = self.padding
        if padding is not None:
            padding = padding._replace(pad_id=ids.get(padding.pad_token, 0))
        return TokenizerDefinition(
            model,
            tuple(token._replace(id=ids[token.content]) for token in self.special),
            {**self.parts, "post_processor": renumbered(self.parts["post_processor"], ids)},
            name,
            self.truncation,
            padding,
        )

    def with_special(self, names: Sequence[str]) -> Surroundings:
        """Return them with the special tokens of these names, in this order."""
        known = {token.content: token for token in self.special}
        tokens = tuple(known.get(name) or AddedToken(name, 0, special=True) for name in names)
        return self._replace(special=tokens)


def part_named(kind: str, given: GivenPart) -> Any:
    """Return a part as in a file.

    Args:
        kind: ``"normalizer"``, ``"pre_tokenizer"``, ``"post_processor"`` or ``"decoder"``.
        given: the part, or its name.

    Raises:
        ValueError: there is no part of that name.

    >>> part_named("pre_tokenizer", "whitespace"), part_named("normalizer", "none")
    ({'type': 'Whitespace'}, None)
    """
    if not isinstance(given, str):
        return given
    known = NAMED[kind]
    if given not in known:
        title = kind.replace("_", "-")
        raise ValueError(f"there is no {title} {given!r}; the names are {', '.join(known)}")
    return known[given]


def surroundings(
    given: Mapping[str, GivenPart],
    defaults: Mapping[str, GivenPart],
    like: TokenizerDefinition | None,
) -> Surroundings:
    """Return the steps around a model.

    Args:
        given: some parts, by kind.
        defaults: the parts that are used if there is no tokenizer to be like.
        like: the tokenizer whose parts and special tokens are used, but for given ones.

    Raises:
        ValueError: there is no part of a name.
    """
    others = defaults if like is None else like.parts
    parts = {
        kind: part_named(kind, given[kind] if given.get(kind) is not None else others.get(kind))
        for kind in PARTS
    }
    if like is None:
        return Surroundings(parts)
    special = sorted((one for one in like.added_tokens if one.special), key=lambda one: one.id)
    return Surroundings(parts, tuple(special), like.truncation, like.padding)


def renumbered(post_processor: Any, ids: Mapping[str, int]) -> Any:
    """Return a post-processor, as in a file, with the ids of a vocabulary.

    Raises:
        ValueError: a token is not in the vocabulary.

    >>> renumbered({"type": "BertProcessing", "sep": ["S", 8], "cls": ["C", 9]}, {"C": 0, "S": 1})
    {'type': 'BertProcessing', 'sep': ['S', 1], 'cls': ['C', 0]}
    """
    if not isinstance(post_processor, Mapping):
        return post_processor

    def number(token: str) -> int:
        if token not in ids:
            raise ValueError(f"the post-processor needs {token!r}: name it as a special token")
        return ids[token]

    part = dict(post_processor)
    if "processors" in part:
        part["processors"] = [renumbered(one, ids) for one in part["processors"]]
    for role in ("sep", "cls"):
        if role in part:
            token, _ = part[role]
            part[role] = [token, number(token)]
    if "special_tokens" in part:
        part["special_tokens"] = {
            name: {**one, "ids": [number(token) for token in one["tokens"]]}
            for name, one in part["special_tokens"].items()
        }
    return part


def types_in(part: Any) -> Iterator[str]:
    """Yield the types of a part and of the parts in it.

    >>> list(types_in({"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}]}))
    ['Sequence', 'ByteLevel']
    """
    if isinstance(part, Mapping):
        if isinstance(part.get("type"), str):
            yield part["type"]
        for name in ("normalizers", "pretokenizers", "decoders", "processors"):
            for one in part.get(name) or ():
                yield from types_in(one)
