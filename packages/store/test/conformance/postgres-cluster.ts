import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { onFixedPorts } from "./fixed-port.js";

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

/** A PostgreSQL cluster for tests: a folder, a port, and processes to kill. */
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

  /** On the port that it had before. @throws Error with its log, if it ends */
  async start(): Promise<void> {
    if (this.#port !== 0) return this.#startOn(this.#port);
    await onFixedPorts(1, async ([port]) => {
      await this.#startOn(port!);
      this.#port = port!;
    });
  }

  async #startOn(port: number): Promise<void> {
    const log = openSync(this.#path("log"), "w");
    const options = [
      "-D",
      "data",
      "-p",
      `${port}`,
      "-k",
      this.#folder,
      "-h",
      HOST,
      // No fsync, as only processes are killed here, not machines.
      "-F",
    ];
    const server = spawn(join(this.#bin, "postgres"), options, {
      ...this.#identity,
      cwd: this.#folder,
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    this.#server = server;
    // A connection could reach another program on this port.
    while (!this.#isReady(server)) {
      if (server.exitCode !== null || server.signalCode !== null)
        throw new Error(`postgres ended:\n${this.#read("log")}`);
      await pause(10);
    }
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

  /** PostgreSQL writes its process id and its state to a file. */
  #isReady({ pid }: ChildProcess): boolean {
    const [id, ...lines] = this.#read("data/postmaster.pid").split("\n");
    return Number(id) === pid && lines.some((line) => line.trim() === "ready");
  }

  /** Content of a file, empty if it does not exist. */
  #read(name: string): string {
    try {
      return readFileSync(this.#path(name), "utf8");
    } catch {
      return "";
    }
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }
}

function postgresUser(): { uid: number; gid: number } {
  const request = (what: string) =>
    Number(execFileSync("id", [what, "postgres"], { encoding: "utf8" }));
  return { uid: request("-u"), gid: request("-g") };
}
