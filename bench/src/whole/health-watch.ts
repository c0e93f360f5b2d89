import { setTimeout } from "node:timers/promises";
import { percentile } from "../harness/figures.js";

/** Pause between two requests, in ms. */
const PAUSE_MS = 20;

/** Requests GET /health again and again: how long another client waits meanwhile. */
export class HealthWatch {
  readonly #url: string;
  readonly #times: number[] = [];
  #isStopped = false;

  constructor(url: string) {
    this.#url = `${url}/health`;
    void this.#run();
  }

  /** @returns milliseconds from request to answer */
  stop(): { readonly p99Ms: number; readonly longestMs: number } {
    this.#isStopped = true;
    const times = this.#times;
    return { p99Ms: percentile(times, 0.99), longestMs: Math.max(...times) };
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const before = performance.now();
      try {
        await (await fetch(this.#url)).text();
      } catch {
        // The server stops: the run is over.
        return;
      }
      this.#times.push(performance.now() - before);
      await setTimeout(PAUSE_MS);
    }
  }
}
