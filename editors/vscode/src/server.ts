// The server's life: it is started, found to be gone, and started again.
import { homedir } from 'os';
import * as vscode from 'vscode';
import { CloseAction, ErrorAction, LanguageClient, LanguageClientOptions, State } from 'vscode-languageclient/node';
import { server as serverCommand } from './command';
import { Counts } from './counts';
import { reasonOf, tokens } from './messages';
import { NoPython } from './python';
import { Model, countEmpty, didCount, names } from './requests';
import { Choice, SERVER, serverSettings } from './settings';

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
  /** The models that it knows, once it has told them. */
  models: readonly Model[] = [];
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
    this.turn('starting'); // no count is shown while the old one takes its time to end
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
          const own = { commands: { commands: ['compatBpe.copyAsPrompt'] }, status: true };
          abilities.experimental = { ...(abilities.experimental as object), ...own };
        },
        initialize: () => undefined,
        getState: () => ({ kind: 'static' }),
        clear: () => undefined,
      });
      client.onNotification(didCount, (told) => this.counts.take(told));
      client.onDidChangeState(({ oldState, newState }) => {
        if (client === this.client) {
          const isStarting = newState === State.Starting;
          this.turn(newState === State.Running ? 'running' : isStarting ? 'starting' : this.gone(oldState));
        }
      });
      await client.start();
      void this.learn();
    } catch (error) {
      this.turn(error instanceof NoPython ? 'noPython' : 'stopped', reasonOf(error));
    }
  }

  /** Ask for the models, unless they are known. */
  async learn(): Promise<void> {
    try {
      if (this.running !== undefined && this.models.length === 0) {
        this.models = (await this.running.sendRequest(names, {})).models;
        this.changed.fire();
      }
    } catch {
      // It has just ended; another one is asked when the models are needed.
    }
  }

  /** Return why a choice cannot be counted by; undefined if it can. */
  async problemOf({ kind, name }: Choice): Promise<string | undefined> {
    try {
      if (this.running === undefined) {
        return vscode.l10n.t('The server is not running.');
      }
      await this.running.sendRequest(countEmpty, { text: '', [kind]: name });
      return undefined;
    } catch (error) {
      return reasonOf(error);
    }
  }

  /** A server that has died is started again, unless that fails or it has died too often. */
  private gone(before: State): Life {
    return before === State.Starting || this.deaths.length >= DEATHS ? 'stopped' : 'starting';
  }

  private turn(life: Life, reason = ''): void {
    this.life = life;
    this.reason = reason || (life === 'stopped' ? vscode.l10n.t('The server has stopped. The reason is in the output of compat-bpe.') : '');
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
            void vscode.window.showInformationMessage(vscode.l10n.t('Copied a prompt of {0}.', tokens(result.count)));
          }
          return result;
        },
      },
    };
  }
}
