import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** Root of the repository. */
export const root = findRoot(dirname(fileURLToPath(import.meta.url)));

/** A program of `bin`, or of an absolute path, in a process of its own; it is killed with the test, should it still run. */
export class RunningProgram {
  readonly child: ChildProcess;
  readonly lines: string[] = [];
  /** Exit code, or the name of the signal that ended it. */
  readonly ended: Promise<number | string>;
  readonly #waiting = new Set<() => void>();

  constructor(
    t: ProgramOwner,
    name: string,
    args: readonly string[],
    options: ProgramOptions = {},
  ) {
    // tap hooks itself into every Node process by NODE_OPTIONS, and its loader
    // (21.8, on Node 20) cannot load a program without an extension.
    const { env = {}, cwd = t.testdir(), nodeArgs = [], within = [] } = options;
    const node = [...within, process.execPath, ...nodeArgs];
    const clean = ["-u", "NODE_OPTIONS", ...node];
    this.child = spawn("env", [...clean, resolve(root, "bin", name), ...args], {
      cwd,
      // No config of the machine that runs the tests.
      env: { PATH: process.env["PATH"], HOME: cwd, ...env },
    });
    this.ended = once(this.child, "close").then(
      ([code, signal]) => (code ?? signal) as number | string,
    );
    void this.ended.then(() => {
      this.#wake();
    });
    for (const stream of [this.child.stdout!, this.child.stderr!])
      createInterface(stream).on("line", (line) => {
        this.lines.push(line);
        this.#wake();
      });
    // Teardown does not run when tap ends a file that takes too long.
    const kill = () => this.child.kill("SIGKILL");
    process.once("exit", kill);
    void this.ended.then(() => process.off("exit", kill));
    t.teardown(async () => {
      kill();
      await this.ended;
    });
  }

  get output(): string {
    return this.lines.join("\n");
  }

  /** Resolves with the first group of the first matching line (or the whole match). */
  async find(pattern: RegExp): Promise<string> {
    for (;;) {
      for (const line of this.lines) {
        const match = pattern.exec(line);
        if (match !== null) return match[1] ?? match[0];
      }
      if (this.child.exitCode !== null || this.child.signalCode !== null)
        throw new Error(`ended without ${String(pattern)}:\n${this.output}`);
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** Sends SIGTERM. @returns how the program ended */
  stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | string> {
    this.child.kill(signal);
    return this.ended;
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}

/** Ends the program; a test of tap is one. */
export interface ProgramOwner {
  /** Registers what ends the program. */
  teardown(end: () => Promise<void>): void;
  /** @returns a new folder */
  testdir(content?: Readonly<Record<string, string>>): string;
}

export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Options of node itself. */
  readonly nodeArgs?: readonly string[];
  /** A command that executes the program in its last arguments. */
  readonly within?: readonly string[];
}

function findRoot(from: string): string {
  return existsSync(join(from, "packages")) ? from : findRoot(dirname(from));
}
