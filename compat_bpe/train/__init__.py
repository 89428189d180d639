"""Vocabularies learned from a corpus."""

from .sentencepiece import save_trained_sentencepiece as save_trained_sentencepiece
from .sentencepiece import train_sentencepiece as train_sentencepiece
from .settings import TrainingSettings as TrainingSettings
from .trainer import LearnedMerge as LearnedMerge
from .trainer import Trained as Trained
from .trainer import Trainer as Trainer
from .trainer import train_bpe as train_bpe
