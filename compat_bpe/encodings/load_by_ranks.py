"""Loading an encoding from ranks: rank files, GPT-2's two files, and JSON with ranks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from .encoding import Encoding
from .loaded import load_ranks
from .published import PATTERNS, PUBLISHED, pattern_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from ..formats.checked_json import Json
    from ..formats.json_ranks import Ranked
    from ..formats.settings_beside import Settings
    from .rank_families import RankFamily


#: The name of DeepSeek's pre-tokenizer, which is no single pattern.
DEEPSEEK = "deepseek"


def load_ranks_file(
    path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None, name: str
) -> Encoding:
    """Load a rank file. Its content, or files beside it, say which pattern it has if none is given.

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
        return as_trained(path, manifest.pattern, parse_ranks(data, str(path)), special, name)
    family = family_of(path, data)
    if family is not None:
        return _of_family(*family, path, data, special_tokens, name)
    ranks = parse_ranks(data, str(path))
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


def _of_family(
    family: RankFamily,
    settings: Settings,
    path: Path,
    data: bytes,
    special_tokens: Mapping[str, int] | None,
    name: str,
) -> Encoding:
    """Return an encoding by ranks as a family of models has it."""
    from ..formats.tiktoken import parse_in_order, parse_ranks

    ranks = (parse_in_order if family.by_line else parse_ranks)(data, str(path))
    if special_tokens is None:
        special_tokens = family.special_tokens(max(ranks.values()) + 1, settings)
    pattern = PATTERNS[family.name]
    if not family.is_nfc:
        return Encoding(
            name,
            pat_str=pattern,
            mergeable_ranks=ranks,
            special_tokens=dict(special_tokens),
        )
    from ..formats.tokenizer_bpe import RankedModel
    from ..formats.tokenizer_json import TokenizerDefinition
    from ..formats.tokenizer_writing import byte_level_part, pre_tokenizers_part, split_part
    from ..pipeline.added_tokens import AddedToken
    from .tokenizer import Tokenizer

    parts = {
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": pre_tokenizers_part(split_part(pattern), byte_level_part(use_regex=False)),
        "post_processor": None,
        "decoder": byte_level_part(),
    }
    # The whole text is normalized, and then special tokens are looked for.
    added = tuple(
        AddedToken(one, id_, special=True, normalized=True) for one, id_ in special_tokens.items()
    )
    return Tokenizer(name, TokenizerDefinition(RankedModel(ranks), added, parts, name))


def as_trained(
    path: Path,
    pattern: str,
    ranks: dict[bytes, int],
    special_tokens: Mapping[str, int],
    name: str,
) -> Encoding:
    """Return an encoding by ranks, with text split as a manifest says."""
    from ..formats.settings_beside import AS_TOKENIZER_JSON, MANIFEST

    if pattern == AS_TOKENIZER_JSON:
        raise ValueError(
            f"{path}: by the {MANIFEST} beside it, only tokenizer.json says how its text is split: "
            "load that"
        )
    if pattern == DEEPSEEK:
        from ..formats.tokenizer_bpe import RankedModel
        from ..formats.tokenizer_json import TokenizerDefinition
        from ..pipeline.added_tokens import AddedToken
        from .deepseek import PARTS
        from .tokenizer import Tokenizer

        added = tuple(AddedToken(one, id, special=True) for one, id in special_tokens.items())
        return Tokenizer(name, TokenizerDefinition(RankedModel(ranks), added, PARTS, name))
    return Encoding(
        name,
        pat_str=pattern_of(path, pattern),
        mergeable_ranks=ranks,
        special_tokens=dict(special_tokens),
    )


def pattern_of(path: Path, pattern: str) -> str:
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
        vocab_bpe: the merges in order, one a line.
        pattern: the pattern, or the name of one, as for ``load``; GPT-2's unless given.
        special_tokens: the entries of ``encoder_json`` that are special. Unless given, those that
            no merge makes and that are written ``<…>``.
        name: the name of the encoding; the file's name unless given.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is damaged, or the two do not fit. The message says the file, the line
            and the reason.
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


def _stem(path: str | os.PathLike[str]) -> str:
    """Return the name of a file without folder and extension."""
    return os.path.splitext(os.path.basename(path))[0]


def load_ranked(file: Json, name: str) -> Encoding | None:
    """Return the encoding of a file of such a format; None if it is of another.

    Raises:
        ValueError: the file is damaged.
    """
    content = _parsed(file)
    if content is None:
        return None
    from ..pattern.ast import PatternError

    try:
        return Encoding(
            name,
            pat_str=content.pattern.text(),
            mergeable_ranks=content.ranks,
            special_tokens=content.special_tokens,
        )
    except PatternError as error:
        return content.pattern.fail(str(error))


def _parsed(file: Json) -> Ranked | None:
    # A reader is imported once a file is of its format.
    members = file.mapping()
    if "config" in members and isinstance(members.get("vocab"), list):
        from ..formats.json_ranks import parse_tekken

        return parse_tekken(file)
    if "regular_tokens" in members:
        from ..formats.json_ranks import parse_grok

        return parse_grok(file)
    if "bpe_ranks" in members:
        from ..formats.json_ranks import parse_js_tiktoken

        return parse_js_tiktoken(file)
    return None
