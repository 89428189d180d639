// What is said if there is no Python, or the server has stopped.
import * as vscode from 'vscode';
import { Life, Server } from './server';
import { CLIENT } from './settings';

/** Tell the user each time that the server can no longer be had, with buttons for what helps. */
export function tellWhenGone(server: Server): vscode.Disposable {
  let before: Life = server.life;
  return server.onDidChange(() => {
    if (server.life !== before) {
      before = server.life;
      if (before === 'noPython') {
        void offer(server, vscode.l10n.t('Choose a Python…'), 'compatBpe.choosePython');
      } else if (before === 'stopped') {
        void offer(server, vscode.l10n.t('Restart'), 'compatBpe.restart');
      }
    }
  });
}

async function offer(server: Server, button: string, command: string): Promise<void> {
  const settings = vscode.l10n.t('Open the Settings');
  const chosen = await vscode.window.showErrorMessage(`compat-bpe: ${server.reason}`, button, settings);
  if (chosen === button) {
    await vscode.commands.executeCommand(command);
  } else if (chosen === settings) {
    await vscode.commands.executeCommand('workbench.action.openSettings', CLIENT);
  }
}
