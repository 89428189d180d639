"""Vocabularies learned from a corpus."""

from compat_bpe.train.trainer import LearnedMerge as LearnedMerge
from compat_bpe.train.trainer import Trained as Trained
from compat_bpe.train.trainer import Trainer as Trainer
from compat_bpe.train.trainer import train_bpe as train_bpe
