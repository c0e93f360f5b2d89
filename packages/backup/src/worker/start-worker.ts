import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { createPublicKey, type KeyObject } from "node:crypto";
import { getPriority, setPriority } from "node:os";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { programFile } from "../program-file.js";
import { signWorkOrder, type WorkOrder } from "./work-order.js";

const workerProgram = programFile("worker-program", import.meta.url);
/** Default of `niceness`: this process answers its clients before workers compress. */
const NICENESS = 10;
const MAX_NICE = 19;
/** Threads for operations on files: some may hang in a mount that does not answer. */
const FILE_THREADS = "16";
/** Default of `exitMs`. */
const EXIT_MS = 5000;
/** Maximum number of characters kept of what a worker wrote to stderr, such as the error of a crash. */
const MAX_STDERR = 4096;

export interface Worker {
  readonly pid: number | undefined;
  /** @throws WorkerError */
  readonly result: Promise<unknown>;
  /**
   * What a restore with the target `pipe` writes: to be read to its end or destroyed.
   * It is complete only if `result` resolves.
   */
  readonly output: Readable | undefined;
  /** What an import reads. It is closed early if the worker needs no more. */
  readonly input: Writable | undefined;
  /** Ends the work soon; `result` then rejects with the code `cancelled`. */
  cancel(): void;
}

/** Why a worker ended without a result. */
export class WorkerError extends Error {
  override readonly name = "WorkerError";
  /** The code of a RepositoryError or of the system; `crashed` if the process ended by itself. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface StartWorkerOptions {
  /** The Ed25519 private key that signs the order. */
  readonly signingKey: KeyObject;
  /** Added to the nice value of this process; default: 10. */
  readonly niceness?: number | undefined;
  readonly onProgress?: (figures: Readonly<Record<string, number>>) => void;
  /** @returns the answer, JSON; if it fails, the work is cancelled */
  readonly onQuestion?: (question: unknown) => Promise<object>;
}

type Message =
  | { readonly type: "progress"; readonly figures: Record<string, number> }
  | { readonly type: "question"; readonly question: unknown }
  | { readonly type: "result"; readonly result: unknown }
  | {
      readonly type: "error";
      readonly code: string;
      readonly message: string;
    };

/** What a worker's process gets: it can be sent to a thread, unlike the signing key. */
export interface WorkerRequest {
  /** Base64, of the key that has signed the order. */
  readonly publicKey: string;
  /** The signed order as JSON. */
  readonly order: string;
  readonly hasOutput: boolean;
  readonly hasInput: boolean;
}

/** Starts a process that carries out one order. It ends when this process does. */
export function startWorker(
  order: WorkOrder,
  { signingKey, ...callbacks }: StartWorkerOptions,
): Worker {
  return startProcess(requestOf(order, signingKey), callbacks);
}

/** Signs an order. */
export function requestOf(
  order: WorkOrder,
  signingKey: KeyObject,
): WorkerRequest {
  return {
    publicKey: createPublicKey(signingKey)
      .export({ format: "der", type: "spki" })
      .toString("base64"),
    order: JSON.stringify(signWorkOrder(order, signingKey)),
    hasOutput: hasOutput(order),
    hasInput: hasInput(order),
  };
}

interface ProcessOptions extends Omit<StartWorkerOptions, "signingKey"> {
  /** Path of the program. Default: that of workers. */
  readonly program?: string;
  /** Time from its result to its end, in ms: then it is killed and no longer waited for. */
  readonly exitMs?: number;
}

/** Starts the process of a signed order. */
export function startProcess(
  request: WorkerRequest,
  {
    onProgress,
    onQuestion,
    niceness = NICENESS,
    program = workerProgram,
    exitMs = EXIT_MS,
  }: ProcessOptions,
): Worker {
  const { publicKey, hasOutput, hasInput } = request;
  const child = spawn(process.execPath, [program, publicKey], {
    stdio: [
      "pipe" as const,
      "pipe" as const,
      "pipe" as const,
      hasOutput ? "pipe" : "ignore",
      hasInput ? "pipe" : "ignore",
    ],
    env: environment(),
  }) as ChildProcessWithoutNullStreams;
  if (child.pid !== undefined) lowerPriority(child.pid, niceness);
  let ended: Message | undefined;
  let stderr = "";
  let exitTimer: NodeJS.Timeout | undefined;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as Message;
    if (message.type === "progress") onProgress?.(message.figures);
    else if (message.type === "question") void answer(message.question);
    else ended = message;
    // An output may still be read after the result.
    const mayWait = hasOutput && ended?.type !== "error";
    if (ended === message && !mayWait) exitTimer = setTimeout(abandon, exitMs);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR);
  });
  const answer = async (question: unknown): Promise<void> => {
    try {
      const reply = await onQuestion?.(question);
      child.stdin.write(`${JSON.stringify(reply ?? {})}\n`);
    } catch {
      // The caller knows its own error.
      child.stdin.end();
    }
  };
  let settle: (code: number | null, signal: NodeJS.Signals | null) => void;
  /** A file server that does not answer keeps a process for ever, also after SIGKILL. */
  const abandon = (): void => {
    child.kill("SIGKILL");
    settle(null, "SIGKILL");
  };
  const result = new Promise((resolve, reject) => {
    child.once("error", reject);
    settle = (code, signal) => {
      clearTimeout(exitTimer);
      if (ended?.type === "result") resolve(ended.result);
      else if (ended?.type === "error")
        reject(new WorkerError(ended.code, ended.message));
      else reject(crash(endOf(code, signal), stderr));
    };
    child.once("close", settle);
  });
  // The worker may end before it has read its order: `close` reports that.
  child.stdin.on("error", () => undefined);
  child.stdin.write(`${request.order}\n`);
  const output = hasOutput ? (child.stdio[3] as Readable) : undefined;
  const input = hasInput ? (child.stdio[4] as Writable) : undefined;
  return {
    pid: child.pid,
    result,
    output,
    input,
    cancel: () => child.stdin.end(),
  };
}

/** The variables of a worker. */
function environment(): NodeJS.ProcessEnv {
  return {
    ...withoutSecrets(process.env),
    // glibc keeps memory per thread: with few arenas the process stays small. Buffers of
    // chunks are reused, not returned to the system, whatever is set for the server.
    MALLOC_ARENA_MAX: "2",
    MALLOC_TRIM_THRESHOLD_: undefined,
    UV_THREADPOOL_SIZE: FILE_THREADS,
  };
}

function crash(end: string, stderr: string): WorkerError {
  const parts = [`the worker ended by ${end}`, stderr.trim()];
  return new WorkerError(
    "crashed",
    parts.filter((text) => text !== "").join(": "),
  );
}

function endOf(code: number | null, signal: NodeJS.Signals | null): string {
  // Linux ends processes so when memory is short.
  return signal === "SIGKILL"
    ? "SIGKILL (unless sent by a user: memory is short, see the kernel log)"
    : (signal ?? `exit code ${code}`);
}

/** Of a process that was just started: its threads inherit it. */
function lowerPriority(pid: number, niceness: number): void {
  try {
    setPriority(pid, Math.min(MAX_NICE, getPriority() + niceness));
  } catch {
    // It has ended, or the system does not allow it: the priority stays.
  }
}

function hasInput({ operation }: WorkOrder): boolean {
  return (
    operation.type === "import-image" ||
    (operation.type === "import" && operation.source.type === "ova")
  );
}

function hasOutput({ operation }: WorkOrder): boolean {
  return (
    operation.type === "convert" ||
    operation.type === "export" ||
    operation.type === "fetch-files" ||
    operation.type === "import" ||
    operation.type === "import-image" ||
    (operation.type === "restore" && operation.target.type === "pipe")
  );
}

/** Without the variables of the server, such as the key of its database. */
function withoutSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !name.startsWith("XO_")),
  );
}
