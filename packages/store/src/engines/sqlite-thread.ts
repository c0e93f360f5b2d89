import { Worker } from "node:worker_threads";
import { SqliteFailure } from "./sqlite-failure.js";
import type {
  SqliteCall,
  SqliteExecutor,
  SqliteOpened,
  SqliteResponse,
  SqliteRequest,
  SqliteResult,
  SqliteThreadData,
} from "./sqlite-protocol.js";

interface PendingCall {
  readonly resolve: (result: SqliteResult) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Runs SQLite in a worker thread, because its calls block. A thread that has
 * ended is started again by the next call; pending calls are rejected.
 */
export class SqliteThread implements SqliteExecutor {
  readonly #data: SqliteThreadData;
  readonly #waiting = new Map<number, PendingCall>();
  #worker: Promise<Worker> | undefined;
  #nextId = 1;
  #generation = 0;
  #closed = false;

  constructor(file: string, durable: boolean) {
    this.#data = { file, durable };
  }

  /** Number of threads that have ended. */
  get generation(): number {
    return this.#generation;
  }

  async request(call: SqliteCall): Promise<SqliteResult> {
    if (this.#closed) throw new SqliteFailure(0, "the store is closed");
    this.#worker ??= this.#start();
    const worker = await this.#worker;
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ ...call, id } satisfies SqliteRequest);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    // A worker that failed to start has rejected the calls; there is nothing to close.
    const worker = await this.#worker?.catch(() => undefined);
    if (worker === undefined) return;
    const exited = new Promise((resolve) => worker.once("exit", resolve));
    worker.postMessage("close");
    await exited;
  }

  /**
   * For tests: ends the thread as a crash would, but between two statements, as
   * terminating it within `libsql` would end the process. SQLite rolls back
   * uncommitted changes.
   */
  async crash(): Promise<void> {
    const worker = await this.#worker;
    if (worker === undefined) return;
    const exited = new Promise((resolve) => worker.once("exit", resolve));
    worker.postMessage("crash");
    await exited;
  }

  #start(): Promise<Worker> {
    const worker = new Worker(new URL("./sqlite-worker.js", import.meta.url), {
      name: "store",
      workerData: this.#data,
      // Without the loaders of the main program, and without the ExperimentalWarning of SQLite in Node 22.
      execArgv: ["--disable-warning=ExperimentalWarning"],
    });
    return new Promise((resolve, reject) => {
      let isGone = false;
      const onEnd = (reason: string) => {
        if (isGone) return;
        isGone = true;
        const failure = new SqliteFailure(0, reason);
        this.#worker = undefined;
        this.#generation++;
        reject(failure);
        this.#rejectAll(failure);
      };
      worker.on("error", (error: Error) => onEnd(error.message));
      worker.on("exit", () => onEnd("the thread of the store has ended"));
      worker.on("message", (answer: SqliteResponse | SqliteOpened) => {
        if (!("opened" in answer)) this.#settle(answer);
        else if (answer.opened) resolve(worker);
        else onEnd(answer.reason ?? "the database cannot be opened");
      });
    });
  }

  #settle(answer: SqliteResponse): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ("error" in answer)
      waiting?.reject(
        new SqliteFailure(answer.error.code, answer.error.message),
      );
    else waiting?.resolve({ rows: [...answer.rows], changes: answer.changes });
  }

  #rejectAll(failure: SqliteFailure): void {
    for (const { reject } of this.#waiting.values()) reject(failure);
    this.#waiting.clear();
  }
}
