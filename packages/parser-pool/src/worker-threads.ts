import { createRequire } from "node:module";
import type { Piscina } from "piscina";
import { XoError, type DecodePriority } from "@xo-server/model";
import type { DecodeFailure, DecodeResult, DecodeTask } from "./decode-task.js";
import { FairQueue } from "./fair-queue.js";
import type { ClassHints } from "./formats/class-registry.js";
import { TaskLimit } from "./task-limit.js";

type PiscinaQueue = NonNullable<
  NonNullable<ConstructorParameters<typeof Piscina>[0]>["taskQueue"]
>;
type PiscinaTask = Parameters<PiscinaQueue["push"]>[0];

/** Where a task is queued. */
interface QueuePosition {
  readonly priority: DecodePriority;
  readonly lane: string;
}

const require = createRequire(import.meta.url);
let loaded: typeof import("piscina") | undefined;

/** The first thread loads it: 20 files, 15 ms of CPU, which a program without pools does not need. */
function piscina(): typeof import("piscina") {
  loaded ??= require("piscina") as typeof import("piscina");
  return loaded;
}

interface QueueEntry extends QueuePosition {
  task?: PiscinaTask;
}

interface ThreadOptions {
  readonly minThreads: number;
  readonly maxThreads: number;
  readonly idleTimeoutMs: number;
  readonly queueLimit: number;
  readonly maxWorkerHeapMb: number | undefined;
  readonly taskTimeoutMs: number;
  readonly workerModule: string;
}

/** Interval of a timer that only keeps the process alive, in ms. */
const KEEP_ALIVE_MS = 2 ** 30;

/** A submitted task. */
interface Submitted {
  /** @throws XoError PARSER_FAILED: the worker crashed */
  readonly result: Promise<DecodeResult | DecodeFailure>;
  /** Removes the task from the queue. @returns true: removed, `result` never settles; false: it runs and continues */
  cancel(): boolean;
}

/** Piscina with a fair queue. */
export class WorkerThreads {
  readonly #queue = new FairQueue<PiscinaTask>();
  readonly #readHints: () => ClassHints;
  readonly #options: ThreadOptions;
  #piscina: Piscina<DecodeTask, DecodeResult | DecodeFailure> | undefined;
  #outstanding = 0;
  #wasUp = false;
  #starting: Promise<void> | undefined;
  #keepAliveTimer: NodeJS.Timeout | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  /** @param readHints called when the first thread starts */
  constructor(readHints: () => ClassHints, options: ThreadOptions) {
    this.#readHints = readHints;
    this.#options = options;
  }

  /** Created on demand, because piscina starts `minThreads` threads when it is created. */
  #openPiscina(): Piscina<DecodeTask, DecodeResult | DecodeFailure> {
    if (this.#piscina !== undefined) return this.#piscina;
    const options = this.#options;
    const { maxWorkerHeapMb } = options;
    this.#piscina = new (piscina().Piscina)({
      filename: options.workerModule,
      minThreads: options.minThreads,
      maxThreads: options.maxThreads,
      idleTimeout: options.idleTimeoutMs,
      workerData: this.#readHints(),
      // Without the loaders of the main program (such as those of a test runner), which a parser does not need.
      execArgv: [],
      taskQueue: toPiscinaQueue(this.#queue),
      // A task that no thread can take returns to the front of the queue, not to the end.
      stricterFIFO: true,
      recordTiming: false,
      ...(maxWorkerHeapMb !== undefined && {
        resourceLimits: { maxOldGenerationSizeMb: maxWorkerHeapMb },
      }),
    });
    // A thread that crashes while idle is replaced at the next task; without a listener the error would end the process.
    this.#piscina.on("error", () => undefined);
    return this.#piscina;
  }

  get threads(): number {
    return this.#piscina?.threads.length ?? 0;
  }

  /** Has a thread started? */
  get isUp(): boolean {
    return this.#wasUp && this.threads > 0;
  }

  /**
   * Starts a thread if there is none, which takes 60 to 100 ms.
   * @returns whether a thread is up (has run a task)
   */
  ensureUp(): boolean {
    if (this.isUp) return true;
    void this.warmUp();
    return false;
  }

  /** As ensureUp. Resolves when a thread is up, or has failed to start. */
  warmUp(): Promise<void> {
    if (this.isUp) return Promise.resolve();
    this.#starting ??= this.#runEmptyTask()
      .then(
        () => void (this.#wasUp = true),
        // A thread that cannot start fails the next task, which reports the error.
        () => undefined,
      )
      .finally(() => (this.#starting = undefined));
    return this.#starting;
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
    const limit = new TaskLimit(this.#options.taskTimeoutMs, (threadId) =>
      this.#terminate(threadId),
    );
    const run: DecodeTask = { ...task, run: limit.run };
    const result = this.#openPiscina().run(
      Object.assign(run, { [piscina().queueOptionsSymbol]: ticket }),
      { transferList: task.pieces.map(({ bytes }) => bytes.buffer) },
    );
    this.#taskStarted();
    return {
      result: result.then(
        (done) => {
          limit.stop();
          this.#taskEnded();
          return done;
        },
        (error: unknown) => {
          limit.stop();
          this.#taskEnded();
          this.#startForWaiting();
          const message =
            error instanceof Error ? error.message : String(error);
          const reason = limit.exceeded ?? message;
          throw new XoError("PARSER_FAILED", { reason }, error);
        },
      ),
      cancel: () => {
        const waited =
          ticket.task !== undefined && this.#queue.remove(ticket.task);
        if (waited) {
          limit.stop();
          this.#taskEnded();
        }
        return waited;
      },
    };
  }

  /** Piscina does not keep the process alive while a thread starts; queued tasks must. */
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
   * Piscina 5.3 ends idle threads by a timer that it sometimes clears by mistake
   * (a result that arrives in the same turn as its task): the thread would then
   * never end. An empty task for each thread sets the timers again.
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

  /** Terminates the threads; running and queued tasks fail. */
  async close(): Promise<void> {
    clearTimeout(this.#idleTimer);
    await this.#piscina?.destroy();
  }

  /** Ends a thread whose task does not end; the task fails. */
  #terminate(threadId: number): void {
    const thread = this.#piscina?.threads.find(
      (one) => one.threadId === threadId,
    );
    // The rejection of the task reports it; terminate does not fail.
    void thread?.terminate();
  }

  /** Starts a thread for queued tasks after a crash: piscina starts one only for new tasks. */
  #startForWaiting(): void {
    if (this.#queue.size === 0 || this.threads > 0) return;
    this.#runEmptyTask().catch(() => this.#startForWaiting());
  }

  /** Runs a task without input, to start a thread or to set its timers. */
  #runEmptyTask(): Promise<unknown> {
    const ticket: QueueEntry = { priority: "call", lane: "" };
    const emptyTask: DecodeTask = {
      format: "json-rpc",
      shape: "value",
      className: "",
      pieces: [],
      final: true,
      state: undefined,
    };
    return this.#openPiscina().run(
      Object.assign(emptyTask, { [piscina().queueOptionsSymbol]: ticket }),
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
  return task[piscina().queueOptionsSymbol] as QueueEntry;
}
