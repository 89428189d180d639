"""The kinds of vocabularies that can be trained, by name, and the settings that options give.

A new kind is a ``Settings`` with its ``Kind``, and a line here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from ..encodings.encoding import Encoding
from ..encodings.sentencepiece import SentencePiece
from ..formats.sentencepiece import BPE, UNIGRAM
from .bpe.byte_level import ByteLevelBpe
from .bpe.merge_kinds import CharacterBpe, WordPiece
from .convergence import Convergence
from .kind import GivenOptions, Kind, Settings
from .options import Parameter, parameters
from .sentencepiece.settings import SentencePieceKind, SentencePieceUnigram
from .tokenizer_kind import TokenizerKind, check_like
from .unigram import Unigram
from .word_level import Bytes, Characters, WordLevel

#: The kinds that a ``tokenizer.json`` describes.
TOKENIZER_KINDS: dict[str, type[TokenizerKind]] = {
    kind.name: kind for kind in (WordPiece, CharacterBpe, Unigram, WordLevel, Characters, Bytes)
}

_SENTENCEPIECE = {BPE: SentencePieceKind.name, UNIGRAM: SentencePieceUnigram.name}

#: Each kind.
KINDS: dict[str, type[Kind]] = {
    ByteLevelBpe.name: ByteLevelBpe,
    **TOKENIZER_KINDS,
    SentencePieceKind.name: SentencePieceKind,
    SentencePieceUnigram.name: SentencePieceUnigram,
}

#: The options of all kinds, by name.
PARAMETERS: dict[str, Parameter] = parameters(kind.makes for kind in KINDS.values())

#: The options of stopping by convergence, which together are one setting.
CONVERGENCE_PARAMETERS = parameters([Convergence])

#: The reasons why a kind lacks some of these, by ``Kind.checks``.
_WHY_NO_CONVERGENCE = {
    "rounds": " Bytes per token are checked before each round of pruning.",
    "never": " Bytes per token do not depend on its size.",
}


class OptionError(ValueError):
    """Options that do not fit the kind, or each other; the message names them."""


def kind_of(encoding: Encoding) -> str:
    """Return the name of the kind of an encoding that is to be trained anew.

    Raises:
        ValueError: it is neither a model of SentencePiece of one of the kinds, nor described by a
            ``tokenizer.json``.

    >>> from compat_bpe import get_encoding
    >>> kind_of(get_encoding("deepseek_v3"))
    'character-bpe'
    """
    if isinstance(encoding, SentencePiece):
        if encoding.definition.kind not in _SENTENCEPIECE:
            raise ValueError(
                f"{encoding!r}: models of words and characters can only be trained in Python; "
                "name a kind"
            )
        return _SENTENCEPIECE[encoding.definition.kind]
    model = check_like(encoding).model
    # Every model of a tokenizer.json is of one of them.
    return next(
        name for name, kind in TOKENIZER_KINDS.items() if isinstance(model, kind.model_types)
    )


def check_settings(settings: object) -> None:
    """Raise ``TypeError`` if an argument is not the settings of a kind."""
    if not isinstance(settings, Settings):
        raise TypeError(
            f"the settings are a {type(settings).__name__}; they must be TrainingSettings, or "
            "those of another kind"
        )


def settings_of(
    model: str | None, values: Mapping[str, Any], named: Set[str], roles: Mapping[str, str]
) -> Settings[Any]:
    """Return the settings that options of a program describe.

    Args:
        model: the name of the kind; None for that of ``like``, or byte-level BPE.
        values: the value of each of ``PARAMETERS``, defaults included; encodings are loaded. A
            program may lack those of stopping by convergence.
        named: the names of the options that the user gave.
        roles: the special tokens that have a role in transformers, by role.

    Raises:
        OptionError: an option does not fit the kind, or no option ends learning.
        LikeError: the tokenizer of ``like`` is of another kind.
        ValueError: a setting is impossible.
    """
    values = {**values, "convergence": _convergence(values, named)}
    like = values.get("like")
    if model is None:
        name = ByteLevelBpe.name if like is None else _like_kind(like)
    else:
        # Byte-level BPE in steps of its own is BPE over the characters that stand for bytes.
        is_like = like is not None and model == ByteLevelBpe.name
        name = CharacterBpe.name if is_like else model
    kind = KINDS[name]
    for option in PARAMETERS:
        if option in named and option not in kind.option_names():
            raise OptionError(_misfit(option, kind))
    if kind.ends and all(values[end] is None for end in kind.ends):
        ends = ("patience" if end == "convergence" else end for end in kind.ends)
        *first, last = (PARAMETERS[end].flag for end in ends if end in values)
        raise OptionError(f"Give {', '.join(first)}{' or ' if first else ''}{last}.")
    fit = kind.option_names() - CONVERGENCE_PARAMETERS.keys() - {"special_tokens"} | {"convergence"}
    options = GivenOptions(
        {option: value for option, value in values.items() if option in fit},
        (named & fit) - {"like"},
        values["special_tokens"],
        roles,
    )
    return kind.from_options(options)


def _like_kind(like: Encoding) -> str:
    try:
        return kind_of(like)
    except ValueError as error:
        raise ValueError(f"--like: {error}") from None


def _convergence(values: Mapping[str, Any], named: Set[str]) -> Convergence | None:
    """Return the settings of stopping by convergence; None if none of their options is given."""
    if "min_improvement" in named and "patience" not in named:
        raise OptionError("--min-improvement needs --patience.")
    if named.isdisjoint(CONVERGENCE_PARAMETERS):
        return None
    return Convergence(**{name: values[name] for name in CONVERGENCE_PARAMETERS})


def _misfit(option: str, kind: type[Kind]) -> str:
    """Return the message for an option that a kind does not have."""
    fit: Sequence[str] = [name for name, other in KINDS.items() if option in other.option_names()]
    why = _WHY_NO_CONVERGENCE.get(kind.checks, "") if option in CONVERGENCE_PARAMETERS else ""
    flag = PARAMETERS[option].flag
    return f"{flag} is not for --model {kind.name}, only for {', '.join(fit)}.{why}"
