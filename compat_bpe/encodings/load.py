"""Loading an encoding from files on disk.

``load`` reads every format. ``load_tiktoken`` and ``load_gpt2`` read rank files and GPT-2's two
files, and have arguments for what these files do not hold.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from .encoding import Encoding
from .published import PATTERNS, PUBLISHED, load_ranks, pattern_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, NoReturn

    from ..formats.checked_json import Json
    from ..formats.settings_beside import Settings
    from .rank_families import RankFamily


#: The number of bytes from which the format of a file is recognized.
_BEGINNING = 1 << 12


def load(
    path: str | os.PathLike[str],
    *,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    name: str | None = None,
) -> Encoding:
    """Load an encoding from a vocabulary file or folder; its content shows the format.

    - ``tekken.json`` of Mistral, ``tokenizer.tok.json`` of Grok 2, and the rank files of
      tiktoken's ports to JavaScript (``o200k_base.json``).
    - ``tokenizer.json`` of Hugging Face tokenizers: gives a ``Tokenizer``, an ``Encoding`` with the
      ids of ``tokenizers``.
    - ``vocab.json`` and ``merges.txt``: also a ``Tokenizer``. The ``tokenizer_config.json`` beside
      them names the kind: GPT-2 (also without that file), RoBERTa, Qwen 2, CLIP, GPT-1 and others.
    - ``rwkv_vocab_v20230424.txt`` of RWKV: gives an ``Rwkv``, an ``Encoding`` with the ids of
      ``rwkv``.
    - ``vocab.txt`` of BERT and similar models: a ``Tokenizer``. The files beside it may have
      settings.
    - ``bpe_simple_vocab_16e6.txt.gz`` of CLIP: a ``Tokenizer``.
    - ``encoder.json`` and ``vocab.bpe``: loaded by ``load_gpt2``.
    - A rank file (``NAME.tiktoken``, or a ``tokenizer.model`` of that kind): loaded by
      ``load_tiktoken``. A vocabulary that was trained here has its pattern and its special tokens
      in the ``manifest.json`` beside it.
    - A SentencePiece model (``tokenizer.model``, ``spiece.model`` and others): gives a
      ``SentencePiece``, an ``Encoding`` with the ids of ``sentencepiece``. If a folder has several
      versions (``tokenizer.model.v3``), as Mistral's do, the newest is loaded.
    - ``NAME.gguf`` of llama.cpp: a ``Tokenizer`` or a ``SentencePiece``, with the ids of the
      tokenizer that the file was made from. The weights are not read.
    - A folder with one of these, as downloaded from a model hub. If it has several, the first in
      this list is loaded.
    - ``hf:OWNER/NAME`` and ``hf:OWNER/NAME@REVISION``: a model in the cache of Hugging Face;
      ``ollama:NAME:TAG`` and ``lmstudio:OWNER/NAME``: a model of Ollama or LM Studio. Nothing is
      fetched. Write a file of such a name as ``./hf:…``.

    Args:
        path: the file, either file of a pair, or the folder.
        pattern: the pattern, for the formats that do not hold it: rank files, the two pairs, and
            byte-level GGUF files. It is a published pattern or the name of one: ``"llama3"``, or an
            encoding of OpenAI's. Some files need no pattern: rank files of a vocabulary that ships
            or of a known family (``rank_families``), and files whose SHA-256 is in a
            ``manifest.json`` beside them.
        special_tokens: names and ids of special tokens, for a rank file.
        name: the name of the encoding; by default, the name of the file or folder.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is damaged or not supported. The message gives the file, the place in it
            and the reason.

    Warns:
        UserWarning: a ``tokenizer.json`` is one of Mistral's with a wrong pattern.

    >>> load("fixtures/gpt2_small").encode("the")
    [83, 258]
    """
    # Imported here, as all below: encodings by name do not need it.
    from ..files.whole import open_regular
    from .local_stores import STORES, find_stored, recognise

    file_path = os.fspath(path)
    if file_path.startswith(STORES):
        file_path, stored_name = find_stored(file_path)
        name = stored_name if name is None else name
    if os.path.isdir(file_path):
        file_path = _in_folder(file_path)
    if name is None:
        # Most of these files have the same name; only their folders differ.
        stem, ending = os.path.splitext(os.path.basename(file_path))
        folder = os.path.realpath(os.path.dirname(file_path))
        name = stem if ending in (".tiktoken", ".gguf") else os.path.basename(folder) or stem
    with open_regular(file_path) as file:
        beginning = file.read(_BEGINNING)
    kind = recognise(file_path, beginning)
    try:
        if kind == "ranks":
            from pathlib import Path

            return _load_ranks(Path(file_path), pattern, special_tokens, name)
        if special_tokens is not None:
            raise ValueError(f"{file_path}: special_tokens is only for rank files")
        if pattern is not None and kind in _SAY_THE_PATTERN:
            _refuse_pattern(file_path)
        return _LOADERS[kind](file_path, pattern, name)
    except ValueError as error:
        from ..unicode.text import brief

        short = brief(str(error))
        if short == str(error):
            raise
        raise ValueError(short) from None


#: The files to look for in a folder; the first one found is read. Mistral's and Grok's own formats
#: come first: a tokenizer.json beside them was made from them, and has another pattern for some
#: models of Mistral's.
_IN_FOLDER = """
    tekken.json tokenizer.tok.json tokenizer.json vocab.json encoder.json rwkv_vocab_v*.txt
    vocab.txt *.tiktoken tokenizer.model.v* tokenizer.model bpe_simple_vocab_16e6.txt.gz
    sentencepiece.bpe.model spiece.model *.model.v* *.model *.gguf
"""


def _in_folder(folder: str) -> str:
    from .local_stores import is_versioned, newest

    names = sorted(os.listdir(folder))
    for pattern in _IN_FOLDER.split():
        fits = re.compile(re.escape(pattern).replace(r"\*", ".*"), re.DOTALL).fullmatch
        fitting = list(filter(fits, names))
        if pattern.endswith(".v*"):
            fitting = newest(list(filter(is_versioned, fitting)))
        if len(fitting) > 1:
            raise ValueError(
                f"{folder}: the folder has several vocabularies ({', '.join(fitting)}); give the "
                "path of one"
            )
        if fitting:
            return fitting[0] if folder == os.curdir else os.path.join(folder, fitting[0])
    raise ValueError(
        f"{folder}: the folder has no vocabulary (none of {', '.join(_IN_FOLDER.split())})"
    )


#: The names of the two files of a pair, each format's at the same place.
_IDS_BESIDE = ("vocab.json", "encoder.json")
_MERGES_BESIDE = ("merges.txt", "vocab.bpe")


def _load_merges(path: str, pattern: str | None, name: str) -> Encoding:
    return _load_pair(_beside(path, *_IDS_BESIDE), path, pattern, name)


def _load_vocab_txt(path: str, _: str | None, name: str) -> Encoding:
    from pathlib import Path

    from ..formats.vocab_txt import read_vocab_txt

    return _encoding_by(read_vocab_txt(Path(path)), name)


def _load_clip_merges(path: str, _: str | None, name: str) -> Encoding:
    from pathlib import Path

    from ..formats.vocab_merges import read_clip_merges

    return _encoding_by(read_clip_merges(Path(path)), name)


#: The kinds of files that define how text is split. Some JSON files do, too.
_SAY_THE_PATTERN = frozenset(("vocab.txt", "clip", "rwkv", "sentencepiece"))


def _refuse_pattern(path: str) -> NoReturn:
    raise ValueError(f"{path}: the file defines how text is split; leave out the pattern")


def _load_json(path: str, pattern: str | None, name: str) -> Encoding:
    from ..formats.checked_json import read_json

    file = read_json(path)
    members = file.mapping()
    # A vocabulary may have a token "model".
    if members and all(type(id_) is int for id_ in members.values()):
        return _load_pair(path, _beside(path, *_MERGES_BESIDE), pattern, name)
    if pattern is not None:
        _refuse_pattern(path)
    ranked = _load_json_ranks(file, name)
    if ranked is not None:
        return ranked
    if "model" not in members:
        file.fail("it is JSON, but neither a tokenizer.json nor a vocabulary")
    from ..formats.tokenizer_json import parse_tokenizer, warn_of_wrong_pattern

    definition = parse_tokenizer(file)
    tokenizer = _encoding_by(definition, name)
    warn_of_wrong_pattern(path, definition)
    return tokenizer


def _load_json_ranks(file: Json, name: str) -> Encoding | None:
    """Return the encoding of a JSON file with ranks; None if it is another kind of file.

    Raises:
        ValueError: the file is damaged.
    """
    members = file.mapping()
    is_tekken = "config" in members and isinstance(members.get("vocab"), list)
    if not is_tekken and members.keys().isdisjoint(("regular_tokens", "bpe_ranks")):
        return None
    from ..formats.json_ranks import parse_grok, parse_js_tiktoken, parse_tekken
    from ..pattern.tree import PatternError

    if is_tekken:
        content = parse_tekken(file)
    else:
        content = (parse_grok if "regular_tokens" in members else parse_js_tiktoken)(file)
    try:
        return Encoding(
            name,
            pat_str=content.pattern.text(),
            mergeable_ranks=content.ranks,
            special_tokens=content.special_tokens,
        )
    except PatternError as error:
        return content.pattern.fail(str(error))


def _load_rwkv(path: str, _: str | None, name: str) -> Encoding:
    from ..formats.rwkv import read_rwkv

    return _encoding_by(read_rwkv(path), name)


def _load_sentencepiece(path: str, _: str | None, name: str) -> Encoding:
    from ..formats.sentencepiece import read_sentencepiece

    return _encoding_by(read_sentencepiece(path), name)


def _load_gguf(path: str, pattern: str | None, name: str) -> Encoding:
    from ..formats.gguf.read import read_gguf

    return _encoding_by(read_gguf(path, None if pattern is None else pattern_named(pattern)), name)


def _encoding_by(definition: Any, name: str) -> Encoding:
    """Return the encoding of the class for the library whose ids a definition gives."""
    if definition.reference == "sentencepiece":
        from .sentencepiece import SentencePiece

        return SentencePiece(name, definition)
    from .tokenizer import Rwkv, Tokenizer

    return (Rwkv if definition.reference == "rwkv" else Tokenizer)(name, definition)


def _load_pair(first: str, second: str, pattern: str | None, name: str) -> Encoding:
    """Load ``vocab.json`` and ``merges.txt``, or ``encoder.json`` and ``vocab.bpe``."""
    from pathlib import Path

    vocabulary, merges = Path(first), Path(second)
    specials: list[str] | None = None
    if pattern is not None:
        pattern = pattern_named(pattern)
    else:
        from ..formats.gpt2 import read_gpt2
        from ..formats.settings_beside import AS_TOKENIZER_JSON, manifest_of

        manifest = manifest_of(vocabulary, merges)
        if manifest is not None:
            specials = list(manifest.special_tokens)
            if manifest.pattern in (DEEPSEEK, AS_TOKENIZER_JSON):
                ranks, special = read_gpt2(vocabulary, merges, specials)
                return _as_trained(vocabulary, manifest.pattern, ranks, special, name)
            named = _pattern_of_manifest(vocabulary, manifest.pattern)
            # GPT-2's pattern is the default.
            pattern = None if named == PUBLISHED["gpt2"].pattern else named
    if merges.name.endswith("vocab.bpe"):
        return load_gpt2(vocabulary, merges, pattern=pattern, special_tokens=specials, name=name)
    from ..formats.vocab_merges import read_vocab_merges

    return _encoding_by(read_vocab_merges(vocabulary, merges, pattern), name)


#: The loader of each kind of file except rank files, the only ones that take special tokens.
_LOADERS = {
    "json": _load_json,
    "merges": _load_merges,
    "vocab.txt": _load_vocab_txt,
    "clip": _load_clip_merges,
    "rwkv": _load_rwkv,
    "sentencepiece": _load_sentencepiece,
    "gguf": _load_gguf,
}


def _beside(path: str, *names: str) -> str:
    """Return the other file of a pair, of the same format if there is one.

    Raises:
        ValueError: there is no such file.
    """
    # "NAME-vocab.json" goes with "NAME-merges.txt".
    folder, own = os.path.split(path)
    prefix = re.sub(r"(vocab|encoder)\.json$|merges\.txt$|vocab\.bpe$", "", own)
    if own.endswith(("encoder.json", "vocab.bpe")):
        names = names[::-1]
    for start in (prefix, ""):
        for name in names:
            candidate = os.path.join(folder, start + name)
            if start + name != own and os.path.exists(candidate):
                return candidate
    raise ValueError(f"{path}: the other file of the pair is missing ({' or '.join(names)})")


#: The name that stands for DeepSeek's pre-tokenizer, which has several patterns.
DEEPSEEK = "deepseek"


def _load_ranks(
    path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None, name: str
) -> Encoding:
    """Load a rank file. Without a pattern, its content or files beside it determine the pattern.

    Raises:
        OSError, ValueError: as in ``load``.
    """
    if pattern is not None:
        return load_tiktoken(path, pattern=pattern, special_tokens=special_tokens, name=name)
    from ..files.whole import read_whole
    from ..formats.settings_beside import manifest_of
    from ..formats.tiktoken import parse_ranks
    from .rank_families import family_of

    manifest = manifest_of(path)
    data = read_whole(path)
    if manifest is not None:
        special = manifest.special_tokens if special_tokens is None else dict(special_tokens)
        return _as_trained(path, manifest.pattern, parse_ranks(data, str(path)), special, name)
    family = family_of(path, data)
    if family is not None:
        return _of_family(*family, path, data, special_tokens, name)
    ranks = parse_ranks(data, str(path))
    # If several encodings share the vocabulary, take the one with the file's name, or else the one
    # with the vocabulary's name.
    for known, published in sorted(
        PUBLISHED.items(), key=lambda item: (item[0] != path.stem, item[0] != item[1].pack)
    ):
        shipped = load_ranks(published.pack)
        if ranks == shipped:
            called = known if name == path.stem else name
            if special_tokens is None:
                encoding = Encoding.shipped(known)
                encoding.name = called
                return encoding
            return Encoding(
                called,
                pat_str=published.pattern,
                mergeable_ranks=ranks,
                special_tokens=dict(special_tokens),
            )
    raise ValueError(
        f"{path}: a rank file does not say how text is split: give a pattern, or the name of one "
        f"({', '.join(PATTERNS)})"
    )


def _of_family(
    family: RankFamily,
    settings: Settings,
    path: Path,
    data: bytes,
    special_tokens: Mapping[str, int] | None,
    name: str,
) -> Encoding:
    """Return the encoding of a rank file of a family of models."""
    from ..formats.tiktoken import parse_in_order, parse_ranks

    ranks = (parse_in_order if family.by_line else parse_ranks)(data, str(path))
    if special_tokens is None:
        special_tokens = family.special_tokens(max(ranks.values()) + 1, settings)
    pattern = PATTERNS[family.name]
    if not family.is_nfc:
        return Encoding(
            name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=dict(special_tokens)
        )
    from ..formats.tokenizer_writing import (
        byte_level_part,
        file_parts,
        pre_tokenizers_part,
        split_part,
    )

    steps = pre_tokenizers_part(split_part(pattern), byte_level_part(use_regex=False))
    parts = file_parts(steps, None, byte_level_part(), normalizer={"type": "NFC"})
    # The whole text is normalized, and then searched for special tokens.
    return _by_ranks_and_steps(name, ranks, special_tokens, parts, normalized=True)


def _as_trained(
    path: Path, pattern: str, ranks: dict[bytes, int], special_tokens: Mapping[str, int], name: str
) -> Encoding:
    """Return an encoding by ranks that splits text by the pattern of a manifest."""
    from ..formats.settings_beside import AS_TOKENIZER_JSON, MANIFEST

    if pattern == AS_TOKENIZER_JSON:
        raise ValueError(
            f"{path}: according to {MANIFEST}, only tokenizer.json defines how text is split; "
            "load tokenizer.json"
        )
    if pattern != DEEPSEEK:
        pattern = _pattern_of_manifest(path, pattern)
    return encoding_of_ranks(name, pattern, ranks, special_tokens)


def encoding_of_ranks(
    name: str, pattern: str, ranks: dict[bytes, int], special_tokens: Mapping[str, int]
) -> Encoding:
    """Return the encoding of ranks that splits text by a pattern, or by DeepSeek's steps.

    Raises:
        ValueError: no pattern has this name, or the pattern is not valid (``PatternError``).
    """
    if pattern != DEEPSEEK:
        pattern, special = pattern_named(pattern), dict(special_tokens)
        return Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)
    from .deepseek import PARTS

    return _by_ranks_and_steps(name, ranks, special_tokens, PARTS)


def _by_ranks_and_steps(
    name: str,
    ranks: dict[bytes, int],
    special_tokens: Mapping[str, int],
    parts: Mapping[str, Any],
    *,
    normalized: bool = False,
) -> Encoding:
    """Return the encoding of ranks that splits text by the parts of a ``tokenizer.json``."""
    from ..formats.tokenizer_bpe import RankedModel
    from ..formats.tokenizer_json import TokenizerDefinition
    from ..pipeline.added_tokens import AddedToken

    added = tuple(
        AddedToken(one, id_, special=True, normalized=normalized)
        for one, id_ in special_tokens.items()
    )
    return _encoding_by(TokenizerDefinition(RankedModel(ranks), added, parts, name), name)


def _pattern_of_manifest(path: Path, pattern: str) -> str:
    """Return the pattern that a manifest beside a file names; an error names the manifest."""
    try:
        return pattern_named(pattern)
    except ValueError as error:
        from ..formats.settings_beside import MANIFEST

        raise ValueError(f"{path.with_name(MANIFEST)}: {error}") from None


def load_gpt2(
    encoder_json: str | os.PathLike[str],
    vocab_bpe: str | os.PathLike[str],
    *,
    pattern: str | None = None,
    special_tokens: Iterable[str] | None = None,
    name: str | None = None,
) -> Encoding:
    """Load an encoding from ``encoder.json`` and ``vocab.bpe``, GPT-2's format.

    Args:
        encoder_json: token → id; tokens are written in GPT-2's byte alphabet.
        vocab_bpe: the merges in order, one per line.
        pattern: the pattern, or the name of one, as for ``load``; by default, GPT-2's.
        special_tokens: the entries of ``encoder_json`` that are special. By default, the entries
            written ``<…>`` that no merge makes.
        name: the name of the encoding; by default, the file's name.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is damaged, or the two do not fit together. The message gives the file,
            the line and the reason.
    """
    from ..formats.gpt2 import read_gpt2

    ranks, specials = read_gpt2(encoder_json, vocab_bpe, special_tokens)
    return Encoding(
        _stem(encoder_json) if name is None else name,
        pat_str=pattern_named("gpt2" if pattern is None else pattern),
        mergeable_ranks=ranks,
        special_tokens=specials,
    )


def load_tiktoken(
    path: str | os.PathLike[str],
    *,
    pattern: str,
    special_tokens: Mapping[str, int] | None = None,
    name: str | None = None,
) -> Encoding:
    """Load an encoding from a ``.tiktoken`` rank file: one token per line, as base64 and rank.

    Args:
        path: the rank file.
        pattern: the pattern, which the file does not hold: a published one or the name of one, as
            for ``load``.
        special_tokens: names and ids of special tokens; by default, none.
        name: the name of the encoding; by default, the file's name.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is damaged (the message gives the file, the line and the reason), or
            the pattern or the special tokens cannot be used.
    """
    from ..formats.tiktoken import read_ranks

    ranks = read_ranks(path)
    return Encoding(
        _stem(path) if name is None else name,
        pat_str=pattern_named(pattern),
        mergeable_ranks=ranks,
        special_tokens=dict(special_tokens or {}),
    )


def _stem(path: str | os.PathLike[str]) -> str:
    """Return the name of a file without folder and extension."""
    return os.path.splitext(os.path.basename(path))[0]
