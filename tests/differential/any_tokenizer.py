"""Every part of a ``tokenizer.json``, whole tokenizers drawn of them, hard texts and odd files.

A seed gives all that is drawn.
"""

from __future__ import annotations

import copy
from base64 import b64encode
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from random import Random
from tempfile import NamedTemporaryFile
from typing import Any

from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.pipeline.added_tokens import normalized_content
from compat_bpe.pipeline.pre_tokenizers.split import BEHAVIORS
from tests import strategies as hard
from tests.differential.small_sentencepieces import parsed, trained
from tests.differential.small_tokenizers import file, small_model
from tests.tokenizer_files import BYTE_LEVEL, FLAGS, added

Part = dict[str, Any]

# Normalizers

#: A map of one's own: keys that are prepended, jamo, halves of flags, consonants, emoji and marks,
#: that begin others, and that leave nothing.
OWN_MAP = {
    "q": "1", "\u0600": "2", "\u1100": "3", "\u1161": "4", "\u11a8": "5", "가": "6", "각": "7",
    "\U0001f1e9": "8", "\u0915": "9", "\u094d": "0", "©": "10", "\u200d": "11", "\u0301": "12",
    "x": "", "\u0600x": "13", "d\u0301": "14", "d\u0301\u0323": "15", "j\u0940": "", "\n": "16",
    "k\u0301": "", "中": "17", "l": "18\u0301", "\u0903": "19", "\u0e33": "20", "\r\n": "21",
}  # fmt: skip


def _precompiled(**options: Any) -> Part:
    spec = parsed(trained(**options)).normalizer_spec
    blob = b64encode(spec.precompiled_charsmap).decode()
    return {"type": "Precompiled", "precompiled_charsmap": blob}


def _own_map() -> Part:
    """Return the part of ``OWN_MAP``, which the trainer reads from a file."""
    rows = ("\t".join(" ".join(f"{ord(c):X}" for c in text) for text in row)
            for row in OWN_MAP.items())  # fmt: skip
    with NamedTemporaryFile("w", suffix=".tsv", delete=False) as file:
        file.write("".join(f"{row}\n" for row in rows))
    found = _precompiled(normalization_rule_tsv=file.name)
    Path(file.name).unlink()
    return found


def _bert(clean: bool, ideographs: bool, accents: bool | None, lower: bool) -> Part:
    names = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
    return {"type": "BertNormalizer", **dict(zip(names, (clean, ideographs, accents, lower)))}


def _replace(kind: str, pattern: str, content: str) -> Part:
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def _strip(left: bool, right: bool) -> Part:
    return {"type": "Strip", "strip_left": left, "strip_right": right}


#: Of four flags all, none, one and all but one.
ALL_OR_ONE = [flags for flags in product((True, False), repeat=4) if sum(flags) != 2]
SIMPLE = ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel")
NORMALIZERS: dict[str, Part] = {
    **{name: {"type": name} for name in SIMPLE},
    **{"bert " + " ".join(map(str, flags)): _bert(*flags) for flags in ALL_OR_ONE},
    "bert null": _bert(True, True, None, True),
    "bert null cased": _bert(True, True, None, False),
    "nmt_nfkc": _precompiled(normalization_rule_name="nmt_nfkc"),
    "nfkc_cf": _precompiled(normalization_rule_name="nfkc_cf"),
    "own map": _own_map(),
    "strip": _strip(True, True),
    "strip left": _strip(True, False),
    "strip right": _strip(False, True),
    "replace": _replace("String", "a", "\\1 e\u0301"),
    "replace space": _replace("String", " ", "▁"),
    "replace two": _replace("String", "``", '"'),
    "replace pattern": _replace("Regex", r"\s+|ll?", ""),
    "replace spaces": _replace("Regex", " {2,}", " "),
    "replace nothing": _replace("Regex", "x*", "-"),
    "replace nothing by a mark": _replace("Regex", "x*", "\u0301"),
    "prepend": {"type": "Prepend", "prepend": "▁"},
    "prepend several": {"type": "Prepend", "prepend": "e\u0301中 "},
}


def normalizers(*names: str) -> Part:
    return {"type": "Sequence", "normalizers": [NORMALIZERS[name] for name in names]}


# Pre-tokenizers

PATTERNS = {
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "llama3": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "letters": "[A-Za-z]+",
    "three digits": "[0-9][0-9][0-9]",
    "ends of lines": r"\s+$",
    "behind": r"(?<=[a-z])[A-Z]|(?<![0-9])[,.]",
    "boundary": r"\b\w+\b",
    "perhaps empty": r"\p{L}*",
    "newlines": "[\r\n]",
    "chinese": "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+",
    "three at most": r"\p{N}{1,3}",
}


def split(pattern: str, behavior: str = "Isolated", invert: bool = False) -> Part:
    rule = {"pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}
    return {"type": "Split", **rule}


METASPACE: Part = {"type": "Metaspace", "replacement": "▁"}
STEPS: dict[str, Part] = {
    **{f"split {name}": split(pattern) for name, pattern in PATTERNS.items()},
    **{f"split {behavior} {invert}": split(PATTERNS["letters"], behavior, invert)
       for behavior in BEHAVIORS for invert in (False, True)},
    **{f"empty {behavior}": split(PATTERNS["perhaps empty"], behavior) for behavior in BEHAVIORS},
    "string": {**split(""), "pattern": {"String": "a."}},
    "byte level": {**BYTE_LEVEL, "use_regex": True},
    "byte level, no regex": BYTE_LEVEL,
    "byte level, prefix space": {**BYTE_LEVEL, "use_regex": True, "add_prefix_space": True},
    "digit": {"type": "Digits", "individual_digits": True},
    "digits": {"type": "Digits", "individual_digits": False},
    "whitespace": {"type": "Whitespace"},
    "whitespace split": {"type": "WhitespaceSplit"},
    **{f"punctuation {one}": {"type": "Punctuation", "behavior": one} for one in BEHAVIORS},
    "delimiter": {"type": "CharDelimiterSplit", "delimiter": "a"},
    "bert": {"type": "BertPreTokenizer"},
    **{f"metaspace {scheme} {split}": {**METASPACE, "prepend_scheme": scheme, "split": split}
       for scheme in ("always", "first", "never") for split in (False, True)},
    "metaspace e": {**METASPACE, "replacement": "e"},
    "scripts": {"type": "UnicodeScripts"},
    "fixed 5": {"type": "FixedLength"},
    "fixed 2": {"type": "FixedLength", "length": 2},
}  # fmt: skip


def pre_tokenizers(*steps: str | Part) -> Part:
    """Several steps, by their names or as they stand in a file."""
    chosen = [STEPS[step] if isinstance(step, str) else step for step in steps]
    return {"type": "Sequence", "pretokenizers": chosen}


# Post-processors

SPECIAL = {
    "[CLS]": {"id": "[CLS]", "ids": [1000], "tokens": ["[CLS]"]},
    "[SEP]": {"id": "[SEP]", "ids": [1001], "tokens": [" Ġsep "]},
    "long": {"id": "long", "ids": [7, 8, 9], "tokens": ["a", "", "c"]},
}
BERT = {"type": "BertProcessing", "sep": ["[SEP]", 1001], "cls": ["[CLS]", 1000]}
OFFSET_FLAGS = [
    {"trim_offsets": t, "add_prefix_space": p} for t in (False, True) for p in (False, True)
]
ROBERTA = [{**BERT, "type": "RobertaProcessing", **flags} for flags in OFFSET_FLAGS]


def template(single: list[Any], pair: list[Any], tokens: Part = SPECIAL) -> Part:
    members = {"single": single, "pair": pair, "special_tokens": tokens}
    return {"type": "TemplateProcessing", **members}


def special_piece(name: str, type_id: int = 0) -> Part:
    return {"SpecialToken": {"id": name, "type_id": type_id}}


def text_piece(name: str, type_id: int = 0) -> Part:
    return {"Sequence": {"id": name, "type_id": type_id}}


def processor_sequence(*steps: Part) -> Part:
    return {"type": "Sequence", "processors": list(steps)}


# Whole tokenizers

#: Many of these, so that they meet the vocabulary.
COMMON = [*"aabbee1 .▁", " ", "  ", "é", "e\u0301", "中", "文", "Ａ", "ﬁ", "か\u3099", "😀", "\n"]
HARD = [
    *hard.WHITE_SPACE + hard.NO_WHITE_SPACE + hard.CASED + hard.OTHER_LETTERS + hard.MARKS,
    *hard.DIGITS + hard.SYMBOLS + hard.RECENT,
    *hard.CONTRACTIONS,
    *hard.NEWLINES,
    *hard.EMOJI,
    *hard.WORDS,
    "``",
    "\u0344",
    "\u1e69\u0323\u0307",
    "İ",
    "Ⅷ",
]
NAMES = [
    *("<s>", "</s>", "<s", "s>", "<A>", " a", "a ", "é", "e\u0301", "ab", "Ġ", "x", "\n", "▁", "1"),
    *("[UNK]", "<unk>", "<pad>", "A", "aa", " ", "<0x61>", "##a", "ﬁ"),
]


def some(draw: Random, items: Any, least: int, most: int) -> list[Any]:
    """Return some items, each perhaps more than once."""
    return draw.choices(list(items), k=draw.randint(least, most))


def pieces(draw: Random, least: int = 1) -> list[str]:
    """Return different pieces of text, short ones first."""
    single = some(draw, COMMON, 4, 24) + some(draw, HARD, 0, 6)
    found = list(single)
    for _ in range(draw.randint(0, 24)):
        found.append("".join(some(draw, found, 2, 3))[:12])
    if draw.random() < 0.5:
        found += some(draw, ["<unk>", "[UNK]", "<s>", "<0x61>", "<0xC3>", "<0xA9>", "<0xE4>"], 1, 5)
    return list(dict.fromkeys(found))


def _bytes(draw: Random) -> list[str]:
    found = [f"<0x{byte:02X}>" for byte in range(256)]
    return found if draw.random() < 0.7 else found[draw.randrange(200) :]


def unigram(draw: Random) -> dict[str, Any]:
    names = pieces(draw)
    fallback = draw.random() < 0.4
    if fallback:
        names = list(dict.fromkeys([*names, *_bytes(draw)]))
    scores = draw.choice([[-1.0, -2.0, -3.0], [-0.1, -0.2, -0.3, -0.7], None])
    vocab = [[name, draw.choice(scores) if scores else draw.uniform(-9, 0)] for name in names]
    unknown = draw.choice([None, 0, draw.randrange(len(vocab))])
    return {"type": "Unigram", "unk_id": unknown, "vocab": vocab, "byte_fallback": fallback}


def numbered(draw: Random, names: list[str]) -> dict[str, int]:
    """Return names with ids, which most often are consecutive."""
    order = draw.sample(names, len(names))
    step = 1 if draw.random() < 0.85 else draw.randint(2, 5)
    return {name: number * step for number, name in enumerate(order)}


def word_level(draw: Random) -> dict[str, Any]:
    names = _with_unknown(draw, [*pieces(draw), *some(draw, hard.WORDS, 0, 5)])
    return {"type": "WordLevel", "vocab": numbered(draw, names), "unk_token": "[UNK]"}


def _with_unknown(draw: Random, names: list[str]) -> list[str]:
    return list(dict.fromkeys([*names, "[UNK]"] if draw.random() < 0.9 else names))


def wordpiece(draw: Random) -> dict[str, Any]:
    prefix = draw.choice(["##", "##", "##", "", "e", "▁", "中a"])
    names = pieces(draw)
    names += [prefix + name for name in some(draw, names, 1, 30)]
    return {
        "type": "WordPiece",
        "vocab": numbered(draw, _with_unknown(draw, names)),
        "unk_token": draw.choice(["[UNK]", "[UNK]", "[UNK]", "a"]),
        "continuing_subword_prefix": prefix,
        "max_input_chars_per_word": draw.choice([100, 100, 7, 5, 2, 1, 0]),
    }


def bpe(draw: Random) -> dict[str, Any]:
    """A model over characters."""
    prefix = draw.choice([None, None, None, "", "##", "é"])
    suffix = draw.choice([None, None, None, "", "</w>", "e", "é"])
    chars = list(dict.fromkeys("".join(pieces(draw))))
    known = list(chars)
    known += [(prefix or "") + char for char in chars if prefix] if draw.random() < 0.9 else []
    known += [char + (suffix or "") for char in known if suffix]
    known += some(draw, ["<unk>", "<s>"], 0, 2)
    merges: list[list[str]] = []
    for _ in range(draw.randint(0, 40)):
        left, right = draw.choice(known), draw.choice(known)
        if prefix and not right.startswith(prefix):
            continue
        made = left + right[len(prefix or "") :]
        if len(made) < 12:
            merges.append([left, right])
            known.append(made)
    draw.shuffle(merges)
    if draw.random() < 0.9:  # tokenizers drops one of two equal merges
        merges = [list(pair) for pair in dict.fromkeys(map(tuple, merges))]
    fallback = draw.random() < 0.4
    known += _bytes(draw) if fallback else []
    as_text = not any(" " in name for pair in merges for name in pair) and draw.random() < 0.5
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": draw.choice([None, "<unk>", draw.choice(chars)]),
        "continuing_subword_prefix": prefix,
        "end_of_word_suffix": suffix,
        "fuse_unk": draw.random() < 0.5,
        "byte_fallback": fallback,
        "ignore_merges": draw.random() < 0.3,
        "vocab": numbered(
            draw, list(dict.fromkeys([*known, *(["<unk>"] * (draw.random() < 0.8))]))
        ),
        "merges": [" ".join(pair) for pair in merges] if as_text else merges,
    }


def byte_level(draw: Random) -> dict[str, Any]:
    """A model that may lack bytes; merges in any order, of which several may make one token."""
    model = small_model()
    lacking = set(some(draw, "abethĠÃ1", 0, 3)) if draw.random() < 0.4 else set()
    names = [name for name in model["vocab"] if not lacking & set(name)]
    pairs = [tuple(merge.split(" ")) for merge in model["merges"] if not lacking & set(merge)]
    if draw.random() < 0.4:
        for name in some(draw, [name for name in names if len(name) > 2], 0, 9):
            at = draw.randrange(1, len(name))
            pairs += [(name[:at], name[at:])] * ({name[:at], name[at:]} <= {*names})
        pairs = draw.sample([*dict.fromkeys(pairs)], len({*pairs}))
    unknown = draw.choice([None, None, "<unk>"])
    fallback = draw.random() < 0.3
    if unknown or fallback:
        names += [
            *("<unk>", "<unk>e", "<0x61>", "<0x62>", "<0x61><0x62>", "<0x74>", "<0xC4>", "<0xA0>"),
        ]
        pairs += [("<unk>", "e"), ("<0x61>", "<0x62>")] if "e" not in lacking else []
    return {
        **model,
        "fuse_unk": draw.random() < 0.5,
        "ignore_merges": draw.random() < 0.5,
        "byte_fallback": fallback,
        "unk_token": unknown,
        "vocab": {name: number for number, name in enumerate(names)},
        "merges": [*map(list, pairs)] if draw.random() < 0.5 else [*map(" ".join, pairs)],
    }


MODELS = {
    "bpe": bpe,
    "byte level": byte_level,
    "unigram": unigram,
    "word level": word_level,
    "wordpiece": wordpiece,
}

_SLOW = {"own map", "nmt_nfkc", "nfkc_cf"}
#: What is inserted before a text has an empty place there, and tokenizers then panics, or has text
#: twice that a later step changes.
_INSERTING = {"replace nothing", "replace nothing by a mark"}


def normalizer(draw: Random) -> dict[str, Any] | None:
    names = [name for name in NORMALIZERS if name not in _SLOW or draw.random() < 0.3]
    names = [name for name in names if name not in _INSERTING]
    found = [NORMALIZERS[name] for name in some(draw, names, 0, 3)]
    if len(found) == 1 and draw.random() < 0.5:
        return found[0]
    return {"type": "Sequence", "normalizers": found} if found else None


def pre_tokenizer(draw: Random, to_bytes: bool) -> dict[str, Any] | None:
    steps = [STEPS[name] for name in some(draw, STEPS, 0, 3)]
    if draw.random() < 0.3:
        steps = [{**METASPACE, "prepend_scheme": draw.choice(["always", "first", "never"])}]
    if to_bytes:
        steps.append(BYTE_LEVEL)
    if len(steps) == 1 and draw.random() < 0.5:
        return steps[0]
    return {"type": "Sequence", "pretokenizers": steps} if steps else None


#: Of ids that the model may have, and, unlike in ``SPECIAL``, none.
_TOKENS = {
    **SPECIAL,
    "[SEP]": {**SPECIAL["[SEP]"], "ids": [1]},
    "none": {"id": "none", "ids": [], "tokens": []},
}


def _special(draw: Random) -> dict[str, Any]:
    return special_piece(draw.choice([*_TOKENS]), draw.randint(0, 2))


def _template(draw: Random, repeats: bool) -> dict[str, Any]:
    def around(names: str) -> list[Any]:
        found: list[Any] = []
        for name in names:
            found += [_special(draw) for _ in range(draw.randint(0, 2))]
            found.append(text_piece(name, draw.randint(0, 2)))
        return found + [_special(draw) for _ in range(draw.randint(0, 1))]

    # A single text that has a second one, and a name that has no tokens, are errors.
    single = around(draw.choice(["A", "A", "AA", "", "BA"] if repeats else ["A"]))
    pair = around(draw.choice(["AB", "BA", "A", "ABAB"] if repeats else ["AB", "BA"]))
    if repeats and draw.random() < 0.05:
        single.append(special_piece("no such name"))
    return template(single, pair, _TOKENS)


def post_processor(draw: Random, repeats: bool) -> Any:
    flags = {"trim_offsets": draw.random() < 0.5, "add_prefix_space": draw.random() < 0.5}
    bert = {"type": "BertProcessing", "sep": ["[SEP]", 1], "cls": ["[CLS]", 2]}
    choices: list[Any] = [
        None,
        bert,
        {**bert, "type": "RobertaProcessing", **flags},
        {**BYTE_LEVEL, **flags},
        _template(draw, repeats),
    ]
    found = draw.choice(choices)
    if draw.random() < 0.2 and repeats:
        steps = [post_processor(draw, repeats) for _ in range(draw.randint(0, 3))]
        return processor_sequence(*filter(None, steps))
    return found


_FLAGS = [False, True]
_SHORT = ["", "▁", " ", "a", "##", "</w>", "|", "ab", "é", "<pad>"]
_CHARS = ["▁", " ", "a", "é", "中"]
_PATTERNS = [
    {"String": "▁"},
    {"String": "ab"},
    {"Regex": r"\s+"},
    {"Regex": "[ab]+$"},
    {"Regex": "^ "},
]
_SCHEMES = ["always", "first", "never"]
#: The kinds of decoders, and what their members may be.
DECODERS: dict[str, dict[str, list[Any]]] = {
    "WordPiece": {"prefix": _SHORT, "cleanup": _FLAGS},
    "BPEDecoder": {"suffix": _SHORT},
    "Metaspace": {"replacement": _CHARS, "prepend_scheme": _SCHEMES, "split": _FLAGS},
    "CTC": {"pad_token": _SHORT, "word_delimiter_token": _SHORT, "cleanup": _FLAGS},
    "ByteFallback": {},
    "Fuse": {},
    "Strip": {"content": _CHARS, "start": [0, 1, 2, 3], "stop": [0, 1, 2, 3]},
    "Replace": {"pattern": _PATTERNS, "content": _SHORT},
    "ByteLevel": {name: [value] for name, value in BYTE_LEVEL.items() if name != "type"},
}


def decoder_step(draw: Random, kind: str | None = None) -> dict[str, Any]:
    kind = draw.choice([*DECODERS]) if kind is None else kind
    return {"type": kind, **{name: draw.choice(some) for name, some in DECODERS[kind].items()}}


def decoder(draw: Random) -> dict[str, Any] | None:
    if draw.random() < 0.2:
        return None
    if draw.random() < 0.5:
        return decoder_step(draw)
    return {"type": "Sequence", "decoders": [decoder_step(draw) for _ in range(draw.randint(0, 4))]}


def added_tokens(draw: Random, vocab: list[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if draw.random() < 0.3:
        return found
    names = some(draw, NAMES, 0, 5) + some(draw, vocab, 0, 2)
    if draw.random() < 0.9:
        names = list(dict.fromkeys(names))
    likely = draw.choice([0.1, 0.5, 0.5])
    for number, name in enumerate(names):
        flags = {flag: draw.random() < likely for flag in FLAGS}
        found.append(added(5000 + number, name, **flags))
    return found


def truncation(draw: Random) -> dict[str, Any]:
    return {
        "direction": draw.choice(["Left", "Right"]),
        "max_length": draw.randint(0, 12),
        "strategy": draw.choice(["LongestFirst", "LongestFirst", "OnlyFirst", "OnlySecond"]),
        "stride": draw.choice([0, 0, 1, 2, 3]),
    }


def padding(draw: Random) -> dict[str, Any]:
    return {
        "strategy": draw.choice(["BatchLongest", {"Fixed": draw.randint(0, 20)}]),
        "direction": draw.choice(["Left", "Right"]),
        "pad_to_multiple_of": draw.choice([None, 0, 1, 4, 7]),
        "pad_id": draw.randint(0, 9),
        "pad_type_id": draw.randint(0, 3),
        "pad_token": draw.choice(["[PAD]", ""]),
    }


def any_file(draw: Random, kind: str | None = None) -> dict[str, Any]:
    """Return the content of a ``tokenizer.json``."""
    kind = draw.choice(list(MODELS)) if kind is None else kind
    model = MODELS[kind](draw)
    vocab = [one[0] if isinstance(one, list) else one for one in model["vocab"]]
    # Most files have neither.
    parts = {
        one.__name__: one(draw) if draw.random() < 0.3 else None for one in (truncation, padding)
    }
    return file(
        **parts,
        added_tokens=added_tokens(draw, vocab),
        normalizer=normalizer(draw),
        pre_tokenizer=pre_tokenizer(draw, kind == "byte level" or draw.random() < 0.05),
        # Of a text twice that is cut there are more combinations than can be compared.
        post_processor=post_processor(draw, repeats=not parts["truncation"]),
        decoder=decoder(draw),
        model=model,
    )


def any_text(draw: Random, content: dict[str, Any]) -> str:
    """Return a text that a tokenizer's own tokens, its names and much else stand in."""
    vocab = content["model"]["vocab"]
    chosen = draw.sample(list(vocab), min(20, len(vocab)))
    own = [one[0] if isinstance(one, list) else one for one in chosen]
    own += [token["content"] for token in content["added_tokens"]] * 3
    pools = [own, COMMON, COMMON, HARD]
    size = draw.choice([0, 1, 3, 8, 20, 40])
    found = "".join(draw.choice(draw.choice(pools)) for _ in range(size))
    return found.encode("utf-8", "ignore").decode()


def is_undefined_file(load: Callable[[], Tokenizer]) -> bool:
    """Return True for a file that is refused for a name of which nothing is left, or undefined."""
    try:
        return is_undefined(load())
    except ValueError as error:
        if " becomes empty when normalized" not in str(error):
            raise
        return True


def is_undefined(ours: Tokenizer) -> bool:
    """Two tokens have one normalized name, of which tokenizers takes now one and now the other."""
    normalize = ours.core.added.normalize
    names = [normalized_content(one, normalize) for one in ours.added_tokens if one.normalized]
    return len(set(names)) < len(names)


def odd_places(content: dict[str, Any]) -> bool:
    """Bytes of characters with a prefix or suffix have places there beyond the end of a text."""
    model = content["model"]
    has_more = model.get("continuing_subword_prefix") or model.get("end_of_word_suffix")
    return bool(model.get("byte_fallback") and has_more)


#: What a member of a file is replaced by.
ODD_VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 0.5, 1.0, 1e300, 2**31, 2**32 - 1, 2**32, 2**64),
    *("", "a", "ab", "▁", "[UNK]", "first", "Removed", [], [1], ["a", "b"], [["a", "b"]], {}),
    *({"a": 0}, {"type": "Fuse"}, {"String": "a"}, {"Regex": "a"}, {"Regex": "("}, {"Regex": ""}),
]
#: Members that are added.
ADDED_MEMBERS = ["id", "ids", "prefix", "dropout", "unk_token", "type"]


def mutated(draw: Random, content: dict[str, Any]) -> dict[str, Any]:
    """Return a file with one or two members that are others, missing, or more."""
    found = copy.deepcopy(content)
    for _ in range(draw.choice([1, 1, 2])):
        *path, last = _place(draw, found)
        parent: Any = found
        for key in path:
            parent = parent[key]
        how = draw.random()
        value = copy.deepcopy(draw.choice(ODD_VALUES))
        if how < 0.3:
            del parent[last]
        elif how < 0.9 or not path:
            parent[last] = value
        elif isinstance(parent, dict):
            parent[draw.choice(ADDED_MEMBERS)] = value
        else:
            parent.append(value)
    return found


def _place(draw: Random, content: dict[str, Any]) -> tuple[Any, ...]:
    """Return the path of a member; the tokens and merges of the model are not all there is."""
    found = [path for path in _places(content) if path]
    if draw.random() < 0.8:
        found = [path for path in found if path[0] != "model" or len(path) < 3]
    return draw.choice(found)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items: Any = ()
    if isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield from _places(item, (*path, key))


def with_shared_ids(draw: Random, content: dict[str, Any]) -> dict[str, Any]:
    """Return a file in which some tokens have the ids of others."""
    found = copy.deepcopy(content)
    vocab = found["model"]["vocab"]
    for _ in range(draw.randint(1, 6)):
        vocab[draw.choice(list(vocab))] = vocab[draw.choice(list(vocab))]
    return found


def with_uneven_templates(draw: Random, content: dict[str, Any]) -> dict[str, Any]:
    """Return a file in whose templates a name has any numbers of ids and of tokens."""
    found = copy.deepcopy(content)
    tokens = found["post_processor"]["special_tokens"]
    for token in tokens.values():
        token["ids"] = [draw.randint(0, 9) for _ in range(draw.randint(0, 3))]
        token["tokens"] = ["x"] * draw.randint(0, 3)
    return found
