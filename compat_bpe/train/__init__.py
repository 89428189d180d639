"""Vocabularies learned from a corpus."""

from typing import Any as _Any

from .bpe.byte_level import TrainingSettings as TrainingSettings
from .bpe.characters import CharacterBpeSettings as CharacterBpeSettings
from .deprecated import deprecated as _deprecated
from .kind import Settings as Settings
from .run.convergence import Convergence as Convergence
from .run.convergence import Point as Point
from .run.results import LearnedMerge as LearnedMerge
from .run.results import Trained as Trained
from .sentencepiece.model import save_trained_sentencepiece as save_trained_sentencepiece
from .sentencepiece.settings import SentencePieceSettings as SentencePieceSettings
from .sentencepiece.trainer import SentencePieceTrainer as SentencePieceTrainer
from .sentencepiece.trainer import TrainedSentencePiece as TrainedSentencePiece
from .trainer import Trainer as Trainer
from .training import train as train
from .training import train_bpe as train_bpe
from .unigram.settings import UnigramSettings as UnigramSettings
from .word_level import ByteSettings as ByteSettings
from .word_level import CharacterSettings as CharacterSettings
from .word_level import WordLevelSettings as WordLevelSettings
from .wordpiece import WordPieceSettings as WordPieceSettings


def __getattr__(name: str) -> _Any:
    return _deprecated(name)
