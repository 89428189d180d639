"""The modules of the command that are imported by their names."""

from __future__ import annotations

import sys
from typing import Any


def hook(hook_api: Any) -> None:
    """Add the modules; PyInstaller calls this for a program that has the command in it."""
    from PyInstaller.utils.hooks import collect_submodules

    for package in ("compat_bpe.cli.commands", "compat_bpe.check"):
        hook_api.add_imports(*collect_submodules(package))
    hook_api.add_imports("tomllib" if sys.version_info >= (3, 11) else "tomli")
