"""``tiktoken.core``: the class ``Encoding``."""

from __future__ import annotations

from ..encodings.encoding import Encoding as Encoding
from ..pipeline.special_tokens import raise_disallowed as raise_disallowed_special_token
from . import _tiktoken as _tiktoken

__all__ = ["Encoding", "raise_disallowed_special_token"]
