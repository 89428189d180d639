// The prompt at the cursor, put on the clipboard.
import * as vscode from 'vscode';
import { showError, tokens } from './messages';
import { SCHEME } from './pages';
import { fitPrompt } from './requests';
import { Server } from './server';
import { CLIENT } from './settings';

export async function copyPrompt(server: Server): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const client = server.running;
  if (client === undefined || editor === undefined || editor.document.uri.scheme === SCHEME) {
    return showError(client ? vscode.l10n.t('Open a file to copy a prompt from.') : vscode.l10n.t('The server is not running.'));
  }
  const own = vscode.workspace.getConfiguration(CLIENT);
  try {
    const prompt = await client.sendRequest(fitPrompt, {
      textDocument: client.code2ProtocolConverter.asTextDocumentIdentifier(editor.document),
      position: client.code2ProtocolConverter.asPosition(editor.selection.active),
      limit: own.get<number>('promptLimit', 2000),
      template: own.get<string>('promptTemplate') || undefined,
    });
    await vscode.env.clipboard.writeText(prompt.text ?? prompt.prefix + prompt.suffix);
    void vscode.window.showInformationMessage(vscode.l10n.t('Copied a prompt of {0}.', tokens(prompt.count)));
  } catch (error) {
    showError(error);
  }
}
