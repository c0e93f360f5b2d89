import type { Logger } from "../log/logger.js";

/** Stop functions of started services, called in reverse order. */
export class StopStack {
  readonly #steps: { name: string; stop: () => void | Promise<void> }[] = [];
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Adds the stop function of what has just been started. */
  push(name: string, stop: () => void | Promise<void>): void {
    this.#steps.push({ name, stop });
  }

  /**
   * Stops one service after another, the last started first. If one fails, the
   * others are stopped anyway.
   */
  async stop(): Promise<void> {
    for (let step = this.#steps.pop(); step; step = this.#steps.pop()) {
      this.#logger.debug(`stopping ${step.name}`);
      try {
        await step.stop();
      } catch (error) {
        this.#logger.error(`${step.name} did not stop cleanly`, { error });
      }
    }
  }
}
