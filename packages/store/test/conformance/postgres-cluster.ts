import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
} from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";

const ROOT = "/usr/lib/postgresql";
const HOST = "127.0.0.1";

/** User and group that PostgreSQL runs as. */
interface Identity {
  readonly uid?: number;
  readonly gid?: number;
}

/** The files of a new cluster, for all clusters of this process: copying takes a fifth of the CPU time of `initdb`. */
let template: string | undefined;

function createTemplate(bin: string, identity: Identity): string {
  const folder = createFolder(identity);
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const data = join(folder, "data");
  const options = ["-D", data, "-U", "xo", "-A", "trust", "--no-sync"];
  execFileSync(join(bin, "initdb"), options, { ...identity, cwd: folder });
  return data;
}

function createFolder({ uid, gid }: Identity): string {
  const folder = mkdtempSync(join(tmpdir(), "postgres-"));
  if (uid !== undefined) chownSync(folder, uid, gid!);
  return folder;
}

/** Folder of the newest PostgreSQL programs on Debian; undefined: not installed. */
export function findPostgres(): string | undefined {
  if (!existsSync(ROOT)) return undefined;
  const versions = readdirSync(ROOT).toSorted((a, b) => Number(b) - Number(a));
  return versions
    .map((version) => join(ROOT, version, "bin"))
    .find((bin) => existsSync(join(bin, "initdb")));
}

/** A PostgreSQL cluster for tests: a folder, a free port, and processes to kill. */
export class PostgresCluster {
  readonly #bin: string;
  readonly #folder: string;
  /** PostgreSQL refuses to run as root. */
  readonly #identity: Identity;
  #port = 0;
  #server: ChildProcess | undefined;

  constructor(bin: string) {
    this.#bin = bin;
    this.#identity = process.getuid?.() === 0 ? postgresUser() : {};
    this.#folder = createFolder(this.#identity);
    template ??= createTemplate(bin, this.#identity);
    execFileSync("cp", ["-R", template, join(this.#folder, "data")], {
      ...this.#identity,
      cwd: this.#folder,
    });
  }

  /** Id of the main process; undefined: PostgreSQL does not run. */
  get pid(): number | undefined {
    return this.#server?.pid;
  }

  url(database: string): string {
    return `postgres://xo:pg-secret@${HOST}:${this.#port}/${database}`;
  }

  async start(): Promise<void> {
    this.#port ||= await freePort();
    this.#server = spawn(
      join(this.#bin, "postgres"),
      // -F: no fsync, as only processes are killed here, not machines.
      [
        "-D",
        "data",
        "-p",
        `${this.#port}`,
        "-k",
        this.#folder,
        "-h",
        HOST,
        "-F",
      ],
      { ...this.#identity, cwd: this.#folder, stdio: "ignore" },
    );
    while (!(await this.#answers()))
      if (this.#server.exitCode !== null) throw new Error("postgres ended");
  }

  /** Immediate shutdown as in a crash: all connections break. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server?.exitCode !== null) return;
    const exited = once(server, "exit");
    server.kill("SIGQUIT");
    await exited;
  }

  async query(
    database: string,
    sql: string,
  ): Promise<readonly Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.url(database) });
    client.on("error", () => undefined);
    await client.connect();
    try {
      const { rows } = await client.query<Record<string, unknown>>(sql);
      return rows;
    } finally {
      await client.end();
    }
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #answers(): Promise<boolean> {
    try {
      await this.query("postgres", "select 1");
      return true;
    } catch {
      await new Promise(setImmediate);
      return false;
    }
  }
}

function postgresUser(): { uid: number; gid: number } {
  const request = (what: string) =>
    Number(execFileSync("id", [what, "postgres"], { encoding: "utf8" }));
  return { uid: request("-u"), gid: request("-g") };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, HOST);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
