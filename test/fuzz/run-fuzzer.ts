import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CpuLimit } from "./cpu-limit.js";
import { nameOf, type SlowInput } from "./fuzz-loop.js";
import type { FuzzMessage, FuzzOrder } from "./fuzz-process.js";

/** Without a message for this CPU time, in ms, the input may hang. */
const SILENT_MS = 15_000;
/** CPU time of the start, which instruments the code. */
const START_MS = 180_000;
/** An input that takes more CPU time, in ms, is a hang. */
const MAX_CPU_MS = 1_000;
/** CPU time of a start and one input. */
const REPLAY_LIMIT_MS = 60_000;
/** Growth of the heap from the first report to the last, in bytes, that counts as a leak. */
const MAX_GROWTH = 64 * 2 ** 20;
const MAX_FINDINGS = 10;

export interface Finding {
  readonly kind: "crash" | "hang" | "leak";
  /** File with the input; absent: of all inputs together. */
  readonly file?: string;
  readonly detail: string;
}

export interface FuzzResult {
  readonly executions: number;
  /** Branches that were reached. */
  readonly coverage: number;
  readonly corpus: number;
  readonly heapGrowthBytes: number;
  /** Highest resident memory of the process that was seen, in bytes. */
  readonly maxRssBytes: number;
  readonly slowest: SlowInput;
  readonly findings: readonly Finding[];
}

export interface FuzzRun {
  readonly module: string;
  readonly corpus: string;
  /** Folder for new inputs and findings. */
  readonly out: string;
  readonly seconds: number;
  readonly seed: number;
}

/** Fuzzes a target in processes of its own, which are ended when an input hangs. */
export class Fuzzer {
  readonly #run: FuzzRun;
  readonly #scratch = mkdtempSync(join(tmpdir(), "xo-fuzz-"));
  readonly #findings = new Map<string, Finding>();
  #executions = 0;
  #latest = { executions: 0, coverage: 0, corpus: 0, heapBytes: 0 };
  #firstHeap = 0;
  #maxRss = 0;
  #slowest: SlowInput = { cpuMs: 0, name: "" };

  constructor(run: FuzzRun) {
    this.#run = run;
    mkdirSync(this.#findingsFolder, { recursive: true });
  }

  async run(): Promise<FuzzResult> {
    const until = performance.now() + this.#run.seconds * 1000;
    for (let round = 0; this.#findings.size < MAX_FINDINGS; round++) {
      const seconds = (until - performance.now()) / 1000;
      if (seconds <= 0) break;
      await this.#fuzz(seconds, round);
    }
    rmSync(this.#scratch, { recursive: true });
    const { coverage, corpus, heapBytes } = this.#latest;
    const growth = heapBytes - this.#firstHeap;
    if (growth > MAX_GROWTH)
      this.#findings.set("leak", {
        kind: "leak",
        detail: `the heap has grown by ${Math.round(growth / 2 ** 20)} MiB`,
      });
    return {
      executions: this.#executions,
      coverage,
      corpus,
      heapGrowthBytes: growth,
      maxRssBytes: this.#maxRss,
      slowest: this.#slowest,
      findings: [...this.#findings.values()],
    };
  }

  get #findingsFolder(): string {
    return join(this.#run.out, "findings");
  }

  async #fuzz(seconds: number, round: number): Promise<void> {
    const { seed } = this.#run;
    const child = this.#start({ seconds, seed: seed + round });
    const limit = new CpuLimit(child, START_MS);
    this.#latest = { ...this.#latest, executions: 0 };
    this.#firstHeap = 0;
    child.on("message", (message: FuzzMessage) => {
      limit.restart(SILENT_MS);
      this.#receive(message);
      if (this.#findings.size >= MAX_FINDINGS) child.kill();
    });
    const [code, signal] = (await once(child, "close")) as [
      number | null,
      string | null,
    ];
    limit.stop();
    this.#executions += this.#latest.executions;
    if (code !== 0 && this.#findings.size < MAX_FINDINGS)
      await this.#examine(signal ?? `exit code ${code}`);
  }

  #receive(message: FuzzMessage): void {
    if (message.kind === "progress") {
      this.#latest = message;
      if (this.#firstHeap === 0) this.#firstHeap = message.heapBytes;
      this.#maxRss = Math.max(this.#maxRss, message.rssBytes);
      if (message.slowest.cpuMs > this.#slowest.cpuMs)
        this.#slowest = message.slowest;
    }
    if (message.kind !== "crash") return;
    // One finding for each place of the code.
    const [place = ""] = /^\s+at .*$/m.exec(message.stack) ?? [];
    this.#add(
      `crash ${place}`,
      "crash",
      Buffer.from(message.input, "base64"),
      message.stack,
    );
  }

  /** Runs the last input of a process that was ended or has ended itself once more. */
  async #examine(how: string): Promise<void> {
    const current = join(this.#scratch, "current");
    const bytes = existsSync(current) ? readFileSync(current) : Buffer.alloc(0);
    if (bytes.length < 4) throw new Error(`the target does not start: ${how}`);
    const input = bytes.subarray(4, 4 + bytes.readUInt32LE());
    const replay = join(this.#scratch, "replay");
    writeFileSync(replay, input);
    const child = this.#start({ replay });
    let cpuMs = Infinity;
    child.on("message", (message: FuzzMessage) => {
      if (message.kind === "replayed") cpuMs = message.cpuMs;
      this.#receive(message);
    });
    const limit = new CpuLimit(child, REPLAY_LIMIT_MS);
    const [code] = (await once(child, "close")) as [number | null];
    limit.stop();
    // Otherwise the machine was busy.
    if (cpuMs > MAX_CPU_MS)
      this.#add(nameOf(input), "hang", input, `${cpuMs} ms of CPU time`);
    else if (code !== 0)
      this.#add(nameOf(input), "crash", input, `the process ended: ${how}`);
  }

  #add(
    key: string,
    kind: Finding["kind"],
    input: Buffer,
    detail: string,
  ): void {
    if (this.#findings.has(key)) return;
    const file = join(this.#findingsFolder, `${kind}-${nameOf(input)}`);
    writeFileSync(file, input);
    this.#findings.set(key, { kind, file, detail });
  }

  #start(order: Partial<FuzzOrder>): ChildProcess {
    const { module, corpus, out, seed } = this.#run;
    const whole: FuzzOrder = {
      module,
      folders: [corpus],
      out: join(out, "corpus"),
      current: join(this.#scratch, "current"),
      seed,
      seconds: 0,
      ...order,
    };
    if (whole.replay !== undefined)
      Object.assign(whole, { current: join(this.#scratch, "replayed") });
    const hooks = new URL("./register-hooks.js", import.meta.url).href;
    return fork(
      new URL("./fuzz-process.js", import.meta.url),
      [JSON.stringify(whole)],
      {
        execArgv: ["--expose-gc", "--enable-source-maps", "--import", hooks],
        env: { PATH: process.env["PATH"] },
        stdio: ["ignore", "ignore", "inherit", "ipc"],
      },
    );
  }
}
