// What a click on the count offers.
import * as vscode from 'vscode';
import { Counts } from './counts';
import { grouped } from './messages';
import { Server } from './server';
import { SERVER, choice, set } from './settings';

interface Item extends vscode.QuickPickItem {
  command?: string;
}

/** Show the menu, and carry out what is chosen. */
export async function showMenu(server: Server, counts: Counts): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  const title = server.reason || (document && counts.of(document)?.problem) || vscode.l10n.t('Tokens');
  const chosen = await vscode.window.showQuickPick(items(server), { title });
  if (chosen?.command !== undefined) {
    await vscode.commands.executeCommand(chosen.command);
  }
}

function items(server: Server): Item[] {
  const { t } = vscode.l10n;
  const { kind, name } = choice();
  const budget = vscode.workspace.getConfiguration(SERVER).get<number>('budget');
  const last: Item[] = [
    { label: '', kind: vscode.QuickPickItemKind.Separator },
    { label: `$(debug-restart) ${t('Restart the server')}`, command: 'compatBpe.restart' },
    { label: `$(gear) ${t('Settings')}`, command: 'compatBpe.settings' },
  ];
  if (server.life === 'noPython') {
    return [{ label: `$(folder-opened) ${t('Choose a Python…')}`, command: 'compatBpe.choosePython' }, ...last];
  }
  return [
    { label: `$(symbol-namespace) ${t('Model…')}`, description: kind === 'model' ? name : `${kind} ${name}`, command: 'compatBpe.chooseModel' },
    { label: `$(dashboard) ${t('Budget…')}`, description: budget ? grouped(budget) : t('none'), command: 'compatBpe.setBudget' },
    { label: `$(copy) ${t('Copy the prompt at the cursor')}`, command: 'compatBpe.promptAtCursor' },
    { label: `$(folder) ${t('Count the tokens of a folder…')}`, command: 'compatBpe.countFolder' },
    { label: `$(eye) ${t('Show the tokens')}`, command: 'compatBpe.showTokens' },
    ...last,
  ];
}

/** Ask for the budget of a file. */
export async function setBudget(): Promise<void> {
  const before = vscode.workspace.getConfiguration(SERVER).get<number>('budget');
  const given = await vscode.window.showInputBox({
    title: vscode.l10n.t('The maximum number of tokens of a file; empty for no budget'),
    value: before ? String(before) : '',
    validateInput: (text) => (/^\s*\d{0,9}\s*$/.test(text) ? undefined : vscode.l10n.t('A whole number, such as 8000')),
  });
  if (given !== undefined) {
    await set('budget', given.trim() === '' ? undefined : Number(given));
  }
}
