"""Settings of the tests of the language server."""

from __future__ import annotations

import pytest

from tests.lsp.nvim import neovim_of_debian, newest_neovim

collect_ignore = ["pytest_lsp"]  # run in an environment of its own


@pytest.fixture(scope="session", params=["of Debian", "newest"])
def neovim(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    if request.param == "newest":
        return newest_neovim(tmp_path_factory.mktemp("newest"))
    return neovim_of_debian()
