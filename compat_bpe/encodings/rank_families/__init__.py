"""The families of models whose vocabulary is a rank file: what such a file does not say.

Each file here is one family. It is known by the class that ``tokenizer_config.json`` names, else
by the SHA-256 of the rank file. Nothing that is beside a file is run.
"""

from __future__ import annotations

from hashlib import sha256
from importlib import import_module
from pathlib import Path

from ...formats.settings_beside import Settings, settings_beside
from .base import RankFamily

#: The module of each family. Their classes and their hashes differ, so the order does not matter.
_MODULES = ("glm4", "hunyuan", "kimi", "llama3", "llama4", "phi3_small", "qwen", "whisper")


def families() -> list[RankFamily]:
    """Return all families.

    >>> [family.name for family in families()][:3]
    ['glm4', 'hunyuan', 'kimi']
    """
    return [import_module(f".{name}", __name__).FAMILY for name in _MODULES]


def family_of(path: Path, data: bytes) -> tuple[RankFamily, Settings] | None:
    """Return the family of a rank file, and the settings beside it; None if it is of none.

    Args:
        path: the file.
        data: its content.

    Raises:
        OSError: a file beside it cannot be read.
        ValueError: a file beside it is damaged.
    """
    all_families = families()
    settings = settings_beside(path)
    classes = {name for family in all_families for name in family.classes}
    named = settings.class_name(classes)
    if named is not None and named.value in classes:
        for family in all_families:
            if named.value in family.classes and family.fits(settings):
                return family, settings
    digest = sha256(data).hexdigest()
    for family in all_families:
        if digest in family.sha256:
            return family, settings
    return None
