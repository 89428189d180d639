"""Count the corpora with each published vocabulary, here and with the library that it is for.

    python tools/whole_corpora.py               # all vocabularies
    python tools/whole_corpora.py xlm_r clip    # some of them

The corpora are in ``shared/corpora`` next to the repository.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Callable, NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import compat_bpe
from compat_bpe.encodings.published import PATTERNS
from compat_bpe.formats.sentencepiece import (
    BPE,
    NormalizerSpec,
    SentencePieceModel,
    sentencepiece_bytes,
)
from tests.tokenizer_files import bpe_model
from tools.reference_files import FILES, reference_file
from tools.reference_tokenizers import (
    CONTROL,
    TOKENIZERS,
    UNKNOWN,
    USER_DEFINED,
    Part,
    read_gguf,
    reference_tokenizer,
    sequence,
    special,
    tokenizer_json,
)

ROOT = Path(__file__).resolve().parents[1]
CORPORA = ROOT.parent / "shared" / "corpora"

Count = Callable[[str], int]

_GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_QWEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
#: The patterns of the rank files, which the code that publishes them has.
_PATTERNS = {
    "qwen_ranks": _QWEN,
    "whisper_ranks": _GPT2,
    "llama_3_ranks": PATTERNS["llama3"],
    "llama_4_ranks": PATTERNS["llama4"],
}


class Both(NamedTuple):
    """The counts of a text, here and in the reference."""

    ours: Count
    theirs: Count


def encode_of(path: Path) -> Callable[[str], Sequence[int]]:
    """Return the function from text to ids of the library that a file is for."""
    if ".model" in path.name:
        import sentencepiece

        encode: Callable[[str], list[int]] = sentencepiece.SentencePieceProcessor(
            model_file=str(path)
        ).encode
        return encode
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def _of_file(path_of: Callable[[str], Path], name: str) -> Both:
    encode = encode_of(path_of(name))
    return Both(compat_bpe.load(path_of(name)).count, lambda text: len(encode(text)))


def _ranks(name: str) -> Both:
    """Return the counts by ranks, which tiktoken reads where it can."""
    import tiktoken
    from tiktoken.load import load_tiktoken_bpe

    path = reference_file(name)
    ours = compat_bpe.load(path, pattern=_PATTERNS.get(name))
    ranks = load_tiktoken_bpe(str(path)) if name in _PATTERNS else ours._mergeable_ranks
    pattern = _PATTERNS.get(name, ours._pat_str)
    theirs = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return Both(ours.count, lambda text: len(theirs.encode_ordinary(text)))


# A GGUF file has the tokens, the merges or scores, and the *name* of what comes before the model.
# What each name means is public: these are the components of the files that they were made from.

_BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}


def _split(pattern: str) -> Part:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


_BEFORE: dict[str, tuple[Part | None, list[Part]]] = {
    "falcon_gguf": (
        None,
        [
            {"type": "Punctuation", "behavior": "Contiguous"},
            {**_BYTE_LEVEL, "use_regex": True},
            {"type": "Digits", "individual_digits": False},
            _split("[0-9][0-9][0-9]"),
        ],
    ),
    "starcoder_gguf": (
        None,
        [{"type": "Digits", "individual_digits": True}, {**_BYTE_LEVEL, "use_regex": True}],
    ),
    "qwen_2_gguf": ({"type": "NFC"}, [_split(_QWEN), {**_BYTE_LEVEL, "use_regex": False}]),
}


def _gguf_merges(name: str) -> Both:
    """Return the counts by a byte-level BPE of a GGUF file, written as a ``tokenizer.json``."""
    found = read_gguf(name)
    kinds = (CONTROL, USER_DEFINED)
    normalizer, before = _BEFORE[name]
    data = tokenizer_json(
        bpe_model({token: at for at, token in enumerate(found.tokens)}, found.merges),
        [special(at, found.tokens[at]) for at, kind in enumerate(found.types) if kind in kinds],
        normalizer=normalizer,
        pre_tokenizer=sequence("pretokenizers", *before),
        decoder={**_BYTE_LEVEL, "use_regex": True},
    )
    return _of_file(partial(_written, data), "tokenizer.json")


def _gguf_model(name: str) -> Both:
    """Return the counts by a BPE of SentencePiece in a GGUF file, written as a ``.model``.

    The settings of normalization are not in the file; those of Llama 2 are taken. In Phi-3's the
    unknown piece counts as a control piece, and what fills its table up as unknown.
    """
    found = read_gguf(name)
    types = bytearray(found.types).replace(bytes([UNKNOWN]), bytes([CONTROL]))
    types[found.tokens.index("<unk>")] = UNKNOWN
    model = SentencePieceModel(
        found.tokens,
        found.scores,
        bytes(types),
        normalizer=NormalizerSpec(remove_extra_whitespaces=False),
        kind=BPE,
        byte_fallback=True,
    )
    return _of_file(partial(_written, sentencepiece_bytes(model)), "tokenizer.model")


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


def _written(data: bytes, name: str) -> Path:
    path = Path(tempfile.mkdtemp(dir=_folder().name)) / name
    path.write_bytes(data)
    return path


def _vocabularies() -> Iterator[tuple[str, Callable[[], Both]]]:
    for name, built in TOKENIZERS.items():
        if built.file == "tokenizer.json":
            yield name, partial(_of_file, reference_tokenizer, name)
    for name, file in FILES.items():
        member = file.member.rpartition("/")[2]
        if member == "tokenizer.json" or name in ("claude_old", "llama_3"):
            yield name, partial(_of_file, reference_file, name)
        elif name in _OTHERS:
            yield name, partial(_OTHERS[name], name)
        elif ".model" in member:
            yield f"{name}.model", partial(_of_file, reference_file, name)


#: The files of other kinds. What BERT, CLIP and XLM-R are built from is counted as built.
_OTHERS: dict[str, Callable[[str], Both]] = {
    **dict.fromkeys(_PATTERNS, _ranks),
    **dict.fromkeys(_BEFORE, _gguf_merges),
    **dict.fromkeys(("llama_gguf", "phi_3_gguf"), _gguf_model),
    "tekken": _ranks,
}

#: What gives both counts, by the name of a vocabulary.
VOCABULARIES: dict[str, Callable[[], Both]] = dict(_vocabularies())


def read_corpora() -> dict[str, str]:
    """Return the corpora by their names; the project's own pages where there are none."""
    paths = sorted(path for path in CORPORA.glob("*.*") if path.name != "README.md")
    paths = paths or sorted((ROOT / "docs").glob("*.md"))
    return {path.stem: path.read_bytes().decode() for path in paths}


def main(names: list[str]) -> int:
    """Print the counts, and return the number of those that differ."""
    corpora = read_corpora()
    different = 0
    for name in names or VOCABULARIES:
        both = VOCABULARIES[name]()
        for corpus, text in corpora.items():
            ours, theirs = both.ours(text), both.theirs(text)
            different += ours != theirs
            note = "" if ours == theirs else f"  DIFFERENT: {theirs:,}"
            print(f"{name:18} {corpus:18} {ours:>10,}{note}", flush=True)
    return different


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) > 0)
