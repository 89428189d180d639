"""The chat templates in a GGUF file, and the special tokens that they use."""

from __future__ import annotations

import os

from .metadata import Metadata
from .vocabulary import read_vocabulary

_KEY = "tokenizer.chat_template"


def read_templates(path: str | os.PathLike[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the chat templates of a file by name, and its special tokens by their roles.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is damaged.
    """
    metadata = Metadata.of_file(path)
    templates: dict[str, str] = {}
    for key in metadata.entries:
        name = "default" if key == _KEY else key[len(_KEY) + 1 :]
        text = metadata.text(key) if key == _KEY or key.startswith(f"{_KEY}.") else None
        if text is not None:
            templates[name] = text
    if not templates:
        return {}, {}
    return templates, read_vocabulary(metadata).roles()
