"""The set-ups in the documentation of editors, and the manifest of VS Code's plug-in."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import get_encoding
from compat_bpe.lsp.settings import Settings, read_settings
from tests.clients.environments import RUNNING, plain_environment, run
from tests.lsp.real_editors import ROOT, emacs_session, install_server, neovim_with

PAGE = (ROOT / "docs/editors.md").read_text("utf-8")
ENCODING = get_encoding("o200k_base")
TEXT = "one two three four five six\nseven\n"
OVER = f"{ENCODING.count(TEXT)} tokens, {ENCODING.count(TEXT) - 3} over the budget of 3"


def block(title: str) -> str:
    """Return the example under a heading, with a budget that is soon passed."""
    found = re.search(rf"^## {title}\n.*?^```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert found, title
    assert "8192" in found[1]
    return found[1].replace("8192", "3")


# Settings: what editors send


def options_in(value: Any) -> list[Any]:
    """Return the settings of the server in a JSON or TOML value."""
    if not isinstance(value, dict):
        return []
    if "budget" in value:
        return [value]
    return [one for inner in value.values() for one in options_in(inner)]


def check(settings: Settings) -> None:
    assert settings.of("x") == (("model", "gpt-4o"), 3)
    assert settings.shown["inlayHints"]


@pytest.mark.parametrize("title", ["Zed", "Sublime Text", "JetBrains", "Kate"])
def test_settings_in_json(title: str) -> None:
    (options,) = options_in(json.loads(block(title)))
    check(read_settings(options))


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib")
def test_settings_in_toml() -> None:
    import tomllib  # type: ignore[import-not-found, unused-ignore]

    helix = tomllib.loads(block("Helix"))
    server = helix["language-server"]["compat-bpe"]
    assert [server["command"], *server["args"]] == ["compat-bpe", "lsp"]
    check(read_settings(server["config"]))
    lines = block("Kakoune").split("%{\n")[2].split("\n    }")[0]
    kakoune = tomllib.loads(lines)["compat-bpe"]
    assert [kakoune["command"], *kakoune["args"]] == ["compat-bpe", "lsp"]
    check(read_settings(kakoune["settings"]))


# Real editors


@pytest.mark.smoke
@pytest.mark.editors
@pytest.mark.parametrize("kind", ["Eglot", "lsp-mode"])
def test_emacs(tmp_path: Path, kind: str) -> None:
    example = tmp_path / "example.el"
    example.write_text(block(f"Emacs with {kind}"))
    name = f"test-{kind.lower()}"
    written = emacs_session(name, tmp_path, TEXT, TEST_EXAMPLE=str(example))
    assert OVER in written["diagnostic"]
    # One line of the text is underlined.
    start = len(ENCODING.decode(ENCODING.encode(TEXT)[:3])) + 2
    assert written["range"] == [start, TEXT.index("\n") + 1]
    assert written["actions"] == ["Count the selection", "Cut to 3 tokens"]
    assert f"{ENCODING.count(TEXT)} tokens" in written["shown"]
    assert "nknown" not in written["said"]


@pytest.mark.smoke
@pytest.mark.editors
def test_vim_with_ale(tmp_path: Path) -> None:
    path = install_server(tmp_path)
    (tmp_path / "vimrc").write_text(
        "set nocompatible\nset runtimepath+=/usr/share/vim-ale\nfiletype plugin on\n"
        + block("Vim with ALE")
    )
    (tmp_path / "file.md").write_text(TEXT)
    (tmp_path / "session.vim").write_text(
        """
        runtime plugin/ale.vim
        edit file.md
        call ale#Queue(0)
        for i in range(300)
          let problems = ale#engine#GetLoclist(bufnr(''))
          if !empty(problems) | break | endif
          sleep 20m
        endfor
        call writefile([json_encode(problems)], 'problems')
        let g:ale_hover_to_preview = 1
        ALEHover
        for i in range(300)
          let at = bufwinnr('ALEPreviewWindow')
          if at > 0 | break | endif
          sleep 20m
        endfor
        call writefile(at > 0 ? getbufline(winbufnr(at), 1, '$') : ['none'], 'hover')
        qa!
        """
    )
    vim = "vim -N -u vimrc -n -i NONE -es -S session.vim".split()
    run(vim, tmp_path, {**plain_environment(tmp_path), "PATH": path}, RUNNING)
    (problem,) = json.loads((tmp_path / "problems").read_text())
    assert problem["text"].startswith(OVER)
    assert (problem["lnum"], problem["end_lnum"]) == (1, 1)
    assert f"{ENCODING.count(TEXT)} tokens" in (tmp_path / "hover").read_text()


@pytest.mark.editors
def test_neovim_without_a_plugin(newest_neovim: str, tmp_path: Path) -> None:
    (tmp_path / "init.lua").write_text(block("Neovim"))
    (tmp_path / "file.md").write_text(TEXT)
    written = neovim_with(
        newest_neovim,
        tmp_path,
        """
        vim.cmd("edit file.md")
        local function hints() return vim.lsp.inlay_hint.get({ bufnr = 0 }) end
        vim.wait(60000, function() return #hints() > 0 and #vim.diagnostic.get(0) > 0 end, 5)
        local written = {
          hint = hints()[1].inlay_hint.label,
          problem = vim.diagnostic.get(0)[1].message,
          number = #vim.diagnostic.get(0),
        }
        vim.fn.writefile({ vim.json.encode(written) }, "output.json")
        vim.cmd("qa!")
        """,
        *("-u", "init.lua"),
        PATH=install_server(tmp_path),
    )
    assert written["hint"].startswith(f"file: {ENCODING.count(TEXT)} tokens")
    assert written["problem"].startswith(OVER)
    assert written["number"] == 1  # it is pulled, and not sent too


PLUGIN = ROOT / "editors/vscode"
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


def test_no_setting_is_null() -> None:
    """The editor of settings shows a word for that, and no field for a text that may be one."""
    for name, one in SETTINGS.items():
        assert "null" not in one["type"], name
        assert one.get("default", "") is not None, name


def test_the_view_of_tokens_hides_nothing_that_the_page_shows() -> None:
    texts = [
        (ROOT / path).read_text("utf-8")
        for path in ("web/site/js/block-view.js", "editors/vscode/src/tokenText.ts")
    ]
    for name in ("HIDDEN", "JOINERS"):
        (ours,), (theirs,) = (re.findall(rf"^const {name} = (.*);$", text, re.M) for text in texts)
        assert ours == theirs


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
