import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import type { Test } from "tap";
import { main } from "@xo-server/xo-cli";

export interface CliOptions {
  /** Servers and tokens are kept here. Default: a new folder. */
  readonly home?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Text that is typed or piped in. */
  readonly input?: string;
  /** Width of the terminal; absent: output goes to a pipe. */
  readonly columns?: number;
  /** The reader ends after this many bytes. */
  readonly readerLeavesAfter?: number;
  readonly delay?: (ms: number) => Promise<void>;
}

/** One call of the program, in this process. */
export class Cli {
  readonly home: string;
  readonly stdin = new FakeInput();
  readonly #stdout: FakeOutput;
  readonly #stderr: FakeOutput;
  readonly #interrupted = new AbortController();
  readonly ended: Promise<number>;

  constructor(t: Test, args: readonly string[], options: CliOptions = {}) {
    const { input, columns, env = {}, delay } = options;
    this.home = options.home ?? makeHome(t);
    this.#stdout = new FakeOutput(columns, options.readerLeavesAfter);
    this.#stderr = new FakeOutput(columns);
    this.stdin.isTTY = columns !== undefined;
    if (input !== undefined) this.stdin.write(input);
    if (columns === undefined) this.stdin.end();
    this.ended = main(args, {
      stdin: this.stdin,
      stdout: this.#stdout,
      stderr: this.#stderr,
      env: { HOME: this.home, ...env },
      interrupted: this.#interrupted.signal,
      ...(delay === undefined ? {} : { delay }),
    });
    t.teardown(() => this.stop());
  }

  /** It must not outlive its test. */
  async stop(): Promise<void> {
    this.interrupt();
    await this.ended;
  }

  get out(): string {
    return this.#stdout.text;
  }

  get err(): string {
    return this.#stderr.text;
  }

  get json(): unknown {
    return JSON.parse(this.out) as unknown;
  }

  get lines(): string[] {
    return this.out.split("\n").slice(0, -1);
  }

  interrupt(signal = "SIGINT"): void {
    this.#interrupted.abort(signal);
  }

  /** Resolves when stdout and stderr have it; rejects when the program ends without. */
  async until(isThere: (cli: Cli) => boolean): Promise<void> {
    const ended = this.ended.then((code) => {
      if (!isThere(this))
        throw new Error(`ended with ${code}:\n${this.out}\n${this.err}`);
    });
    while (!isThere(this))
      await Promise.race([
        ended,
        this.#stdout.written(),
        this.#stderr.written(),
      ]);
  }
}

/** tap has one folder for a test; a call without arguments must find no files of others. */
function makeHome(t: Test): string {
  const home = mkdtempSync(join(tmpdir(), "xo-cli-"));
  t.teardown(() => {
    rmSync(home, { recursive: true });
  });
  return home;
}

/** Runs it to its end. */
export async function runCli(
  t: Test,
  args: readonly string[],
  options?: CliOptions,
): Promise<Cli & { code: number }> {
  const cli = new Cli(t, args, options);
  return Object.assign(cli, { code: await cli.ended });
}

class FakeInput extends PassThrough {
  isTTY = false;
  /** Modes that were requested of the terminal. */
  readonly rawModes: boolean[] = [];

  setRawMode(isRaw: boolean): this {
    this.rawModes.push(isRaw);
    return this;
  }
}

class FakeOutput extends Writable {
  text = "";
  readonly isTTY: boolean;
  readonly columns: number;
  readonly #readerLeavesAfter: number;
  #waiting: (() => void)[] = [];

  constructor(columns: number | undefined, readerLeavesAfter = Infinity) {
    super();
    this.isTTY = columns !== undefined;
    this.columns = columns ?? 80;
    this.#readerLeavesAfter = readerLeavesAfter;
  }

  written(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  override _write(
    chunk: Buffer,
    _encoding: string,
    done: (error?: Error) => void,
  ): void {
    if (this.text.length >= this.#readerLeavesAfter) {
      done(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
      return;
    }
    this.text += chunk.toString();
    for (const resolve of this.#waiting.splice(0)) resolve();
    done();
  }
}
