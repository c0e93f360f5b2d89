import { XoError } from "@xo-server/model";
import { Worker } from "node:worker_threads";
import type { Clock } from "../clock.js";
import { buffersOf } from "./pieces.js";
import type { Answer, Question } from "./planner-worker.js";

/** After its last answer. Starting it takes some 60 ms. */
const IDLE_MS = 30_000;

/** One thread that plans, there while it is needed. It is asked one thing at a time. */
export class PlannerThread {
  readonly #clock: Clock;
  readonly #file: URL;
  #worker: Worker | undefined;
  #idle: unknown;
  /** The model that it has. */
  #model: number | undefined;

  constructor(clock: Clock, file: URL) {
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
   * @param signal ends the thread, and throws its reason
   * @throws XoError INTERNAL: the thread broke
   */
  async ask(question: Question, signal: AbortSignal): Promise<Answer> {
    this.#clock.clearTimeout(this.#idle);
    const worker = (this.#worker ??= this.#start());
    worker.ref();
    try {
      const answer = await this.#answer(worker, question, signal);
      // It may have been the model that it could not use.
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
    // Loaders and hooks of the main program are nothing to it, and slow to load.
    const worker = new Worker(this.#file, { execArgv: [] });
    // One that breaks while nobody asks is made anew; without a listener it would end the process.
    worker.on("error", () => {
      if (this.#worker === worker) void this.stop();
    });
    return worker;
  }

  #answer(
    worker: Worker,
    question: Question,
    signal: AbortSignal,
  ): Promise<Answer> {
    const ending = new AbortController();
    const once = { signal: ending.signal };
    const answer = new Promise<Answer>((resolve, reject) => {
      const broke = (error?: unknown) => {
        const reason = error instanceof Error ? error.message : "it ended";
        reject(new XoError("INTERNAL", { reason: `the planner: ${reason}` }));
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

  #send(worker: Worker, question: Question): void {
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
