"""Every normalizer as it stands in a ``tokenizer.json``."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from tests.differential.small_sentencepieces import parsed, trained


def _bert(clean: bool, ideographs: bool, accents: bool | None, lower: bool) -> dict[str, Any]:
    return {
        "type": "BertNormalizer",
        "clean_text": clean,
        "handle_chinese_chars": ideographs,
        "strip_accents": accents,
        "lowercase": lower,
    }


#: A map of one's own: keys that are prepended, jamo, halves of flags, consonants, emoji and marks,
#: that begin others, and that leave nothing.
OWN_MAP = {
    "q": "1", "\u0600": "2", "\u1100": "3", "\u1161": "4", "\u11a8": "5", "가": "6", "각": "7",
    "\U0001f1e9": "8", "\u0915": "9", "\u094d": "0", "©": "10", "\u200d": "11", "\u0301": "12",
    "x": "", "\u0600x": "13", "d\u0301": "14", "d\u0301\u0323": "15", "j\u0940": "", "\n": "16",
    "k\u0301": "", "中": "17", "l": "18\u0301", "\u0903": "19", "\u0e33": "20", "\r\n": "21",
}  # fmt: skip


@cache
def _own_rules() -> str:
    """Write the rules of ``OWN_MAP`` to a file and return its name."""
    rows = (
        "\t".join(" ".join(f"{ord(char):X}" for char in text) for text in row)
        for row in OWN_MAP.items()
    )
    with NamedTemporaryFile("w", suffix=".tsv", delete=False) as file:
        file.write("".join(f"{row}\n" for row in rows))
    return file.name


def _precompiled(name: str) -> dict[str, Any]:
    if name == "own":
        path = _own_rules()
        spec = parsed(trained(normalization_rule_tsv=path)).normalizer_spec
        Path(path).unlink()
    else:
        spec = parsed(trained(normalization_rule_name=name)).normalizer_spec
    blob = b64encode(spec.precompiled_charsmap).decode()
    return {"type": "Precompiled", "precompiled_charsmap": blob}


def _replace(kind: str, pattern: str, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


#: Of four flags all, none, one and all but one.
ALL_OR_ONE = [flags for flags in product((True, False), repeat=4) if sum(flags) != 2]
NORMALIZERS: dict[str, dict[str, Any]] = {
    **{
        name: {"type": name}
        for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel")
    },
    **{"bert " + " ".join(map(str, flags)): _bert(*flags) for flags in ALL_OR_ONE},
    "bert null": _bert(True, True, None, True),
    "bert null cased": _bert(True, True, None, False),
    "nmt_nfkc": _precompiled("nmt_nfkc"),
    "nfkc_cf": _precompiled("nfkc_cf"),
    "own map": _precompiled("own"),
    "strip": {"type": "Strip", "strip_left": True, "strip_right": True},
    "strip left": {"type": "Strip", "strip_left": True, "strip_right": False},
    "strip right": {"type": "Strip", "strip_left": False, "strip_right": True},
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
