"""Neovim, by itself and with the plug-in of ``editors/nvim``."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import get_encoding
from tests.lsp.client import COMMAND
from tests.lsp.real_editors import BARE, ROOT, install_server, neovim_with, script_at, session

pytestmark = pytest.mark.editors

TEXT = "import math\n\n\ndef area(r):\n    return 3 * r  # 😀 é\n\n\nprint(area(2))\n"

#: What a user types, after each of which the counts are compared.
KEYS = [
    *("gg0", "Ofrom os import path<Esc>", "5Gwcwmath.pi<Esc>", "A 😀 中文 ḗ<Esc>", "x", "xxx", "u"),
    *("<C-r>", "ggdG", "u", ":%s/r/é/g<CR>", "ggyGPGp", "gg=G", ":%join<CR>", "u", "3Gdd2p"),
    *("ggVGJ", "u", ":g/^/m0<CR>", "Go<Esc>", "i👩‍👩‍👧 a\u0301<CR><CR><Esc>"),
    *(":set noeol nofixeol<CR>", "gg0ix<Esc>"),
]


Run = Callable[..., dict[str, Any]]


@pytest.fixture
def run(neovim: str, tmp_path: Path) -> Run:
    """``session`` of a Neovim, in a new folder."""
    return partial(session, neovim, tmp_path)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_what_a_user_types_is_counted(neovim: str, tmp_path: Path, ending: str) -> None:
    encoding = get_encoding("cl100k_base")
    file = tmp_path / "a file.py"
    file.write_bytes(TEXT.replace("\n", ending).encode())
    given = {
        "cmd": COMMAND,
        "encoding": "cl100k_base",
        "file": str(file),
        "keys": KEYS,
        "near": "x",
    }
    (tmp_path / "input.json").write_text(json.dumps(given))
    written = neovim_with(
        neovim,
        tmp_path,
        Path(__file__).with_name("nvim_session.lua").read_text("utf-8"),
        *BARE,
        TEST_INPUT=str(tmp_path / "input.json"),
        PYTHONPATH=str(ROOT),
    )
    assert len(written["texts"]) == len(KEYS)
    for keys, seen in zip(KEYS, written["texts"]):
        assert seen["count"] == encoding.count(seen["text"]), keys
    assert written["statuses"][-1] == f"{written['texts'][-1]['count']}/1000 tokens"
    prompt = written["prompt"]
    assert prompt in written["texts"][-1]["text"]
    assert encoding.count(prompt) <= 20 < encoding.count(written["texts"][-1]["text"])
    assert "Document: " in written["hover"]
    assert written["copied"].startswith("a file.py\n```python\n")


def test_a_folder_does_not_choose_what_is_started(run: Run, tmp_path: Path) -> None:
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
        written = run(
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


def test_without_compat_bpe(run: Run, tmp_path: Path) -> None:
    """One line says what to do; then it is done, without another start of Neovim."""
    install_server(tmp_path)
    (tmp_path / "bin/compat-bpe").rename(tmp_path / "server")
    written = run(
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
        """,
        str(tmp_path / "bin"),
    )
    why = "run pip install . in a checkout, then :TokenRestart"
    lines = [line for line in written["said"].splitlines() if line.startswith("compat-bpe")]
    off = "the server is not running; :TokenRestart starts it"
    assert lines == [f"compat-bpe: {why}", *[f"compat-bpe: {off}"] * 4]
    assert max(map(len, lines)) < 68  # else Neovim waits for Enter, at 80 columns
    assert why in written["health"]
    assert written["status"] == ""


@pytest.mark.parametrize("kind", ["installed", "of this repository"])
def test_a_python_is_enough(run: Run, tmp_path: Path, kind: str) -> None:
    """The package is found in it; or beside the plug-in, with no other package."""
    options = f'PYTHONPATH="{ROOT}" exec "{sys.executable}"'
    if kind != "installed":
        options = f'exec "{sys.executable}" -S -E'
    script_at(tmp_path / "bin/python3", f'{options} "$@"')
    written = run(
        """
        vim.api.nvim_buf_set_lines(0, 0, -1, true, { "one two" })
        vim.wait(60000, function() return require("compat_bpe").status() ~= "" end)
        status("3 tokens")
        written.found = require("compat_bpe.command").find()
        """,
        str(tmp_path / "bin"),
    )
    assert (written["found"][1] == "-m") == (kind == "installed")


def test_a_server_that_ends(run: Run, tmp_path: Path) -> None:
    """No old count is shown; all buffers have theirs when it is back."""
    for name in ("one", "two"):
        (tmp_path / name).write_text(f"{name} two three\n")
    written = run("""
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
        local real = require("compat_bpe.version").uv
        local function go_on(milliseconds)
          require("compat_bpe.version").uv = setmetatable({
            now = function() return real.now() + milliseconds end }, { __index = real })
        end
        go_on(60000)
        vim.cmd("doautocmd TextChanged")
        status("10 tokens")
        -- One that has run for long is started again at once.
        go_on(120000)
        kill()
        status("")
        status("10 tokens")
        for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
          if vim.bo[buffer].buflisted then
            local found = function() return require("compat_bpe").status(buffer) end
            wait("each buffer", function() return found() ~= "" end)
          end
        end
        """)
    assert written["after"] == written["others"] == ""
    ended = "compat-bpe: the server ended (signal 9); use :TokenRestart"
    assert re.findall("compat-bpe: .*", written["said"]) == [ended] * 2


ENCODING = get_encoding("o200k_base")


@pytest.mark.smoke
def test_as_installed(run: Run, tmp_path: Path) -> None:
    """Without setup(): the count, and the prompt of an encoding without tokens for it."""
    text = "def area(r):\n    return \n" * 300
    (tmp_path / "code.py").write_text(text)
    written = run("""
        vim.cmd("edit code.py")
        wait("a count", function() return require("compat_bpe").status() ~= "" end)
        written.status = require("compat_bpe").status()
        vim.api.nvim_win_set_cursor(0, { 302, 11 })
        vim.cmd("TokenPrompt")
        wait("a prompt", function() return said():find("copied a prompt") end)
        written.prompt = vim.fn.getreg('"')
        vim.cmd("TokenPrompt 30")
        wait("a prompt", function() return said():find("prompt of 30 tokens") end)
        written.short = vim.fn.getreg('"')
        """)
    assert written["status"] == f"{ENCODING.count(text)} tokens"
    count = ENCODING.count(written["prompt"])
    assert f"copied a prompt of {count} tokens" in written["said"]
    assert 1900 < count <= 2000
    asked = "Fill in the text at <CURSOR>. Answer with the missing text only.\n\n"
    assert written["prompt"].startswith(asked)
    assert "    return<CURSOR> \ndef" in written["prompt"]
    assert ENCODING.count(written["short"]) == 30


def test_a_count_that_is_not_current_is_marked(run: Run, tmp_path: Path) -> None:
    run("""
        local function send(signal)
          vim.fn.system({ "kill", signal, vim.trim(vim.fn.readfile("pid")[1]) })
        end
        for _, open in ipairs({ "enew", "edit file" }) do
          vim.cmd(open)
          vim.api.nvim_buf_set_lines(0, 0, -1, true, { "one" })
          status("2 tokens")
          send("-STOP")
          vim.api.nvim_buf_set_lines(0, 0, -1, true, { "one two" })
          status("2 tokens")
          status("~2 tokens")
          send("-CONT")
          status("3 tokens")
          vim.cmd("silent! write")
          vim.wait(1200)
          status("3 tokens")
        end
        """)


def test_buffers_without_a_name(run: Run, tmp_path: Path) -> None:
    run(
        """
        local function write(...) vim.api.nvim_buf_set_lines(0, 0, -1, true, { ... }) end
        status("0 tokens")
        vim.cmd("new")
        write("one")
        status("2 tokens")
        type_keys("A two 😀<Esc>")
        status("4 tokens")
        vim.cmd("TokenPrompt")
        wait("a prompt", function() return vim.fn.getreg('"'):find("<CURSOR>") end)
        -- What was typed last is in it, too.
        type_keys("gg0iXY<Esc>")
        vim.cmd("TokenPrompt")
        wait("a prompt", function() return vim.fn.getreg('"'):find("X<CURSOR>Yone two") end)
        vim.cmd("vnew")
        write("another", "one")
        status("4 tokens")
        vim.cmd("wincmd p")
        local text = vim.api.nvim_buf_get_lines(0, 0, -1, true)
        -- It gets a name, and then another one.
        vim.cmd("write! named.txt")
        write("four tokens of it")
        status("5 tokens")
        vim.cmd("saveas renamed.txt")
        status("5 tokens")
        write("one")
        status("2 tokens")
        -- What is no text of the user's has no count.
        vim.cmd("new")
        vim.bo.buftype = "nofile"
        vim.cmd("doautocmd BufEnter")
        vim.cmd("help")
        vim.wait(200)
        status("")
        -- No buffers were made that the user did not make.
        for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
          assert(not vim.api.nvim_buf_get_name(buffer):find("ntitled"), "a buffer of that name")
        end
        """,
        vimrc='require("compat_bpe").setup({ settings = { show = { diagnostics = true } } })',
    )


def test_budgets_in_buffers_without_a_name(run: Run, tmp_path: Path) -> None:
    run(
        """
        vim.api.nvim_buf_set_lines(0, 0, -1, true, { "one two three four" })
        status("5/2 tokens")
        vim.wait(200)
        assert(#vim.api.nvim_list_bufs() == 1, "a buffer was made")
        """,
        vimrc='require("compat_bpe").setup({ settings = { budget = 2 } })',
    )


def test_commands(run: Run, tmp_path: Path) -> None:
    text = "one two three\nfour 😀 five six\nseven\n"
    (tmp_path / "file.txt").write_text(text)
    written = run("""
        local seen = 0
        local function says(command)
          vim.cmd("messages clear")
          vim.cmd(command)
          wait(command, function() return said():find("compat%-bpe") end)
          return vim.trim(said())
        end
        vim.cmd("edit file.txt")
        status("11 tokens")
        written.before_any = says("1,2TokenCount")
        written.all = says("TokenCount")
        written.line = says("2TokenCount")
        type_keys("gg0wvjl<Esc>")
        written.selection = says("'<,'>TokenCount")
        written.model = says("TokenModel")
        written.completed = vim.fn.getcompletion("TokenModel gpt-4", "cmdline")
        written.encodings = vim.fn.getcompletion("TokenModel cl1", "cmdline")
        written.estimates = vim.fn.getcompletion("TokenModel claude-s", "cmdline")
        written.with_file = vim.fn.getcompletion("TokenModel Qwen", "cmdline")
        written.wrong = says("TokenModel gpt5o")
        written.no_limit = says("TokenPrompt many")
        written.low_limit = says("TokenPrompt 3")
        status("11 tokens")
        written.changed = says("TokenModel gpt2")
        wait("gpt2", function() return require("compat_bpe").status() ~= "11 tokens" end)
        written.status = require("compat_bpe").status()
        written.info = vim.fn.execute("TokenInfo")
        vim.cmd("checkhealth compat_bpe")
        written.health = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\\n")
        """)
    assert ENCODING.count(text) == 11
    lines = text.splitlines(keepends=True)
    both = ENCODING.count("".join(lines[:2]))
    assert written["before_any"] == f"compat-bpe: {both} tokens in lines 1 to 2"
    assert written["all"] == "compat-bpe: 11 tokens in the buffer"
    assert written["line"] == f"compat-bpe: {ENCODING.count(lines[1])} tokens in line 2"
    assert written["selection"] == (
        f"compat-bpe: {ENCODING.count(lines[0][4:] + lines[1][:6])} tokens in the selection"
    )
    assert written["model"] == "compat-bpe: counting by o200k_base"
    assert "gpt-4" in written["completed"]
    assert "gpt-4o" in written["completed"]
    assert written["encodings"] == ["cl100k_base"]
    assert "claude-sonnet-4-5" in written["estimates"]
    assert written["with_file"] == []
    assert written["wrong"].startswith("compat-bpe: model: unknown model 'gpt5o'")
    assert "\n" not in written["wrong"]
    assert written["no_limit"] == "compat-bpe: :TokenPrompt needs a number of tokens"
    assert re.fullmatch(r"compat-bpe: limit: limit is 3, but .*", written["low_limit"])
    assert written["changed"] == "compat-bpe: counting by gpt2"
    count = get_encoding("gpt2").count(text)
    assert written["status"] == f"{count} tokens"
    assert f"this buffer: {count} tokens by gpt2" in written["info"]
    assert 'settings: {"encoding": "gpt2"}' in written["info"]
    assert re.search(
        r"server: compat-bpe \d+\.\d+\.\d+, started by compat-bpe lsp", written["info"]
    )
    assert "the server is started by: compat-bpe lsp" in written["health"]
    assert re.search(r"the server is running: compat-bpe \d.*, 1 buffer counted", written["health"])


def test_the_status_counts_a_selection(run: Run, tmp_path: Path) -> None:
    text = "one two 😀 three\nfour five\n"
    (tmp_path / "file.txt").write_text(text)
    lines = text.splitlines(keepends=True)
    count = ENCODING.count
    first, second = count("one two 😀"), count(lines[0])
    run(f"""
        vim.cmd("edit file.txt")
        status("{count(text)} tokens")
        type_keys("gg0v")
        status("1 of {count(text)} tokens")
        type_keys("eee")
        vim.cmd("doautocmd CursorMoved")
        status("{first} of {count(text)} tokens")
        type_keys("V")
        status("{second} of {count(text)} tokens")
        type_keys("j")
        vim.cmd("doautocmd CursorMoved")
        status("{count(text)} of {count(text)} tokens")
        -- Other buffers have no selection, and it ends.
        vim.cmd("new")
        status("0 tokens")
        vim.cmd("quit")
        type_keys("gg0v<Esc>")
        status("{count(text)} tokens")
        """)


def test_the_tokens_are_shown(run: Run, tmp_path: Path) -> None:
    text = "def area(r):\n\n    return 3 * r  # é😀👩\u200d💻\n"
    (tmp_path / "file.txt").write_text(text)
    written = run("""
        vim.cmd("edit file.txt")
        wait("a count", function() return require("compat_bpe").status() ~= "" end)
        local source = vim.api.nvim_get_current_buf()
        vim.cmd("TokenShow")
        wait("a view", function() return vim.api.nvim_get_current_buf() ~= source end)
        written.lines = vim.api.nvim_buf_get_lines(0, 0, -1, true)
        written.kind, written.changes = vim.bo.buftype, vim.bo.modifiable
        local space = vim.api.nvim_get_namespaces().compat_bpe_tokens
        written.tokens = {}
        for _, one in ipairs(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })) do
          local to = one[4]
          table.insert(written.tokens, { one[2], one[3], to.end_row, to.end_col, to.hl_group })
        end
        vim.cmd("quit")
        assert(vim.api.nvim_get_current_buf() == source)
        """)
    data = [line.encode() for line in text.splitlines()]
    assert [line.encode() for line in written["lines"]] == data
    assert (written["kind"], written["changes"]) == ("nofile", False)
    starts = [0, *accumulate(len(line) + 1 for line in data)]
    found = [
        (starts[row] + column, starts[end_row] + end_column)
        for row, column, end_row, end_column, _ in written["tokens"]
    ]
    # Tokens that share a character are one; behind the last line there is nothing.
    places = {0}
    for token in ENCODING.decode_tokens_bytes(ENCODING.encode(text)):
        places.add(max(places) + len(token))
    whole = {len(text[:at].encode()) for at in range(len(text))}
    cuts = [*sorted(places & whole), len(text.encode()) - 1]
    assert found == list(zip(cuts, cuts[1:]))
    groups = [group for *_, group in written["tokens"]]
    assert groups[:2] == ["CompatBpeOddToken", "CompatBpeEvenToken"]
    assert all(one != other for one, other in zip(groups, groups[1:]))


def test_marks(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("é😀 one two three\nfour\n")
    ids = ENCODING.encode("é😀 one two three\nfour\n")
    start = len(ENCODING.decode_bytes(ids[:4]))
    written = run(
        """
        local function marks()
          local found = {}
          local space = vim.api.nvim_get_namespaces().compat_bpe
          local all = vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })
          for _, one in ipairs(all) do
            local details = one[4]
            local text = details.virt_text and details.virt_text[1][1] or vim.NIL
            local last = { details.end_row or 0, details.end_col or 0 }
            table.insert(found, { one[2], one[3], text, unpack(last) })
          end
          return found
        end
        vim.cmd("edit file.txt")
        wait("a mark", function() return #marks() == 2 end)
        written.both = marks()
        vim.api.nvim_buf_set_lines(0, 0, -1, true, { "one" })
        wait("one mark", function() return #marks() == 1 end)
        written.one = marks()
        vim.cmd("TokenRestart")
        wait("none", function() return #marks() == 0 end)
        wait("again", function() return #marks() == 1 end)
        """,
        vimrc="""require("compat_bpe").setup({
          settings = { budget = 4 }, virtual_text = true, highlight = true })""",
    )
    count = f"{len(ids)}/4 tokens"
    assert sorted(written["both"], key=str) == [[0, 0, count, 0, 0], [0, start, None, 1, 4]]
    assert written["one"] == [[0, 0, "2/4 tokens", 0, 0]]


def test_settings_that_are_wrong(run: Run, tmp_path: Path) -> None:
    """They are told in a line, and the counts are those of the defaults."""
    for settings, why in (
        ("{ budget = true }", "budget: it must be a whole number from 0 to 2147483647, not true"),
        ("{ modle = 'gpt-4' }", "modle: there is no such field (did you mean 'model'?)"),
        ("{ show = {}, files = {} }", ""),
        ("{}", ""),
    ):
        written = run(
            """
            vim.api.nvim_buf_set_lines(0, 0, -1, true, { "one two" })
            status("3 tokens")
            """,
            vimrc=f'require("compat_bpe").setup({{ settings = {settings} }})',
        )
        lines = [line for line in written["said"].splitlines() if line]
        assert len(lines) == bool(why)
        assert written["said"].endswith(why)


def test_the_component_for_lualine(run: Run, tmp_path: Path) -> None:
    """Lualine is in no registry: it was tried by hand, and here is what it asks for."""
    (tmp_path / "lua/lualine").mkdir(parents=True)
    stand_in = "return { extend = function() return {} end }"
    (tmp_path / "lua/lualine/component.lua").write_text(stand_in)
    run(
        """
        local component = require("lualine.components.compat_bpe")
        vim.api.nvim_buf_set_lines(0, 0, -1, true, { "one two" })
        wait("a count", function() return component:update_status() == "3 tokens" end)
        """,
        vimrc="vim.opt.runtimepath:append(vim.fn.getcwd())",
    )


def test_help(run: Run, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "editors/nvim/doc", tmp_path / "copy/doc")
    written = run(
        """
        vim.opt.runtimepath:append(vim.fn.getcwd() .. "/copy")
        vim.cmd("helptags copy/doc")
        written.found = {}
        for _, name in ipairs({ "compat_bpe", "compat_bpe.setup()", ":TokenCount", ":TokenInfo",
            ":TokenModel", ":TokenPrompt", ":TokenRestart", ":TokenShow", "compat_bpe-lualine" }) do
          vim.cmd("help " .. name)
          local line = vim.api.nvim_get_current_line()
          table.insert(written.found, line:find("*" .. name, 1, true) ~= nil)
          assert(vim.fn.expand("%:t") == "compat_bpe.txt", name)
        end
        """,
        os.defpath,
    )
    assert written["found"] == [True] * 9
