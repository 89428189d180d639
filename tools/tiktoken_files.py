"""The files tiktoken would download, written from the packs, so that it runs offline.

tiktoken looks for a file under the sha1 of its URL in ``TIKTOKEN_CACHE_DIR``, and takes it only if
its sha256 is the one it knows: that it takes ours is the proof that the packs are complete.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from compat_bpe.encodings.published import PUBLISHED, load_ranks
from compat_bpe.formats.gpt2 import format_encoder_json, format_vocab_bpe
from compat_bpe.formats.tiktoken import format_ranks

_HOST = "https://openaipublic.blob.core.windows.net"


def write_tiktoken_files(folder: Path) -> None:
    """Write all six files into an existing folder, under the names tiktoken gives them."""
    files = {
        f"{_HOST}/encodings/{pack}.tiktoken": format_ranks(load_ranks(pack))
        for pack in sorted({published.pack for published in PUBLISHED.values()})
    }
    gpt2 = load_ranks("r50k_base")
    files[f"{_HOST}/gpt-2/encodings/main/vocab.bpe"] = format_vocab_bpe(gpt2)
    files[f"{_HOST}/gpt-2/encodings/main/encoder.json"] = format_encoder_json(
        gpt2, PUBLISHED["gpt2"].special_tokens
    )
    for url, data in files.items():
        (folder / hashlib.sha1(url.encode()).hexdigest()).write_bytes(data)
