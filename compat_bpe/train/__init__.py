"""Vocabularies learned from a corpus."""

from typing import Any as _Any

from .bpe.byte_level import TrainingSettings as TrainingSettings
from .bpe.merge_kinds import CharacterBpeSettings as CharacterBpeSettings
from .bpe.merge_kinds import WordPieceSettings as WordPieceSettings
from .convergence import Convergence as Convergence
from .convergence import Point as Point
from .deprecated import deprecated as _deprecated
from .kind import LearnedMerge as LearnedMerge
from .kind import Settings as Settings
from .kind import Trained as Trained
from .sentencepiece.settings import SentencePieceSettings as SentencePieceSettings
from .sentencepiece.trainer import SentencePieceTrainer as SentencePieceTrainer
from .sentencepiece.trainer import TrainedSentencePiece as TrainedSentencePiece
from .sentencepiece.trainer import save_trained_sentencepiece as save_trained_sentencepiece
from .trainer import Trainer as Trainer
from .trainer import train as train
from .trainer import train_bpe as train_bpe
from .unigram.settings import UnigramSettings as UnigramSettings
from .word_level import ByteSettings as ByteSettings
from .word_level import CharacterSettings as CharacterSettings
from .word_level import WordLevelSettings as WordLevelSettings


def __getattr__(name: str) -> _Any:
    return _deprecated(name)
