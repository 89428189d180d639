"""``tiktoken.core``: the class ``Encoding``."""

from __future__ import annotations

from compat_bpe.encoding import Encoding as Encoding
from compat_bpe.engine.special import raise_disallowed as raise_disallowed_special_token
from compat_bpe.tiktoken import _tiktoken as _tiktoken

__all__ = ["Encoding", "raise_disallowed_special_token"]
