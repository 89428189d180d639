"""Chat templates beside a vocabulary, as ``transformers`` finds them."""

from __future__ import annotations

import os
from pathlib import Path

from ..encodings.local_stores import find_stored
from ..files.whole import open_regular, read_whole, utf8_text
from ..formats.checked_json import Json
from ..formats.settings_beside import settings_beside
from .template import ChatTemplate

#: The largest template that is read, in bytes.
_SIZE_LIMIT = 1 << 22


def load_chat_template(path: str | os.PathLike[str]) -> ChatTemplate:
    """Load the chat template of a model from its folder.

    It is in ``chat_template.jinja``, and others by name in ``additional_chat_templates``; or else
    in ``tokenizer_config.json``, as one template or a list of them. The special tokens that it
    uses are in ``tokenizer_config.json`` or ``special_tokens_map.json``. A GGUF file has them all
    itself.

    Args:
        path: the folder, any file in it, a name like ``hf:OWNER/NAME`` (see ``load``), or a
            template by itself (``*.jinja``).

    Raises:
        OSError: a file cannot be read.
        ValueError: there is no template, or a file is damaged.

    >>> load_chat_template("fixtures/gpt2_small")
    Traceback (most recent call last):
    ValueError: fixtures/gpt2_small: there is no chat template in this folder
    """
    template = find_chat_template(path)
    if template is None:
        found = Path(find_stored(os.fspath(path)).path)
        folder = found if found.is_dir() else found.parent
        raise ValueError(f"{folder}: there is no chat template in this folder")
    return template


def find_chat_template(path: str | os.PathLike[str]) -> ChatTemplate | None:
    """Load the chat template of a model; return None if there is none.

    Raises:
        OSError, ValueError: as in ``load_chat_template``.
    """
    given = Path(find_stored(os.fspath(path)).path)
    in_gguf = _of_gguf(given) if _is_gguf(given) else None
    if in_gguf is not None:
        return in_gguf
    folder = given if given.is_dir() else given.parent
    settings = settings_beside(folder / "tokenizer_config.json")
    templates: dict[str, str] = {}
    single = given if given.suffix == ".jinja" else folder / "chat_template.jinja"
    if single == given or single.is_file():
        templates["default"] = _read(single)
    for file in sorted((folder / "additional_chat_templates").glob("*.jinja")):
        templates[file.stem] = _read(file)
    if not templates:
        in_config = settings.config.get("chat_template")
        if in_config is None:
            files = list(given.glob("*.gguf"))  # there are none if it is a file
            return _of_gguf(files[0]) if len(files) == 1 else None
        templates = _templates(in_config)
    tokens = {role: one["content"] for role, one in settings.special_tokens({}).items()}
    return ChatTemplate(templates, tokens)


def _is_gguf(path: Path) -> bool:
    """Return True if a path leads to a GGUF file; Ollama's have no such ending."""
    if not path.is_file():
        return False
    with open_regular(path) as file:
        return file.read(4) == b"GGUF"


def _of_gguf(path: Path) -> ChatTemplate | None:
    """Return the template in a GGUF file; None if there is none."""
    from ..formats.gguf.vocabulary import read_templates  # few models have such files

    templates, tokens = read_templates(path)
    return ChatTemplate(templates, tokens) if templates else None


def _templates(part: Json) -> dict[str, str]:
    """Return the templates of a ``tokenizer_config.json`` by name."""
    if isinstance(part.value, str):
        return {"default": part.text()}
    if isinstance(part.value, dict):
        return {name: part[name].text() for name in part.mapping()} or part.fail("is empty")
    templates = {one["name"].text(): one["template"].text() for one in part.items()}
    return templates or part.fail("is empty")


def _read(path: Path) -> str:
    # As a file of text is read: line ends of all kinds become "\n".
    text = utf8_text(read_whole(path, _SIZE_LIMIT), str(path))
    return text.replace("\r\n", "\n").replace("\r", "\n")
