import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { percentile } from "../harness/figures.js";

/**
 * Requests GET /health repeatedly, as a load balancer or a page does: how long a
 * client waits while the server is busy. It has a thread of its own, because a client
 * that parses a large response would delay the requests, not the server.
 */
export class HealthWatch {
  readonly #worker: Worker;
  /** Of each request until its response, in ms. */
  readonly #times: Promise<readonly number[]>;

  /** @param url of the server */
  constructor(url: string) {
    const program = new URL("health-requests.js", import.meta.url);
    this.#worker = new Worker(program, { workerData: `${url}/health` });
    this.#times = once(this.#worker, "message").then(
      ([times]) => times as number[],
    );
    // The caller of `stop` receives the error.
    this.#times.catch(() => undefined);
  }

  /**
   * Ends the requests. @returns milliseconds from request to response
   * @throws what ended the thread
   */
  async stop(): Promise<{
    readonly p99Ms: number;
    readonly longestMs: number;
  }> {
    this.#worker.postMessage("stop");
    const times = await this.#times;
    return { p99Ms: percentile(times, 0.99), longestMs: Math.max(...times) };
  }
}
