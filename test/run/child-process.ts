import { fork, type ChildProcess } from "node:child_process";
import { on, once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type {
  FileResult,
  RunFile,
  WaitAnswer,
  WaitQuestion,
} from "./messages.js";
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

/** Milliseconds for a process to say what its file waits for. */
const ANSWER_TIMEOUT = 5_000;

/** A process that runs test files one after another. */
export class TestProcess {
  readonly #child: ChildProcess;
  #output = "";
  /** When the file has written last, or has started. */
  #lastOutput = 0;
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
        this.#lastOutput = performance.now();
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
    this.#lastOutput = start;
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
          const silence = performance.now() - this.#lastOutput;
          // Results and the end of the process are not waited for any more.
          child.off("close", closed).off("message", received);
          void this.#whatItWaitsFor().then((waiting) => {
            this.kill();
            const crash = [
              `did not end within ${file.timeout / 1000} s`,
              `no output for ${Math.round(silence / 1000)} s`,
              waiting,
            ];
            end({ crash: crash.join("; ") });
          });
        }, file.timeout);
        child.on("close", closed).on("message", received);
        const message: RunFile = { path: file.compiled, name: file.source };
        child.send(message);
      },
    );
    const time = performance.now() - start;
    return { ...ended, output: this.#output, time };
  }

  async #whatItWaitsFor(): Promise<string> {
    const question: WaitQuestion = { asksWhatItWaitsFor: true };
    const timeout = AbortSignal.timeout(ANSWER_TIMEOUT);
    try {
      const answers = on(this.#child, "message", { signal: timeout });
      this.#child.send(question);
      for await (const [message] of answers as AsyncIterable<[object]>) {
        if (!("runningTest" in message)) continue;
        const { runningTest, resources } = message as WaitAnswer;
        return `it runs "${runningTest}", with ${resources.join(", ")}`;
      }
    } catch {
      // It has ended, or does not answer.
    }
    return "its event loop is blocked";
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
