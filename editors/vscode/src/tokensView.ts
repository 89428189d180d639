// The tokens of a document beside it: backgrounds alternate, and a hover names each.
import * as vscode from 'vscode';
import { Counts } from './counts';
import { grouped, showError, tokens } from './messages';
import { Pages, SCHEME } from './pages';
import { tokensOf } from './requests';
import { Server } from './server';
import { Piece, viewOf } from './tokenText';

/** The most characters whose tokens are shown. */
const MOST = 50_000;

export class TokensView implements vscode.HoverProvider, vscode.Disposable {
  private readonly kinds = ['compatBpe.evenToken', 'compatBpe.oddToken'].map((id) =>
    vscode.window.createTextEditorDecorationType({ backgroundColor: new vscode.ThemeColor(id) }),
  );
  /** By the URI of the view: the source, and where the tokens are. */
  private readonly views = new Map<string, { source: string; pieces: Piece[] }>();

  constructor(
    private readonly server: Server,
    private readonly pages: Pages,
    counts: Counts,
  ) {
    counts.onDidChange((uri) => void this.renew(uri));
  }

  /** Show the tokens of the document in front. */
  async open(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    if (document === undefined || document.uri.scheme === SCHEME) {
      return;
    }
    const uri = viewUri(document);
    if (await this.fill(uri, document)) {
      const view = await vscode.workspace.openTextDocument(uri);
      await vscode.window.showTextDocument(view, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true });
      this.paint();
    }
  }

  /** Give the views that are seen their backgrounds. */
  paint(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const view = this.views.get(editor.document.uri.toString());
      if (view !== undefined) {
        this.kinds.forEach((kind, parity) => {
          const own = view.pieces.filter((_, index) => index % 2 === parity);
          editor.setDecorations(kind, own.map((piece) => rangeOf(editor.document, piece)));
        });
      }
    }
  }

  provideHover(document: vscode.TextDocument, position: vscode.Position): vscode.Hover | undefined {
    const at = document.offsetAt(position);
    const piece = this.views.get(document.uri.toString())?.pieces.find((one) => one.start <= at && at < one.end);
    if (piece === undefined) {
      return undefined;
    }
    const text = new vscode.MarkdownString();
    piece.tokens.forEach((token, index) => {
      // Numbered as on the page.
      text.appendMarkdown(vscode.l10n.t('Token {0} · id {1}', grouped(piece.first + index + 1), token.id));
      text.appendCodeblock(JSON.stringify(token.text), 'json');
    });
    return new vscode.Hover(text, rangeOf(document, piece));
  }

  forget(uri: vscode.Uri): void {
    this.views.delete(uri.toString());
    this.pages.forget(uri);
  }

  private async renew(source: string): Promise<void> {
    for (const [uri, view] of this.views) {
      const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === source);
      if (view.source === source && document !== undefined) {
        await this.fill(vscode.Uri.parse(uri), document);
      }
    }
  }

  private async fill(uri: vscode.Uri, document: vscode.TextDocument): Promise<boolean> {
    const client = this.server.running;
    if (client === undefined) {
      showError(vscode.l10n.t('The server is not running.'));
      return false;
    }
    const text = document.getText();
    const version = document.version;
    const range = new vscode.Range(document.positionAt(0), document.positionAt(MOST));
    try {
      const found = await client.sendRequest(tokensOf, {
        textDocument: client.code2ProtocolConverter.asTextDocumentIdentifier(document),
        range: client.code2ProtocolConverter.asRange(range),
      });
      if (document.version !== version || found.version !== version) {
        return true; // the next count brings the next view
      }
      const given = found.tokens.map((one) => {
        const { start, end } = client.protocol2CodeConverter.asRange(one.range);
        return { id: one.id, text: one.text, start: document.offsetAt(start), end: document.offsetAt(end) };
      });
      const view = viewOf(text, given);
      const rest = text.length > MOST ? `\n\n… ${vscode.l10n.t('Only the first {0} are shown.', tokens(given.length))}` : '';
      this.views.set(uri.toString(), { source: document.uri.toString(), pieces: view.pieces });
      this.pages.write(uri, view.text + rest);
      return true;
    } catch (error) {
      showError(error);
      return false;
    }
  }

  dispose(): void {
    this.kinds.forEach((kind) => kind.dispose());
  }
}

function viewUri(document: vscode.TextDocument): vscode.Uri {
  const name = document.uri.path.split('/').pop() || 'text';
  const path = `/${vscode.l10n.t('Tokens of {0}', name)}`;
  return vscode.Uri.from({ scheme: SCHEME, path, query: document.uri.toString() });
}

function rangeOf(document: vscode.TextDocument, piece: Piece): vscode.Range {
  return new vscode.Range(document.positionAt(piece.start), document.positionAt(piece.end));
}
