import { Worker as Thread } from "node:worker_threads";
import type { StarterAnswer, StarterRequest } from "./starter-thread.js";
import {
  WorkerError,
  requestOf,
  startProcess,
  type StartWorkerOptions,
  type Worker,
} from "./start-worker.js";
import type { WorkOrder } from "./work-order.js";

/** Compiled, it is beside this file; bundled, beside the program. */
const program = new URL("./starter-thread.js", import.meta.url);

/** A worker whose start was requested from the thread. */
interface Started {
  pid: number | undefined;
  readonly onProgress: StartWorkerOptions["onProgress"];
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Starts workers as `startWorker` does, by a thread, so that the event loop is not blocked. The thread starts with
 * the first order and ends with this process; without workers it does not keep the process alive.
 */
export class WorkerStarter {
  readonly #running = new Map<number, Started>();
  #thread: Thread | undefined;
  #lastId = 0;

  start(
    order: WorkOrder,
    { signingKey, ...callbacks }: StartWorkerOptions,
  ): Worker {
    const request = requestOf(order, signingKey);
    // Output and input are pipes of the process that starts the worker: their bytes would have to go through the thread.
    if (request.hasOutput || request.hasInput)
      return startProcess(request, callbacks);
    const { onProgress, niceness } = callbacks;
    const id = ++this.#lastId;
    const running = this.#running;
    const result = new Promise<unknown>((resolve, reject) =>
      running.set(id, { pid: undefined, onProgress, resolve, reject }),
    );
    const started = running.get(id)!;
    this.#send({ type: "start", id, request, niceness });
    return {
      get pid() {
        return started.pid;
      },
      result,
      output: undefined,
      input: undefined,
      cancel: () => {
        if (running.has(id)) this.#send({ type: "cancel", id });
      },
    };
  }

  #send(request: StarterRequest): void {
    try {
      const thread = (this.#thread ??= this.#startThread());
      thread.ref();
      thread.postMessage(request);
    } catch (error) {
      this.#settle(request.id, ({ reject }) => reject(error as Error));
    }
  }

  #startThread(): Thread {
    const thread = new Thread(program);
    thread.on("message", (answer: StarterAnswer) => this.#receive(answer));
    thread.on("error", (error) => this.#end(thread, error.message));
    thread.on("exit", () => this.#end(thread, "its thread has ended"));
    return thread;
  }

  #receive(answer: StarterAnswer): void {
    const { id } = answer;
    const started = this.#running.get(id);
    if (started === undefined) return;
    if (answer.type === "started") started.pid = answer.pid;
    else if (answer.type === "progress") started.onProgress?.(answer.figures);
    else if (answer.type === "result")
      this.#settle(id, ({ resolve }) => resolve(answer.result));
    else
      this.#settle(id, ({ reject }) =>
        reject(new WorkerError(answer.code, answer.message)),
      );
  }

  #settle(id: number, settle: (started: Started) => void): void {
    const started = this.#running.get(id);
    if (started === undefined) return;
    this.#running.delete(id);
    if (this.#running.size === 0) this.#thread?.unref();
    settle(started);
  }

  /** The workers end with the thread, which has the other end of their input. */
  #end(thread: Thread, reason: string): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    for (const id of [...this.#running.keys()])
      this.#settle(id, ({ reject }) =>
        reject(new WorkerError("crashed", `the worker ended: ${reason}`)),
      );
  }
}
