"""``tokenizer.json`` of Hugging Face tokenizers.

The result gives the ids of ``tokenizers.Tokenizer.from_file(path).encode(text)`` in tokenizers
0.23.3. ``truncation`` and ``padding`` are read, but applied only on request, since they are
settings of a program rather than of a vocabulary.

As in tokenizers, the ids that the file writes beside its added tokens are ignored. An added token
that the model also has gets the model's id. The others are numbered from the size of the
vocabulary on. ``warn_of_wrong_pattern`` is for files of Mistral's.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence, Set
from functools import cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from ..caches import changed
from ..pattern import LLAMA3
from ..pipeline.added_tokens import AddedToken, AddedTokens, normalized_content
from ..pipeline.pre_tokenizers.base import split_off_first
from ..pipeline.pre_tokenizers.splitter import StepSplitter
from .checked_json import Json, is_unicode, read_json
from .tokenizer_models import read_unigram, read_word_level, read_wordpiece, refuse_extension
from .tokenizer_parts import (
    check_size,
    joined_steps,
    read_decoder,
    read_normalizer,
    read_padding,
    read_post_processor,
    read_truncation,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..pipeline.core import Definition
    from ..pipeline.decoders.bytes import IdDecoder
    from ..pipeline.pre_tokenizers.base import PreTokenizerStep
    from ..pipeline.tokenized import Padding, Truncation
    from .tokenizer_models import ModelPart


class TokenizerDefinition(NamedTuple):
    """The content of a ``tokenizer.json``.

    ``parts`` has ``normalizer``, ``pre_tokenizer``, ``post_processor`` and ``decoder`` as in the
    file. ``source`` is the file's name in messages. ``truncation`` and ``padding`` are the file's
    settings, which are applied only on request.
    """

    model: ModelPart
    added_tokens: tuple[AddedToken, ...]
    parts: Mapping[str, Any]
    source: str
    truncation: Truncation | None = None
    padding: Padding | None = None

    @property
    def reference(self) -> str:
        """The library whose ids these are."""
        return "tokenizers"

    @property
    def vocabulary(self) -> Mapping[str, int]:
        """Each token of the model, written as in the file, and its id."""
        return self.model.vocabulary

    def extended(
        self, name: str, tokens: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]]
    ) -> TokenizerDefinition:
        """Return a definition with more tokens, and the merges that make them.

        Raises:
            ValueError: this kind of model cannot be extended.
        """
        from .tokenizer_bpe import ListedModel, RankedModel

        if not isinstance(self.model, (ListedModel, RankedModel)):
            # Pieces would need scores, and one more piece might change the pieces of any word.
            refuse_extension(type(self.model).__name__.removesuffix("Part"))
        return self._replace(model=self.model.extended(tokens, merges), source=name)

    def with_tokens(self, tokens: Sequence[AddedToken]) -> tuple[TokenizerDefinition, int]:
        """Return a definition with more added tokens, and how many are new or have new flags."""
        added, count = _with_tokens(
            self.added_tokens, tokens, self.model.vocabulary, self.model.size
        )
        return self._replace(added_tokens=added), count

    def with_special(self, names: Set[str]) -> TokenizerDefinition:
        """Return a definition in which the added tokens of these names are special, too."""
        tokens = tuple(
            token._replace(special=token.special or token.content in names)
            for token in self.added_tokens
        )
        return self._replace(added_tokens=tokens)

    def assemble(self) -> Definition:
        """Return the parts of the pipeline that the file describes.

        Raises:
            ValueError: a part is wrong or not supported.
        """
        return _assemble(self)


PARTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder")


def parse_tokenizer(file: Json) -> TokenizerDefinition:
    """Return the definition in a ``tokenizer.json``.

    Raises:
        ValueError: ``{file}: {place}: {reason}``. The file is damaged, or a part of it is not
            supported.
    """
    members = file.mapping()
    version = file.get("version")
    if version is not None and version.text() != "1.0":
        version.fail(f"version {version.text()!r} is not known")
    model = _model(file["model"])
    tokens, truncation, padding = map(file.get, ("added_tokens", "truncation", "padding"))
    added = () if tokens is None else _added_tokens(tokens, model.vocabulary, model.size)
    return TokenizerDefinition(
        model,
        added,
        {name: members.get(name) for name in PARTS},
        file.source,
        None if truncation is None else read_truncation(truncation),
        None if padding is None else read_padding(padding),
    )


def _bpe(part: Json) -> ModelPart:
    from .tokenizer_bpe import read_bpe  # it is large, so it is imported once a file has it

    return read_bpe(part)


#: The reader of each type of model.
_MODELS: dict[str, Callable[[Json], ModelPart]] = {
    "BPE": _bpe,
    "WordPiece": read_wordpiece,
    "WordLevel": read_word_level,
    "Unigram": read_unigram,
}

#: The required members of each type of model, in the order of tokenizers. They show the type if a
#: file does not name it, as in old files.
FIELDS = {
    "BPE": {"vocab", "merges"},
    "WordPiece": {
        "unk_token",
        "continuing_subword_prefix",
        "max_input_chars_per_word",
        "vocab",
    },
    "WordLevel": {"vocab", "unk_token"},
    "Unigram": {"vocab"},
}


def _model(part: Json) -> ModelPart:
    members = part.mapping()
    if "type" in members:
        type_name = part["type"].text()
        if type_name not in _MODELS:
            part.fail(f"{type_name} is not supported, only {', '.join(_MODELS)}")
        return _MODELS[type_name](part)
    # As in tokenizers, the first type that fits is used.
    errors = []
    for name, fields in FIELDS.items():
        if members.keys() >= fields:
            try:
                return _MODELS[name](part)
            except ValueError as error:
                errors.append(error)
    if errors:
        raise errors[0]
    return part.fail("there is no 'type', and no 'vocab' to infer it from")


_FLAGS = ("special", "normalized", "lstrip", "rstrip", "single_word")


def _added_tokens(
    part: Json, vocabulary: Mapping[str, int], following: int
) -> tuple[AddedToken, ...]:
    """Return the added tokens of a file; the ids in it do not matter."""
    return _with_tokens((), map(_added_token, part.items()), vocabulary, following)[0]


def _with_tokens(
    present: Sequence[AddedToken],
    tokens: Iterable[tuple[Any, ...]],
    vocabulary: Mapping[str, int],
    size: int,
) -> tuple[tuple[AddedToken, ...], int]:
    """Return added tokens with more of them, and the number that are new or have new flags.

    Tokens that are not in the vocabulary get the next ids. As in tokenizers, the last of equal
    tokens counts, and it is special if any of them is. If the vocabulary has gaps, a new id may
    equal that of one of its tokens. Then it is decoded as the added token.

    Args:
        present: the added tokens so far.
        tokens: an ``AddedToken`` each, or a tuple of its items; the ids in them do not matter.
        vocabulary: the vocabulary of the model.
        size: the size of the vocabulary.
    """
    ids = {token.content: token.id for token in present}
    found = {token.id: token for token in present}
    special = {token.content for token in present if token.special}
    following = max(size, max(ids.values(), default=-1) + 1)
    count = 0
    for name, _, *flags in tokens:
        if not name:
            continue
        number = ids.get(name, vocabulary.get(name))
        if number is None:
            number, following = following, following + 1
        token = AddedToken(name, number, *flags)
        if found.get(number) == token:
            continue
        count += 1
        ids[name] = number
        found[number] = token
        if token.special:
            special.add(name)
    made = (
        token if token.special or token.content not in special else token._replace(special=True)
        for token in found.values()
    )
    return tuple(made), count


_read_added_token = itemgetter("content", "id", *_FLAGS)


def _added_token(item: Json) -> tuple[Any, ...]:
    """Return a token's name, its id in the file, and its flags.

    The usual case is fast, since some files have a thousand added tokens.
    """
    try:
        values: tuple[Any, ...] = _read_added_token(item.value)
    except (KeyError, TypeError):
        values = ()
    if list(map(type, values)) != [str, int, bool, bool, bool, bool, bool] or not is_unicode(
        values[0]
    ):
        flags = [item[flag].truth() for flag in _FLAGS]
        return (item["content"].text(), item["id"].number(), *flags)
    return values


def _assemble(definition: TokenizerDefinition) -> Definition:
    model, added, source = definition.model, definition.added_tokens, definition.source
    parts = {
        name: None if value is None else Json(value, source, name)
        for name, value in definition.parts.items()
    }
    for part in filter(None, parts.values()):
        check_size(part)
    steps: Sequence[PreTokenizerStep] = joined_steps(parts["pre_tokenizer"])
    normalize = read_normalizer(parts["normalizer"])
    for token in added:
        if not normalized_content(token, normalize):
            # tokenizers finds it between any two bytes, and fails on text that is not ASCII.
            raise ValueError(
                f"{source}: added_tokens: {token.content!r} becomes empty when normalized, so it "
                "would match between any two characters"
            )
    prefix, steps = split_off_first(steps)
    alone = model.define(steps, source)
    decoder = read_decoder(parts["decoder"])
    is_byte_level = [step.is_byte_level for step in decoder] == [True]
    to_bytes: Callable[[str], bytes] = str.encode
    if is_byte_level:
        from ..pipeline.decoders.steps import bytes_of

        to_bytes = bytes_of
    other_tokens = {
        **alone.other_tokens(),
        **{token.id: to_bytes(normalized_content(token, normalize)) for token in added},
    }

    @cache
    def pieces() -> dict[int, str]:
        # If a model has a token twice, the vocabulary has the last one.
        names = {id_: data.decode(errors="replace") for id_, data in alone.other_tokens().items()}
        names.update((number, name) for name, number in model.vocabulary.items())
        names.update((token.id, normalized_content(token, normalize)) for token in added)
        return names

    def make_decoder() -> IdDecoder:
        if is_byte_level:
            from ..pipeline.decoders.bytes import ByteDecoder

            return ByteDecoder({}, {number: to_bytes(name) for number, name in pieces().items()})
        from ..pipeline.decoders.pieces import PieceDecoder

        return PieceDecoder(pieces(), decoder)

    rest = list(alone.steps or ())
    is_cut_further = rest != list(steps) and rest != list(steps[:-1])
    # The tokens of a byte-level model are the bytes that its pieces stand for.
    has_bytes = is_byte_level and alone.pieces is None
    return changed(
        alone,
        added=AddedTokens(added, normalize, prefix=prefix),
        other_tokens=lambda: other_tokens,
        # A token of the vocabulary may also be an added token with other text when decoded.
        others_win=True,
        make_decoder=None if has_bytes else make_decoder,
        processor=read_post_processor(parts["post_processor"]),
        pieces=pieces,
        words=StepSplitter(steps) if is_cut_further else None,
        highest=max(alone.highest, *other_tokens, -1),
    )


# A converter of transformers made some of Mistral's published ``tokenizer.json`` files, such as
# that of Mistral Small 3.1. Without a pattern, it wrote Llama 3's (huggingface/transformers, pull
# requests 42131 and 42299).

#: The types of models whose files have the wrong pattern, as in ``config.json`` or its
#: ``text_config``.
_MODEL_TYPES = frozenset(("ministral", "mistral", "mistral3", "pixtral", "voxtral"))
#: The size of their vocabularies. Mistral's earlier models have 32,768 tokens.
_LARGE = 100_000
#: Ids of single bytes in all these vocabularies: 1,000 special tokens, then the bytes in order.
#: Models of these types may have other vocabularies, which do not begin so.
_BYTES = {"Ā": 1000, "A": 1065, "z": 1122, "ÿ": 1255}


def warn_of_wrong_pattern(path: str, definition: TokenizerDefinition) -> None:
    """Warn if a ``tokenizer.json`` splits text in another way than in the model's training.

    Args:
        path: the file. The ``config.json`` beside it has the type of the model.
        definition: the content of the file.
    """
    vocabulary = definition.vocabulary
    if (
        _is_split_wrong(definition.parts["pre_tokenizer"])
        and len(vocabulary) > _LARGE
        and all(vocabulary.get(byte) == id_ for byte, id_ in _BYTES.items())
        and not _MODEL_TYPES.isdisjoint(_model_types(path))
    ):
        import warnings  # imported here: hardly any file has it

        warnings.warn(
            f"{path}: its pattern is Llama 3's, but its vocabulary and model are Mistral's. Some "
            "texts get other tokens than in the model's training. Load the model's tekken.json "
            "instead",
            stacklevel=4,  # the caller of `load`
        )


def _is_split_wrong(part: Mapping[str, Any] | None) -> bool:
    """Return True if the pre-tokenizer, or a step of it, splits by the wrong pattern."""
    if part is None:
        return False
    return any(
        step.get("pattern") == {"Regex": LLAMA3} for step in part.get("pretokenizers", [part])
    )


def _model_types(path: str) -> list[str]:
    """Return the model types in the ``config.json`` beside a file, if it can be read."""
    config = os.path.join(os.path.dirname(path), "config.json")
    try:
        file = read_json(config)
        parts = [file, file.get("text_config")]
        named = [part.get("model_type") for part in parts if part is not None]
        return [name.text() for name in named if name is not None]
    except (OSError, ValueError):
        # The encoding does not need this file.
        return []
