// The settings: those of the server as it takes them, and those of this extension.
import * as vscode from 'vscode';

export const SERVER = 'compatBpe';
export const CLIENT = 'compatBpeClient';
/** The switches, each a setting of its own here, and a member of `show` for the server. */
const SWITCHES = ['codeLens', 'hover', 'diagnostics', 'semanticTokens', 'codeActions'];
const KINDS = ['model', 'path', 'encoding'] as const;

export interface Choice {
  kind: (typeof KINDS)[number];
  name: string;
}

/** Return the settings as the server takes them; a switch that was set wins over the old `show`. */
export function serverSettings(): Record<string, unknown> {
  const given = vscode.workspace.getConfiguration(SERVER);
  const settings: Record<string, unknown> = {};
  for (const name of [...KINDS, 'budget', 'files']) {
    settings[name] = given.get(name) || undefined;
  }
  const show: Record<string, unknown> = {};
  const old = given.get<Record<string, unknown>>('show') ?? {};
  for (const name of SWITCHES) {
    show[name] = isSet(given, name) ? given.get(name) : (old[name] ?? given.get(name));
  }
  return { ...settings, show };
}

/** Return what the settings count by, beside rules for some files; the server's default if nothing. */
export function choice(): Choice {
  const given = vscode.workspace.getConfiguration(SERVER);
  for (const kind of KINDS) {
    const name = given.get<string>(kind);
    if (name) {
      return { kind, name };
    }
  }
  return { kind: 'encoding', name: 'o200k_base' };
}

/** Count by what was chosen, and no longer by what else was set. */
export async function choose({ kind, name }: Choice): Promise<void> {
  for (const other of KINDS) {
    if (other !== kind && vscode.workspace.getConfiguration(SERVER).get(other)) {
      await set(other, undefined);
    }
  }
  await set(kind, name);
}

/** Set or take out a setting where it is set already; else for this user. */
export async function set(name: string, value: unknown): Promise<void> {
  const given = vscode.workspace.getConfiguration(SERVER);
  const inFolder = given.inspect(name)?.workspaceValue !== undefined;
  const target = inFolder ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
  await given.update(name, value, target);
}

function isSet(given: vscode.WorkspaceConfiguration, name: string): boolean {
  const found = given.inspect(name);
  return [found?.globalValue, found?.workspaceValue, found?.workspaceFolderValue].some((one) => one !== undefined);
}
