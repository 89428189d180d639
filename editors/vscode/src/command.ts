// The command `compat-bpe`: of the package inside the extension, unless the settings say another.
import { join } from 'path';
import * as vscode from 'vscode';
import { Command, findPython } from './python';
import { CLIENT } from './settings';

/** Return the command, to which `lsp` or `count` is to be added. */
export async function compatBpe(context: vscode.ExtensionContext): Promise<Command> {
  const set = setCommand();
  if (set !== undefined && set.at(-1) === 'lsp') {
    return set.slice(0, -1) as Command;
  }
  const [program, ...args] = await findPython();
  // Alone (-I): neither the folder that is open nor variables bring in other modules.
  return [program, ...args, '-I', join(context.extensionPath, 'server', 'run.py')];
}

/** Return the command that starts the server. */
export async function server(context: vscode.ExtensionContext): Promise<Command> {
  return setCommand() ?? [...(await compatBpe(context)), 'lsp'];
}

function setCommand(): Command | undefined {
  const set = vscode.workspace.getConfiguration(CLIENT).get<string[]>('command');
  return set?.length ? (set as Command) : undefined;
}
