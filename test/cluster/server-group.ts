import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PostgresCluster } from "@xo-server/store/conformance";
import type { Test } from "tap";
import { RunningProgram } from "../running-program.js";
import { simulate, type Simulated } from "../simulated.js";

export const PASSWORD = "correct horse battery";

/** One of several servers on a PostgreSQL database. */
export interface GroupMember {
  readonly program: RunningProgram;
  readonly url: string;
}

export interface ServerGroupOptions {
  /** Programs of PostgreSQL, see findPostgres. */
  readonly bin: string;
  /** Number of further simulated pools, without links. */
  readonly morePools?: number;
  /** A server that is started again listens on the same port, as a load balancer expects. */
  readonly keepsPorts?: boolean;
  /** Options of the simulated pool. */
  readonly pool?: readonly string[];
  /** Further environment variables of each server. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further ones of one server. */
  readonly envOf?: (i: number) => Readonly<Record<string, string>>;
  /** Options of node for each server. */
  readonly nodeArgs?: readonly string[];
  /** Lines of config.yaml of each server instead of its name; `NAME` is replaced by it. */
  readonly settings?: string;
  /** URL of an HTTP proxy between a server and the pool. */
  readonly proxyTo?: (i: number) => Promise<string>;
  /** URL of the pool for a server. */
  readonly linkTo?: (pool: Simulated) => Promise<string>;
}

/** Program that is started instead of `bin/xo-server`. */
export interface OtherProgram {
  readonly path: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Servers on one PostgreSQL database, over one simulated pool; each can be started again. */
export class ServerGroup {
  readonly postgres: PostgresCluster;
  readonly pool: Simulated;
  /** All of them, `pool` first. */
  readonly pools: readonly Simulated[];
  readonly #t: Test;
  readonly #ports = new Map<number, string>();
  readonly #folder: string;
  readonly #options: ServerGroupOptions;
  readonly #prepared = new Set<number>();

  static async open(t: Test, options: ServerGroupOptions) {
    const postgres = new PostgresCluster(options.bin);
    const folder = await mkdtemp(join(tmpdir(), "servers-"));
    t.teardown(async () => {
      await postgres.remove();
      await rm(folder, { recursive: true, force: true });
    });
    await postgres.start();
    await postgres.query("postgres", "create database xo");
    // A pool of another size follows the one of the usual size.
    const pools = await simulate(t, ...(options.pool ?? ["--churn", "20"]));
    const pool = pools.at(-1)!;
    const more: Simulated[] = [];
    for (let seed = 2; more.length < (options.morePools ?? 0); seed++)
      more.push(...(await simulate(t, "--churn", "2", "--seed", `${seed}`)));
    const all = [pool, ...more];
    return new ServerGroup(t, { postgres, pools: all, folder, options });
  }

  private constructor(
    t: Test,
    parts: {
      readonly postgres: PostgresCluster;
      readonly pools: readonly Simulated[];
      readonly folder: string;
      readonly options: ServerGroupOptions;
    },
  ) {
    this.#t = t;
    this.postgres = parts.postgres;
    this.pools = parts.pools;
    this.pool = this.pools[0]!;
    this.#folder = parts.folder;
    this.#options = parts.options;
  }

  /** Starts a server, the first one first: the others get its key. @param as another program, with its environment variables */
  async start(i: number, as?: OtherProgram): Promise<GroupMember> {
    const member = await this.listening(await this.launch(i, as));
    if (this.#options.keepsPorts === true)
      this.#ports.set(i, new URL(member.url).port);
    return member;
  }

  /** Resolves when the server listens. */
  async listening(program: RunningProgram): Promise<GroupMember> {
    const url = await program.find(/Web server listening on (http:\S+)/);
    return { program, url };
  }

  /** Starts a server that may refuse to start. */
  async launch(i: number, as?: OtherProgram): Promise<RunningProgram> {
    if (!this.#prepared.has(i)) await this.#prepare(i);
    const port = this.#ports.get(i) ?? "0";
    const args = ["start", "--host", "127.0.0.1", "--port", port];
    return this.#run(i, args, as);
  }

  /** Runs a command of xo-server with the configuration of a server. */
  run(i: number, ...args: readonly string[]): RunningProgram {
    return this.#run(i, args);
  }

  #run(
    i: number,
    args: readonly string[],
    { path, env: more }: OtherProgram = { path: "xo-server" },
  ): RunningProgram {
    const env = {
      ...this.#options.env,
      ...this.#options.envOf?.(i),
      XO_ADMIN_PASSWORD: PASSWORD,
      XO_STORE: this.postgres.url("xo"),
      ...more,
    };
    const { nodeArgs = [] } = this.#options;
    const cwd = this.#folderOf(i);
    const options = { cwd, env, nodeArgs };
    return new RunningProgram(this.#t, path, args, options);
  }

  async #prepare(i: number): Promise<void> {
    const { url, password } = this.pool;
    const more = this.pools
      .slice(1)
      .map(
        ({ url: host }, at) =>
          `, { label: P${at + 1}, hosts: ["${host}"], password: ${password} }`,
      );
    const cwd = this.#folderOf(i);
    const { settings = "server: { name: NAME }" } = this.#options;
    const address = (await this.#options.linkTo?.(this.pool)) ?? url;
    const proxy = await this.#options.proxyTo?.(i);
    await mkdir(join(cwd, "data"), { recursive: true });
    await writeFile(
      join(cwd, "config.yaml"),
      `${settings.replace("NAME", `xo${i + 1}`)}
pools: [{ label: P, hosts: ["${address}"], password: ${password}${proxy === undefined ? "" : `, proxy: "${proxy}"`} }${more.join("")}]
`,
    );
    if (i > 0)
      await copyFile(
        join(this.#folderOf(0), "data/store.key"),
        join(cwd, "data/store.key"),
      );
    this.#prepared.add(i);
  }

  #folderOf(i: number): string {
    return join(this.#folder, String(i));
  }
}

/** @param bin programs of PostgreSQL, see findPostgres */
export async function startGroup(
  t: Test,
  bin: string,
  size: number,
): Promise<readonly GroupMember[]> {
  const group = await ServerGroup.open(t, { bin });
  const members: GroupMember[] = [];
  for (let i = 0; i < size; i++) members.push(await group.start(i));
  return members;
}
