"""The examples of docs/guide-editors.md do what they say."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import get_encoding
from compat_bpe.fit import fit_prompt
from compat_bpe.lsp.server import NOTIFICATIONS, REQUESTS
from compat_bpe.lsp.settings import SHOWN, read_settings
from tests.clients.environments import RUNNING, run_well
from tests.lsp.client import COMMAND, Client, Failed, client_of
from tests.lsp.real_editors import BARE, ROOT, install_server, neovim_of_debian, neovim_with

GUIDE = (ROOT / "docs/guide-editors.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


def conversation() -> list[dict[str, Any]]:
    """The messages of the examples, in their order."""
    return [
        json.loads(line)
        for block in blocks("json")
        if block.startswith('{"method"')
        for line in block.splitlines()
    ]


def test_requests_have_the_answers_that_are_shown() -> None:
    with client_of() as client:
        answer: dict[str, Any] = {}
        for message in conversation():
            if "method" not in message:
                assert answer == message
            elif message["method"] in REQUESTS:
                answer = answer_to(client, message)
            elif message["method"] in NOTIFICATIONS:
                client.send(message)
            else:
                params = message["params"]
                told = client.wait_for(
                    message["method"],
                    lambda one: one["version"] == params["version"],  # noqa: B023
                )
                assert told == params


def answer_to(client: Client, message: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"result": client.request(message["method"], message["params"])}
    except Failed as failed:
        return {"error": {"code": failed.code, "message": str(failed)}}


def test_every_request_and_thing_that_is_shown_has_an_example() -> None:
    asked = {message.get("method") for message in conversation()}
    own = {method for method in REQUESTS if method.startswith("compatBpe/")}
    assert own <= asked
    for name in (*SHOWN, *own, "compatBpe/didCount"):
        assert f"`{name}`" in GUIDE, name


def test_settings() -> None:
    (settings,) = (json.loads(block) for block in blocks("json") if '"files"' in block)
    read = read_settings(settings)
    assert read.of("/work/prompts/a/b.j2")[0] == ("path", "my-model/tokenizer.json")
    assert read.of("/work/x.md") == (("encoding", "cl100k_base"), 2000)
    assert read.of("/work/x.py") == (("model", "gpt-4o"), 8192)


# The plug-in that is the first example

CODE = "def area(r):\n    return 3.14 * r * r  # 😀\n\n\n" * 500


def expected_prompt(back: int = 0) -> list[int]:
    """The prompt after typing ``x`` at the end of line 1000, some characters before the end."""
    lines = CODE.splitlines(keepends=True)
    before = "".join(lines[:1000]) + lines[1000][:-1] + "x"
    after = "".join(["\n", *lines[1001:]])
    at = len(before) - back
    return fit_prompt(get_encoding("cl100k_base"), before[:at], before[at:] + after, 2000).ids


@pytest.mark.editors
def test_the_plugin_in_lua(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text(CODE)
    (tmp_path / "example.lua").write_text(blocks("lua")[0])
    path = install_server(tmp_path)
    written = neovim_with(
        neovim_of_debian(),
        tmp_path,
        """
        vim.cmd("luafile example.lua")
        vim.cmd("edit code.py")
        local plugin = require("compat_bpe")
        vim.wait(60000, function() return plugin.status() ~= "" end, 5)
        vim.api.nvim_win_set_cursor(0, { 1001, 0 })
        vim.cmd("normal! Ax")
        vim.cmd("startinsert!")
        vim.api.nvim_win_set_cursor(0, { 1001, #vim.api.nvim_get_current_line() })
        vim.cmd("doautocmd TextChangedI")
        vim.wait(60000, function() return vim.g.last_prompt ~= nil end, 5)
        local said = vim.fn.execute("messages")
        local written = { prompt = vim.g.last_prompt, said = said }
        vim.fn.writefile({ vim.fn.json_encode(written) }, "output.json")
        vim.cmd("qa!")
        """,
        *BARE,
        PATH=path,
    )
    prompt = written["prompt"]
    # Without a screen there is no insert mode, so the cursor is on the last character.
    assert prompt["ids"] in (expected_prompt(), expected_prompt(back=1))
    assert prompt["count"] == len(prompt["ids"]) <= 2000
    assert f"the prompt is cut to {prompt['count']} tokens" in written["said"]


@pytest.mark.editors
def test_the_plugin_in_typescript(tmp_path: Path) -> None:
    npm = shutil.which("npm")
    assert npm, "npm is missing: apt-get install npm"
    (tmp_path / "plugin.ts").write_text(blocks("typescript")[0])
    (tmp_path / "input.json").write_text(json.dumps({"command": COMMAND, "text": CODE}))
    (tmp_path / "session.js").write_text(
        """
        const { spawn } = require('node:child_process');
        const { readFileSync, writeFileSync } = require('node:fs');
        const lsp = require('vscode-languageserver-protocol/node');
        const { promptAt } = require('./plugin.js');
        (async () => {
          const given = JSON.parse(readFileSync('input.json', 'utf8'));
          const server = spawn(given.command[0], given.command.slice(1));
          const connection = lsp.createProtocolConnection(server.stdout, server.stdin);
          connection.listen();
          await connection.sendRequest('initialize', { capabilities: {} });
          await connection.sendNotification('initialized', {});
          const uri = 'file:///code.py';
          await connection.sendNotification('textDocument/didOpen', {
            textDocument: { uri, languageId: 'python', version: 1, text: given.text } });
          const place = { line: 1000, character: 12 };
          await connection.sendNotification('textDocument/didChange', {
            textDocument: { uri, version: 2 },
            contentChanges: [{ range: { start: place, end: place }, text: 'x' }] });
          const prompt = await promptAt(connection, { uri }, { line: 1000, character: 13 });
          writeFileSync('output.json', JSON.stringify(prompt));
          server.kill();
        })();
        """
    )
    for name in ("package.json", "package-lock.json"):
        shutil.copy(ROOT / "editors/vscode" / name, tmp_path)
    compiler = "npx --no-install tsc --strict --module node16 --target es2022 --types node"
    for command in (
        [npm, "ci", "--no-audit", "--no-fund", "--loglevel=error"],
        [*compiler.split(), "plugin.ts"],
        [shutil.which("node") or "nodejs", "session.js"],
    ):
        printed = run_well(command, tmp_path, {**os.environ, "PYTHONPATH": str(ROOT)}, RUNNING)
    assert "the prompt is cut to" in printed
    prompt = json.loads((tmp_path / "output.json").read_text())
    assert CODE.splitlines()[1000][:12] == "def area(r):"
    assert prompt["ids"] == expected_prompt()
