"""The settings of training a model of SentencePiece, checked where they are made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from typing import Any, ClassVar

from ...encodings.sentencepiece import SentencePiece
from ...formats.checked_json import is_unicode
from ...formats.sentencepiece import BPE, CHAR, UNIGRAM, WORD, NormalizerSpec, SentencePieceModel
from ...formats.settings_beside import SENTENCEPIECE
from ...pipeline.models.sentencepiece.base import BYTE, CONTROL, SPACE, UNKNOWN, USER_DEFINED
from ..checks import check_integer, check_least
from ..run.convergence import Convergence
from ..run.costs import Costs
from ..trainer import KindSettings, LikeError, Options

#: The kinds of models by their names.
MODEL_KINDS = {"unigram": UNIGRAM, "bpe": BPE, "word": WORD, "char": CHAR}

#: The stand-in for a character outside the alphabet: no piece reaches over it.
UNKNOWN_CHARACTER = "\u2585"

#: The stand-ins for a reserved piece in the text, and for a delimiter.
BOUNDARY = "\x1f"

#: The fields that are shares, of which 1 is the whole.
_PARTS = ("character_coverage", "shrinking_factor")
#: The bounds of some settings, as in the reference.
_BOUNDS = {
    "character_coverage": (0.98, 1.0),
    "max_sentencepiece_length": (1, 512),
    "max_sentence_length": (10, 1 << 30),
    "num_sub_iterations": (1, 10),
    "shrinking_factor": (0.5, 0.95),
}
#: A sample must be larger, as in the reference.
_TOO_FEW_LINES = 100


_PREFIX = "sentencepiece-"
BPE_NAME, UNIGRAM_NAME = f"{_PREFIX}bpe", f"{_PREFIX}unigram"

#: The settings by the names that other kinds have for them.
_NAMES = {
    "vocab_size": "vocab_size",
    "special_tokens": "control_symbols",
    "user_symbols": "user_defined_symbols",
    "character_coverage": "character_coverage",
    "byte_fallback": "byte_fallback",
    "split_digits": "split_digits",
    "max_sentence_length": "max_sentence_length",
    "input_sentence_size": "input_sentence_size",
    "max_piece_length": "max_sentencepiece_length",
    "convergence": "convergence",
}
_UNIGRAM_NAMES = {
    "shrinking_factor": "shrinking_factor",
    "n_sub_iterations": "num_sub_iterations",
    "seed_size": "seed_sentencepiece_size",
}

#: The ids of special pieces without a model to be like; there is no padding unless it is named.
_IDS = {"unk_id": 0, "bos_id": 1, "eos_id": 2, "pad_id": -1}


@dataclass(frozen=True)
class SentencePieceSettings(KindSettings):
    r"""The settings of training a model of SentencePiece, by the names that they have there.

    Args:
        vocab_size: the number of pieces, reserved ones included.
        model_type: ``"bpe"``, ``"unigram"``, ``"word"`` or ``"char"``.
        character_coverage: the share of all characters that the alphabet must cover, 0.98 to 1.
            The rarest characters beyond it are unknown.
        required_chars: characters that are in the alphabet in any case.
        byte_fallback: add 256 pieces, one for each byte, that unknown characters are written with.
        split_by_whitespace: let no piece reach over a space.
        split_by_unicode_script: let no piece have characters of two scripts. Han, Hiragana and
            Katakana count as one.
        split_by_number: let digits be of a script of their own, the one of punctuation.
        split_digits: let each digit be a piece.
        treat_whitespace_as_suffix: put spaces at the ends of words, not at their beginnings.
        allow_whitespace_only_pieces: allow pieces of several spaces.
        max_sentencepiece_length: the length of the longest piece, in characters.
        max_sentence_length: the length of the longest line that is read, in bytes. Longer lines
            are skipped.
        input_sentence_size: the number of lines that are sampled, more than 100; 0 for all. They
            bound the memory that training of Unigram takes.
        shuffle_input_sentence: sample from the whole corpus, not the first lines. The sample is
            random in the reference, and always the same here.
        pretokenization_delimiter: a text that no piece may reach over; after normalization.
        user_defined_symbols: pieces that are always found in a text. (An empty one, which the
            reference skips, is an error.)
        control_symbols: pieces that are never found in a text.
        unk_id, bos_id, eos_id, pad_id: the ids of the special pieces; -1 for none.
        unk_piece, bos_piece, eos_piece, pad_piece: their names.
        unk_surface: the text that an unknown piece is decoded to.
        hard_vocab_limit: demand exactly ``vocab_size`` pieces, not fewer. (Models of characters
            may always have fewer.)
        use_all_vocab: take all words or characters, whatever their number.
        add_dummy_prefix: put a space before each text.
        remove_extra_whitespaces: remove spaces at the ends, and repeated ones.
        normalization_rule_name: the name of the character map.
        charsmap: the precompiled character map, as it is in a model; empty for ``"identity"``.
        seed_sentencepiece_size: the most pieces that training of Unigram begins with; 0 for eight
            times the size of the vocabulary, and 100,000 at least.
        shrinking_factor: the share of the pieces that is kept at each step of Unigram.
        num_sub_iterations: the steps of expectation and maximization between two of these.
        convergence: when to stop, with another number of pieces than ``vocab_size``, because of
            what held-out lines have; for BPE and Unigram.

    Raises:
        ValueError: a setting is impossible. The message names it.

    >>> SentencePieceSettings(1000, max_sentencepiece_length=0)
    Traceback (most recent call last):
    ValueError: max_sentencepiece_length is 0; it must be 1 to 512
    """

    vocab_size: int
    model_type: str = "bpe"
    character_coverage: float = 0.9995
    required_chars: str = ""
    byte_fallback: bool = False
    split_by_whitespace: bool = True
    split_by_unicode_script: bool = True
    split_by_number: bool = True
    split_digits: bool = False
    treat_whitespace_as_suffix: bool = False
    allow_whitespace_only_pieces: bool = False
    max_sentencepiece_length: int = 16
    max_sentence_length: int = 4192
    input_sentence_size: int = 0
    shuffle_input_sentence: bool = True
    pretokenization_delimiter: str = ""
    user_defined_symbols: Sequence[str] = ()
    control_symbols: Sequence[str] = ()
    unk_id: int = 0
    bos_id: int = 1
    eos_id: int = 2
    pad_id: int = -1
    unk_piece: str = "<unk>"
    bos_piece: str = "<s>"
    eos_piece: str = "</s>"
    pad_piece: str = "<pad>"
    unk_surface: str = " \u2047 "
    hard_vocab_limit: bool = True
    use_all_vocab: bool = False
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    normalization_rule_name: str = "identity"
    charsmap: bytes = b""
    seed_sentencepiece_size: int = 1_000_000
    shrinking_factor: float = 0.75
    num_sub_iterations: int = 2
    convergence: Convergence | None = None

    formats: ClassVar[tuple[str, ...]] = (SENTENCEPIECE,)
    ends: ClassVar[tuple[str, ...]] = ("vocab_size",)
    usual_pattern: ClassVar[str] = r"[^\n]+"

    def __post_init__(self) -> None:
        for name in ("user_defined_symbols", "control_symbols"):
            symbols = getattr(self, name)
            if isinstance(symbols, str):
                raise ValueError(f"{name} is the str {symbols!r}; pass a list of pieces")
            # A copy: what the caller changes later was not checked.
            object.__setattr__(self, name, tuple(symbols))
        if self.model_type not in MODEL_KINDS:
            raise ValueError(
                f"model_type is {self.model_type!r}; it must be one of "
                f"{', '.join(sorted(MODEL_KINDS))}"
            )
        for name, (least, most) in _BOUNDS.items():
            value = getattr(self, name)
            if name not in _PARTS:
                check_integer(name, value)
            if not least <= value <= most:
                raise ValueError(f"{name} is {value}; it must be {least} to {most}")
        check_least("seed_sentencepiece_size", self.seed_sentencepiece_size, 0)
        for name in ("vocab_size", "input_sentence_size", "unk_id", "bos_id", "eos_id", "pad_id"):
            check_integer(name, getattr(self, name))
        if self.input_sentence_size and self.input_sentence_size <= _TOO_FEW_LINES:
            raise ValueError(
                f"input_sentence_size is {self.input_sentence_size}; it must be 0 or more than "
                f"{_TOO_FEW_LINES}"
            )
        if self.model_kind in (BPE, UNIGRAM) and self.use_all_vocab:
            raise ValueError("use_all_vocab is for models of words and of characters")
        if self.model_kind in (WORD, CHAR):
            for name in ("pretokenization_delimiter", "convergence"):
                if getattr(self, name):
                    raise ValueError(f"{name} is for BPE and Unigram")
        if self.normalization_rule_name != "identity" and not self.charsmap:
            raise ValueError(
                f"the character map {self.normalization_rule_name!r} is not here: take it from a "
                "model that has it, or pass its bytes as charsmap"
            )
        _check_characters(self.required_chars)
        self.meta_pieces()

    @property
    def model_kind(self) -> int:
        """The kind of model, as the file has it."""
        return MODEL_KINDS[self.model_type]

    @property
    def pattern_name(self) -> str:
        return "that of the model"

    def kept_roles(self, roles: Mapping[str, str]) -> Mapping[str, str]:
        return {}  # They are in the model itself.

    @property
    def steps(self) -> str:
        return "lines"

    @property
    def costs(self) -> Costs | None:
        return {
            BPE: Costs(_word_bytes, 0.0, 0.12, 1.2, 1.0, 15.0),
            UNIGRAM: Costs(_word_bytes, 0.0, 0.3, 30.0, 1.35, 95.0, 2.0),
        }.get(self.model_kind)

    @property
    def stops_by(self) -> Convergence | None:
        return self.convergence

    def described(self) -> dict[str, Any]:
        described = asdict(self)
        del described["charsmap"]  # it is in the model
        return {"model": f"sentencepiece-{self.model_type}", **described, "like": None}

    @classmethod
    def option_names(cls, kind: str) -> frozenset[str]:
        return frozenset({*_NAMES, *(_UNIGRAM_NAMES if kind == UNIGRAM_NAME else ()), "like"})

    @classmethod
    def checks(cls, kind: str) -> str:
        return "rounds" if kind == UNIGRAM_NAME else "steps"

    @classmethod
    def from_options(cls, kind: str, options: Options) -> SentencePieceSettings:
        like = options.values["like"]
        settings: dict[str, Any] = dict(_IDS)
        if like is not None:
            if not isinstance(like, SentencePiece):
                raise LikeError(f"is no model of SentencePiece, as {kind} needs")
            settings = settings_like(like.definition)
        names = {**_NAMES, **_UNIGRAM_NAMES}
        own = {names[name]: options.values[name] for name in options.given if name in names}
        own["convergence"] = options.values["convergence"]
        own["control_symbols"] = options.special_tokens
        for name in ("control_symbols", "user_defined_symbols"):
            inherited = settings.get(name, [])
            own[name] = [*inherited, *(one for one in own.get(name, ()) if one not in inherited)]
        for role, piece in options.roles.items():
            own[f"{role}_piece"] = piece
            if settings[f"{role}_id"] < 0:
                taken = {settings[name] for name in _IDS}
                settings[f"{role}_id"] = next(free for free in count() if free not in taken)
        model_type = kind[len(_PREFIX) :]
        defaults = {"model_type": model_type, "hard_vocab_limit": False}
        return cls(**{**defaults, **settings, **own})

    def normalizer(self) -> NormalizerSpec:
        """Return what the model says about normalization."""
        return NormalizerSpec(
            self.normalization_rule_name,
            self.charsmap,
            add_dummy_prefix=self.add_dummy_prefix,
            remove_extra_whitespaces=self.remove_extra_whitespaces,
        )

    def meta_pieces(self) -> dict[int, tuple[str, int]]:
        """Return the reserved pieces and their types, by id.

        The special pieces have the ids that were asked for. The others get the lowest free ones:
        control symbols, user-defined symbols, bytes. A symbol that is the name of a special piece
        gives that piece its type.

        Raises:
            ValueError: an id is twice or too large; a piece is twice or empty; there is no unknown
                piece.
        """
        pieces = self._special_pieces()
        numbers = {pieces[number][0]: number for number in sorted(pieces, reverse=True)}
        seen: set[str] = set()
        free = 0
        for text, kind in self._symbols():
            if not text or not is_unicode(text):
                raise ValueError(f"the symbol {text!r} is no text")
            if text in seen or text == self.unk_piece:
                raise ValueError(f"the symbol {text!r} is a piece already")
            seen.add(text)
            if text in numbers:
                pieces[numbers[text]] = (text, kind)
                continue
            while free in pieces:
                free += 1
            pieces[free] = (text, kind)
        if len(pieces) > self.vocab_size:
            raise ValueError(
                f"vocab_size is {self.vocab_size}; the reserved pieces alone are {len(pieces)}"
            )
        return pieces

    def _special_pieces(self) -> dict[int, tuple[str, int]]:
        pieces: dict[int, tuple[str, int]] = {}
        for name in ("unk", "bos", "eos", "pad"):
            number, text = getattr(self, f"{name}_id"), getattr(self, f"{name}_piece")
            if not text or not is_unicode(text):
                raise ValueError(f"{name}_piece is {text!r}; it must be a text")
            if number < 0:
                continue
            if number >= self.vocab_size or number in pieces:
                taken = f"that of {pieces[number][0]!r}" if number in pieces else "too large"
                raise ValueError(f"{name}_id is {number}; this is {taken}")
            if text in (one for one, _ in pieces.values()):
                raise ValueError(f"{name}_piece is {text!r}; another piece has that name")
            pieces[number] = (text, UNKNOWN if text == self.unk_piece else CONTROL)
        if not self.byte_fallback and UNKNOWN not in (kind for _, kind in pieces.values()):
            raise ValueError("unk_id is -1; without byte_fallback there must be an unknown piece")
        return pieces

    def _symbols(self) -> Iterator[tuple[str, int]]:
        for text in self.control_symbols:
            yield text, CONTROL
        for text in self.user_defined_symbols:
            yield text, USER_DEFINED
            if self.model_kind == WORD and not text.startswith(SPACE):
                yield SPACE + text, USER_DEFINED
        if self.byte_fallback:
            for byte in range(256):
                yield f"<0x{byte:02X}>", BYTE


def _word_bytes(text: str) -> int:
    return sum(len(word.encode()) for word in set(text.split()))


def _check_characters(required: str) -> None:
    if UNKNOWN_CHARACTER in required or " " in required or not is_unicode(required):
        raise ValueError(
            f"required_chars has a character that no piece may have: {UNKNOWN_CHARACTER!r}, a "
            "space or a lone surrogate"
        )


def settings_like(model: SentencePieceModel) -> dict[str, Any]:
    """Return the settings that train a model anew: its normalization and its reserved pieces.

    >>> from compat_bpe.train import train_sentencepiece
    >>> model = train_sentencepiece(["hug pug"], 12, user_defined_symbols=["<x>"]).definition
    >>> settings_like(model)["user_defined_symbols"], settings_like(model)["eos_id"]
    (['<x>'], 2)
    """
    spec, numbers = model.normalizer, model.vocabulary
    options: dict[str, Any] = {
        # Old models have a character map without a name.
        "normalization_rule_name": spec.name or ("user_defined" if spec.charsmap else "identity"),
        "charsmap": spec.charsmap,
        "add_dummy_prefix": spec.add_dummy_prefix,
        "remove_extra_whitespaces": spec.remove_extra_whitespaces,
        "treat_whitespace_as_suffix": model.whitespace_as_suffix,
        "byte_fallback": model.byte_fallback,
        "unk_surface": model.unk_surface,
    }
    special = set()
    for role in ("unk", "bos", "eos", "pad"):
        piece = options[f"{role}_piece"] = getattr(model, f"{role}_piece")
        options[f"{role}_id"] = numbers.get(piece, -1)
        special.add(piece)
    for name, kind in (("control_symbols", CONTROL), ("user_defined_symbols", USER_DEFINED)):
        pieces = [text for text, own in zip(model.texts, model.types) if own == kind]
        # The name of a special piece among user-defined symbols gives it that type.
        options[name] = [one for one in pieces if kind == USER_DEFINED or one not in special]
    return options
