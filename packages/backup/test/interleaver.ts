import { setImmediate } from "node:timers/promises";
import { integer } from "./random.js";

/** Runs tasks of several processes one step at a time, in an order that a seed decides. */
export class Interleaver {
  readonly #random: () => number;
  readonly #waiting: (() => void)[] = [];
  steps = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** A step of a task begins: it waits until it is chosen. */
  readonly turn = (): Promise<void> =>
    new Promise((resolve) => this.#waiting.push(resolve));

  /** @throws what a task throws */
  async run(tasks: readonly (() => Promise<void>)[]): Promise<void> {
    let running = tasks.length;
    const ended = tasks.map((task) => task().finally(() => running--));
    const all = Promise.all(ended);
    all.catch(() => undefined);
    while (running > 0) {
      await setImmediate();
      if (this.#waiting.length === 0) continue;
      const chosen = integer(this.#random, this.#waiting.length);
      this.steps++;
      this.#waiting.splice(chosen, 1)[0]!();
    }
    await all;
  }
}
