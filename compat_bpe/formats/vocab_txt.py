"""``vocab.txt``: the vocabulary of BERT and similar models, one piece per line.

The number of a line, counted from 0, is the id of its piece. White space at the end of a line does
not belong to the piece. If a piece comes twice, the last line counts. The rest is as in Hugging
Face transformers, from this file and the files beside it (``settings_beside.py``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ..files.compressed import text_lines
from ..files.whole import read_whole
from ..unicode.properties import white_space
from .checked_json import Json
from .settings_beside import NO_UNKNOWN, Settings, Special, settings_beside
from .tokenizer_json import TokenizerDefinition, parse_tokenizer
from .tokenizer_writing import bert_parts


class _Kind(NamedTuple):
    """A kind of tokenizer: its special tokens, and their places around texts.

    Args:
        special: the special tokens.
        first_type: the type of the token before a text.
        between: the number of tokens between two texts.
    """

    special: Mapping[str, Special]
    first_type: int = 0
    between: int = 1


#: The roles of BERT's special tokens, and those of others.
_ROLES = ("unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
_MORE_ROLES = ("bos_token", "eos_token", *_ROLES)

_BERT_NAMES = ("[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]")
_BERT = _Kind(dict(zip(_ROLES, map(Special, _BERT_NAMES))))
#: As BERT, but transformers gives the special tokens flags of their own.
_LAYOUT2 = _Kind({role: Special(name, is_bare=False) for role, name in zip(_ROLES, _BERT_NAMES)})
_MPNET_NAMES = ("<s>", "</s>", "[UNK]", "</s>", "<pad>", "<s>", "<mask>")
_MPNET = _Kind(
    {
        role: Special(name, lstrip=name == "<mask>", is_bare=False)
        for role, name in zip(_MORE_ROLES, _MPNET_NAMES)
    },
    between=2,
)
_FUNNEL_NAMES = ("<s>", "</s>", "<unk>", "<sep>", "<pad>", "<cls>", "<mask>")
_FUNNEL = _Kind(dict(zip(_MORE_ROLES, map(Special, _FUNNEL_NAMES))), first_type=2)

#: The kind of each known class.
_CLASSES = {
    **dict.fromkeys(
        tuple(
            """
                BertTokenizer ConvBertTokenizer DistilBertTokenizer DPRContextEncoderTokenizer
                DPRQuestionEncoderTokenizer DPRReaderTokenizer ElectraTokenizer LayoutLMTokenizer
                LxmertTokenizer MobileBertTokenizer RealmTokenizer RetriBertTokenizer
                SqueezeBertTokenizer
            """.split()
        ),
        _BERT,
    ),
    "LayoutLMv2Tokenizer": _LAYOUT2,
    "MPNetTokenizer": _MPNET,
    "FunnelTokenizer": _FUNNEL,
}

#: The beginning of a piece of cased text; names of special tokens are in brackets.
_CASED = re.compile("(?:##)?[A-Z]")

#: All White_Space, as Rust knows it.
_WHITE_SPACE = "".join(
    chr(point) for first, last in white_space().ranges() for point in range(first, last + 1)
)


def read_vocab_txt(path: Path) -> TokenizerDefinition:
    """Read a ``vocab.txt``, and the files beside it.

    Raises:
        OSError: a file cannot be read.
        ValueError: ``{file}: {place}: {reason}``. A file is damaged, or the class is not known.
    """
    vocabulary = _read_vocabulary(path)
    settings = settings_beside(path)
    kind = _kind_of(path, vocabulary, settings)
    special = settings.special_tokens(kind.special)
    for role in ("cls_token", "sep_token"):
        if role not in special:
            settings.config.fail(f"there is no {role}")
    added, ids = settings.added_tokens(vocabulary, special)
    names = {role: token["content"] for role, token in special.items()}
    first, last = names["cls_token"], names["sep_token"]
    lower = settings.flag("do_lower_case")
    chinese = settings.flag("tokenize_chinese_chars")
    file = {
        "added_tokens": added,
        **bert_parts(
            first,
            last,
            ids,
            first_type=kind.first_type,
            between=kind.between,
            lowercase=lower is not False,
            strip_accents=settings.flag("strip_accents"),
            handle_chinese_chars=chinese is not False,
        ),
        "model": {
            "type": "WordPiece",
            "unk_token": names.get("unk_token", NO_UNKNOWN),
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": vocabulary,
        },
    }
    return parse_tokenizer(Json(file, str(path)))


def _read_vocabulary(path: Path) -> dict[str, int]:
    lines = text_lines(read_whole(path), str(path))
    vocabulary = {line.rstrip(_WHITE_SPACE): number for number, line in enumerate(lines)}
    if not any(vocabulary):
        raise ValueError(f"{path}: line 1: the file ends without any token")
    return vocabulary


def _kind_of(path: Path, vocabulary: Mapping[str, int], settings: Settings) -> _Kind:
    """Return the kind by the class, or else by the special tokens that are in the vocabulary."""
    named = settings.class_name(_CLASSES)
    if named is not None:
        if named.value not in _CLASSES:
            named.fail(
                f"{named.value} is not supported for a vocab.txt (only {', '.join(_CLASSES)})"
            )
        return _CLASSES[named.value]
    roles = settings.special_tokens(_BERT.special)
    for role in ("unk_token", "cls_token", "sep_token"):
        name = roles[role]["content"] if role in roles else "no token"
        if name not in vocabulary:
            raise ValueError(
                f"{path}: it has no {name}, so it is not a BERT vocabulary; for another class, a "
                "tokenizer_config.json beside it must name the class (tokenizer_class)"
            )
    cased = next(filter(_CASED.match, vocabulary), None)
    if cased is not None and settings.flag("do_lower_case") is None:
        raise ValueError(
            f"{path}: set do_lower_case in a tokenizer_config.json beside it; by default, BERT "
            f"lowercases text, so no text would have the token {cased!r}"
        )
    return _BERT
