// The counts that the server has told, by document.
import * as vscode from 'vscode';
import { Told } from './requests';

export class Counts {
  private readonly told = new Map<string, Told>();
  private readonly changed = new vscode.EventEmitter<string>();
  /** Fires with the URI of a document whose count has come, and with '' if all are gone. */
  readonly onDidChange = this.changed.event;

  take(told: Told): void {
    const uri = vscode.Uri.parse(told.uri).toString();
    this.told.set(uri, told);
    this.changed.fire(uri);
  }

  of(document: vscode.TextDocument): Told | undefined {
    return this.told.get(document.uri.toString());
  }

  forget(document: vscode.TextDocument): void {
    this.told.delete(document.uri.toString());
  }

  /** Forget all: nobody says any longer if they are right. */
  clear(): void {
    this.told.clear();
    this.changed.fire('');
  }
}
