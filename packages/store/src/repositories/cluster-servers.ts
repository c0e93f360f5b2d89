import { sql } from "kysely";
import { checkName, checkText } from "../schema/limits.js";
import type { ClusterServerRow } from "../schema/cluster-tables.js";
import { checkRequirement } from "../schema/migrations/migrate.js";
import { selectRequirement } from "../schema/migrations/schema-requirement.js";
import { clusterNotice } from "../engines/cluster-notice.js";
import { databaseNow } from "../engines/database-clock.js";
import type { RepositoryContext } from "./repository-context.js";

/** One of the servers that share the database. Times are those of the database, in ms since the epoch. */
export interface ClusterServer {
  readonly name: string;
  /** Unique for each start of the server. */
  readonly instance: string;
  /** Identifies the installation: differs for two servers with the same name by mistake. */
  readonly origin: string;
  readonly url: string;
  readonly version: string;
  readonly startedAt: number;
  /** Last heartbeat. */
  readonly seenAt: number;
  /** Time since the last heartbeat. */
  readonly silentMs: number;
  /** Where other servers reach it; undefined: not yet, or its version cannot be reached. */
  readonly address: string | undefined;
  /** SHA-256 of its TLS certificate, hexadecimal with colons; undefined: plain HTTP. */
  readonly fingerprint: string | undefined;
  /** Hands over its leases and takes none: since then; undefined: it takes part. */
  readonly leavingAt: number | undefined;
}

export type JoiningServer = Pick<
  ClusterServer,
  "name" | "instance" | "origin" | "url" | "version"
>;

/** Where a server is reached by the others: host and port, such as `10.0.0.1:9000`. */
export interface ServerAddress extends Pick<ClusterServer, "fingerprint"> {
  readonly address: string;
}

/** The servers that share the database. All methods throw XoError STORE_UNAVAILABLE while the database is unreachable. */
export class ClusterServers {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  /**
   * Adds a server, in place of its earlier process.
   * @param silentMs after this time without a heartbeat another installation may use the name
   * @returns undefined: added; else the running server that has the name
   * @throws XoError INVALID_PARAMETERS, VALUE_TOO_LARGE
   */
  async join(
    server: JoiningServer,
    silentMs: number,
  ): Promise<ClusterServer | undefined> {
    const { committer, engine } = this.#context;
    const now = databaseNow(engine);
    const row = {
      instance: server.instance,
      origin: server.origin,
      url: checkText("the URL", server.url),
      version: server.version,
      started_at: now,
      seen_at: now,
      leaving_at: null,
      address: null,
      fingerprint: null,
    };
    const id = checkName("the name of the server", server.name);
    const added = await committer.run((unit) =>
      unit.sql
        .insertInto("cluster_servers")
        .values({ id, ...row })
        .onConflict((conflict) =>
          conflict
            .column("id")
            .doUpdateSet(row)
            .where((e) =>
              e.or([
                e("cluster_servers.origin", "=", server.origin),
                e(
                  "cluster_servers.seen_at",
                  "<=",
                  sql<number>`${now} - ${sql.lit(silentMs)}`,
                ),
              ]),
            ),
        )
        .returning("id")
        .executeTakeFirst(),
    );
    if (added !== undefined) return undefined;
    return (await this.list()).find(({ name }) => name === server.name);
  }

  /**
   * Heartbeat.
   * @param reached undefined: no change
   * @returns false: another process has joined with this name, or the server was deleted
   * @throws XoError STORE_TOO_NEW: a newer version has migrated the database since, and this one does
   *   not work with it
   */
  async heartbeat(instance: string, reached?: ServerAddress): Promise<boolean> {
    const { committer, engine } = this.#context;
    const rows = await committer.runApart((db) =>
      db
        .updateTable("cluster_servers")
        .set({
          seen_at: databaseNow(engine),
          ...(reached && {
            address: reached.address,
            fingerprint: reached.fingerprint ?? null,
          }),
        })
        .where("instance", "=", instance)
        .returning(["id", selectRequirement(db).as("required")])
        .execute(),
    );
    for (const { required } of rows) checkRequirement(required ?? undefined);
    return rows.length > 0;
  }

  /**
   * Requests that a server hands over its leases and takes none until its next
   * start; it is notified.
   * @param instance only this process
   * @returns false: there is no such server
   */
  async leave(name: string, instance?: string): Promise<boolean> {
    const { committer, engine } = this.#context;
    const now = databaseNow(engine);
    const rows = await committer.runApart((db) => {
      const named = db
        .updateTable("cluster_servers")
        .set({ leaving_at: sql<number>`coalesce(leaving_at, ${now})` })
        .where("id", "=", name);
      const meant =
        instance === undefined ? named : named.where("instance", "=", instance);
      return meant.returning(clusterNotice(engine).as("notice")).execute();
    });
    return rows.length > 0;
  }

  /** Deletes a server: it has left, or does not exist any more. @param instance only this process */
  async delete(name: string, instance?: string): Promise<void> {
    await this.#context.committer.run((unit) => {
      const named = unit.sql
        .deleteFrom("cluster_servers")
        .where("id", "=", name);
      return (
        instance === undefined ? named : named.where("instance", "=", instance)
      ).execute();
    });
  }

  /** Address of this server as PostgreSQL sees it; undefined: not known. */
  async readClientAddress(): Promise<string | undefined> {
    const { engine, availability } = this.#context;
    if (engine.name !== "postgres") return undefined;
    const { rows } = await availability.run(() =>
      sql<{
        readonly address: string | null;
      }>`select host(inet_client_addr()) as address`.execute(engine.reader),
    );
    return rows[0]?.address ?? undefined;
  }

  /** Ordered by name. */
  async list(): Promise<ClusterServer[]> {
    const { engine, availability } = this.#context;
    const rows = await availability.run(() =>
      engine.reader
        .selectFrom("cluster_servers")
        .selectAll()
        .select(databaseNow(engine).as("now"))
        .orderBy("id")
        .execute(),
    );
    return rows.map(toServer);
  }
}

function toServer(
  row: ClusterServerRow & { readonly now: number },
): ClusterServer {
  return {
    name: row.id,
    instance: row.instance,
    origin: row.origin,
    url: row.url,
    version: row.version,
    startedAt: row.started_at,
    seenAt: row.seen_at,
    silentMs: Math.max(0, row.now - row.seen_at),
    address: row.address ?? undefined,
    fingerprint: row.fingerprint ?? undefined,
    leavingAt: row.leaving_at ?? undefined,
  };
}
