import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { FileResult, RunFile } from "./messages.js";
import { ROOT, type TestFile } from "./test-files.js";

/** How a file ended; `crash`: the process did not survive it. */
export interface Outcome {
  readonly result?: FileResult;
  readonly crash?: string;
  /** What the file wrote to stdout and stderr. */
  readonly output: string;
  /** Milliseconds from start to end. */
  readonly time: number;
}

/** Milliseconds for a process to delete its temporary files. */
const END_TIMEOUT = 5_000;

/** A process that runs test files one after another. */
export class TestProcess {
  readonly #child: ChildProcess;
  #output = "";
  #alive = true;

  constructor() {
    // A process group of its own, so that kill() reaches the programs that tests start.
    this.#child = fork(join(import.meta.dirname, "child.js"), {
      cwd: ROOT,
      detached: true,
      silent: true,
      env: { ...process.env, TAP_TIMEOUT: "0", XO_TEST_PROCESS: "shared" },
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream!.setEncoding("utf8").on("data", (text) => {
        this.#output += String(text);
      });
    this.#child.once("exit", () => (this.#alive = false));
    // A message to a process that has just ended; its exit says so too.
    this.#child.on("error", () => undefined);
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Runs a file to its end, to the end of the process, or for as long as it may. */
  async run(file: TestFile): Promise<Outcome> {
    const start = performance.now();
    this.#output = "";
    const ended = await new Promise<Pick<Outcome, "result" | "crash">>(
      (resolve) => {
        const child = this.#child;
        const end = (how: Pick<Outcome, "result" | "crash">) => {
          clearTimeout(timer);
          child.off("close", closed).off("message", received);
          resolve(how);
        };
        // "close" comes after the last output.
        const closed = (code: number | null, signal: string | null) =>
          end({ crash: `ended its process: ${signal ?? `exit ${code}`}` });
        // tap itself sends messages of other shapes.
        const received = (message: object) => {
          if ("failures" in message) end({ result: message as FileResult });
        };
        const timer = setTimeout(() => {
          this.kill();
          end({ crash: `did not end within ${file.timeout / 1000} s` });
        }, file.timeout);
        child.on("close", closed).on("message", received);
        const message: RunFile = { path: file.compiled, name: file.source };
        child.send(message);
      },
    );
    const time = performance.now() - start;
    return { ...ended, output: this.#output, time };
  }

  /** Ends the process, which deletes its temporary files first, and all programs that its tests have left running. */
  async end(): Promise<void> {
    if (this.#alive) {
      const exited = once(this.#child, "exit");
      this.#child.disconnect();
      await Promise.race([exited, pause(END_TIMEOUT, null, { ref: false })]);
    }
    this.kill();
  }

  /** Kills the process and all programs that its tests have left running. */
  kill(): void {
    this.#alive = false;
    try {
      process.kill(-this.#child.pid!, "SIGKILL");
    } catch {
      // The group has no process left.
    }
  }
}
