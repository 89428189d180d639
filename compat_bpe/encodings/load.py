"""Loading an encoding from files on disk."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from .encoding import Encoding
from .model_names import did_you_mean
from .openai import PUBLISHED
from .patterns import PATTERNS
from .recognise import recognise
from .vocabularies import load_ranks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
#: The name of DeepSeek's pre-tokenizer, which is no single pattern.
DEEPSEEK = "deepseek"

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

    - ``tokenizer.json`` of Hugging Face tokenizers: gives a ``Tokenizer``, an ``Encoding`` with the
      ids of ``tokenizers``.
    - ``vocab.json`` and ``merges.txt``: the same, as the ``tokenizer_config.json`` beside them
      says: of GPT-2 (also without that file), RoBERTa, Qwen 2, CLIP, GPT-1 and their like.
    - ``vocab.txt`` of BERT and its like: the same; the files beside it may have settings.
    - ``bpe_simple_vocab_16e6.txt.gz``: the same, of CLIP.
    - ``encoder.json`` and ``vocab.bpe``: loaded by ``load_gpt2``.
    - A rank file (``NAME.tiktoken``, or a ``tokenizer.model`` of that kind): loaded by
      ``load_tiktoken``.  A vocabulary that was trained here has its pattern and its special tokens
      in the ``manifest.json`` beside it.
    - ``tekken.json`` of Mistral.
    - A folder with one of these, as downloaded from a model hub.  If it has several, the first in
      this list is loaded.

    Args:
        path: the file, either file of a pair, or the folder.
        pattern: the pattern, for the formats that do not hold it: rank files and the two pairs.  It
            is a published pattern or the name of one: ``"llama3"``, or an encoding of OpenAI's.
            Two kinds of files need none: rank files of a vocabulary that ships, and files that a
            ``manifest.json`` beside them lists with their SHA-256.
        special_tokens: names and ids of special tokens, for a rank file.
        name: the name of the encoding; that of the file or folder unless given.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is damaged, or has something that is not supported.  The message says
            the file, the place in it and the reason.

    >>> load("fixtures/gpt2_small").encode("the")
    [83, 258]
    """
    from pathlib import Path  # imported here, as below: shipped encodings do not need it

    found = Path(path)
    if found.is_dir():
        found = _in_folder(found)
    if name is None:
        # Most of these files have the same name; only their folders differ.
        is_named = found.suffix == ".tiktoken"
        name = found.stem if is_named else found.parent.resolve().name or found.stem
    with open(found, "rb") as file:
        beginning = file.read(_BEGINNING)
    kind = recognise(found, beginning)
    if kind == "ranks":
        return _load_ranks(found, pattern, special_tokens, name)
    if special_tokens is not None:
        raise ValueError(f"{found}: only a rank file is given special tokens")
    return _LOADERS[kind](found, pattern, name)


#: The files that a folder is searched for; the first one found is read.
_IN_FOLDER = (
    "tokenizer.json",
    "vocab.json",
    "encoder.json",
    "vocab.txt",
    "*.tiktoken",
    "tokenizer.model",
    "tekken.json",
    "bpe_simple_vocab_16e6.txt.gz",
)


def _in_folder(folder: Path) -> Path:
    for pattern in _IN_FOLDER:
        found = sorted(folder.glob(pattern))
        if len(found) > 1:
            names = ", ".join(file.name for file in found)
            raise ValueError(f"{folder}: there are {names}: name the file that is meant")
        if found:
            return found[0]
    raise ValueError(f"{folder}: no vocabulary is in it (none of {', '.join(_IN_FOLDER)})")


def _load_ranks(
    path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None, name: str
) -> Encoding:
    if pattern is not None:
        return load_tiktoken(path, pattern=pattern, special_tokens=special_tokens, name=name)
    from ..formats.manifest import manifest_of
    from ..formats.tiktoken import read_ranks

    manifest = manifest_of(path)
    ranks = read_ranks(path)
    if manifest is not None:
        special = manifest.special_tokens if special_tokens is None else dict(special_tokens)
        return _as_trained(path, manifest.pattern, ranks, special, name)
    # If several encodings share the vocabulary, the one with the file's name is taken, or else the
    # one with the vocabulary's name.
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
        f"(there are {', '.join(PATTERNS)})"
    )


def _as_trained(
    path: Path,
    pattern: str,
    ranks: dict[bytes, int],
    special_tokens: Mapping[str, int],
    name: str,
) -> Encoding:
    """Return an encoding by ranks, with text split as a manifest says."""
    from ..formats.manifest import AS_TOKENIZER_JSON, MANIFEST

    if pattern == AS_TOKENIZER_JSON:
        raise ValueError(
            f"{path}: by the {MANIFEST} beside it, only tokenizer.json says how its text is split: "
            "load that"
        )
    if pattern == DEEPSEEK:
        from ..formats.models.bpe import RankedModel
        from ..formats.tokenizer_json import TokenizerDefinition
        from ..pipeline.added_tokens import AddedToken
        from .deepseek import PARTS
        from .tokenizer import Tokenizer

        added = tuple(AddedToken(one, id, special=True) for one, id in special_tokens.items())
        return Tokenizer(name, TokenizerDefinition(RankedModel(ranks), added, PARTS, name))
    return Encoding(
        name,
        pat_str=_pattern_of(path, pattern),
        mergeable_ranks=ranks,
        special_tokens=dict(special_tokens),
    )


def _pattern_of(path: Path, pattern: str) -> str:
    try:
        return pattern_named(pattern)
    except ValueError as error:
        from ..formats.manifest import MANIFEST

        raise ValueError(f"{path.with_name(MANIFEST)}: {error}") from None


def _load_merges(path: Path, pattern: str | None, name: str) -> Encoding:
    return _load_pair(_beside(path, "vocab.json", "encoder.json"), path, pattern, name)


def _load_vocab_txt(path: Path, pattern: str | None, name: str) -> Encoding:
    from ..formats.vocab_txt import read_vocab_txt
    from .tokenizer import Tokenizer

    _refuse_pattern(path, pattern)
    return Tokenizer(name, read_vocab_txt(path))


def _load_clip_merges(path: Path, pattern: str | None, name: str) -> Encoding:
    from ..formats.vocab_merges import read_clip_merges
    from .tokenizer import Tokenizer

    _refuse_pattern(path, pattern)
    return Tokenizer(name, read_clip_merges(path))


def _refuse_pattern(path: Path, pattern: str | None) -> None:
    if pattern is not None:
        raise ValueError(f"{path}: it says itself how text is split: it is given no pattern")


def _load_json(path: Path, pattern: str | None, name: str) -> Encoding:
    from ..formats.checked_json import read_json
    from ..formats.tekken import is_tekken, parse_tekken
    from ..formats.tokenizer_json import parse_tokenizer
    from ..pattern.ast import PatternError
    from .tokenizer import Tokenizer

    file = read_json(path)
    members = file.mapping()
    # A vocabulary may have a token "model".
    if members and all(type(number) is int for number in members.values()):
        return _load_pair(path, _beside(path, "merges.txt", "vocab.bpe"), pattern, name)
    _refuse_pattern(path, pattern)
    if is_tekken(file):
        tekken = parse_tekken(file)
        try:
            return Encoding(
                name,
                pat_str=tekken.pattern,
                mergeable_ranks=tekken.ranks,
                special_tokens=tekken.special_tokens,
            )
        except PatternError as error:
            file["config"]["pattern"].fail(str(error))
    if "model" not in members:
        file.fail("it is JSON, but neither a tokenizer.json nor a vocabulary")
    return Tokenizer(name, parse_tokenizer(file))


def _load_pair(vocabulary: Path, merges: Path, pattern: str | None, name: str) -> Encoding:
    """Load ``vocab.json`` and ``merges.txt``, or ``encoder.json`` and ``vocab.bpe``."""
    specials: list[str] | None = None
    if pattern is not None:
        pattern = pattern_named(pattern)
    else:
        from ..formats.gpt2 import read_gpt2
        from ..formats.manifest import AS_TOKENIZER_JSON, manifest_of

        manifest = manifest_of(vocabulary, merges)
        if manifest is not None:
            specials = list(manifest.special_tokens)
            if manifest.pattern in (DEEPSEEK, AS_TOKENIZER_JSON):
                ranks, special = read_gpt2(vocabulary, merges, specials)
                return _as_trained(vocabulary, manifest.pattern, ranks, special, name)
            named = _pattern_of(vocabulary, manifest.pattern)
            # GPT-2's pattern is the default.
            pattern = None if named == PUBLISHED["gpt2"].pattern else named
    if merges.name.endswith("vocab.bpe"):
        return load_gpt2(vocabulary, merges, pattern=pattern, special_tokens=specials, name=name)
    from ..formats.vocab_merges import read_vocab_merges
    from .tokenizer import Tokenizer

    return Tokenizer(name, read_vocab_merges(vocabulary, merges, pattern))


#: What loads each kind of file but rank files, which alone are given special tokens.
_LOADERS = {
    "json": _load_json,
    "merges": _load_merges,
    "vocab.txt": _load_vocab_txt,
    "clip": _load_clip_merges,
}


def _beside(path: Path, *names: str) -> Path:
    """Return the first of some files that is in the folder of a file.

    Raises:
        ValueError: no such file is there.
    """
    # "NAME-vocab.json" goes with "NAME-merges.txt".
    prefixes = ["", re.sub(r"(vocab|encoder)\.json$|merges\.txt$|vocab\.bpe$", "", path.name)]
    for prefix in reversed(prefixes):
        for name in names:
            found = path.with_name(prefix + name)
            if found.exists() and found != path:
                return found
    raise ValueError(f"{path}: what belongs to it is not beside it ({' or '.join(names)})")


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
        vocab_bpe: the merges in order, one a line.
        pattern: the pattern; GPT-2's unless given.
        special_tokens: the entries of ``encoder_json`` that are special.  Unless given, those that
            no merge makes and that are written ``<…>``.
        name: the name of the encoding; the file's name unless given.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is damaged, or the two do not fit.  The message says the file, the line
            and the reason.
    """
    from ..formats.gpt2 import read_gpt2

    ranks, specials = read_gpt2(encoder_json, vocab_bpe, special_tokens)
    return Encoding(
        _stem(encoder_json) if name is None else name,
        pat_str=PUBLISHED["gpt2"].pattern if pattern is None else pattern,
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
    """Load an encoding from a ``.tiktoken`` rank file: one token a line, as base64 and rank.

    Args:
        path: the rank file.
        pattern: the pattern, which the file does not hold: a published one or the name of one, as
            for ``load``.
        special_tokens: names and ids of special tokens, none unless given.
        name: the name of the encoding; the file's name unless given.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is damaged (the message says the file, the line and the reason), or the
            pattern or the special tokens cannot be used.
    """
    from ..formats.tiktoken import read_ranks

    ranks = read_ranks(path)
    return Encoding(
        _stem(path) if name is None else name,
        pat_str=pattern_named(pattern),
        mergeable_ranks=ranks,
        special_tokens=dict(special_tokens or {}),
    )


def pattern_named(pattern: str) -> str:
    """Return the pattern of a name; a pattern itself is returned unchanged.

    Raises:
        ValueError: it looks like a name, but no pattern has that name.

    >>> pattern_named("llama3")[:12]
    "(?i:'s|'t|'r"
    """
    if pattern in PATTERNS:
        return PATTERNS[pattern]
    # This is meant as a name: as a pattern it would match little but itself.
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9._-]+", pattern):
        raise ValueError(
            f"unknown pattern {pattern!r}{did_you_mean(pattern, PATTERNS)}; "
            f"there are {', '.join(PATTERNS)}"
        )
    return pattern


def _stem(path: str | os.PathLike[str]) -> str:
    """Return the name of a file without folder and extension."""
    return os.path.splitext(os.path.basename(path))[0]
