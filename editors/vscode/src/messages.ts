// Numbers and errors as people read them.
import * as vscode from 'vscode';

/** Return a count with its noun; an estimate, which has a note of why it is one, with a ≈ before it. */
export function tokens(count: number, note?: string | null): string {
  const words = count === 1 ? vscode.l10n.t('1 token') : vscode.l10n.t('{0} tokens', grouped(count));
  return note ? `≈${words}` : words;
}

/** Return a number with thousands separators. */
export function grouped(count: number): string {
  return count.toLocaleString('en');
}

/** Return the reason that an error gives. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Show an error, without waiting until it is read. */
export function showError(error: unknown): void {
  void vscode.window.showErrorMessage(`compat-bpe: ${reasonOf(error)}`);
}
