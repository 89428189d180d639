"""The server with the client of pytest-lsp in its own environment; run by test_clients.py."""

from __future__ import annotations

import os
import random
import re
import shlex
from collections.abc import AsyncIterator

import pytest
import pytest_lsp
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.workspace import PositionCodec, TextDocument
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from compat_bpe import get_encoding

URI = "file:///work/notes.md"
TEXT = "# One\r\n\nsome text 😀\n## Two\nmore é text, and more\n" * 4
COMMAND = shlex.split(os.environ["SERVER"])


@pytest_lsp.fixture(
    params=["neovim", "visual_studio_code"], config=ClientServerConfig(server_command=COMMAND)
)
async def client(request: pytest.FixtureRequest, lsp_client: LanguageClient) -> AsyncIterator[None]:
    lsp_client.told = []  # type: ignore[attr-defined]

    @lsp_client.feature("compatBpe/didCount")
    def told(_client: LanguageClient, params: object) -> None:
        lsp_client.told.append(params)  # type: ignore[attr-defined]

    @lsp_client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def registered(_client: LanguageClient, _params: types.RegistrationParams) -> None:
        """Say that the files of budgets are watched, as VS Code does."""

    agreed = await lsp_client.initialize_session(
        types.InitializeParams(
            capabilities=client_capabilities(request.param),
            initialization_options={"model": "gpt-4", "budget": 30, "show": {"hover": True}},
        )
    )
    lsp_client.unit = agreed.capabilities.position_encoding  # type: ignore[attr-defined]
    yield
    await lsp_client.shutdown_session()


async def test_a_session(client: LanguageClient) -> None:
    encoding = get_encoding("cl100k_base")
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(URI, "markdown", 1, TEXT))
    )
    identifier = types.TextDocumentIdentifier(URI)
    report = await client.text_document_diagnostic_async(types.DocumentDiagnosticParams(identifier))
    assert report.items[0].range.start.line == report.items[0].range.end.line
    codec = PositionCodec(client.unit)  # type: ignore[attr-defined]
    document = TextDocument(URI, TEXT, 1, position_codec=codec)
    rng = random.Random(3)
    for version in range(2, 60):
        line = rng.randrange(len(document.lines) - 1)
        # Neither beyond the end of a line nor within a character: there pygls has other places.
        content = re.sub("[\r\n]", "", document.lines[line])
        column = codec.client_num_units(content[: rng.randrange(len(content) + 1)])
        start = types.Position(line, column)
        end = types.Position(line + 1, 0) if rng.randrange(4) == 0 else start
        text = rng.choice(["", "x", "😀", "\r\n", " word", "\n# Three\n"])
        change = types.TextDocumentContentChangePartial(types.Range(start, end), text)
        document.apply_change(change)
        client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version, URI), [change]
            )
        )
        found = await client.protocol.send_request_async(
            "compatBpe/count", {"textDocument": {"uri": URI}}
        )
        assert found.version == version
        assert found.count == encoding.count(document.source)
    assert client.told[-1].version <= version  # type: ignore[attr-defined]
    lenses = await client.text_document_code_lens_async(types.CodeLensParams(identifier))
    assert lenses[0].command.title.startswith(f"{encoding.count(document.source):,} tokens")
    hover = await client.text_document_hover_async(
        types.HoverParams(identifier, types.Position(0, 0))
    )
    assert isinstance(hover.contents, types.MarkupContent)
    actions = await client.text_document_code_action_async(
        types.CodeActionParams(
            identifier,
            types.Range(types.Position(0, 0), types.Position(2, 0)),
            types.CodeActionContext([]),
        )
    )
    assert [action.title for action in actions] == ["Count the selection"]
    with pytest.raises(JsonRpcInvalidParams, match="limit: it is missing"):
        await client.protocol.send_request_async("compatBpe/fits", {"text": "x"})
