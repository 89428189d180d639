// The Python that runs the package which the extension brings along.
import { execFile } from 'child_process';
import { homedir } from 'os';
import { promisify } from 'util';
import * as vscode from 'vscode';
import { CLIENT } from './settings';

const OLDEST = [3, 9];
const SECONDS = 30;
const ASKS = 'import sys; print("%d.%d" % sys.version_info[:2])';

/** A program and its first arguments. */
export type Command = [string, ...string[]];

/** Tells that no Python was found that can be used. */
export class NoPython extends Error {}

/** Return the first Python that is new enough: the one that is set, or else one that is found. */
export async function findPython(): Promise<Command> {
  const set = vscode.workspace.getConfiguration(CLIENT).get<string>('python');
  if (set) {
    const problem = await problemOf([set]);
    if (problem === undefined) {
      return [set];
    }
    throw new NoPython(vscode.l10n.t('The setting compatBpeClient.python cannot be used: {0}', problem));
  }
  const problems: string[] = [];
  for (const command of [...(await ofPythonExtension()), ['python3'], ['python'], ['py', '-3']] as Command[]) {
    const problem = await problemOf(command);
    if (problem === undefined) {
      return command;
    }
    problems.push(problem);
  }
  throw new NoPython(vscode.l10n.t('Counting needs Python 3.9 or newer: {0}', problems.join('; ')));
}

/** Return why a Python cannot be used; undefined if it can. */
async function problemOf([program, ...args]: Command): Promise<string | undefined> {
  const name = [program, ...args].join(' ');
  try {
    // Not in the folder that is open: Windows looks for programs there first.
    const options = { cwd: homedir(), timeout: SECONDS * 1000 };
    const { stdout } = await promisify(execFile)(program, [...args, '-I', '-c', ASKS], options);
    const [major, minor] = stdout.trim().split('.').map(Number);
    if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) {
      return undefined;
    }
    return vscode.l10n.t('{0} is Python {1}', name, stdout.trim());
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return code === 'ENOENT' ? vscode.l10n.t('{0} was not found', name) : vscode.l10n.t('{0} does not run', name);
  }
}

interface PythonExtension {
  environments?: {
    getActiveEnvironmentPath(): { path: string };
    resolveEnvironment(path: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
  };
}

/** Return the interpreter that is chosen in the Python extension, if that is installed. */
async function ofPythonExtension(): Promise<Command[]> {
  const extension = vscode.extensions.getExtension<PythonExtension>('ms-python.python');
  // A folder that is not trusted does not choose a program: its environment may be the one chosen.
  if (extension === undefined || !vscode.workspace.isTrusted) {
    return [];
  }
  try {
    const { environments } = await extension.activate();
    const found = await environments?.resolveEnvironment(environments.getActiveEnvironmentPath());
    return found?.executable.uri ? [[found.executable.uri.fsPath]] : [];
  } catch {
    return []; // it is another extension's fault, and there are other Pythons
  }
}

/** Ask for a Python, and set it; return false if none was chosen. */
export async function choosePython(): Promise<boolean> {
  const chosen = await vscode.window.showOpenDialog({
    title: vscode.l10n.t('Choose a Python'),
    canSelectMany: false,
  });
  if (chosen === undefined) {
    return false;
  }
  const settings = vscode.workspace.getConfiguration(CLIENT);
  await settings.update('python', chosen[0].fsPath, vscode.ConfigurationTarget.Global);
  return true;
}
