"""``tokenizer.json`` of Hugging Face tokenizers, with a byte-level BPE model.

The result gives the ids that ``tokenizers.Tokenizer.from_file(path).encode(text)`` gives, as of
tokenizers 0.23.3.  ``truncation`` and ``padding`` are not applied, since they are settings of a
program rather than of a vocabulary.

As in tokenizers, the ids that the file writes beside its added tokens are ignored.  An added token
that the model also has gets the model's id.  The others are numbered from the size of the
vocabulary on.

Models of other kinds (Unigram, WordPiece, WordLevel, and BPE over characters, as in SentencePiece)
are refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from operator import add, itemgetter
from typing import Any, NamedTuple, NoReturn

from ..pipeline.added_tokens import AddedToken, AddedTokens, normalized_content
from ..pipeline.byte_level import BYTE_TO_UNICODE, decode_bytes, encode_bytes
from ..pipeline.definition import Definition
from ..pipeline.models.bpe.by_merges import ListedMergesEncoder, Unknown
from ..pipeline.models.bpe.by_rank import BytePairEncoder
from ..pipeline.models.byte_level_bpe import ByteLevelBPE
from ..pipeline.normalizers import is_form, one_after_the_other
from ..pipeline.pre_tokenizers import ByteAlphabet, PrefixSpace, make_splitter, to_bytes
from . import RANK_LIMIT
from .checked_json import Json, is_unicode
from .tokenizer_parts import joined_steps, normalizers, template, unsupported_decoder


class ListedModel(NamedTuple):
    """A vocabulary, its tokens written in the byte alphabet, and its list of merges.

    ``merges`` has the left parts of all merges, and their right parts.
    """

    vocabulary: dict[str, int]
    merges: tuple[list[str], list[str]]
    ignore_merges: bool = False
    unknown: Unknown = Unknown()

    def extended(
        self, tokens: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]]
    ) -> ListedModel:
        """Return the model with more tokens, and the merges that make them."""
        vocabulary = {
            **self.vocabulary,
            **{encode_bytes(data): number for data, number in tokens.items()},
        }
        lefts, rights = self.merges
        lefts = [*lefts, *(encode_bytes(left) for left, _ in merges)]
        rights = [*rights, *(encode_bytes(right) for _, right in merges)]
        return self._replace(vocabulary=vocabulary, merges=(lefts, rights))


class RankedModel(NamedTuple):
    """A vocabulary whose ranks define the merges and their order."""

    ranks: dict[bytes, int]

    def extended(
        self, tokens: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]]
    ) -> RankedModel:
        """Return the model with more tokens, whose ranks say how they are merged."""
        return RankedModel({**self.ranks, **tokens})


class TokenizerDefinition(NamedTuple):
    """The content of a ``tokenizer.json``.

    ``parts`` has ``normalizer``, ``pre_tokenizer``, ``post_processor`` and ``decoder`` as in the
    file.  ``source`` is the file's name in messages.
    """

    model: ListedModel | RankedModel
    added_tokens: tuple[AddedToken, ...]
    parts: Mapping[str, Any]
    source: str


PARTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder")


def parse_tokenizer(file: Json) -> TokenizerDefinition:
    """Return the definition in a ``tokenizer.json``.

    Raises:
        ValueError: ``{file}: {place}: {reason}``.  The file is damaged, or a part of it is not
            supported.
    """
    members = file.mapping()
    version = file.get("version")
    if version is not None and version.text() != "1.0":
        version.fail(f"version {version.text()!r} is not known")
    model = _model(file["model"])
    tokens = file.get("added_tokens")
    added = () if tokens is None else _added_tokens(tokens, model.vocabulary)
    return TokenizerDefinition(
        model, added, {name: members.get(name) for name in PARTS}, file.source
    )


def _model(part: Json) -> ListedModel:
    # Old files do not name the model's type; one that has merges is BPE.
    name = part.get("type")
    found = "BPE" if name is None and "merges" in part.mapping() else part["type"].text()
    if found != "BPE":
        part.fail(f"{found} is not supported, only BPE")
    for option in ("continuing_subword_prefix", "end_of_word_suffix", "dropout"):
        value = part.get(option)
        if value is not None and value.value not in ("", 0):
            value.fail("not supported")
    vocabulary = _vocabulary(part["vocab"])
    unknown_token = part.get("unk_token")
    unknown = Unknown(
        None if unknown_token is None else unknown_token.text(),
        _flag(part, "fuse_unk"),
        _flag(part, "byte_fallback"),
    )
    if unknown.token is not None and unknown.token not in vocabulary:
        missing = [char for char in BYTE_TO_UNICODE.values() if char not in vocabulary]
        if missing:
            part["unk_token"].fail(
                f"neither {unknown.token!r} nor the byte {missing[0]!r} is in the vocabulary"
            )
        unknown = unknown._replace(token=None)
    return ListedModel(
        vocabulary, _merges(part["merges"], vocabulary), _flag(part, "ignore_merges"), unknown
    )


def _flag(part: Json, name: str) -> bool:
    value = part.get(name)
    return value is not None and value.truth()


def _vocabulary(part: Json) -> dict[str, int]:
    vocabulary = part.mapping()
    ids = vocabulary.values()
    are_ids = set(map(type, ids)) == {int} and 0 <= min(ids) <= max(ids) < RANK_LIMIT
    if are_ids and len(set(ids)) == len(vocabulary) and is_unicode("".join(vocabulary)):
        return vocabulary
    if not vocabulary:
        part.fail("there are no tokens")
    name_of: dict[int, str] = {}
    for name in vocabulary:
        number = part[name].number()
        if not is_unicode(name):
            part.fail(f"the token {name!r} has a lone surrogate")
        if not 0 <= number < RANK_LIMIT:
            part.fail(f"the id of {name!r} is not from 0 to {RANK_LIMIT - 1}")
        if name_of.setdefault(number, name) != name:
            part.fail(f"{name_of[number]!r} and {name!r} have the same id, {number}")
    raise AssertionError("nothing is wrong with the vocabulary")


def _merges(part: Json, vocabulary: Mapping[str, int]) -> tuple[list[str], list[str]]:
    listed = part.sequence()
    if set(map(type, listed)) == {str} and set(map(str.count, listed, repeat(" "))) == {1}:
        names = " ".join(listed).split(" ")
    else:
        names = [name for item in part.items() for name in _merge(item)]
    lefts, rights = names[::2], names[1::2]
    if not all(map(vocabulary.__contains__, names)):
        for number, pair in enumerate(zip(lefts, rights)):
            for name in pair:
                if name not in vocabulary:
                    _fail_merge(part, number, name)
    return lefts, rights


def _fail_merge(part: Json, number: int, name: str) -> NoReturn:
    place = f"{part.place}[{number}]"
    Json(None, part.source, place).fail(f"{name!r} is not in the vocabulary")


def _merge(item: Json) -> tuple[str, str]:
    names = item.value.split(" ") if isinstance(item.value, str) else item.sequence()
    if len(names) != 2:
        item.fail(f"a merge must have 2 tokens, not {len(names)}")
    if not all(isinstance(name, str) and name for name in names):
        item.fail("the tokens of a merge must be strings that are not empty")
    return names[0], names[1]


_FLAGS = ("special", "normalized", "lstrip", "rstrip", "single_word")


def _added_tokens(part: Json, vocabulary: Mapping[str, int]) -> tuple[AddedToken, ...]:
    found: dict[str, AddedToken] = {}
    name_of_written_id: dict[int, str] = {}
    ids = set(vocabulary.values())
    following = len(vocabulary)
    for item in part.items():
        name, written, *flags = _added_token(item)
        if not name:
            continue  # As in tokenizers.
        if name in found:
            item.fail(f"{name!r} comes twice")
        if name_of_written_id.setdefault(written, name) != name:
            item.fail(f"{name_of_written_id[written]!r} and {name!r} have the same id, {written}")
        number = vocabulary.get(name)
        if number is None:
            number, following = following, following + 1
            if number in ids:
                item.fail(f"{name!r} gets the id {number}, which a token of the vocabulary has")
        found[name] = AddedToken(name, number, *flags)
    return tuple(found.values())


_read_added_token = itemgetter("content", "id", *_FLAGS)


def _added_token(item: Json) -> tuple[Any, ...]:
    """Return a token's name, its id as written, and its flags.

    The usual case is fast, since some files have a thousand added tokens.
    """
    try:
        found: tuple[Any, ...] = _read_added_token(item.value)
    except (KeyError, TypeError):
        found = ()
    if list(map(type, found)) != [str, int, bool, bool, bool, bool, bool] or not is_unicode(
        found[0]
    ):
        flags = [item[flag].truth() for flag in _FLAGS]
        return (item["content"].text(), item["id"].number(), *flags)
    return found


def assemble(definition: TokenizerDefinition) -> Definition:
    """Return the parts of the pipeline that a file describes.

    Raises:
        ValueError: a part is wrong or not supported.
    """
    model, added, _, source = definition
    parts = {
        name: None if value is None else Json(value, source, name)
        for name, value in definition.parts.items()
    }
    found_steps = joined_steps(parts["pre_tokenizer"])
    if not any(isinstance(step, ByteAlphabet) for step in found_steps):
        place = Json(None, source, "pre_tokenizer")
        place.fail("models over characters (without ByteLevel) are not supported")
    found_normalizers = normalizers(parts["normalizer"])
    normalize = one_after_the_other(found_normalizers)
    is_unicode_form = len(found_normalizers) == 1 and is_form(found_normalizers[0])
    others = {token.id: _bytes_of(normalized_content(token, normalize)) for token in added}
    if isinstance(model, RankedModel):
        byte_pair, tokens, whole = BytePairEncoder(model.ranks), model.ranks, True
    else:
        try:
            byte_pair = ListedMergesEncoder(model.vocabulary, model.merges, model.unknown)
        except KeyError as error:
            number = list(map(add, *model.merges)).index(error.args[0])
            _fail_merge(Json(None, source, "model.merges"), number, error.args[0])
        tokens, whole = byte_pair.tokens, model.ignore_merges
        if len(tokens) < len(model.vocabulary):
            inside = set(tokens.values())
            others.update(
                (number, name.encode())
                for name, number in model.vocabulary.items()
                if number not in inside
            )
    prefix_space = bool(found_steps) and isinstance(found_steps[0], PrefixSpace)
    if prefix_space:
        # The pieces that this step sees are the spans between added tokens.
        found_steps = found_steps[1:]
    return Definition(
        added=AddedTokens(
            added, normalize, is_unicode_form=is_unicode_form, prefix_space=prefix_space
        ),
        splitter=make_splitter(found_steps),
        model=ByteLevelBPE(byte_pair, tokens if whole else {}, to_bytes(found_steps)),
        tokens=tokens,
        other_tokens=lambda: others,
        # A token of the vocabulary may be an added one too, which may be decoded otherwise.
        others_count=True,
        template=template(parts["post_processor"]),
        undecodable=unsupported_decoder(parts["decoder"]),
    )


def _bytes_of(name: str) -> bytes:
    """Return a token's bytes as the decoder ``ByteLevel`` does.

    A name that is not written in the byte alphabet stays as it is.
    """
    try:
        return decode_bytes(name)
    except ValueError:
        return name.encode()
