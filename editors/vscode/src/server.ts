// The server's life: it is started, found to be gone, and started again.
import { homedir } from 'os';
import * as vscode from 'vscode';
import { CloseAction, ErrorAction, LanguageClient, LanguageClientOptions, State } from 'vscode-languageclient/node';
import { server as serverCommand } from './command';
import { Counts } from './counts';
import { reasonOf } from './messages';
import { NoPython } from './python';
import { didCount } from './requests';
import { SERVER, serverSettings } from './settings';

export type Life = 'starting' | 'running' | 'stopped' | 'noPython';

/** After so many deaths in this time it is not started again by itself. */
const DEATHS = 5;
const MINUTES = 3;
/** The least time between two starts that edits bring about. */
const PAUSE = 10_000;

export class Server {
  life: Life = 'starting';
  /** Why there is no server. */
  reason = '';
  private client: LanguageClient | undefined;
  private deaths: number[] = [];
  private lastStart = 0;
  private starts: Promise<void> = Promise.resolve();
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly counts: Counts,
  ) {}

  /** Return the client of the server that runs. */
  get running(): LanguageClient | undefined {
    return this.life === 'running' ? this.client : undefined;
  }

  /** Start the server, again if there is one; errors are in `life` and `reason`. */
  restart(): Promise<void> {
    this.deaths = [];
    this.starts = this.starts.then(() => this.stop()).then(() => this.start());
    return this.starts;
  }

  /** Start the server after an edit, if it has stopped and there may be another try. */
  async revive(): Promise<void> {
    if (this.life === 'stopped' && Date.now() - this.lastStart > PAUSE) {
      await this.restart();
    }
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    try {
      await client?.dispose();
    } catch {
      // It was gone already.
    }
  }

  private async start(): Promise<void> {
    this.lastStart = Date.now();
    this.turn('starting');
    try {
      const [command, ...args] = await serverCommand(this.context);
      // Not in the folder that is open: Windows looks for programs there first, and Python for modules.
      const options = { command, args, options: { cwd: homedir() } };
      const client = new LanguageClient(SERVER, 'compat-bpe', options, this.options());
      this.client = client;
      client.registerFeature({
        fillClientCapabilities: (abilities) => {
          const commands = { commands: ['compatBpe.copyAsPrompt'] };
          abilities.experimental = { ...(abilities.experimental as object), commands };
        },
        initialize: () => undefined,
        getState: () => ({ kind: 'static' }),
        clear: () => undefined,
      });
      client.onNotification(didCount, (told) => this.counts.take(told));
      client.onDidChangeState(({ newState }) => {
        if (client === this.client) {
          this.turn(newState === State.Running ? 'running' : newState === State.Starting ? 'starting' : this.gone());
        }
      });
      await client.start();
    } catch (error) {
      this.turn(error instanceof NoPython ? 'noPython' : 'stopped', reasonOf(error));
    }
  }

  private gone(): Life {
    return this.deaths.length < DEATHS ? 'starting' : 'stopped';
  }

  private turn(life: Life, reason = ''): void {
    this.life = life;
    this.reason = reason || (life === 'stopped' ? vscode.l10n.t('The server has died {0} times.', this.deaths.length) : '');
    if (life !== 'running') {
      this.counts.clear();
    }
    void vscode.commands.executeCommand('setContext', 'compatBpe.isRunning', life === 'running');
    this.changed.fire();
  }

  private options(): LanguageClientOptions {
    return {
      documentSelector: [{ scheme: 'file' }, { scheme: 'untitled' }, { scheme: 'vscode-remote' }],
      initializationOptions: serverSettings(),
      initializationFailedHandler: () => false,
      synchronize: { configurationSection: SERVER },
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          const now = Date.now();
          this.deaths = [...this.deaths.filter((then) => now - then < MINUTES * 60_000), now];
          const isOver = this.deaths.length >= DEATHS;
          return { action: isOver ? CloseAction.DoNotRestart : CloseAction.Restart, handled: true };
        },
      },
      middleware: {
        workspace: {
          configuration: ({ items }) => items.map(({ section }) => (section === SERVER ? serverSettings() : null)),
          didChangeConfiguration: async () => {
            await this.client?.sendNotification('workspace/didChangeConfiguration', { settings: serverSettings() });
          },
        },
        executeCommand: async (name, given, next) => {
          const result = await next(name, given);
          if (name === 'compatBpe.copyAsPrompt') {
            await vscode.env.clipboard.writeText(result.text);
            void vscode.window.showInformationMessage(vscode.l10n.t('{0} tokens are copied.', result.count));
          }
          return result;
        },
      },
    };
  }
}
