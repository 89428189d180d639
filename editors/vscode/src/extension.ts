// Counts in the status bar and commands for prompts, by the language server `compat-bpe lsp`.
import { homedir } from 'os';
import * as vscode from 'vscode';
import { LanguageClient, LanguageClientOptions, ServerOptions } from 'vscode-languageclient/node';
import { Told, didCount, fitPrompt } from './requests';

let client: LanguageClient | undefined;
let item: vscode.StatusBarItem;
const counts = new Map<string, Told>();

/** Show the count of the file in front. */
function show(): void {
  const uri = vscode.window.activeTextEditor?.document.uri.toString();
  const told = uri === undefined ? undefined : counts.get(uri);
  if (told === undefined) {
    item.hide();
    return;
  }
  const count = told.count.toLocaleString('en');
  item.text = told.limit === undefined ? `${count} tokens` : `${count}/${told.limit.toLocaleString('en')} tokens`;
  const isOver = told.limit !== undefined && told.count > told.limit;
  item.backgroundColor = isOver ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
  item.show();
}

/** Copy the prompt at the cursor. */
async function promptAtCursor(): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (client === undefined || editor === undefined) {
    return;
  }
  const own = vscode.workspace.getConfiguration('compatBpeClient');
  try {
    const prompt = await client.sendRequest(fitPrompt, {
      textDocument: client.code2ProtocolConverter.asTextDocumentIdentifier(editor.document),
      position: client.code2ProtocolConverter.asPosition(editor.selection.active),
      limit: own.get<number>('promptLimit', 2000),
      template: own.get<string | null>('promptTemplate', null) ?? undefined,
    });
    await vscode.env.clipboard.writeText(prompt.prefix + prompt.suffix);
    void vscode.window.showInformationMessage(`A prompt of ${prompt.count} tokens is copied.`);
  } catch (error) {
    void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
  }
}

async function start(): Promise<void> {
  const own = vscode.workspace.getConfiguration('compatBpeClient');
  const [command, ...args] = own.get<string[]>('command', ['compat-bpe', 'lsp']);
  // Not in the folder that is open: Windows looks for programs there first, and Python for modules.
  const server: ServerOptions = { command, args, options: { cwd: homedir() } };
  const options: LanguageClientOptions = {
    documentSelector: [{ scheme: 'file' }, { scheme: 'untitled' }],
    initializationOptions: { compatBpe: vscode.workspace.getConfiguration('compatBpe') },
    synchronize: { configurationSection: 'compatBpe' },
    middleware: {
      executeCommand: async (name, given, next) => {
        const result = await next(name, given);
        if (name === 'compatBpe.copyAsPrompt') {
          await vscode.env.clipboard.writeText(result.text);
          void vscode.window.showInformationMessage(`${result.count} tokens are copied.`);
        }
        return result;
      },
    },
  };
  client = new LanguageClient('compatBpe', 'compat-bpe', server, options);
  client.onNotification(didCount, (told) => {
    counts.set(told.uri, told);
    show();
  });
  await client.start();
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Right, 100);
  context.subscriptions.push(
    item,
    vscode.window.onDidChangeActiveTextEditor(show),
    vscode.workspace.onDidCloseTextDocument((document) => counts.delete(document.uri.toString())),
    vscode.commands.registerCommand('compatBpe.promptAtCursor', promptAtCursor),
    vscode.commands.registerCommand('compatBpe.restart', async () => {
      await client?.stop();
      counts.clear();
      show();
      await start();
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}
