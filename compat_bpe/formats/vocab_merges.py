"""``vocab.json`` and ``merges.txt``: the model of a ``tokenizer.json`` in two files.

The files beside them (``settings_beside.py``) define the added tokens and, by the name of a class
in Hugging Face transformers, the rest. If no class is named, it is told from the tokens: of those
that end a word with ``</w>`` there are several kinds; others are as in GPT-2.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..files.whole import SIZE_LIMIT, read_whole
from ..pipeline.byte_level import BYTE_TO_UNICODE
from .checked_json import Json, read_json
from .lines import parse_lines
from .parts.pre_tokenizers import byte_level_part, pattern_part, pre_tokenizers_part
from .settings_beside import Settings, settings_beside
from .tokenizer_classes import CLASSES, CLIP, GPT1, GPT2, REFUSED, WORD_END, TokenizerClass
from .tokenizer_json import TokenizerDefinition, parse_tokenizer

#: The beginning of lines that are no merges, wherever they are, as in tokenizers; and that of the
#: first line of CLIP's file.
_HEADING = "#version"
_HEADING_OF_CLIP = '"bpe_simple_vocab_16e6.txt#version'

#: The number of tokens of GPT-1, the only vocabulary of its kind that no file need name.
_SIZE_OF_GPT1 = 40_478


def read_vocab_merges(
    vocabulary: Path, merges: Path, pattern: str | None = None
) -> TokenizerDefinition:
    """Read the two files, and those beside them if there are some.

    ``pattern``, in the syntax of OpenAI's published patterns, splits text in place of the class.

    Raises:
        OSError: a file cannot be read.
        ValueError: ``{file}: {place}: {reason}``. A file is damaged, or the class is not known.
    """
    ids = read_json(vocabulary)
    settings = settings_beside(vocabulary)
    source = f"{vocabulary} and {merges.name}"
    if pattern is not None:
        listed = _read_merges(merges)
        if _ends_words(listed):
            raise ValueError(f"{source}: its tokens end words: it is given no pattern")
        made = _unnamed(ids.mapping(), listed, settings, source)._replace(
            parts=lambda *_: _split_by(pattern)
        )
        return _definition(made, ids.mapping(), listed, settings, source)
    made_of_name = _class_named(settings)
    listed = _read_merges(merges)
    class_name = made_of_name or _class_of(ids.mapping(), listed, settings, source)
    return _definition(class_name, ids.mapping(), listed, settings, source)


def read_clip_merges(path: Path) -> TokenizerDefinition:
    """Read the merges of CLIP, from which its vocabulary follows; the file may be compressed.

    Raises:
        OSError: the file cannot be read.
        ValueError: ``{file}: {place}: {reason}``. The file is damaged.
    """
    merges = _read_merges(path)[: CLIP.most_merges]
    shown = sorted(BYTE_TO_UNICODE.values())
    names = [*shown, *(char + WORD_END for char in shown)]
    names += [merge.replace(" ", "") for merge in merges]
    names += ["<|startoftext|>", "<|endoftext|>"]
    ids = {name: number for number, name in enumerate(names)}
    if len(ids) < len(names):
        raise ValueError(f"{path}: two merges make the same token")
    empty = Json({}, str(path))
    return _definition(CLIP, ids, merges, Settings(empty, empty, empty, empty), str(path))


def _definition(
    made: TokenizerClass,
    ids: Mapping[str, Any],
    merges: list[str],
    settings: Settings,
    source: str,
) -> TokenizerDefinition:
    special = settings.special_tokens(made.special)
    for role in made.needed:
        if role not in special:
            settings.config.fail(f"there is no {role}")
    names = {role: token["content"] for role, token in special.items()}
    added, around = settings.added_tokens(ids, special, made.more)
    model: dict[str, Any] = {"type": "BPE", "vocab": ids, "merges": merges[: made.most_merges]}
    if made.unknown is not None:
        model["unk_token"] = names.get(made.unknown, made.no_unknown)
    if made.word_end is not None:
        model["end_of_word_suffix"] = made.word_end
    file = {
        "model": model,
        "added_tokens": added,
        **made.parts(settings, names, around),
    }
    return parse_tokenizer(Json(file, source))


def _split_by(pattern: str) -> dict[str, Any]:
    return {
        "normalizer": None,
        "pre_tokenizer": pre_tokenizers_part(
            pattern_part(pattern), byte_level_part(use_regex=False)
        ),
        "post_processor": None,
        "decoder": byte_level_part(),
    }


def _class_named(settings: Settings) -> TokenizerClass | None:
    """Return the class that the files name; None if they name none."""
    named = settings.class_name({*CLASSES, *REFUSED})
    if named is None:
        return None
    name = named.value
    if name in REFUSED:
        named.fail(f"{name} is not supported: {REFUSED[name]}")
    if name not in CLASSES:
        named.fail(f"{name} is not supported (only {', '.join(CLASSES)}; or pass a pattern)")
    return CLASSES[name]


def _class_of(
    ids: Collection[str], merges: Sequence[str], settings: Settings, source: str
) -> TokenizerClass:
    """Return the class by the tokens and the merges."""
    if not _ends_words(merges):
        return _unnamed(ids, merges, settings, source)
    if "<|startoftext|>" in ids and "<|endoftext|>" in ids:
        return CLIP
    # CharBPETokenizer of tokenizers writes such tokens, too, and lowercases nothing.
    if "<unk>" in ids and len(ids) == _SIZE_OF_GPT1:
        return GPT1
    raise ValueError(
        f"{source}: its tokens end words ({WORD_END}), as in several kinds of tokenizers: a "
        "tokenizer_config.json beside it must name the class (tokenizer_class)"
    )


def _ends_words(merges: Sequence[str]) -> bool:
    """Return True if the last character of a word is written with an end of its own.

    In other vocabularies "</w>" is text, and is made from single characters by merges.
    """
    parts = {part for merge in merges if WORD_END in merge for part in merge.split(" ")}
    made = {merge.replace(" ", "") for merge in merges}
    return any(part.endswith(WORD_END) and len(part) > 1 for part in parts - made)


def _read_merges(path: Path) -> list[str]:
    return parse_merges(read_whole(path, SIZE_LIMIT), str(path))


def parse_merges(data: bytes, source: str) -> list[str]:
    """Return the merges of a list, each as its two parts with a space between them.

    Args:
        data: the bytes of the file, which may be a gzip.
        source: the name of the file, for messages.

    Raises:
        ValueError: ``{file}: {place}: {reason}``. It is damaged.
    """
    merges = []
    for number, line in enumerate(parse_lines(data, source), 1):
        merge = line.rstrip("\r")
        if is_heading(merge) or (number == 1 and merge.startswith(_HEADING_OF_CLIP)):
            continue
        if merge.count(" ") != 1:
            raise ValueError(f"{source}: line {number}: expected the two parts of a merge")
        merges.append(merge)
    return merges


def is_heading(line: str) -> bool:
    """Return True if readers skip a line of a list of merges, which may be a merge all the same."""
    return line.startswith(_HEADING)


def _unnamed(
    ids: Collection[str], merges: Sequence[str], settings: Settings, source: str
) -> TokenizerClass:
    """Return the class of a vocabulary that no file names one for: as GPT-2, but for the tokens.

    Its own special tokens are, as in ``load_gpt2``, all names ``<…>`` that no merge makes, unless
    a file lists all added tokens.

    Raises:
        ValueError: bytes are missing, so it is not as GPT-2.
    """
    missing = sorted({*BYTE_TO_UNICODE.values()} - {*ids})
    if missing:
        shown = ", ".join(map(repr, missing[:3]))
        raise ValueError(
            f"{source}: {len(missing)} of the 256 bytes, written as in GPT-2's vocabulary, are no "
            f"tokens ({shown}{', …' * (len(missing) > 3)}), so it is not byte-level BPE like that: "
            "load the tokenizer.json of its tokenizer, or name the class in a "
            "tokenizer_config.json beside it (tokenizer_class)"
        )
    if settings.config.get("added_tokens_decoder") is not None:
        return GPT2._replace(special={})
    made = {merge.replace(" ", "") for merge in merges}
    names = [
        name
        for name in ids
        if name[:1] == "<" and name[-1:] == ">" and len(name) > 2 and name not in made
    ]
    return GPT2._replace(special={}, more=tuple(names))
