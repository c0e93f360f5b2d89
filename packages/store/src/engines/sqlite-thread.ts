import { Worker } from "node:worker_threads";
import type {
  SqliteResponse,
  SqliteRequest,
  SqliteThreadData,
} from "./sqlite-protocol.js";

/** SQLite answered with a result code. */
export class SqliteFailure extends Error {
  override readonly name = "SqliteFailure";
  /** SQLite's extended result code; 0 when the thread itself is gone. */
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

interface PendingCall {
  readonly resolve: (answer: { rows: unknown[]; changes: number }) => void;
  readonly reject: (error: Error) => void;
}

type SqliteCall = Omit<SqliteRequest, "id">;

/**
 * The thread that SQLite runs in, because SQLite blocks whoever asks it. A
 * thread that died is started again by the next question; those that were
 * waiting are told.
 */
export class SqliteThread {
  readonly #file: string;
  readonly #waiting = new Map<number, PendingCall>();
  #worker: Promise<Worker> | undefined;
  #nextId = 1;
  #generation = 0;
  #closed = false;

  constructor(file: string) {
    this.#file = file;
  }

  /** Counts the threads that ended: a transaction does not outlive its own. */
  get generation(): number {
    return this.#generation;
  }

  async request(
    question: SqliteCall,
  ): Promise<{ rows: unknown[]; changes: number }> {
    if (this.#closed) throw new SqliteFailure(0, "the store is closed");
    this.#worker ??= this.#start();
    const worker = await this.#worker;
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ ...question, id } satisfies SqliteRequest);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const worker = await this.#worker?.catch(() => undefined);
    if (worker === undefined) return;
    const exited = new Promise((resolve) => worker.once("exit", resolve));
    worker.postMessage("close");
    await exited;
  }

  /**
   * Ends the thread as a crash would, but between two statements: one that is
   * ended within `libsql` takes the process along. What was not committed is
   * undone by SQLite.
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
      workerData: { file: this.#file } satisfies SqliteThreadData,
      // Not the loaders of the main program; and Node 22 calls its SQLite experimental.
      execArgv: ["--disable-warning=ExperimentalWarning"],
    });
    return new Promise((resolve, reject) => {
      let isGone = false;
      const gone = (reason: string) => {
        if (isGone) return;
        isGone = true;
        const failure = new SqliteFailure(0, reason);
        this.#worker = undefined;
        this.#generation++;
        reject(failure);
        this.#rejectAll(failure);
      };
      worker.on("error", (error: Error) => gone(error.message));
      worker.on("exit", () => gone("the thread of the store has ended"));
      worker.on("message", (answer: SqliteResponse | "open") => {
        if (answer === "open") resolve(worker);
        else this.#settle(answer);
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
