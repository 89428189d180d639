"""The kinds of tokenizers that can be trained, by name."""

from __future__ import annotations

from ..encodings.tokenizer import Tokenizer
from .bpe.characters import CharacterBpeSettings
from .tokenizer_trainer import TokenizerSettings, check_like
from .unigram.settings import UnigramSettings
from .word_level import ByteSettings, CharacterSettings, WordLevelSettings
from .wordpiece import WordPieceSettings

#: The settings of each kind.  Byte-level BPE has its own, ``TrainingSettings``.
KINDS: dict[str, type[TokenizerSettings]] = {
    settings.kind: settings
    for settings in (
        WordPieceSettings,
        CharacterBpeSettings,
        UnigramSettings,
        WordLevelSettings,
        CharacterSettings,
        ByteSettings,
    )
}


def kind_of(tokenizer: Tokenizer) -> str:
    """Return the name of the kind of a tokenizer that is to be trained anew.

    Raises:
        ValueError: there is no ``tokenizer.json`` that describes its steps.

    >>> from compat_bpe import get_encoding
    >>> kind_of(get_encoding("deepseek_v3"))
    'character-bpe'
    """
    check_like(tokenizer)
    model = tokenizer.definition.model
    # Every model of a tokenizer.json is of one of them.
    return next(name for name, made in KINDS.items() if isinstance(model, made.model_types))
