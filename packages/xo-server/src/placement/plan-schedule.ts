import type { PlanStep } from "./plan-step.js";

interface ScheduleLimits {
  /** Maximum number of concurrent steps. */
  readonly parallel: number;
  /** Maximum number of concurrent steps per host, as source or target. */
  readonly perHost: number;
}

/** Decides which steps may start, from dependencies and limits alone. */
export class PlanSchedule {
  readonly #steps: readonly PlanStep[];
  readonly #limits: ScheduleLimits;
  readonly #waiting: Set<number>;
  readonly #running = new Set<number>();
  readonly #done = new Set<number>();
  readonly #busy = new Map<string, number>();

  constructor(steps: readonly PlanStep[], limits: ScheduleLimits) {
    this.#steps = steps;
    this.#limits = limits;
    this.#waiting = new Set(steps.keys());
  }

  /** Indices of steps that have not started. */
  get waiting(): readonly number[] {
    return [...this.#waiting];
  }

  get running(): number {
    return this.#running.size;
  }

  get done(): readonly number[] {
    return [...this.#done];
  }

  /**
   * The lowest order of starts that have not ended; Infinity: all have ended.
   */
  get order(): number {
    let least = Infinity;
    for (const one of [...this.#waiting, ...this.#running]) {
      const { kind, order = 0 } = this.#steps[one]!;
      if (kind === "start") least = Math.min(least, order);
    }
    return least;
  }

  /** @param order starts with a higher order must wait */
  next(order: number): number | undefined {
    if (this.#running.size >= this.#limits.parallel) return undefined;
    for (const one of this.#waiting)
      if (this.#mayBegin(this.#steps[one]!, order)) return one;
    return undefined;
  }

  begin(one: number): void {
    this.#waiting.delete(one);
    this.#running.add(one);
    this.#occupy(this.#steps[one]!, 1);
  }

  /** @param isDone false: the step failed */
  end(one: number, isDone: boolean): void {
    this.#running.delete(one);
    if (isDone) this.#done.add(one);
    this.#occupy(this.#steps[one]!, -1);
  }

  #mayBegin(step: PlanStep, order: number): boolean {
    const { after = [] } = step;
    return (
      (step.kind !== "start" || (step.order ?? 0) <= order) &&
      after.every((other) => this.#done.has(other)) &&
      hostsOf(step).every(
        (host) => (this.#busy.get(host) ?? 0) < this.#limits.perHost,
      )
    );
  }

  #occupy(step: PlanStep, by: number): void {
    for (const host of hostsOf(step))
      this.#busy.set(host, (this.#busy.get(host) ?? 0) + by);
  }
}

function hostsOf({ from, to }: PlanStep): readonly string[] {
  return from === undefined || from === to ? [to] : [from, to];
}
