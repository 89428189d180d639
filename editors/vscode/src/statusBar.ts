// The count in the status bar: of the document in front or of what is selected in it.
import * as vscode from 'vscode';
import { Counts } from './counts';
import { grouped, tokens } from './messages';
import { Told } from './requests';
import { SelectionCount } from './selection';
import { Server } from './server';
import { choice } from './settings';

export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('compatBpe.count', vscode.StatusBarAlignment.Right, 100);

  constructor(
    private readonly server: Server,
    private readonly counts: Counts,
    private readonly selection: SelectionCount,
  ) {
    this.item.name = vscode.l10n.t('Count of tokens');
    this.item.command = 'compatBpe.menu';
  }

  show(): void {
    const document = vscode.window.activeTextEditor?.document;
    this.item.backgroundColor = undefined;
    if (this.server.life === 'noPython') {
      this.fail(vscode.l10n.t('Tokens: no Python'));
    } else if (this.server.life === 'stopped') {
      this.fail(vscode.l10n.t('Tokens: stopped'));
    } else if (document === undefined || !['file', 'untitled', 'vscode-remote'].includes(document.uri.scheme)) {
      this.item.hide();
      return;
    } else {
      this.count(document, this.counts.of(document));
    }
    this.item.show();
  }

  /** The tokens that the chosen model takes; undefined if that is not known. */
  private get context(): number | undefined {
    const { kind, name } = choice();
    return kind === 'model' ? this.server.models.find((one) => one.name === name)?.context : undefined;
  }

  private fail(text: string): void {
    this.item.text = `$(warning) ${text}`;
    this.item.tooltip = `${this.server.reason}\n${vscode.l10n.t('Click to see what to do.')}`;
    this.item.backgroundColor = new vscode.ThemeColor('statusBarItem.errorBackground');
  }

  private count(document: vscode.TextDocument, told: Told | undefined): void {
    if (told === undefined) {
      this.item.text = `$(loading~spin) ${vscode.l10n.t('tokens')}`;
      this.item.tooltip = vscode.l10n.t('Counting…');
      return;
    }
    if (told.problem !== undefined) {
      this.item.text = `$(warning) ${vscode.l10n.t('Tokens: settings not used')}`;
      this.item.tooltip = `${told.problem}\n${vscode.l10n.t('Click to see what to do.')}`;
      this.item.backgroundColor = new vscode.ThemeColor('statusBarItem.warningBackground');
      return;
    }
    const limit = told.limit ?? this.context;
    const share = limit ? `${((told.count * 100) / limit).toFixed(told.count * 10 < limit ? 1 : 0)} %` : undefined;
    const selected = this.selection.count;
    // What is not of this version has a mark until the next count comes.
    const mark = told.version === document.version ? '' : '…';
    const whole = `${tokens(told.count, told.note)}${mark}`;
    const shown = selected === undefined ? whole : vscode.l10n.t('{0} of {1}', grouped(selected), whole);
    this.item.text = [shown, encodingOf(told), share].filter(Boolean).join(' · ');
    this.item.tooltip = tooltip(told, selected, limit);
    if (told.limit !== undefined && told.count > told.limit) {
      this.item.backgroundColor = new vscode.ThemeColor('statusBarItem.warningBackground');
    }
  }

  dispose(): void {
    this.item.dispose();
  }
}

function encodingOf(told: Told): string {
  return told.encoding || choice().name;
}

function tooltip(told: Told, selected: number | undefined, limit: number | undefined): string {
  const { kind, name } = choice();
  const lines = [vscode.l10n.t('This file: {0}', tokens(told.count, told.note))];
  if (selected !== undefined) {
    lines.push(vscode.l10n.t('Selected: {0}', tokens(selected, told.note)));
  }
  lines.push(told.note ? vscode.l10n.t('An estimate: {0}', told.note) : vscode.l10n.t('Encoding: {0}', encodingOf(told)));
  if (kind === 'model') {
    lines.push(vscode.l10n.t('Model: {0}', name));
  }
  if (limit !== undefined) {
    const text = told.limit === undefined ? 'Context of the model: {0}' : 'Budget: {0}';
    lines.push(vscode.l10n.t(text, tokens(limit)));
  }
  lines.push(vscode.l10n.t('Click for the model, the budget, prompts and the tokens.'));
  return lines.join('\n');
}
