import { Piscina, queueOptionsSymbol } from "piscina";
import { XoError, type DecodePriority } from "@xo-server/model";
import type { DecodeFailure, DecodeResult, DecodeTask } from "./decode-task.js";
import { FairQueue } from "./fair-queue.js";
import type { ClassHints } from "./formats/class-registry.js";

type PiscinaQueue = NonNullable<
  NonNullable<ConstructorParameters<typeof Piscina>[0]>["taskQueue"]
>;
type PiscinaTask = Parameters<PiscinaQueue["push"]>[0];

/** Whose turn a task waits for. */
export interface QueuePosition {
  readonly priority: DecodePriority;
  readonly lane: string;
}

interface QueueEntry extends QueuePosition {
  task?: PiscinaTask;
}

export interface ThreadOptions {
  readonly minThreads: number;
  readonly maxThreads: number;
  readonly idleTimeoutMs: number;
  readonly queueLimit: number;
  readonly maxWorkerHeapMb: number | undefined;
}

/** Long enough never to fire in practice. */
const KEEP_ALIVE_MS = 2 ** 30;

/** A task that was handed in. */
export interface Submitted {
  /** @throws XoError PARSER_FAILED: the worker broke */
  readonly result: Promise<DecodeResult | DecodeFailure>;
  /** Takes the task out if it still waits: true, and `result` never settles. One that runs is let run. */
  cancel(): boolean;
}

/** Piscina with a queue that is fair. */
export class WorkerThreads {
  readonly #queue = new FairQueue<PiscinaTask>();
  readonly #piscina: Piscina<DecodeTask, DecodeResult | DecodeFailure>;
  readonly #options: ThreadOptions;
  #outstanding = 0;
  #wasUp = false;
  #isStarting = false;
  #keepAliveTimer: NodeJS.Timeout | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(hints: ClassHints, options: ThreadOptions) {
    const { maxWorkerHeapMb } = options;
    this.#options = options;
    this.#piscina = new Piscina({
      filename: new URL("./worker.js", import.meta.url).href,
      minThreads: options.minThreads,
      maxThreads: options.maxThreads,
      idleTimeout: options.idleTimeoutMs,
      workerData: hints,
      // Loaders and hooks of the main program (a test runner's, say) are nothing to a parser, and slow to load.
      execArgv: [],
      taskQueue: toPiscinaQueue(this.#queue),
      // A task that no thread takes goes back to where it was, not to the end.
      stricterFIFO: true,
      recordTiming: false,
      ...(maxWorkerHeapMb !== undefined && {
        resourceLimits: { maxOldGenerationSizeMb: maxWorkerHeapMb },
      }),
    });
    // A thread that breaks while idle is replaced with the next task; without a listener it would end the process.
    this.#piscina.on("error", () => undefined);
  }

  get threads(): number {
    return this.#piscina.threads.length;
  }

  /** Is a thread up? */
  get isUp(): boolean {
    return this.#wasUp && this.threads > 0;
  }

  /**
   * Starts a thread where none is there, which takes 60 to 100 ms.
   * @returns whether one is up: it has done something already
   */
  ensureUp(): boolean {
    if (this.isUp) return true;
    if (!this.#isStarting) {
      this.#isStarting = true;
      void this.#runEmptyTask()
        .then(() => (this.#wasUp = true))
        .catch(() => undefined)
        .finally(() => (this.#isStarting = false));
    }
    return false;
  }

  waiting(priority: DecodePriority): number {
    return this.#queue.sizeOf(priority);
  }

  /** @throws XoError QUEUE_FULL */
  submit(task: DecodeTask, turn: QueuePosition): Submitted {
    if (this.#queue.size >= this.#options.queueLimit)
      throw new XoError("QUEUE_FULL", {
        what: "the parser pool",
        size: this.#queue.size,
      });
    const ticket: QueueEntry = { ...turn };
    const result = this.#piscina.run(
      Object.assign(task, { [queueOptionsSymbol]: ticket }),
      { transferList: task.pieces.map(({ bytes }) => bytes.buffer) },
    );
    this.#taskStarted();
    return {
      result: result.then(
        (done) => {
          this.#taskEnded();
          return done;
        },
        (error: unknown) => {
          this.#taskEnded();
          this.#startForWaiting();
          const reason = error instanceof Error ? error.message : String(error);
          throw new XoError("PARSER_FAILED", { reason }, error);
        },
      ),
      cancel: () => {
        const waited =
          ticket.task !== undefined && this.#queue.remove(ticket.task);
        if (waited) this.#taskEnded();
        return waited;
      },
    };
  }

  /** Piscina lets the process end while a thread starts; work that waits must hold it. */
  #taskStarted(): void {
    if (this.#outstanding++ === 0)
      this.#keepAliveTimer = setInterval(() => undefined, KEEP_ALIVE_MS);
  }

  #taskEnded(): void {
    if (--this.#outstanding > 0) return;
    clearInterval(this.#keepAliveTimer);
    this.#endIdleThreads();
  }

  /**
   * Piscina ends idle threads by a timer that it sometimes clears by mistake (a
   * result that comes in the turn of its task; 5.3): a thread would then stay
   * for ever. An empty task for each sets the timers anew.
   */
  #endIdleThreads(): void {
    clearTimeout(this.#idleTimer);
    const { minThreads, idleTimeoutMs } = this.#options;
    if (this.threads <= minThreads) return;
    this.#idleTimer = setTimeout(() => {
      if (this.#outstanding > 0 || this.threads <= minThreads) return;
      const nudges = Array.from({ length: this.threads }, () =>
        this.#runEmptyTask(),
      );
      void Promise.allSettled(nudges).then(() => this.#endIdleThreads());
    }, 2 * idleTimeoutMs);
    this.#idleTimer.unref();
  }

  /** Ends the threads; tasks that run or wait fail. */
  async close(): Promise<void> {
    clearTimeout(this.#idleTimer);
    await this.#piscina.destroy();
  }

  /** After a crash piscina starts no thread for the tasks that wait: only a new task does. */
  #startForWaiting(): void {
    if (this.#queue.size === 0 || this.threads > 0) return;
    this.#runEmptyTask().catch(() => this.#startForWaiting());
  }

  /** A task that is nothing. */
  #runEmptyTask(): Promise<unknown> {
    const ticket: QueueEntry = { priority: "call", lane: "" };
    const nothing: DecodeTask = {
      format: "json-rpc",
      shape: "value",
      className: "",
      pieces: [],
      final: true,
      state: undefined,
    };
    return this.#piscina.run(
      Object.assign(nothing, { [queueOptionsSymbol]: ticket }),
    );
  }
}

function toPiscinaQueue(queue: FairQueue<PiscinaTask>): PiscinaQueue {
  return {
    get size() {
      return queue.size;
    },
    shift: () => queue.shift() ?? null,
    push(task) {
      const ticket = entryOf(task);
      ticket.task = task;
      queue.push(task, ticket.priority, ticket.lane);
    },
    unshift(task) {
      const ticket = entryOf(task);
      ticket.task = task;
      queue.unshift(task, ticket.priority, ticket.lane);
    },
    remove: (task) => void queue.remove(task),
  };
}

function entryOf(task: PiscinaTask): QueueEntry {
  return task[queueOptionsSymbol] as QueueEntry;
}
