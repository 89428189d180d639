"""``tiktoken.load``: rank files, from a path or an address, and the cache of downloaded ones.

The files that tiktoken downloads come from this package's packs, byte for byte, without network.
Other addresses are read as in tiktoken. Programs replace ``read_file`` and ``read_file_cached``,
so they are looked up at each use.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import importlib
import json
import os
import tempfile
from typing import Any

from ..encodings.published import PUBLISHED, load_ranks
from ..files.write import write_files
from ..formats.gpt2 import format_encoder_json, format_vocab_bpe
from ..formats.tiktoken import format_ranks
from ..pipeline.byte_level import BYTE_TO_UNICODE, decode_bytes

_HOST = "https://openaipublic.blob.core.windows.net"
_GPT2 = f"{_HOST}/gpt-2/encodings/main"


def shipped_file(address: str) -> bytes | None:
    """Return the file that tiktoken would download from an address, or None if no pack has it.

    >>> shipped_file("https://example.org/other.tiktoken") is None
    True
    """
    gpt2 = PUBLISHED["gpt2"]
    if address == f"{_GPT2}/vocab.bpe":
        return format_vocab_bpe(load_ranks(gpt2.pack))
    if address == f"{_GPT2}/encoder.json":
        return format_encoder_json(load_ranks(gpt2.pack), gpt2.special_tokens)
    for pack in {published.pack for published in PUBLISHED.values()}:
        if address == f"{_HOST}/encodings/{pack}.tiktoken":
            return format_ranks(load_ranks(pack))
    return None


def read_file(blobpath: str) -> bytes:
    """Return the content of a path or an address.

    Raises:
        OSError: it cannot be read.
        ImportError: a package needed for such an address is not installed.
    """
    if "://" not in blobpath:
        with open(blobpath, "rb") as file:
            return file.read()
    shipped = shipped_file(blobpath)
    if shipped is not None:
        return shipped
    if blobpath.startswith(("http://", "https://")):
        try:
            import requests
        except ImportError:
            raise ImportError(
                f"{blobpath} is not included in this package, and downloading it needs requests "
                "(pip install requests)"
            ) from None
        response = requests.get(blobpath)
        response.raise_for_status()
        content: bytes = response.content
        return content
    return bytes(_blobfile().read_bytes(blobpath))


def check_hash(data: bytes, expected_hash: str) -> bool:
    """Return True if bytes have the expected sha256, in hexadecimal.

    >>> check_hash(b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    True
    """
    return hashlib.sha256(data).hexdigest() == expected_hash


def read_file_cached(blobpath: str, expected_hash: str | None = None) -> bytes:
    """Return the content of a path or an address; it is cached under the sha1 of its name.

    The cache directory is ``$TIKTOKEN_CACHE_DIR``, or ``$DATA_GYM_CACHE_DIR``, or
    ``data-gym-cache`` in the directory for temporary files. If the variable is empty, nothing is
    cached.

    Raises:
        ValueError: the content does not have the expected sha256.
        OSError: the content cannot be read, or cannot be written to a cache directory that a
            variable names.
    """
    chosen = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    if chosen == "":
        return read_file(blobpath)
    folder = chosen or os.path.join(tempfile.gettempdir(), "data-gym-cache")
    path = os.path.join(folder, hashlib.sha1(blobpath.encode()).hexdigest())
    if os.path.exists(path):
        with open(path, "rb") as file:
            data = file.read()
        if expected_hash is None or check_hash(data, expected_hash):
            return data
        with contextlib.suppress(OSError):
            os.remove(path)
    data = read_file(blobpath)
    if expected_hash and not check_hash(data, expected_hash):
        raise ValueError(
            f"Hash mismatch for data downloaded from {blobpath} (expected {expected_hash}); "
            "the download may be damaged, or the file has changed"
        )
    try:
        os.makedirs(folder, exist_ok=True)
        write_files([(path, data)])
    except OSError:
        # The default directory may fail. A directory that a variable names must work.
        if chosen is not None:
            raise
    return data


def data_gym_to_mergeable_bpe_ranks(
    vocab_bpe_file: str,
    encoder_json_file: str,
    vocab_bpe_hash: str | None = None,
    encoder_json_hash: str | None = None,
    clobber_one_byte_tokens: bool = False,
) -> dict[bytes, int]:
    """Return the ranks of GPT-2 style ``vocab.bpe`` and ``encoder.json``.

    Args:
        clobber_one_byte_tokens: True to take the ids of single bytes from ``encoder.json``; False
            for those of GPT-2.

    Raises:
        ValueError: a file does not have the expected sha256, or the two do not fit together.
    """
    ranks = {bytes([byte]): rank for rank, byte in enumerate(BYTE_TO_UNICODE)}
    merges = read_file_cached(vocab_bpe_file, vocab_bpe_hash).decode()
    for line in merges.split("\n")[1:-1]:
        first, second = line.split()
        ranks[decode_bytes(first) + decode_bytes(second)] = len(ranks)
    content = json.loads(read_file_cached(encoder_json_file, encoder_json_hash))
    encoder = {decode_bytes(token): id_ for token, id_ in content.items()}
    for special in (b"<|endoftext|>", b"<|startoftext|>"):
        encoder.pop(special, None)
    if clobber_one_byte_tokens:
        ranks.update((token, id_) for token, id_ in encoder.items() if len(token) == 1)
    if ranks != encoder:
        raise ValueError(f"the merges of {vocab_bpe_file} do not give {encoder_json_file}")
    return ranks


def dump_tiktoken_bpe(bpe_ranks: dict[bytes, int], tiktoken_bpe_file: str) -> None:
    """Write a rank file to a path, or to an address by way of ``blobfile``."""
    data = b"".join(
        base64.b64encode(token) + b" %d\n" % rank
        for token, rank in sorted(bpe_ranks.items(), key=lambda item: item[1])
    )
    if "://" not in tiktoken_bpe_file:
        write_files([(tiktoken_bpe_file, data)])
        return
    with _blobfile().BlobFile(tiktoken_bpe_file, "wb") as file:
        file.write(data)


def load_tiktoken_bpe(tiktoken_bpe_file: str, expected_hash: str | None = None) -> dict[bytes, int]:
    """Return the ranks in a rank file; unlike ``compat_bpe.load_tiktoken``, accept incomplete ones.

    Raises:
        ValueError: a line cannot be read, or the file does not have the expected sha256.
    """
    ranks = {}
    for line in read_file_cached(tiktoken_bpe_file, expected_hash).splitlines():
        if not line:
            continue
        try:
            token, rank = line.split()
            ranks[base64.b64decode(token)] = int(rank)
        except Exception as error:
            raise ValueError(f"Error parsing line {line!r} in {tiktoken_bpe_file}") from error
    return ranks


def _blobfile() -> Any:
    try:
        return importlib.import_module("blobfile")
    except ImportError as error:
        raise ImportError(
            "blobfile is not installed; install it with: pip install blobfile"
        ) from error
