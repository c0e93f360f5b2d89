import { setTimeout as pause } from "node:timers/promises";
import { RunningProgram, type ProgramOwner } from "../running-program.js";
import {
  findLost,
  writeUntilKilled,
  type AcknowledgedWrites,
} from "./acknowledged-writes.js";
import { KillableClient } from "./killable-client.js";
import type { Random } from "./seeded-random.js";

const LISTENING = /Web server listening on http:\/\/(\S+)/;
const PASSWORD = "correct horse";
/** Acknowledged writes of the run, and ms, that the kill follows at most. */
const MAX_WRITES = 24;
const MAX_WRITING_MS = 50;
/** A start that is killed as well: after this number of ms at most. */
const MAX_STARTING_MS = 700;

export interface KillResult {
  /** Acknowledged data that did not exist after the next start. */
  readonly lost: readonly string[];
  /** From the start of the process until it listens. */
  readonly startMs: number;
}

/** A server that is killed during writes, repeatedly, with the same data folder. */
export class KillBench {
  readonly #owner: ProgramOwner;
  readonly #cwd: string;
  readonly #random: Random;
  readonly #done: AcknowledgedWrites = { users: [], tokens: [], servers: [] };
  #runs = 0;
  #kills = 0;

  /** @param cwd contains the data folder */
  constructor(owner: ProgramOwner, cwd: string, random: Random) {
    this.#owner = owner;
    this.#cwd = cwd;
    this.#random = random;
  }

  get kills(): number {
    return this.#kills;
  }

  /** Number of writes that the server has acknowledged. */
  get acknowledged(): number {
    const { users, tokens, servers } = this.#done;
    return users.length + tokens.length + servers.length;
  }

  /**
   * Starts the server, checks the acknowledged data, and kills it during writes;
   * every fourth time also during the next start.
   */
  async run(): Promise<KillResult> {
    const { server, client, startMs } = await this.#start();
    const lost = await findLost(client, this.#done);
    const enough = this.acknowledged + 1 + this.#random(MAX_WRITES);
    const writing = writeUntilKilled(client, this.#runs++, this.#done);
    while (this.acknowledged < enough) await pause(5);
    await pause(this.#random(MAX_WRITING_MS));
    await server.stop("SIGKILL");
    await writing;
    this.#kills++;
    if (this.#random(4) === 0) await this.#killStart();
    return { lost, startMs };
  }

  /** As at the start of a run; then stops the server by SIGTERM. @returns what was lost */
  async end(): Promise<readonly string[]> {
    const { server, client } = await this.#start();
    const lost = await findLost(client, this.#done);
    client.terminate();
    const code = await server.stop();
    return code === 0 ? lost : [...lost, `exit code ${code}: ${server.output}`];
  }

  /** Exit code of `xo-server audit verify`: 0, the audit log is intact. */
  verifyAuditLog(): Promise<number | string> {
    return this.#program(["audit", "verify"]).ended;
  }

  async #killStart(): Promise<void> {
    const server = this.#program(START);
    await pause(this.#random(MAX_STARTING_MS));
    await server.stop("SIGKILL");
    this.#kills++;
  }

  async #start() {
    const startedAt = performance.now();
    const server = this.#program(START);
    const host = await server.find(LISTENING);
    const startMs = performance.now() - startedAt;
    const client = new KillableClient(host);
    const { tokenText } = this.#done;
    if (tokenText === undefined) await client.signIn(PASSWORD);
    else await client.signInByToken(tokenText);
    return { server, client, startMs };
  }

  #program(args: readonly string[]): RunningProgram {
    const env = { XO_ADMIN_PASSWORD: PASSWORD };
    return new RunningProgram(this.#owner, "xo-server", args, {
      cwd: this.#cwd,
      env,
    });
  }
}

const START = ["start", "--host", "127.0.0.1", "--port", "0"];
