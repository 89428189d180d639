// The models that the server knows, to choose from: what counts each, or what it needs.
import * as vscode from 'vscode';
import { grouped } from './messages';
import { Model } from './requests';
import { Server } from './server';
import { Choice, choose } from './settings';

interface Item extends vscode.QuickPickItem {
  model?: Model;
}

/** Ask for a model: one of those that the server knows, or any name that is typed. */
export async function chooseModel(server: Server): Promise<void> {
  await server.learn();
  const pick = vscode.window.createQuickPick<Item>();
  const known = listOf(server.models);
  pick.title = vscode.l10n.t('Count by the tokenizer of which model?');
  pick.placeholder = vscode.l10n.t('Choose a model, or type another name');
  pick.matchOnDescription = true;
  pick.items = known;
  pick.onDidChangeValue((value) => {
    const isNew = value !== '' && !server.models.some(({ name }) => name === value);
    pick.items = isNew ? [{ label: value, description: vscode.l10n.t('as typed'), alwaysShow: true }, ...known] : known;
  });
  pick.onDidAccept(() => {
    // Enter can come before the item for what was typed does.
    const name = pick.selectedItems[0]?.label ?? pick.value.trim();
    const needs = needsOf(pick.selectedItems[0]?.model);
    pick.hide();
    if (name !== '') {
      void take(server, { kind: 'model', name }, needs && `${name}: ${needs}.`);
    }
  });
  pick.onDidHide(() => pick.dispose());
  pick.show();
}

function listOf(models: readonly Model[]): Item[] {
  const items: Item[] = [];
  let group = '';
  for (const model of models) {
    if (model.group !== group) {
      group = model.group;
      items.push({ label: group, kind: vscode.QuickPickItemKind.Separator });
    }
    const by = needsOf(model) ?? model.encoding ?? vscode.l10n.t('≈ an estimate');
    const context = model.context === undefined ? '' : ` · ${grouped(model.context)}`;
    items.push({ label: model.name, description: by + context, model });
  }
  return items;
}

/** Return what has to be done before a model can be counted; undefined if nothing has. */
function needsOf(model: Model | undefined): string | undefined {
  return model?.file ? vscode.l10n.t('choose {0}', model.file) : model?.service;
}

/** Count by what was chosen if the server takes it; else say why it does not, and offer a file. */
async function take(server: Server, chosen: Choice, needs?: string): Promise<void> {
  const problem = needs ?? (await server.problemOf(chosen));
  if (problem === undefined) {
    return choose(chosen);
  }
  const button = vscode.l10n.t('Choose a File…');
  if ((await vscode.window.showWarningMessage(problem, { modal: true }, button)) === button) {
    const files = await vscode.window.showOpenDialog({ title: problem });
    if (files !== undefined) {
      await take(server, { kind: 'path', name: files[0].fsPath });
    }
  }
}
