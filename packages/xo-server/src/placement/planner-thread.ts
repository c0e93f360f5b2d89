import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import { Worker } from "node:worker_threads";
import { buffersOf } from "./sliced-serialization.js";
import type { PlannerResponse, PlannerRequest } from "./planner-worker.js";

/** Idle time after which the thread ends. Starting it takes about 60 ms. */
const IDLE_MS = 30_000;

/**
 * A worker thread for planning, started on demand. Handles one request at a
 * time.
 */
export class PlannerThread {
  readonly #clock: WallClock;
  readonly #file: URL;
  #worker: Worker | undefined;
  #idle: unknown;
  /** Number of the model that the thread has. */
  #model: number | undefined;

  constructor(clock: WallClock, file: URL) {
    this.#clock = clock;
    this.#file = file;
  }

  get isUp(): boolean {
    return this.#worker !== undefined;
  }

  has(model: number): boolean {
    return this.#model === model;
  }

  /**
   * @param signal terminates the thread; its reason is thrown
   * @throws XoError INTERNAL: the thread failed
   */
  async request(
    question: PlannerRequest,
    signal: AbortSignal,
  ): Promise<PlannerResponse> {
    this.#clock.clearTimeout(this.#idle);
    const worker = (this.#worker ??= this.#start());
    worker.ref();
    try {
      const answer = await this.#answer(worker, question, signal);
      // The model itself may be the cause: send it again next time.
      if (!("packed" in answer)) this.#model = undefined;
      return answer;
    } catch (error) {
      await this.stop();
      throw error;
    } finally {
      worker.unref();
      this.#idle = this.#clock.setTimeout(() => void this.stop(), IDLE_MS);
      unref(this.#idle);
    }
  }

  async stop(): Promise<void> {
    const worker = this.#worker;
    this.#clock.clearTimeout(this.#idle);
    this.#worker = undefined;
    this.#model = undefined;
    await worker?.terminate();
  }

  #start(): Worker {
    // The loaders and hooks of the main program are not needed, and slow to
    // load.
    const worker = new Worker(this.#file, { execArgv: [] });
    // A thread that fails while idle is replaced on demand. Without a listener
    // the error would end the process.
    worker.on("error", () => {
      if (this.#worker === worker) void this.stop();
    });
    return worker;
  }

  #answer(
    worker: Worker,
    question: PlannerRequest,
    signal: AbortSignal,
  ): Promise<PlannerResponse> {
    const ending = new AbortController();
    const once = { signal: ending.signal };
    const answer = new Promise<PlannerResponse>((resolve, reject) => {
      const broke = (error?: unknown) => {
        const reason =
          error instanceof Error ? error.message : "the thread exited";
        reject(
          new XoError("INTERNAL", { reason: `planner failed: ${reason}` }),
        );
      };
      const stop = () => {
        reject(signal.reason as Error);
      };
      if (signal.aborted) stop();
      signal.addEventListener("abort", stop, once);
      const ends = {
        message: resolve,
        error: broke,
        exit: () => {
          broke();
        },
      };
      for (const [name, listener] of Object.entries(ends)) {
        worker.once(name, listener);
        ending.signal.addEventListener("abort", () =>
          worker.off(name, listener),
        );
      }
      this.#send(worker, question);
    });
    return answer.finally(() => {
      ending.abort();
    });
  }

  #send(worker: Worker, question: PlannerRequest): void {
    const { args, packedModel } = question;
    const moved = [args, packedModel].flatMap((one) =>
      one === undefined ? [] : buffersOf(one),
    );
    worker.postMessage(question, moved);
    this.#model = question.model;
  }
}

function unref(timer: unknown): void {
  if (typeof timer === "object" && timer !== null && "unref" in timer)
    (timer as NodeJS.Timeout).unref();
}
