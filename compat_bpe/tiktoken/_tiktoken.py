"""``tiktoken._tiktoken``, which tiktoken writes in Rust: the class ``CoreBPE``."""

from __future__ import annotations

from ..encodings.core import CoreBPE

__all__ = ["CoreBPE"]
