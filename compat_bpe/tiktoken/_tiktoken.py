"""``tiktoken._tiktoken``, which is written in Rust there: the class ``CoreBPE``."""

from __future__ import annotations

from compat_bpe.engine.core_bpe import CoreBPE

__all__ = ["CoreBPE"]
