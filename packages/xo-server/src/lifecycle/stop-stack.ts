import type { Logger } from "../log/logger.js";

/** What was started, to be stopped in reverse. */
export class StopStack {
  readonly #steps: { name: string; stop: () => void | Promise<void> }[] = [];
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Remembers how to stop what has just been started. */
  push(name: string, stop: () => void | Promise<void>): void {
    this.#steps.push({ name, stop });
  }

  /** One after the other, the last started first. One that fails does not keep the others from being stopped. */
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
