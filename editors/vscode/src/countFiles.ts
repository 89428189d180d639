// The counts of files and folders, by `compat-bpe count`.
import { execFile } from 'child_process';
import { homedir } from 'os';
import { basename, dirname, relative } from 'path';
import * as vscode from 'vscode';
import { compatBpe } from './command';
import { grouped, showError, tokens } from './messages';
import { Pages, SCHEME } from './pages';
import { choice } from './settings';

const MOST_BYTES = 1 << 28;

interface Report {
  estimate?: string | null;
  files: { path: string; tokens: number }[];
  total: { tokens: number };
  skipped: Left[];
  errors: Left[];
}

/** What is not counted, and why. */
interface Left {
  path: string;
  reason?: string;
  error?: string;
}

function reasonFor({ reason, error }: Left): string {
  return reason ?? error ?? '';
}

/** Count what was chosen in the explorer. */
export async function countFiles(context: vscode.ExtensionContext, pages: Pages, uris: readonly vscode.Uri[]): Promise<void> {
  const paths = uris.filter((uri) => uri.scheme === 'file').map((uri) => uri.fsPath);
  if (paths.length === 0) {
    return showError(vscode.l10n.t('Only files on a disk can be counted.'));
  }
  try {
    const title = vscode.l10n.t('Counting tokens');
    const options = { location: vscode.ProgressLocation.Notification, cancellable: true, title };
    const report = await vscode.window.withProgress(options, (_, token) => count(context, paths, token));
    if (report !== undefined) {
      await tell(report, paths, pages);
    }
  } catch (error) {
    showError(error);
  }
}

/** Ask for a folder, and count it. */
export async function countFolder(context: vscode.ExtensionContext, pages: Pages): Promise<void> {
  const chosen = await vscode.window.showOpenDialog({
    canSelectFolders: true,
    canSelectFiles: false,
    defaultUri: vscode.workspace.workspaceFolders?.[0]?.uri,
    openLabel: vscode.l10n.t('Count Tokens'),
  });
  if (chosen !== undefined) {
    await countFiles(context, pages, chosen);
  }
}

async function count(
  context: vscode.ExtensionContext,
  paths: string[],
  token: vscode.CancellationToken,
): Promise<Report | undefined> {
  const [program, ...args] = await compatBpe(context);
  const { kind, name } = choice();
  const by = kind === 'model' ? ['--model', name, '--estimate'] : ['--encoding', name];
  const options = { cwd: homedir(), maxBuffer: MOST_BYTES };
  return await new Promise((resolve, reject) => {
    const child = execFile(program, [...args, 'count', '--json', ...by, '--', ...paths], options, (error, out, said) => {
      if (token.isCancellationRequested) {
        resolve(undefined);
      } else if (out.startsWith('{')) {
        resolve(JSON.parse(out) as Report); // also if some files could not be read
      } else {
        reject(new Error(said.trim().split('\n').at(-1) || error?.message || vscode.l10n.t('The command printed nothing.')));
      }
    });
    token.onCancellationRequested(() => child.kill());
  });
}

async function tell(report: Report, paths: string[], pages: Pages): Promise<void> {
  const { files, total, skipped, errors } = report;
  const left = [...skipped, ...errors];
  if (files.length === 0 && left.length === 1) {
    const why = vscode.l10n.t('{0} is not counted: {1}', basename(left[0].path), reasonFor(left[0]));
    return void vscode.window.showWarningMessage(why);
  }
  const sum = tokens(total.tokens, report.estimate);
  const parts = [
    files.length === 1 ? sum : vscode.l10n.t('{0} in {1} files', sum, grouped(files.length)),
    ...(skipped.length ? [vscode.l10n.t('{0} skipped', grouped(skipped.length))] : []),
    ...(errors.length ? [vscode.l10n.t('{0} not read', grouped(errors.length))] : []),
  ];
  const each = vscode.l10n.t('Show Each File');
  const offered = files.length + left.length > 1 ? [each] : [];
  const chosen = await vscode.window.showInformationMessage(parts.join(', '), ...offered);
  if (chosen === each) {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${vscode.l10n.t('Counts')}`, query: String(Date.now()) });
    pages.write(uri, listOf(report, dirname(paths[0])));
    await vscode.window.showTextDocument(uri);
  }
}

/** Return the counts of files, most tokens first, and what was not counted. */
function listOf({ files, total, skipped, errors }: Report, root: string): string {
  const rows = [...files].sort((one, other) => other.tokens - one.tokens);
  const width = grouped(total.tokens).length;
  const line = (count: number, name: string) => `${grouped(count).padStart(width)}  ${name}`;
  return [
    line(total.tokens, vscode.l10n.t('total')),
    ...rows.map((one) => line(one.tokens, relative(root, one.path))),
    ...[...skipped, ...errors].map((one) => `${'–'.padStart(width)}  ${relative(root, one.path)}: ${reasonFor(one)}`),
    '',
  ].join('\n');
}
