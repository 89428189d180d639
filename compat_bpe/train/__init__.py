"""Vocabularies learned from a corpus."""

from .bpe.byte_level import TrainingSettings as TrainingSettings
from .bpe.byte_level import train_bpe as train_bpe
from .bpe.characters import CharacterBpeSettings as CharacterBpeSettings
from .bpe.characters import train_character_bpe as train_character_bpe
from .bpe.settings import MergeSettings as MergeSettings
from .run.convergence import Convergence as Convergence
from .run.convergence import Point as Point
from .run.results import LearnedMerge as LearnedMerge
from .run.results import Trained as Trained
from .sentencepiece.model import save_trained_sentencepiece as save_trained_sentencepiece
from .sentencepiece.model import train_sentencepiece as train_sentencepiece
from .sentencepiece.settings import SentencePieceSettings as SentencePieceSettings
from .sentencepiece.trainer import SentencePieceTrainer as SentencePieceTrainer
from .sentencepiece.trainer import TrainedSentencePiece as TrainedSentencePiece
from .settings import TokenizerSettings as TokenizerSettings
from .settings import train_tokenizer as train_tokenizer
from .trainer import Trainer as Trainer
from .unigram.settings import UnigramSettings as UnigramSettings
from .unigram.settings import train_unigram as train_unigram
from .word_level import ByteSettings as ByteSettings
from .word_level import CharacterSettings as CharacterSettings
from .word_level import WordLevelSettings as WordLevelSettings
from .word_level import train_word_level as train_word_level
from .wordpiece import WordPieceSettings as WordPieceSettings
from .wordpiece import train_wordpiece as train_wordpiece
