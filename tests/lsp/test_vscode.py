"""What the plug-in for VS Code lets a folder decide, and what is installed with it."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

PLUGIN = Path(__file__).parents[2] / "editors/vscode"
PACKAGE = json.loads((PLUGIN / "package.json").read_text("utf-8"))
SETTINGS = PACKAGE["contributes"]["configuration"]["properties"]
PROGRAMS = ["compatBpeClient.command", "compatBpeClient.python"]


def test_a_folder_does_not_choose_the_program_that_is_started() -> None:
    for name in PROGRAMS:
        # A folder that is trusted may have its own; tests/vscode opens one that is not.
        assert SETTINGS[name]["scope"] == "machine-overridable"
        assert name in PACKAGE["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"]
    # Nor is it looked for in the folder.
    for name in ("server.ts", "python.ts", "countFiles.ts"):
        assert "cwd: homedir()" in (PLUGIN / "src" / name).read_text("utf-8")


def test_a_folder_that_is_not_trusted_names_no_files() -> None:
    limits = PACKAGE["capabilities"]["untrustedWorkspaces"]
    assert limits["supported"] == "limited"
    assert limits["restrictedConfigurations"] == ["compatBpe.path", "compatBpe.files", *PROGRAMS]


def test_settings_offer_the_names_that_the_package_knows() -> None:
    script = PLUGIN / "scripts/write_names.py"
    found = runpy.run_path(str(script))
    names = found["names"]()
    again = f"python {script.relative_to(PLUGIN.parents[1])}"
    assert json.loads((PLUGIN / "src/names.json").read_text("utf-8")) == names, again
    before = (PLUGIN / "package.json").read_text("utf-8")
    assert found["written"](found["with_names"](json.loads(before), names)) == before, again


def test_each_text_of_the_manifest_is_there_to_be_translated() -> None:
    manifest = (PLUGIN / "package.json").read_text("utf-8")
    texts = json.loads((PLUGIN / "package.nls.json").read_text("utf-8"))
    assert set(re.findall(r'"%([^%"]+)%"', manifest)) == set(texts)


def test_each_command_that_is_offered_is_registered() -> None:
    source = (PLUGIN / "src/extension.ts").read_text("utf-8")
    for one in PACKAGE["contributes"]["commands"]:
        assert re.search(rf"^    {one['command'].partition('.')[2]}\b", source, re.MULTILINE)


def test_what_is_installed_is_locked_by_its_content() -> None:
    text = (PLUGIN / "package-lock.json").read_text("utf-8")
    packages = json.loads(text)["packages"]
    own = packages.pop("")
    for kind in ("dependencies", "devDependencies"):
        assert own[kind] == PACKAGE[kind]
    assert all(one["integrity"].startswith("sha512-") for one in packages.values())
    # From whichever registry npm is set to.
    assert "resolved" not in text
    addresses = re.findall(r'"([^"]+)": "https?://', text)
    assert set(addresses) <= {"url"}  # of those who take donations
