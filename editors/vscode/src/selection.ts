// The count of what is selected in the editor in front.
import * as vscode from 'vscode';
import { countRange } from './requests';
import { Server } from './server';

const MOST = 50;
const WAIT = 80;

export class SelectionCount implements vscode.Disposable {
  /** The count; undefined where nothing is selected, or it is not known yet. */
  count: number | undefined;
  private number = 0;
  private timer: NodeJS.Timeout | undefined;
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;

  constructor(private readonly server: Server) {}

  /** Count anew after a moment, since selections change fast. */
  renew(): void {
    const hadOne = this.count !== undefined;
    this.count = undefined;
    this.number += 1;
    clearTimeout(this.timer);
    const editor = vscode.window.activeTextEditor;
    if (editor?.selections.some((one) => !one.isEmpty)) {
      this.timer = setTimeout(() => void this.ask(editor, this.number), WAIT);
    }
    if (hadOne) {
      this.changed.fire();
    }
  }

  private async ask(editor: vscode.TextEditor, number: number): Promise<void> {
    const client = this.server.running;
    const selected = editor.selections.filter((one) => !one.isEmpty);
    if (client === undefined || selected.length > MOST) {
      return;
    }
    const textDocument = client.code2ProtocolConverter.asTextDocumentIdentifier(editor.document);
    try {
      const all = selected.map((one) =>
        client.sendRequest(countRange, { textDocument, range: client.code2ProtocolConverter.asRange(one) }),
      );
      const counts = await Promise.all(all);
      if (number === this.number) {
        this.count = counts.reduce((sum, one) => sum + one.count, 0);
        this.changed.fire();
      }
    } catch {
      // The text has changed meanwhile, or the document is not counted: then no count is shown.
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
  }
}
