import {
  restrictToOwner,
  configPath,
  readServers,
} from "./config/saved-servers.js";
import type { SavedServers } from "./config/saved-servers.js";
import { signedOut } from "./cli-error.js";
import { variable, type Host } from "./host.js";
import { Terminal } from "./output/terminal.js";
import { Server, type Target } from "./server/server.js";
import { toServerUrl } from "./server/server-url.js";
import type { Trust } from "./server/trust.js";

/** Options of all commands. */
export interface GlobalOptions {
  readonly server?: string;
  readonly json?: boolean;
  readonly color?: boolean;
  readonly allowUnauthorized?: boolean;
  readonly fingerprint?: string;
}

/** The context of a command. */
export class Context {
  readonly host: Host;
  readonly terminal: Terminal;
  readonly options: GlobalOptions;
  readonly configPath: string;
  readonly #servers: Server[] = [];
  #isClosed = false;

  constructor(host: Host, options: GlobalOptions) {
    this.host = host;
    this.options = options;
    this.configPath = configPath(host.env);
    this.terminal = new Terminal(host, {
      json: options.json === true,
      color: options.color !== false,
    });
  }

  async saved(): Promise<SavedServers> {
    if (restrictToOwner(this.configPath))
      await this.terminal.note(
        `warning: others could read ${this.configPath}; now they cannot`,
      );
    return readServers(this.configPath);
  }

  /** Trust options of the command line. */
  get trust(): Trust {
    const { allowUnauthorized, fingerprint } = this.options;
    return {
      ...(allowUnauthorized === true ? { allowUnauthorized } : {}),
      ...(fingerprint === undefined ? {} : { fingerprint }),
    };
  }

  /** The server of --server, of $XO_SERVER, or the default one. @throws CliError NOT_SIGNED_IN: none */
  async server(): Promise<Server> {
    const { defaultUrl, servers } = await this.saved();
    const named = this.options.server ?? variable(this.host, "XO_SERVER");
    const url = named === undefined ? defaultUrl : toServerUrl(named);
    if (url === undefined)
      throw signedOut(
        "no server configured",
        "use xo-cli register URL, or --server URL",
      );
    const known = servers.get(url);
    const trust = Object.keys(this.trust).length > 0 ? this.trust : known;
    return this.open({
      url,
      token: variable(this.host, "XO_TOKEN") ?? known?.token,
      trust: trust ?? {},
    });
  }

  open(target: Target): Server {
    const server = new Server(target);
    this.#servers.push(server);
    return server;
  }

  /** Waits before a poll or a retry. */
  async delay(ms: number): Promise<void> {
    const { delay } = this.host;
    await (delay === undefined
      ? new Promise((resolve) => setTimeout(resolve, ms))
      : delay(ms));
  }

  /** Whether a token is used. */
  get isSignedIn(): boolean {
    return this.#servers.some(({ target }) => target.token !== undefined);
  }

  /** After `close`: errors of pending requests are ignored. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  close(): void {
    this.#isClosed = true;
    for (const server of this.#servers) server.close();
  }
}
