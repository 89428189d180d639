// Speaks with the server through the packages that VS Code uses; run by test_clients.py.
'use strict';
const { spawn } = require('node:child_process');
const { readFileSync, writeFileSync } = require('node:fs');
const lsp = require('vscode-languageserver-protocol/node');
const { TextDocument } = require('vscode-languageserver-textdocument');

const given = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const uri = 'file:///work/%C3%A9.ts';

// Random numbers that are the same each time.
let state = 1;
function random(below) {
  state = (state * 48271) % 2147483647;
  return state % below;
}

const parts = ['a', ' word', '\n', '\r\n', '\r', '😀', 'é', '中文', '\ud83d', '\ude00', '', '👩‍👩‍👧', "'s"];

async function main() {
  const written = { counts: [], told: [] };
  const server = spawn(given.command[0], given.command.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => server.on('exit', resolve));
  const connection = lsp.createProtocolConnection(server.stdout, server.stdin);
  connection.onNotification('compatBpe/didCount', (told) => written.told.push(told));
  let published;
  connection.onNotification(lsp.PublishDiagnosticsNotification.type, (params) => { published = params; });
  connection.listen();
  const initialized = await connection.sendRequest(lsp.InitializeRequest.type, {
    processId: process.pid,
    rootUri: 'file:///work',
    capabilities: {
      general: { positionEncodings: ['utf-16'] },
      experimental: { commands: { commands: ['compatBpe.copyAsPrompt'] } },
    },
    initializationOptions: { encoding: 'cl100k_base', budget: 40, show: { semanticTokens: true, hover: true } },
  });
  written.capabilities = initialized.capabilities;
  await connection.sendNotification(lsp.InitializedNotification.type, {});

  let document = TextDocument.create(uri, 'typescript', 1, given.text);
  await connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: 'typescript', version: 1, text: given.text },
  });
  for (let version = 2; version < 202; version++) {
    const changes = [];
    for (let number = random(3); number >= 0; number--) {
      const length = document.getText().length;
      const start = random(length + 1);
      const end = Math.min(length, start + (random(3) ? random(4) : random(60)));
      const text = Array.from({ length: random(6) }, () => parts[random(parts.length)]).join('');
      const range = { start: document.positionAt(start), end: document.positionAt(end) };
      const whole = !random(40);
      changes.push(whole ? { text: given.text } : { range, text });
      // Made anew each time: TextDocument.update() loses count of lines where an edit joins \r and \n.
      const old = document.getText();
      const changed = old.slice(0, document.offsetAt(range.start)) + text + old.slice(document.offsetAt(range.end));
      document = TextDocument.create(uri, 'typescript', version, whole ? given.text : changed);
    }
    await connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, {
      textDocument: { uri, version },
      contentChanges: changes,
    });
    const found = await connection.sendRequest('compatBpe/count', { textDocument: { uri } });
    written.counts.push({ ...found, text: document.getText() });
  }
  // A text that is well formed, so that what the server has can be compared in JSON.
  const text = given.text;
  await connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, {
    textDocument: { uri, version: 300 }, contentChanges: [{ text }],
  });
  written.prompt = await connection.sendRequest('compatBpe/fitPrompt', {
    textDocument: { uri }, position: { line: 1, character: 4 }, limit: 30, template: '{prefix}{suffix}',
  });
  const position = { line: 0, character: 1 };
  written.hover = await connection.sendRequest(lsp.HoverRequest.type, { textDocument: { uri }, position });
  written.lenses = await connection.sendRequest(lsp.CodeLensRequest.type, { textDocument: { uri } });
  const range = { start: { line: 0, character: 0 }, end: { line: 2, character: 0 } };
  written.tokens = await connection.sendRequest(lsp.SemanticTokensRangeRequest.type, { textDocument: { uri }, range });
  written.actions = await connection.sendRequest(lsp.CodeActionRequest.type, {
    textDocument: { uri }, range: { start: position, end: position }, context: { diagnostics: [], triggerKind: 1 },
  });
  try {
    await connection.sendRequest('compatBpe/fits', { text: 'a', limit: 'many' });
  } catch (error) {
    written.error = { code: error.code, message: error.message };
  }
  const source = new lsp.CancellationTokenSource();
  const long = connection.sendRequest('compatBpe/count', { text: 'one two three\n'.repeat(300000) }, source.token);
  source.cancel();
  written.cancelled = await long.then(() => 0, (error) => error.code);
  // The count of the last text comes when the interval is over; its diagnostics, if they are others
  // than those that were published last, come after it and before the next answer.
  while (!written.told.some((told) => told.version === 300)) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await connection.sendRequest(lsp.ShutdownRequest.type);
  written.published = published;
  await connection.sendNotification(lsp.ExitNotification.type);
  written.status = await ended;
  writeFileSync(process.argv[3], JSON.stringify(written));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
