"""``tiktoken._tiktoken``, which is written in Rust there: the class ``CoreBPE``."""

from __future__ import annotations

from ..encodings.core_bpe import CoreBPE

__all__ = ["CoreBPE"]
