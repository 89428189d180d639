"""Environments and wheels; the scripts are run in them, so that pytest leaves these alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat_bpe.tiktoken.shim_wheel import write_shim_wheel
from tests.clients.environments import ROOT, Wheels, pip
from tests.clients.environments import environments as environments
from tools.tiktoken_files import write_tiktoken_files

collect_ignore = ["scripts"]


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Wheels:
    """This package as a wheel, and the one that is called tiktoken."""
    folder = tmp_path_factory.mktemp("wheels")
    shim = Path(write_shim_wheel(folder / "shim"))
    pip("wheel", "--no-deps", "--wheel-dir", folder, ROOT)
    (own,) = folder.glob("compat_bpe-*.whl")
    return Wheels(shim, own)


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that tiktoken would download."""
    folder = tmp_path_factory.mktemp("published")
    write_tiktoken_files(folder)
    return folder
