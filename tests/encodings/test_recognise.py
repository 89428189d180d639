"""Recognising the kind of a file."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from compat_bpe.encodings.local_stores import recognise

BERT = b"[PAD]\n[unused0]\n[UNK]\r\n[CLS]\r\n"
CLIP = b'"bpe_simple_vocab_16e6.txt#version: 0.2\ni n\n'


@pytest.mark.parametrize(
    ("name", "beginning", "kind"),
    [
        ("tokenizer.json", b'\xef\xbb\xbf\n {"a": 1}', "json"),
        ("vocab.txt", b'{"a": 1}', "json"),
        ("vocab.txt", b"", "vocab.txt"),
        ("vocab.txt", b"\0\xff", "vocab.txt"),
        ("bert-base-uncased-vocab.txt", b"hello\n", "vocab.txt"),
        # The pieces of such a file may look like ranks.
        ("vocab.txt", b"abc 12\n", "vocab.txt"),
        ("pieces", BERT, "vocab.txt"),
        ("mine.tiktoken", b"", "ranks"),
        ("tokenizer.model", b"\nIQ== 0\n", "ranks"),
        ("merges.txt", b"", "merges"),
        ("x-merges.txt", b"#version: 0.2\n", "merges"),
        ("vocab.bpe", b"a b\n", "merges"),
        ("bpe_simple_vocab_16e6.txt.gz", gzip.compress(CLIP, mtime=0), "clip"),
        ("clip", CLIP, "clip"),
    ],
)
def test_kind_of_a_file(name: str, beginning: bytes, kind: str) -> None:
    assert recognise(Path("folder", name), beginning) == kind


@pytest.mark.parametrize(
    ("name", "beginning", "reason"),
    [
        ("pieces", b"[UNK]\nhello\n", "no vocabulary of a kind known"),
        ("other.gz", gzip.compress(CLIP, mtime=0), "no vocabulary of a kind known"),
        ("bpe_simple_vocab_16e6.txt.gz", b"", "no vocabulary of a kind known"),
        ("tokenizer.json", b"version https://git-lfs.github.com/spec/v1\noid", "Git LFS"),
    ],
)
def test_no_known_kind(name: str, beginning: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=rf"^folder.{name}: .*{reason}"):
        recognise(Path("folder", name), beginning)
