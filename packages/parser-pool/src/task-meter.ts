import { DurationHistogram } from "./histogram.js";

/** Measurements of the tasks of one priority. */
export class TaskMeter {
  #tasks = 0;
  readonly #waitMs = new DurationHistogram();
  readonly #runMs = new DurationHistogram();

  record(waitMs: number, runMs: number): void {
    this.#tasks++;
    this.#waitMs.record(Math.max(0, waitMs));
    this.#runMs.record(runMs);
  }

  snapshot() {
    return {
      tasks: this.#tasks,
      waitMs: this.#waitMs.snapshot(),
      runMs: this.#runMs.snapshot(),
    };
  }
}
