"""Vocabularies learned from a corpus."""

from .settings import TrainingSettings as TrainingSettings
from .trainer import LearnedMerge as LearnedMerge
from .trainer import Trained as Trained
from .trainer import Trainer as Trainer
from .trainer import train_bpe as train_bpe
