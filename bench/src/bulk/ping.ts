import { setTimeout as pause } from "node:timers/promises";

const EVERY_MS = 20;

/** A client that polls /health, as a page does. */
export class Ping {
  readonly #took: number[] = [];
  readonly #done: Promise<void>;
  #isOver = false;

  constructor(url: string) {
    this.#done = this.#run(`${url}/health`);
  }

  /** @returns in how many ms 99 of a hundred answers came */
  async end(): Promise<number> {
    this.#isOver = true;
    await this.#done;
    const sorted = this.#took.toSorted((a, b) => a - b);
    return sorted[Math.floor(sorted.length * 0.99)] ?? NaN;
  }

  async #run(url: string): Promise<void> {
    while (!this.#isOver) {
      const startedAt = performance.now();
      await (await fetch(url)).arrayBuffer();
      this.#took.push(performance.now() - startedAt);
      await pause(EVERY_MS);
    }
  }
}
