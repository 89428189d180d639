"""Tokenizers as they are published, built for the tests from vocabularies in packages.

The files themselves are on no registry that tests can reach. They are made of the published
vocabularies (``tools/reference_files.py``) with the components that the published files have, or,
where the name ends in ``_like``, of another vocabulary. The same bytes come of it every time.

    python tools/reference_tokenizers.py        # build them all
"""

from __future__ import annotations

import gzip
import hashlib
import sys
from functools import cache, partial
from pathlib import Path
from typing import Callable, NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.gguf import read_vocabulary
from tools.reference_files import reference_file, reference_folder, write_whole
from tools.reference_spm import albert_like, llama, spm_unigram, t5, xlm_r, xlnet_like
from tools.tokenizer_json import added_token, replace, sequence, template, tokenizer_json

_BUILDERS = (
    "gguf.py",
    "reference_files.py",
    "reference_spm.py",
    "reference_tokenizers.py",
    "sentencepiece_model.py",
    "tokenizer_json.py",
)


def reference_tokenizer(name: str) -> Path:
    """The path of a file of ``TOKENIZERS``, built if it is not there yet.

    Raises:
        OSError: what it is built from cannot be fetched.
        ValueError: what was fetched is not what was published.
    """
    built = TOKENIZERS[name]
    # Under what builds it: other code may build something else.
    path = reference_folder() / f"built-{_builders()}" / name / built.file
    if not path.exists():
        write_whole(path, built.build())
    return path


@cache
def _builders() -> str:
    code = b"".join(Path(__file__).with_name(name).read_bytes() for name in _BUILDERS)
    return hashlib.sha256(code).hexdigest()[:16]


# BERT


def bert_vocabulary() -> list[str]:
    """The lines of bert-base-uncased's ``vocab.txt``."""
    return [
        token[1:] if token.startswith("▁") else token if _is_special(token) else f"##{token}"
        for token in read_vocabulary(reference_file("bert_gguf")).tokens
    ]


def _is_special(token: str) -> bool:
    return len(token) > 2 and token.startswith("[") and token.endswith("]")


def _bert_vocab_txt() -> bytes:
    return "".join(f"{token}\n" for token in bert_vocabulary()).encode()


def _bert_uncased() -> bytes:
    vocab = {token: number for number, token in enumerate(bert_vocabulary())}
    return tokenizer_json(
        {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": vocab,
        },
        [added_token(vocab[it], it) for it in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")],
        normalizer={
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        pre_tokenizer={"type": "BertPreTokenizer"},
        post_processor=template(
            {"[CLS]": vocab["[CLS]"], "[SEP]": vocab["[SEP]"]},
            "[CLS] $A [SEP]",
            "[CLS] $A [SEP] $B:1 [SEP]:1",
        ),
        decoder={"type": "WordPiece", "prefix": "##", "cleanup": True},
    )


# CLIP

_CLIP_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def _clip() -> bytes:
    text = gzip.decompress(reference_file("clip_merges").read_bytes()).decode()
    # The first line is a heading, and the vocabulary is of 49,408: 2 · 256 bytes, merges, 2 more.
    merges = [line.split() for line in text.split("\n")[1 : 49408 - 2 * 256 - 2 + 1]]
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    symbols = [chr(byte) for byte in shown]
    symbols += [chr(256 + at) for at in range(256 - len(shown))]
    start, end = "<|startoftext|>", "<|endoftext|>"
    pieces = symbols + [f"{symbol}</w>" for symbol in symbols] + ["".join(pair) for pair in merges]
    vocab = {piece: number for number, piece in enumerate([*pieces, start, end])}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    return tokenizer_json(
        {
            "type": "BPE",
            "dropout": None,
            "unk_token": end,
            "continuing_subword_prefix": "",
            "end_of_word_suffix": "</w>",
            "fuse_unk": False,
            "byte_fallback": False,
            "vocab": vocab,
            "merges": [" ".join(pair) for pair in merges],
        },
        [added_token(vocab[start], start, normalized=True), added_token(vocab[end], end)],
        normalizer=sequence(
            "normalizers", {"type": "NFC"}, replace(r"\s+", " ", "Regex"), {"type": "Lowercase"}
        ),
        pre_tokenizer=sequence(
            "pretokenizers",
            {
                "type": "Split",
                "pattern": {"Regex": _CLIP_PATTERN},
                "behavior": "Removed",
                "invert": True,
            },
            {**byte_level, "use_regex": True},
        ),
        post_processor={
            "type": "RobertaProcessing",
            "sep": [end, vocab[end]],
            "cls": [start, vocab[start]],
            "trim_offsets": False,
            "add_prefix_space": False,
        },
        decoder={**byte_level, "add_prefix_space": True, "use_regex": True},
    )


class Built(NamedTuple):
    """The name of a file, and what builds it."""

    file: str
    build: Callable[[], bytes]


_JSON = "tokenizer.json"

TOKENIZERS = {
    "bert_vocab": Built("vocab.txt", _bert_vocab_txt),
    "bert_uncased": Built(_JSON, _bert_uncased),
    "clip": Built(_JSON, _clip),
    "llama_2": Built(_JSON, partial(llama, "llama_2", legacy=True)),
    "llama_2_first": Built(_JSON, partial(llama, "llama_2", legacy=False)),
    "mistral_v1": Built(_JSON, partial(llama, "mistral_v1", legacy=True)),
    "mistral_v3": Built(_JSON, partial(llama, "mistral_v3", legacy=False)),
    "xlm_r": Built(_JSON, partial(xlm_r, "published")),
    "xlm_r_metaspace": Built(_JSON, partial(xlm_r, "metaspace")),
    "xlm_r_converted": Built(_JSON, partial(xlm_r, "converted")),
    "j2": Built(_JSON, partial(spm_unigram, "j2", byte_fallback=True)),
    "kyoto_unigram": Built(_JSON, partial(spm_unigram, "kyoto_unigram")),
    "t5_like": Built(_JSON, partial(t5, "botchan_unigram")),
    "albert_like": Built(_JSON, partial(albert_like, "botchan_unigram")),
    "xlnet_like": Built(_JSON, partial(xlnet_like, "kyoto_unigram")),
}


def main() -> None:
    """Build, and print each file's name, size in bytes and path."""
    for name in TOKENIZERS:
        path = reference_tokenizer(name)
        print(f"{name:16} {path.stat().st_size:>10,}  {path}")


if __name__ == "__main__":
    main()
