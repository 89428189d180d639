"""Settings of the tests of the language server."""

from __future__ import annotations

import pytest

from tests.lsp.real_editors import install_newest, neovim_of_debian

collect_ignore = ["pytest_lsp"]  # run in an environment of its own


@pytest.fixture(scope="session")
def newest_neovim(tmp_path_factory: pytest.TempPathFactory) -> str:
    return install_newest(tmp_path_factory.mktemp("newest"))


@pytest.fixture(scope="session", params=["of Debian", "newest"])
def neovim(request: pytest.FixtureRequest) -> str:
    if request.param == "newest":
        return str(request.getfixturevalue("newest_neovim"))
    return neovim_of_debian()
