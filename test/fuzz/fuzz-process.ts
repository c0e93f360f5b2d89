import { openSync, readFileSync, writeSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { FuzzLoop, type SlowInput } from "./fuzz-loop.js";
import type { FuzzTarget } from "./fuzz-target.js";

/** What a process that fuzzes is started with, as JSON in its argument. */
export interface FuzzOrder {
  readonly module: string;
  readonly folders: readonly string[];
  readonly out: string;
  /** The input that runs now: four bytes with its length, then the input. */
  readonly current: string;
  readonly seed: number;
  readonly seconds: number;
  /** A file to run once in the place of fuzzing. */
  readonly replay?: string;
}

export type FuzzMessage =
  | {
      readonly kind: "progress";
      readonly executions: number;
      readonly coverage: number;
      readonly corpus: number;
      readonly heapBytes: number;
      /** Resident memory of the process, in bytes. */
      readonly rssBytes: number;
      readonly slowest: SlowInput;
    }
  | { readonly kind: "crash"; readonly input: string; readonly stack: string }
  | { readonly kind: "replayed"; readonly cpuMs: number };

const order = JSON.parse(process.argv[2]!) as FuzzOrder;
const send = (message: FuzzMessage) =>
  void (process.send ? process.send(message) : console.error(message));
const file = openSync(order.current, "w");
const length = Buffer.alloc(4);
let input: Buffer = Buffer.alloc(0);
let reportedAt = 0;

const onCrash = (error: unknown) => {
  const stack =
    error instanceof Error ? (error.stack ?? error.message) : String(error);
  send({ kind: "crash", input: input.toString("base64"), stack });
};
// What fails after the target has returned.
process.on("uncaughtException", onCrash).on("unhandledRejection", onCrash);

const target = (await import(pathToFileURL(order.module).href)) as FuzzTarget;
if (order.replay !== undefined) await replay(order.replay);
else await fuzz();
process.exit();

async function replay(path: string): Promise<void> {
  input = readFileSync(path);
  const start = process.cpuUsage();
  try {
    await target.run(Buffer.from(input));
  } catch (error) {
    onCrash(error);
  }
  const { user, system } = process.cpuUsage(start);
  await new Promise<void>((resolve) => {
    process.send!(
      { kind: "replayed", cpuMs: (user + system) / 1000 },
      undefined,
      undefined,
      () => resolve(),
    );
  });
}

async function fuzz(): Promise<void> {
  const loop = new FuzzLoop({
    ...order,
    target,
    onInput(next) {
      input = next;
      length.writeUInt32LE(next.length);
      writeSync(file, length, 0, 4, 0);
      writeSync(file, next, 0, next.length, 4);
    },
    onCrash: (_, error) => onCrash(error),
  });
  await loop.start();
  const until = performance.now() + order.seconds * 1000;
  while (performance.now() < until) {
    await loop.run(50);
    // Messages are sent, and rejections are handled.
    await new Promise(setImmediate);
    report(loop);
  }
  (globalThis as { gc?: () => void }).gc?.();
  report(loop, true);
  await new Promise((resolve) => setTimeout(resolve, 100));
}

function report(loop: FuzzLoop, isLast = false): void {
  if (!isLast && performance.now() - reportedAt < 500) return;
  if (reportedAt === 0) (globalThis as { gc?: () => void }).gc?.();
  reportedAt = performance.now();
  const { executions, coverage, corpusSize: corpus, slowest } = loop;
  const { heapUsed: heapBytes, rss: rssBytes } = process.memoryUsage();
  send({
    kind: "progress",
    executions,
    coverage,
    corpus,
    heapBytes,
    rssBytes,
    slowest,
  });
}
