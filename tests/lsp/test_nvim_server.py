"""The server that the plug-in for Neovim starts: which one, none at all, or one that ends."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.lsp.nvim import ROOT, install_server, script_at, session

pytestmark = pytest.mark.editors

#: Makes the clock of the plug-in go on.
LATER = """
local real = require("compat_bpe.version").uv
require("compat_bpe.version").uv = setmetatable({
  now = function() return real.now() + 60000 end }, { __index = real })
"""


def test_a_folder_does_not_choose_what_is_started(neovim: str, tmp_path: Path) -> None:
    """Neither a program in the current folder, nor a module."""
    here = tmp_path / "here"
    for name in ("compat-bpe", "python3"):
        script_at(here / name, f"touch {tmp_path}/started")
    (here / "compat_bpe").mkdir()
    (here / "compat_bpe/__init__.py").write_text(f"open({str(tmp_path / 'started')!r}, 'w')")
    path = install_server(tmp_path)
    own = f'PYTHONPATH="{ROOT}" exec "{sys.executable}" "$@"'
    script_at(tmp_path / "bin/python3", own)
    for program in ("compat-bpe", "python3"):
        written = session(
            neovim,
            tmp_path,
            """
            vim.cmd("cd here")
            wait("a count", function() return require("compat_bpe").status() ~= "" end)
            written.found = require("compat_bpe.command").find()
            """,
            path,
        )
        assert written["found"][0] == program
        (tmp_path / "bin/compat-bpe").unlink(missing_ok=True)
    assert not (tmp_path / "started").exists()


def test_without_compat_bpe(neovim: str, tmp_path: Path) -> None:
    """One line says what to do; then it is done, without another start of Neovim."""
    install_server(tmp_path)
    (tmp_path / "bin/compat-bpe").rename(tmp_path / "server")
    written = session(
        neovim,
        tmp_path,
        """
        vim.cmd("edit one.txt")
        wait("a message", function() return said():find("compat%-bpe") end)
        vim.cmd("edit two.txt")
        vim.cmd("TokenPrompt")
        vim.cmd("TokenCount")
        vim.cmd("TokenModel gpt-4")
        vim.cmd("TokenInfo")
        vim.cmd("checkhealth compat_bpe")
        written.health = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\\n")
        vim.cmd("bdelete!")
        written.status = require("compat_bpe").status()
        vim.fn.system({ "/bin/cp", "server", "bin/compat-bpe" })
        vim.cmd("edit one.txt")
        vim.api.nvim_buf_set_lines(0, 0, -1, true, { "one two" })
        vim.cmd("TokenRestart")
        status("3 tokens")
        """
        if install_server(tmp_path) and (tmp_path / "bin/compat-bpe").rename(tmp_path / "server")
        else "",
        str(tmp_path / "bin"),
    )
    why = "not found: pip install compat-bpe, then :TokenRestart"
    lines = [line for line in written["said"].splitlines() if line.startswith("compat-bpe")]
    off = "the server is not running; :TokenRestart starts it"
    assert lines == [f"compat-bpe: {why}", *[f"compat-bpe: {off}"] * 4]
    assert max(map(len, lines)) < 68  # else Neovim waits for Enter, at 80 columns
    assert why in written["health"]
    assert written["status"] == ""


@pytest.mark.parametrize("kind", ["installed", "of this repository"])
def test_a_python_is_enough(neovim: str, tmp_path: Path, kind: str) -> None:
    """The package is found in it; or beside the plug-in, with no other package."""
    options = f'PYTHONPATH="{ROOT}" exec "{sys.executable}"'
    if kind != "installed":
        options = f'exec "{sys.executable}" -S -E'
    script_at(tmp_path / "bin/python3", f'{options} "$@"')
    written = session(
        neovim,
        tmp_path,
        """
        vim.api.nvim_buf_set_lines(0, 0, -1, true, { "one two" })
        vim.wait(60000, function() return require("compat_bpe").status() ~= "" end)
        status("3 tokens")
        written.found = require("compat_bpe.command").find()
        """,
        str(tmp_path / "bin"),
    )
    assert (written["found"][1] == "-m") == (kind == "installed")


def test_a_server_that_ends(neovim: str, tmp_path: Path) -> None:
    """No old count is shown; all buffers have theirs when it is back."""
    for name in ("one", "two"):
        (tmp_path / name).write_text(f"{name} two three\n")
    written = session(
        neovim,
        tmp_path,
        """
        local function kill()
          vim.fn.system({ "kill", "-9", vim.trim(vim.fn.readfile("pid")[1]) })
        end
        vim.cmd("edit one")
        status("4 tokens")
        vim.cmd("split two")
        status("4 tokens")
        vim.cmd("new")
        vim.api.nvim_buf_set_lines(0, 0, -1, true, { "of no name" })
        status("4 tokens")
        -- An end soon after the start is told, and nothing starts it again and again.
        kill()
        status("")
        for _ = 1, 3 do
          vim.api.nvim_buf_set_lines(0, -1, -1, true, { "more" })
          vim.cmd("doautocmd TextChanged")
        end
        vim.wait(300)
        written.after = require("compat_bpe").status()
        vim.cmd("wincmd j")
        written.others = require("compat_bpe").status()
        vim.cmd("TokenRestart")
        status("4 tokens")
        vim.cmd("wincmd k")
        status("10 tokens")
        -- Later, an edit starts it again.
        kill()
        status("")
        """
        + LATER
        + """
        vim.cmd("doautocmd TextChanged")
        status("10 tokens")
        -- One that has run for long is started again at once.
        require("compat_bpe.version").uv = setmetatable({
          now = function() return real.now() + 120000 end }, { __index = real })
        kill()
        status("")
        status("10 tokens")
        for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
          if vim.bo[buffer].buflisted then
            local found = function() return require("compat_bpe").status(buffer) end
            wait("each buffer", function() return found() ~= "" end)
          end
        end
        """,
        install_server(tmp_path),
    )
    assert written["after"] == written["others"] == ""
    ended = "compat-bpe: the server has ended (signal 9); try :TokenRestart"
    assert re.findall("compat-bpe: .*", written["said"]) == [ended] * 2
