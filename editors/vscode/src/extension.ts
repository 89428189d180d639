// Counts in the status bar, commands and views, by the language server `compat-bpe lsp`.
import * as vscode from 'vscode';
import { countFiles, countFolder } from './countFiles';
import { Counts } from './counts';
import { setBudget, showMenu } from './menu';
import { chooseModel } from './models';
import { Pages, SCHEME } from './pages';
import { copyPrompt } from './prompt';
import { choosePython } from './python';
import { SelectionCount } from './selection';
import { Server } from './server';
import { CLIENT } from './settings';
import { StatusBar } from './statusBar';
import { TokensView } from './tokensView';

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const counts = new Counts();
  const own = (server = new Server(context, counts));
  const selection = new SelectionCount(own);
  const bar = new StatusBar(own, counts, selection);
  const pages = new Pages();
  const view = new TokensView(own, pages, counts);

  const commands: Record<string, (...args: never[]) => unknown> = {
    menu: () => showMenu(own, counts),
    chooseModel: () => chooseModel(own),
    setBudget,
    choosePython, // the setting that it changes starts the server
    promptAtCursor: () => copyPrompt(own),
    countFiles: (uri: vscode.Uri, uris?: vscode.Uri[]) => countFiles(context, pages, uris ?? [uri]),
    countFolder: () => countFolder(context, pages),
    showTokens: () => view.open(),
    restart: () => own.restart(),
    settings: () => vscode.commands.executeCommand('workbench.action.openSettings', '@ext:compat-bpe.compat-bpe'),
  };
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(`compatBpe.${name}`, run));
  }

  const { window, workspace } = vscode;
  context.subscriptions.push(
    bar,
    selection,
    view,
    counts.onDidChange(() => bar.show()),
    selection.onDidChange(() => bar.show()),
    own.onDidChange(() => bar.show()),
    window.onDidChangeActiveTextEditor(() => {
      selection.renew();
      bar.show();
    }),
    window.onDidChangeTextEditorSelection(() => selection.renew()),
    window.onDidChangeVisibleTextEditors(() => view.paint()),
    workspace.registerTextDocumentContentProvider(SCHEME, pages),
    vscode.languages.registerHoverProvider({ scheme: SCHEME }, view),
    workspace.onDidChangeTextDocument(({ document }) => {
      if (document.uri.scheme === SCHEME) {
        view.paint();
      } else if (document === window.activeTextEditor?.document) {
        bar.show();
        void own.revive();
      }
    }),
    workspace.onDidCloseTextDocument((document) => {
      counts.forget(document);
      view.forget(document.uri);
    }),
    workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(`${CLIENT}.command`) || event.affectsConfiguration(`${CLIENT}.python`)) {
        void own.restart();
      }
      bar.show();
    }),
  );
  void own.restart();
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}
