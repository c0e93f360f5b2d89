import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { repositoryRoot } from "./repository.js";

/**
 * Interval of requests, in ms: frequent enough for the figures, without measurable load.
 */
const POLL_MS = 5;
const TIMEOUT_MS = 120_000;

/** xo-server as a separate process. */
export class ServerProcess {
  readonly startedAt = performance.now();
  readonly #child: ChildProcess;
  readonly #url: Promise<string>;

  /**
   * @param env added to this process's environment
   * @param port default: a free one
   * @param root folder of the repository
   */
  constructor(
    config: string,
    env: NodeJS.ProcessEnv = {},
    port = 0,
    root = repositoryRoot,
  ) {
    const program = join(root, "bin", "xo-server");
    const address = ["--host", "127.0.0.1", "--port", String(port)];
    this.#child = spawn(
      process.execPath,
      [program, "start", "--config", config, ...address],
      {
        stdio: ["ignore", "pipe", "pipe"],
        env: { ...process.env, ...env },
      },
    );
    // However this program ends, the server does not outlive it.
    const kill = () => this.kill();
    process.once("exit", kill);
    this.#child.once("exit", () => process.off("exit", kill));
    this.#url = this.#readUrl();
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Resolves when the server listens. */
  get url(): Promise<string> {
    return this.#url;
  }

  /** Resolves with the time since the process was started, in ms. */
  async listening(): Promise<number> {
    await this.#url;
    return performance.now() - this.startedAt;
  }

  /** Waits for a figure of /metrics; resolves with the time since the process was started. */
  async untilAtLeast(
    metric: string,
    least: number,
    timeoutMs = TIMEOUT_MS,
  ): Promise<number> {
    const deadline = performance.now() + timeoutMs;
    while ((await this.read(metric)) < least) {
      if (performance.now() > deadline)
        throw new Error(`no ${metric} ${least} within ${timeoutMs / 1000} s`);
      await setTimeout(POLL_MS);
    }
    return performance.now() - this.startedAt;
  }

  /** A figure of /metrics; 0 while it does not exist. */
  async read(metric: string): Promise<number> {
    const answer = await fetch(`${await this.#url}/metrics`);
    const lines = (await answer.text()).split("\n");
    const line = lines.find((one) => one.startsWith(`${metric} `));
    return Number(line?.slice(metric.length) ?? 0);
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Kills the process like `kill -9`. */
  kill(): void {
    this.#child.kill("SIGKILL");
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, "close");
    this.#child.kill("SIGTERM");
    await ended;
  }

  async #readUrl(): Promise<string> {
    let output = "";
    for (const stream of [this.#child.stdout!, this.#child.stderr!])
      stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
    while (this.#child.exitCode === null) {
      const found = /listening on (http:\S+)/.exec(output)?.[1];
      if (found !== undefined) return found;
      await setTimeout(POLL_MS);
    }
    throw new Error(`the server ended: ${output.slice(-300)}`);
  }
}
