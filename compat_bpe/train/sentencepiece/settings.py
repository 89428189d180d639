"""The settings of training a model of SentencePiece, checked where they are made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from itertools import count
from typing import Any, ClassVar

from ...encodings.sentencepiece import SentencePiece
from ...formats.checked_json import is_unicode
from ...formats.sentencepiece import BPE, CHAR, UNIGRAM, WORD, NormalizerSpec, SentencePieceModel
from ...formats.settings_beside import SENTENCEPIECE
from ...pipeline.models.sentencepiece.base import BYTE, CONTROL, SPACE, UNKNOWN, USER_DEFINED
from ..convergence import CONVERGENCE, Convergence
from ..estimate import Costs
from ..kind import GivenOptions, Kind, LikeError, Settings
from ..options import (
    BYTE_FALLBACK,
    MAX_PIECE_LENGTH,
    SEED_SIZE,
    SENTENCES,
    SHRINKING_FACTOR,
    SPECIAL_TOKENS,
    SUB_ITERATIONS,
    VOCAB_SIZE,
    check_integer,
    fields_with_options,
    setting,
)

#: The kinds of models by their names.
MODEL_KINDS = {"unigram": UNIGRAM, "bpe": BPE, "word": WORD, "char": CHAR}

#: The stand-in for a character outside the alphabet: no piece reaches over it.
UNKNOWN_CHARACTER = "\u2585"

#: The stand-in for a reserved piece in the text, and for a delimiter.
BOUNDARY = "\x1f"

#: A sample must be larger, as in the reference.
_TOO_FEW_LINES = 100


_PREFIX = "sentencepiece-"
BPE_NAME, UNIGRAM_NAME = f"{_PREFIX}bpe", f"{_PREFIX}unigram"

#: The ids of special pieces without a model to be like; there is no padding unless it is named.
_IDS = {"unk_id": 0, "bos_id": 1, "eos_id": 2, "pad_id": -1}


@dataclass(frozen=True)
class SentencePieceSettings(Settings[SentencePiece]):
    r"""The settings of training a model of SentencePiece, by the names that they have there.

    The pieces and scores are those of sentencepiece 0.2.3 with the same options, and for Unigram
    with ``num_threads=1``. Defaults are the same, except two: ``model_type`` is ``"bpe"``, and
    ``normalization_rule_name`` is ``"identity"``. Scores of words and characters may differ in the
    last bit, which depends on the machine in the reference. Memory grows with the number of
    distinct words, and for Unigram with that of lines.

    Each line of a text is a sentence. A text of one line loses the line end after it, as each
    sentence of the reference's ``sentence_iterator`` does. In other texts, as in the reference's
    files, only ``\n`` ends a line: the ``\r`` before it is a character.

    Args:
        vocab_size: the number of pieces, reserved ones included.
        model_type: ``"bpe"``, ``"unigram"``, ``"word"`` or ``"char"``.
        character_coverage: the share of all characters that the alphabet must cover, 0.98 to 1.
            The rarest characters beyond it are unknown.
        required_chars: characters that are always in the alphabet.
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
        use_all_vocab: take all words or characters, regardless of their number.
        add_dummy_prefix: put a space before each text.
        remove_extra_whitespaces: remove spaces at the ends, and repeated ones.
        normalization_rule_name: the name of the character map.
        charsmap: the precompiled character map, as it is in a model; empty for ``"identity"``.
        seed_sentencepiece_size: the most pieces that training of Unigram begins with; 0 for eight
            times the size of the vocabulary, and 100,000 at least.
        shrinking_factor: the share of the pieces that each round of pruning keeps, for Unigram.
        num_sub_iterations: the steps of expectation and maximization before each round.
        convergence: when to stop, with another number of pieces than ``vocab_size``, by checks on
            held-out lines; for BPE and Unigram.

    Raises:
        ValueError: a setting is impossible. The message names it.

    >>> from compat_bpe.train import train
    >>> enc = train(["hug " * 10 + "pug " * 5 + "pun " * 12], SentencePieceSettings(14))
    >>> enc.encode_as_pieces("hugs pun")
    ['▁', 'hug', 's', '▁pun']
    >>> SentencePieceSettings(1000, max_sentencepiece_length=0)
    Traceback (most recent call last):
    ValueError: max_sentencepiece_length is 0; it must be 1 to 512
    """

    vocab_size: int = setting(MISSING, VOCAB_SIZE)
    model_type: str = "bpe"
    character_coverage: float = setting(
        0.9995,
        "Cover this share of all characters of the text with pieces; rarer ones are unknown.",
        SENTENCES,
        metavar="PART",
        type=float,
        least=0.98,
        most=1,
    )
    required_chars: str = ""
    byte_fallback: bool = setting(False, BYTE_FALLBACK)
    split_by_whitespace: bool = True
    split_by_unicode_script: bool = True
    split_by_number: bool = True
    split_digits: bool = setting(False, "Make each digit its own piece.", SENTENCES, type=bool)
    treat_whitespace_as_suffix: bool = False
    allow_whitespace_only_pieces: bool = False
    max_sentencepiece_length: int = setting(16, MAX_PIECE_LENGTH._replace(most=512))
    max_sentence_length: int = setting(
        4192,
        "Leave out lines of more than this many bytes.",
        SENTENCES,
        metavar="BYTES",
        type=int,
        least=10,
        most=1 << 30,
    )
    input_sentence_size: int = setting(
        0,
        "Learn from a sample of this many lines.  [default: all]",
        SENTENCES,
        metavar="LINES",
        type=int,
        least=0,
    )
    shuffle_input_sentence: bool = True
    pretokenization_delimiter: str = ""
    user_defined_symbols: Sequence[str] = setting(
        (),
        "Piece that is never split in a text. May be repeated.",
        SENTENCES,
        metavar="TEXT",
        is_many=True,
        name="user_symbols",
    )
    control_symbols: Sequence[str] = setting((), SPECIAL_TOKENS)
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
    seed_sentencepiece_size: int = setting(1_000_000, SEED_SIZE._replace(least=0))
    shrinking_factor: float = setting(
        0.75, SHRINKING_FACTOR._replace(least=0.5, most=0.95, is_below=False)
    )
    num_sub_iterations: int = setting(2, SUB_ITERATIONS._replace(most=10))
    convergence: Convergence | None = field(default=None, metadata=CONVERGENCE)

    def __post_init__(self) -> None:
        for name in ("user_defined_symbols", "control_symbols"):
            symbols = getattr(self, name)
            if isinstance(symbols, str):
                raise ValueError(f"{name} is the str {symbols!r}; pass a list of pieces")
            # A copy, since the caller may change the list after the check.
            object.__setattr__(self, name, tuple(symbols))
        if self.model_type not in MODEL_KINDS:
            raise ValueError(
                f"model_type is {self.model_type!r}; it must be one of "
                f"{', '.join(sorted(MODEL_KINDS))}"
            )
        super().__post_init__()
        for name in ("unk_id", "bos_id", "eos_id", "pad_id"):
            check_integer(name, getattr(self, name))
        if self.input_sentence_size and self.input_sentence_size <= _TOO_FEW_LINES:
            raise ValueError(
                f"input_sentence_size is {self.input_sentence_size}; it must be 0 or more than "
                f"{_TOO_FEW_LINES}"
            )
        if self.model_type in ("bpe", "unigram") and self.use_all_vocab:
            raise ValueError("use_all_vocab is for models of words and of characters")
        if self.model_type in ("word", "char"):
            for name in ("pretokenization_delimiter", "convergence"):
                if getattr(self, name):
                    raise ValueError(f"{name} is for BPE and Unigram")
        if self.normalization_rule_name != "identity" and not self.charsmap:
            raise ValueError(
                f"the character map {self.normalization_rule_name!r} is not included: take it "
                "from a model that has it, or pass its bytes as charsmap"
            )
        _check_characters(self.required_chars)
        meta_pieces(self)

    @property
    def kind(self) -> SentencePieceKind:
        """The kind of vocabulary, with these settings."""
        return (SentencePieceUnigram if self.model_type == "unigram" else SentencePieceKind)(self)


class SentencePieceKind(Kind):
    """A model of SentencePiece; the name of the kind is that of BPE."""

    settings: SentencePieceSettings

    name: ClassVar[str] = BPE_NAME
    makes = SentencePieceSettings
    formats: ClassVar[tuple[str, ...]] = (SENTENCEPIECE,)
    ends: ClassVar[tuple[str, ...]] = ("vocab_size",)
    lacks: ClassVar[frozenset[str]] = frozenset(
        {"shrinking_factor", "n_sub_iterations", "seed_size"}
    )
    counts_words: ClassVar[bool] = False
    usual_pattern: ClassVar[str | None] = r"[^\n]+"

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
        if self.settings.model_type != "bpe":
            return None
        return Costs(_word_bytes, 0.0, 0.12, 1.2, 1.0, 15.0)

    def described(self) -> dict[str, Any]:
        described = super().described()
        del described["charsmap"]  # it is in the model
        return {"model": f"{_PREFIX}{self.settings.model_type}", **described, "like": None}

    def as_given(self, text: str) -> str:
        r"""Return a text as the reference's ``sentence_iterator`` does; with lines, as its files.

        >>> kind = SentencePieceSettings(10).kind
        >>> kind.as_given("one line\r\n"), kind.as_given("two\r\nlines\r\n")
        ('one line', 'two\r\nlines\r\n')
        """
        if not isinstance(text, str):
            raise TypeError(f"text must be a str, not {type(text).__name__}")
        line = text.rstrip("\r\n")
        return text if "\n" in line else line

    @classmethod
    def option_names(cls) -> frozenset[str]:
        return super().option_names() | {"like"}

    @classmethod
    def from_options(cls, options: GivenOptions) -> SentencePieceSettings:
        like = options.values["like"]
        settings: dict[str, Any] = dict(_IDS)
        if like is not None:
            if not isinstance(like, SentencePiece):
                raise LikeError(f"is not a model of SentencePiece, which {cls.name} needs")
            settings = settings_like(like.definition)
        names = {name: own.name for own, name, _ in fields_with_options(cls.makes)}
        own = {names[name]: options.values[name] for name in options.named if name in names}
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
        model_type = cls.name[len(_PREFIX) :]
        defaults = {"model_type": model_type, "hard_vocab_limit": False}
        return SentencePieceSettings(**{**defaults, **settings, **own})


class SentencePieceUnigram(SentencePieceKind):
    """A Unigram model of SentencePiece."""

    name: ClassVar[str] = UNIGRAM_NAME
    checks: ClassVar[str] = "rounds"
    lacks: ClassVar[frozenset[str]] = frozenset()

    @property
    def costs(self) -> Costs:
        return Costs(_word_bytes, 0.0, 0.3, 30.0, 1.35, 95.0, 2.0)


def normalizer_of(settings: SentencePieceSettings) -> NormalizerSpec:
    """Return the normalization that a model has."""
    return NormalizerSpec(
        settings.normalization_rule_name,
        settings.charsmap,
        add_dummy_prefix=settings.add_dummy_prefix,
        remove_extra_whitespaces=settings.remove_extra_whitespaces,
    )


def meta_pieces(settings: SentencePieceSettings) -> dict[int, tuple[str, int]]:
    """Return the reserved pieces and their types, by id.

    The special pieces have the ids that were asked for. The others get the lowest free ones:
    control symbols, user-defined symbols, bytes. A symbol that is the name of a special piece
    gives that piece its type.

    Raises:
        ValueError: an id is twice or too large; a piece is twice or empty; there is no unknown
            piece.
    """
    pieces = _special_pieces(settings)
    numbers = {pieces[number][0]: number for number in sorted(pieces, reverse=True)}
    seen: set[str] = set()
    free = 0
    for text, kind in _symbols(settings):
        if not text or not is_unicode(text):
            raise ValueError(f"the symbol {text!r} is not a text")
        if text in seen or text == settings.unk_piece:
            raise ValueError(f"the symbol {text!r} is a piece already")
        seen.add(text)
        if text in numbers:
            pieces[numbers[text]] = (text, kind)
            continue
        while free in pieces:
            free += 1
        pieces[free] = (text, kind)
    if len(pieces) > settings.vocab_size:
        raise ValueError(
            f"vocab_size is {settings.vocab_size}; the reserved pieces alone are {len(pieces)}"
        )
    return pieces


def _special_pieces(settings: SentencePieceSettings) -> dict[int, tuple[str, int]]:
    pieces: dict[int, tuple[str, int]] = {}
    for name in ("unk", "bos", "eos", "pad"):
        number, text = getattr(settings, f"{name}_id"), getattr(settings, f"{name}_piece")
        if not text or not is_unicode(text):
            raise ValueError(f"{name}_piece is {text!r}; it must be a text")
        if number < 0:
            continue
        if number >= settings.vocab_size or number in pieces:
            taken = f"the id of {pieces[number][0]!r}" if number in pieces else "too large"
            raise ValueError(f"{name}_id is {number}, which is {taken}")
        if text in (one for one, _ in pieces.values()):
            raise ValueError(f"{name}_piece is {text!r}; another piece has that name")
        pieces[number] = (text, UNKNOWN if text == settings.unk_piece else CONTROL)
    if not settings.byte_fallback and UNKNOWN not in (kind for _, kind in pieces.values()):
        raise ValueError("unk_id is -1; without byte_fallback there must be an unknown piece")
    return pieces


def _symbols(settings: SentencePieceSettings) -> Iterator[tuple[str, int]]:
    for text in settings.control_symbols:
        yield text, CONTROL
    for text in settings.user_defined_symbols:
        yield text, USER_DEFINED
        if settings.model_type == "word" and not text.startswith(SPACE):
            yield SPACE + text, USER_DEFINED
    if settings.byte_fallback:
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

    >>> from compat_bpe.train import train
    >>> settings = SentencePieceSettings(12, user_defined_symbols=["<x>"])
    >>> model = train(["hug pug"], settings).definition
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
