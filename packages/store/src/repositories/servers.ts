import { checkName, checkText, limits, toJson } from "../schema/limits.js";
import { sealContext } from "../secrets/sealed-columns.js";
import type { ServerRow } from "../schema/tables.js";
import type { RepositoryContext } from "./repository-context.js";

/** A pool to connect to, without its secrets. */
export interface Server {
  readonly id: string;
  readonly host: string;
  readonly username: string;
  readonly label: string;
  readonly enabled: boolean;
  /** Other settings of the connection, not secret: `readOnly`, `fingerprint` ... */
  readonly options: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Secrets of a server. The URL of a proxy may contain a password. */
export interface ServerCredentials {
  readonly password: string;
  readonly httpProxy?: string;
}

export interface NewServer extends ServerCredentials {
  /** Unique. */
  readonly host: string;
  readonly username: string;
  readonly label?: string;
  readonly enabled?: boolean;
  readonly options?: Readonly<Record<string, unknown>>;
}

/** Absent members do not change. `httpProxy: null` removes the proxy. */
export type ServerPatch = Partial<Omit<NewServer, "httpProxy">> & {
  readonly httpProxy?: string | null;
};

/** The pools to connect to. Changes throw XoError STORE_UNAVAILABLE while the database is unreachable. */
export class Servers {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  get(id: string): Server | undefined {
    const row = this.#context.tables.servers.get(id);
    return row && toServer(row);
  }

  *list(): IterableIterator<Server> {
    for (const row of this.#context.tables.servers.values())
      yield toServer(row);
  }

  /** @throws XoError NO_SUCH_OBJECT, STORE_KEY_WRONG, SECRET_DAMAGED */
  credentials(id: string): ServerCredentials {
    const { tables, vault } = this.#context;
    const { credentials_sealed } = tables.servers.require(id);
    const text = vault.open(credentials_sealed, sealContext.server(id));
    return JSON.parse(text) as ServerCredentials;
  }

  /** @throws XoError ALREADY_EXISTS, LIMIT_REACHED, VALUE_TOO_LARGE, INVALID_PARAMETERS */
  async add(server: NewServer): Promise<Server> {
    const { tables, committer, clock, createId } = this.#context;
    const id = createId();
    const now = clock.now();
    const row: ServerRow = {
      id,
      host: checkName("the host", server.host),
      username: checkText("the user name", server.username),
      credentials_sealed: this.#seal(id, server),
      label: checkText("the label", server.label ?? ""),
      enabled: Number(server.enabled ?? true),
      options_json: toJson("the options", server.options ?? {}),
      created_at: now,
      updated_at: now,
    };
    await committer.run((unit) => tables.servers.insert(unit, row));
    return toServer(row);
  }

  /** @throws XoError NO_SUCH_OBJECT, ALREADY_EXISTS, VALUE_TOO_LARGE, INVALID_PARAMETERS */
  async update(id: string, patch: ServerPatch): Promise<Server> {
    const { tables, committer } = this.#context;
    tables.servers.require(id);
    const columns = this.#columnsOf(id, patch);
    const row = await committer.run((unit) =>
      tables.servers.update(unit, id, columns),
    );
    return toServer(row);
  }

  /** @throws XoError NO_SUCH_OBJECT */
  async delete(id: string): Promise<void> {
    const { tables, committer } = this.#context;
    tables.servers.require(id);
    await committer.run((unit) => tables.servers.remove(unit, id));
  }

  #columnsOf(id: string, patch: ServerPatch): Partial<ServerRow> {
    const columns: Partial<ServerRow> = {
      updated_at: this.#context.clock.now(),
    };
    const { host, username, label, enabled, options } = patch;
    if (host !== undefined) columns.host = checkName("the host", host);
    if (username !== undefined)
      columns.username = checkText("the user name", username);
    if (label !== undefined) columns.label = checkText("the label", label);
    if (enabled !== undefined) columns.enabled = Number(enabled);
    if (options !== undefined)
      columns.options_json = toJson("the options", options);
    if (patch.password !== undefined || patch.httpProxy !== undefined)
      columns.credentials_sealed = this.#seal(id, {
        ...this.credentials(id),
        ...patch,
      });
    return columns;
  }

  #seal(
    id: string,
    { password, httpProxy }: Pick<ServerPatch, "password" | "httpProxy">,
  ): string {
    checkText("the password", password ?? "", limits.passwordBytes);
    checkText("the proxy", httpProxy ?? "");
    const secrets = { password, ...(httpProxy ? { httpProxy } : {}) };
    return this.#context.vault.seal(
      JSON.stringify(secrets),
      sealContext.server(id),
    );
  }
}

function toServer(row: ServerRow): Server {
  return {
    id: row.id,
    host: row.host,
    username: row.username,
    label: row.label,
    enabled: row.enabled === 1,
    options: JSON.parse(row.options_json) as Record<string, unknown>,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
