"""``tiktoken._tiktoken``: the class ``CoreBPE``, which is written in Rust in tiktoken."""

from __future__ import annotations

from ..encodings.core import CoreBPE

__all__ = ["CoreBPE"]
