"""Every part of a ``tokenizer.json`` as it stands in the file, also drawn at random."""

from __future__ import annotations

from base64 import b64encode
from itertools import product
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from hypothesis import strategies as st

from compat_bpe.pipeline.pre_tokenizers.split import BEHAVIORS
from tests.differential.small_sentencepieces import parsed, trained
from tests.tokenizer_files import BYTE_LEVEL

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
OFFSETS = [{**BYTE_LEVEL, **flags} for flags in OFFSET_FLAGS]


def template(single: list[Any], pair: list[Any], tokens: Part = SPECIAL) -> Part:
    members = {"single": single, "pair": pair, "special_tokens": tokens}
    return {"type": "TemplateProcessing", **members}


def special_piece(name: str, type_id: int = 0) -> Part:
    return {"SpecialToken": {"id": name, "type_id": type_id}}


def text_piece(name: str, type_id: int = 0) -> Part:
    return {"Sequence": {"id": name, "type_id": type_id}}


def processor_sequence(*steps: Part) -> Part:
    return {"type": "Sequence", "processors": list(steps)}


#: The text twice, not at all, in any order, of any type.
template_pieces = st.one_of(
    st.builds(text_piece, st.sampled_from("AAAB"), st.integers(0, 3)),
    st.builds(special_piece, st.sampled_from([*SPECIAL, "none"]), st.integers(0, 3)),
)
templates = st.builds(
    template, st.lists(template_pieces, max_size=3), st.lists(template_pieces, max_size=5)
)
single_processors = st.one_of(templates, st.sampled_from([BERT, *ROBERTA, *OFFSETS]))
processors = single_processors | st.recursive(
    single_processors,
    lambda inner: st.lists(inner, max_size=3).map(lambda found: processor_sequence(*found)),
    max_leaves=4,
)

# Truncation and padding

DIRECTIONS = st.sampled_from(["Left", "Right"])
truncations = st.fixed_dictionaries(
    {
        "direction": DIRECTIONS,
        "max_length": st.integers(0, 12),
        "strategy": st.sampled_from(["LongestFirst", "OnlyFirst", "OnlySecond"]),
        "stride": st.integers(0, 3),
    }
)
paddings = st.fixed_dictionaries(
    {
        "strategy": st.just("BatchLongest") | st.builds(lambda n: {"Fixed": n}, st.integers(0, 20)),
        "direction": DIRECTIONS,
        "pad_to_multiple_of": st.sampled_from([None, 0, 1, 4, 7]),
        "pad_id": st.integers(0, 9),
        "pad_type_id": st.integers(0, 3),
        "pad_token": st.sampled_from(["[PAD]", ""]),
    }
)
