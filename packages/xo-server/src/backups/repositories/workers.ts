import {
  WorkerStarter,
  type StartWorkerOptions,
  type WorkOrder,
  type Worker,
} from "@xo-server/backup";
import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import { generateKeyPairSync } from "node:crypto";

interface WorkersOptions {
  readonly clock: WallClock;
  /** Workers that read or write data of disks, at the same time. */
  readonly maxWorkers: number;
  /** Added to the nice value of the server for workers that read or write data. */
  readonly niceness: number;
  /** Default: by a thread. */
  readonly start?: (order: WorkOrder, options: StartWorkerOptions) => Worker;
}

export interface WorkerRunOptions {
  readonly signal?: AbortSignal | undefined;
  /** Figures of the operation, at most twice a second. */
  readonly onProgress?:
    | ((figures: Readonly<Record<string, number>>) => void)
    | undefined;
  /** See StartWorkerOptions. */
  readonly onQuestion?: ((question: unknown) => Promise<object>) | undefined;
  /** Called with the started worker, to read its output. */
  readonly onStart?: ((worker: Worker) => void) | undefined;
}

/** Types of long orders, which read or write data. */
const LONG: ReadonlySet<string> = new Set([
  "backup",
  "backup-to-several",
  "mirror",
  "repair",
  "restore",
  "verify",
  "collect",
  "benchmark",
]);
/** Data of disks passes through these too. */
const READS_DATA: ReadonlySet<string> = new Set([
  ...LONG,
  "convert",
  "import",
  "import-image",
  "export",
  "fetch-files",
]);
/** Types of orders that read what file systems in backups have. */
const BROWSES: ReadonlySet<string> = new Set([
  "list-volumes",
  "list-files",
  "find-files",
]);
/** Imports from other products, and conversions of disks. */
const IMPORTS: ReadonlySet<string> = new Set([
  "import",
  "import-image",
  "convert",
]);
/** Number of workers for all other orders, so that a list does not wait for backups. */
const MAX_SHORT = 2;
/** Imports from other products and conversions of disks: they wait neither for backups nor for lists. */
const MAX_IMPORTS = 4;
/** Workers that list files in backups: they may read much, and other lists do not wait for them. */
const MAX_BROWSING = 2;
/** Downloads of files out of backups at the same time. */
const MAX_FILE_DOWNLOADS = 4;
/** Maximum number of waiting orders. */
const MAX_WAITING = 10_000;
/** Time in which a worker must have read its order, in ms. */
const ORDER_MS = 600_000;
/** Time after which a cancelled worker is killed, in ms: a mount may not answer. */
const KILL_MS = 10_000;
/** The same while the server stops: it has little time for that. */
const STOP_KILL_MS = 3000;
/** Time for which a killed worker is waited for, in ms: such a mount keeps it after SIGKILL too. */
const END_MS = 2000;

/** A semaphore whose waiting callers are served in order. */
class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** @throws XoError QUEUE_FULL; the reason of the signal */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    if (this.#waiting.length >= MAX_WAITING)
      throw new XoError("QUEUE_FULL", {
        what: "backup workers",
        size: MAX_WAITING,
      });
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        const at = this.#waiting.indexOf(enter);
        if (at < 0) return;
        this.#waiting.splice(at, 1);
        reject(new XoError("ABORTED", { what: "the operation" }));
      };
      const enter = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      this.#waiting.push(enter);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}

/**
 * Processes that execute orders, so that data of disks never passes through the
 * server. They end when the server does.
 */
export class Workers {
  readonly #options: WorkersOptions;
  /** Signs orders; it exists as long as this process. */
  readonly #signingKey = generateKeyPairSync("ed25519").privateKey;
  readonly #long: Slots;
  readonly #short = new Slots(MAX_SHORT);
  readonly #imports = new Slots(MAX_IMPORTS);
  readonly #browsing = new Slots(MAX_BROWSING);
  readonly #fileDownloads = new Slots(MAX_FILE_DOWNLOADS);
  readonly #running = new Set<Promise<unknown>>();
  readonly #stopping = new AbortController();
  readonly #start: NonNullable<WorkersOptions["start"]>;

  constructor(options: WorkersOptions) {
    this.#options = options;
    const starter = new WorkerStarter();
    this.#start =
      options.start ?? ((order, more) => starter.start(order, more));
    this.#long = new Slots(options.maxWorkers);
  }

  /** Number of running workers. */
  get running(): number {
    return this.#running.size;
  }

  /** Number of orders that wait for a worker. */
  get waiting(): number {
    return [
      this.#long,
      this.#short,
      this.#imports,
      this.#browsing,
      this.#fileDownloads,
    ].reduce((sum, { waiting }) => sum + waiting, 0);
  }

  /** @throws WorkerError; XoError ABORTED, QUEUE_FULL, CLOSED */
  async run(
    order: Omit<WorkOrder, "version" | "expires">,
    options: WorkerRunOptions = {},
  ): Promise<unknown> {
    const { signal } = options;
    const slots = this.#slotsOf(order.operation);
    const ending =
      signal === undefined
        ? this.#stopping.signal
        : AbortSignal.any([signal, this.#stopping.signal]);
    if (ending.aborted) throw this.#aborted();
    await slots.take(ending);
    try {
      return await this.#supervise(order, ending, options);
    } finally {
      slots.leave();
    }
  }

  /** Ends all workers. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    // The callers that started them report their failures.
    await Promise.allSettled(this.#running);
  }

  #slotsOf({ type }: WorkOrder["operation"]): Slots {
    if (IMPORTS.has(type)) return this.#imports;
    if (type === "fetch-files") return this.#fileDownloads;
    if (BROWSES.has(type)) return this.#browsing;
    return LONG.has(type) ? this.#long : this.#short;
  }

  async #supervise(
    order: Omit<WorkOrder, "version" | "expires">,
    ending: AbortSignal,
    { onProgress, onQuestion, onStart }: WorkerRunOptions,
  ): Promise<unknown> {
    const { clock, niceness } = this.#options;
    const expires = new Date(clock.now() + ORDER_MS).toISOString();
    const worker = this.#start(
      { version: 1, expires, ...order },
      {
        signingKey: this.#signingKey,
        // A user waits for the others, which compute little.
        niceness: READS_DATA.has(order.operation.type) ? niceness : 0,
        ...(onProgress === undefined ? {} : { onProgress }),
        ...(onQuestion === undefined ? {} : { onQuestion }),
      },
    );
    onStart?.(worker);
    const ended = this.#endOf(worker, ending);
    this.#running.add(ended);
    try {
      return await ended;
    } catch (error) {
      if (ending.aborted) throw this.#aborted();
      throw error;
    } finally {
      this.#running.delete(ended);
    }
  }

  /** The result of a worker, or its end, a short time after it was cancelled. */
  async #endOf(worker: Worker, ending: AbortSignal): Promise<unknown> {
    const { clock } = this.#options;
    let timer: unknown;
    let cancel = (): void => undefined;
    const abandoned = new Promise<never>((_, reject) => {
      const end = () => {
        kill(worker);
        timer = clock.setTimeout(() => reject(this.#aborted()), END_MS);
      };
      cancel = () => {
        worker.cancel();
        clock.clearTimeout(timer);
        const { aborted: isStopping } = this.#stopping.signal;
        timer = clock.setTimeout(end, isStopping ? STOP_KILL_MS : KILL_MS);
      };
    });
    ending.addEventListener("abort", cancel, { once: true });
    this.#stopping.signal.addEventListener("abort", cancel, { once: true });
    if (ending.aborted) cancel();
    try {
      return await Promise.race([worker.result, abandoned]);
    } finally {
      ending.removeEventListener("abort", cancel);
      this.#stopping.signal.removeEventListener("abort", cancel);
      clock.clearTimeout(timer);
    }
  }

  #aborted(): XoError {
    return this.#stopping.signal.aborted
      ? new XoError("CLOSED", { what: "the server" })
      : new XoError("ABORTED", { what: "the operation" });
  }
}

function kill({ pid }: Worker): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The worker has ended in the meantime.
  }
}
