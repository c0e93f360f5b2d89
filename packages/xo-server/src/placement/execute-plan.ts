import { wallClock, type WallClock } from "@xo-server/kit";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { TaskContext } from "../tasks/task-context.js";
import { PlanSchedule } from "./plan-schedule.js";
import {
  executeStep,
  toStepError,
  type PlanStep,
  type StepError,
  type StepOptions,
} from "./plan-step.js";

export interface ExecutePlanOptions extends StepOptions {
  readonly objects: PoolObjects;
  /**
   * Gets a subtask per step. When aborted, no more steps start and running ones
   * are cancelled.
   */
  readonly work: TaskContext;
  /** When aborted, no more steps start; running ones finish. */
  readonly signal?: AbortSignal;
  readonly clock?: WallClock;
  /** Maximum number of concurrent steps. */
  readonly parallel?: number;
  /** Maximum number of concurrent steps per host, as source or target. */
  readonly perHost?: number;
  /** Called after each successful step. */
  readonly onDone?: (step: PlanStep) => void;
}

/** Outcome of a plan. */
export interface PlanOutcome {
  readonly done: readonly PlanStep[];
  readonly failed: readonly {
    readonly step: PlanStep;
    readonly error: StepError;
  }[];
  /** Steps that were not started. */
  readonly skipped: readonly PlanStep[];
  /** Whether the task or the signal was aborted. */
  readonly isAborted: boolean;
}

const PARALLEL = 4;
const PER_HOST = 2;

/**
 * Executes a plan: each step starts when its dependencies have ended and the
 * limits allow. Starts follow XAPI's order and start delays. After the first
 * failure no more steps start. Failures of steps are reported, not thrown.
 */
export function executePlan(
  steps: readonly PlanStep[],
  options: ExecutePlanOptions,
): Promise<PlanOutcome> {
  return new PlanExecution(steps, options).run();
}

class PlanExecution {
  readonly #steps: readonly PlanStep[];
  readonly #options: ExecutePlanOptions;
  readonly #schedule: PlanSchedule;
  readonly #failed: { step: PlanStep; error: StepError }[] = [];
  readonly #under = new Set<Promise<void>>();
  /** Seconds to wait before the next order: the longest start delay so far. */
  #delay = 0;
  #order: number;

  constructor(steps: readonly PlanStep[], options: ExecutePlanOptions) {
    const { parallel = PARALLEL, perHost = PER_HOST } = options;
    this.#steps = steps;
    this.#options = options;
    this.#schedule = new PlanSchedule(steps, { parallel, perHost });
    this.#order = this.#schedule.order;
  }

  async run(): Promise<PlanOutcome> {
    for (;;) {
      this.#startSteps();
      this.#reportProgress();
      if (this.#under.size > 0) await Promise.race(this.#under);
      else if (!(await this.#nextOrder())) break;
    }
    const toSteps = (numbers: readonly number[]) =>
      numbers.map((one) => this.#steps[one]!);
    return {
      done: toSteps(this.#schedule.done),
      failed: this.#failed,
      skipped: toSteps(this.#schedule.waiting),
      isAborted: this.#isAborted,
    };
  }

  get #isAborted(): boolean {
    const { work, signal } = this.#options;
    return work.signal.aborted || signal?.aborted === true;
  }

  get #isStopped(): boolean {
    return this.#failed.length > 0 || this.#isAborted;
  }

  #startSteps(): void {
    while (!this.#isStopped) {
      const one = this.#schedule.next(this.#order);
      if (one === undefined) return;
      this.#schedule.begin(one);
      const under = this.#do(one).finally(() => this.#under.delete(under));
      this.#under.add(under);
    }
  }

  async #do(one: number): Promise<void> {
    const { objects, work, onDone } = this.#options;
    const step = this.#steps[one]!;
    try {
      await work.part(nameOf(step, objects), (part) =>
        executeStep(step, objects.forTask(part), this.#options),
      );
      this.#schedule.end(one, true);
      if (step.kind === "start") this.#noteDelay(step);
      onDone?.(step);
    } catch (error) {
      this.#schedule.end(one, false);
      this.#failed.push({ step, error: toStepError(error) });
    }
  }

  #noteDelay({ vm }: PlanStep): void {
    const delay = this.#options.objects.get(vm).object["startDelay"];
    if (typeof delay === "number") this.#delay = Math.max(this.#delay, delay);
  }

  /** @returns false: there is no next order, or execution has stopped */
  async #nextOrder(): Promise<boolean> {
    const order = this.#schedule.order;
    if (this.#isStopped || order <= this.#order || order === Infinity)
      return false;
    await this.#wait(this.#delay * 1000);
    this.#delay = 0;
    this.#order = order;
    return true;
  }

  #wait(ms: number): Promise<void> {
    const { clock = wallClock, work, signal } = this.#options;
    if (ms === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        clock.clearTimeout(timer);
        for (const one of [work.signal, signal])
          one?.removeEventListener("abort", end);
        resolve();
      };
      const timer = clock.setTimeout(end, ms);
      for (const one of [work.signal, signal])
        one?.addEventListener("abort", end);
    });
  }

  #reportProgress(): void {
    const { work } = this.#options;
    const total = this.#steps.length;
    const [succeeded, failed] = [
      this.#schedule.done.length,
      this.#failed.length,
    ];
    const running = this.#schedule.running;
    const waiting = this.#schedule.waiting.length;
    work.reportCounts({ total, succeeded, failed, running, waiting });
    work.progress(total === 0 ? 1 : (succeeded + failed) / total);
  }
}

function nameOf({ kind, vm, to }: PlanStep, objects: PoolObjects): string {
  const name = (id: string) => {
    try {
      return String(objects.get(id).object["name_label"]);
    } catch {
      // Deleted in the meantime.
      return id;
    }
  };
  return `${kind} ${name(vm)} ${kind === "migrate" ? "to" : "on"} ${name(to)}`;
}
