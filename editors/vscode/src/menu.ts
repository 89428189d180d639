// What a click on the count offers.
import * as vscode from 'vscode';
import { MODELS } from './models';
import { grouped } from './messages';
import { Server } from './server';
import { SERVER, choice, set, setModel } from './settings';

interface Item extends vscode.QuickPickItem {
  command?: string;
}

/** Show the menu, and carry out what is chosen. */
export async function showMenu(server: Server): Promise<void> {
  const title = server.reason || vscode.l10n.t('Tokens');
  const chosen = await vscode.window.showQuickPick(items(server), { title });
  if (chosen?.command !== undefined) {
    await vscode.commands.executeCommand(chosen.command);
  }
}

function items(server: Server): Item[] {
  const { t } = vscode.l10n;
  const { kind, name } = choice();
  const budget = vscode.workspace.getConfiguration(SERVER).get<number | null>('budget');
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

/** Ask for a model: one of those that the package knows, or any name that is typed. */
export async function chooseModel(): Promise<void> {
  const pick = vscode.window.createQuickPick();
  const known = MODELS.map((label) => ({ label }));
  pick.title = vscode.l10n.t('Count by the encoding of which model?');
  pick.placeholder = vscode.l10n.t('A model, or the name of another one');
  pick.items = known;
  pick.onDidChangeValue((value) => {
    const isNew = value !== '' && !MODELS.includes(value);
    pick.items = isNew ? [...known, { label: value, description: vscode.l10n.t('as typed'), alwaysShow: true }] : known;
  });
  pick.onDidAccept(() => {
    // Enter can come before the item for what was typed does.
    const name = pick.selectedItems[0]?.label ?? pick.value.trim();
    pick.hide();
    if (name !== '') {
      void setModel(name);
    }
  });
  pick.onDidHide(() => pick.dispose());
  pick.show();
}

/** Ask for the budget of a file. */
export async function setBudget(): Promise<void> {
  const before = vscode.workspace.getConfiguration(SERVER).get<number | null>('budget');
  const given = await vscode.window.showInputBox({
    title: vscode.l10n.t('Tokens that a file should not pass; empty for no budget'),
    value: before ? String(before) : '',
    validateInput: (text) => (/^\s*\d{0,9}\s*$/.test(text) ? undefined : vscode.l10n.t('A whole number, such as 8000')),
  });
  if (given !== undefined) {
    await set('budget', given.trim() === '' ? undefined : Number(given));
  }
}
