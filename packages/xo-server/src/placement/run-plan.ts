import { systemClock, type Clock } from "../clock.js";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { TaskContext } from "../tasks/task-context.js";
import { PlanSchedule } from "./plan-schedule.js";
import {
  doStep,
  toStepError,
  type PlanStep,
  type StepError,
  type StepOptions,
} from "./plan-step.js";

export interface RunPlanOptions extends StepOptions {
  readonly objects: PoolObjects;
  /** Has a part for each step; when it is given up, nothing more begins and what is under way is cancelled. */
  readonly work: TaskContext;
  /** Nothing more begins, what is under way comes to its end. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  /** Steps at a time. */
  readonly parallel?: number;
  /** Of them, those that any one host sends or gets. */
  readonly perHost?: number;
  /** Hears of each step that was done. */
  readonly onDone?: (step: PlanStep) => void;
}

/** What became of a plan; steps as they were given. */
export interface PlanOutcome {
  readonly done: readonly PlanStep[];
  readonly failed: readonly {
    readonly step: PlanStep;
    readonly error: StepError;
  }[];
  /** Not begun. */
  readonly left: readonly PlanStep[];
  /** Somebody gave it up. */
  readonly isAborted: boolean;
}

const PARALLEL = 4;
const PER_HOST = 2;

/**
 * Does the steps of a plan, each as soon as those that it waits for have ended
 * and the limits allow; what starts, in XAPI's order and with its delays. After
 * the first failure nothing more begins. Failures of steps are not thrown.
 */
export function runPlan(
  steps: readonly PlanStep[],
  options: RunPlanOptions,
): Promise<PlanOutcome> {
  return new PlanRun(steps, options).run();
}

class PlanRun {
  readonly #steps: readonly PlanStep[];
  readonly #options: RunPlanOptions;
  readonly #schedule: PlanSchedule;
  readonly #failed: { step: PlanStep; error: StepError }[] = [];
  readonly #under = new Set<Promise<void>>();
  /** Of starts that have ended: seconds that the next order waits. */
  #delay = 0;
  #order: number;

  constructor(steps: readonly PlanStep[], options: RunPlanOptions) {
    const { parallel = PARALLEL, perHost = PER_HOST } = options;
    this.#steps = steps;
    this.#options = options;
    this.#schedule = new PlanSchedule(steps, { parallel, perHost });
    this.#order = this.#schedule.order;
  }

  async run(): Promise<PlanOutcome> {
    for (;;) {
      this.#beginAll();
      this.#tell();
      if (this.#under.size > 0) await Promise.race(this.#under);
      else if (!(await this.#nextOrder())) break;
    }
    const toSteps = (numbers: readonly number[]) =>
      numbers.map((one) => this.#steps[one]!);
    return {
      done: toSteps(this.#schedule.done),
      failed: this.#failed,
      left: toSteps(this.#schedule.waiting),
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

  #beginAll(): void {
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
        doStep(step, objects.forTask(part), this.#options),
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

  /** @returns false: there is none, or none of its steps can begin */
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
    const { clock = systemClock, work, signal } = this.#options;
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

  #tell(): void {
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
      return id;
    }
  };
  return `${kind} ${name(vm)} ${kind === "move" ? "to" : "on"} ${name(to)}`;
}
