"""What the plug-in for VS Code lets a folder decide, and what is installed with it."""

from __future__ import annotations

import json
from pathlib import Path

PLUGIN = Path(__file__).parents[2] / "editors/vscode"
PACKAGE = json.loads((PLUGIN / "package.json").read_text("utf-8"))


def test_a_folder_does_not_choose_the_program_that_is_started() -> None:
    settings = PACKAGE["contributes"]["configuration"]["properties"]
    # A "machine-overridable" setting could be overridden by the folder's.
    assert settings["compatBpeClient.command"]["scope"] == "machine"
    # Nor is it looked for in the folder.
    assert "cwd: homedir()" in (PLUGIN / "src/extension.ts").read_text("utf-8")


def test_a_folder_that_is_not_trusted_names_no_files() -> None:
    limits = PACKAGE["capabilities"]["untrustedWorkspaces"]
    assert limits["supported"] == "limited"
    assert limits["restrictedConfigurations"] == ["compatBpe.path", "compatBpe.files"]


def test_what_is_installed_is_locked_by_its_content() -> None:
    text = (PLUGIN / "package-lock.json").read_text("utf-8")
    packages = json.loads(text)["packages"]
    own = packages.pop("")
    for kind in ("dependencies", "devDependencies"):
        assert own[kind] == PACKAGE[kind]
    assert all(one["integrity"].startswith("sha512-") for one in packages.values())
    # From whichever registry npm is set to.
    assert "resolved" not in text
    assert "http" not in text
