import { XoError } from "@xo-server/model";
import type { TaskContext } from "../tasks/task-context.js";
import { BulkLog, type ItemState } from "./bulk-log.js";
import {
  BulkTally,
  toBulkFailure,
  type BulkFailure,
  type BulkResult,
} from "./bulk-result.js";
import { listFailures } from "./failure-list.js";
import type { TurnLimiter } from "./turn-limiter.js";

/** The stored description of a bulk task. */
export interface BulkPlan {
  /** Operation called for each object. */
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Name of the parameter that gets the id. */
  readonly idParameter: string;
  readonly concurrency: number;
  /** After a failure no more items start. */
  readonly stopOnError: boolean;
  /** The operation is a single XAPI task: see Operation. */
  readonly isOneCall?: boolean;
}

interface BulkOptions {
  readonly plan: BulkPlan;
  readonly ids: readonly string[];
  readonly work: TaskContext;
  /** @param isLast no other item starts after it */
  readonly run: (
    id: string,
    part: TaskContext,
    isLast: boolean,
  ) => Promise<unknown>;
  /** Shared by all bulk tasks. */
  readonly turns: TurnLimiter;
  /**
   * Checks the parameters and rights of an item before anything is recorded for it.
   * @throws the error of an item that may not run
   */
  readonly admit?: (id: string) => void;
  /** Name of an object, for reports of its failure. */
  readonly nameOf?: (id: string) => string | undefined;
  /** States of the previous process. Default: none has started. */
  readonly states?: ReadonlyMap<number, ItemState>;
  /**
   * Recovers an item that was in progress when the server stopped.
   * @param again runs the item again, recorded so that a later process can recover it
   *   too
   */
  readonly settle?: (
    begun: ItemState & { readonly name: "begun" },
    item: {
      readonly id: string;
      readonly part: TaskContext;
      readonly again: () => Promise<unknown>;
    },
  ) => Promise<unknown>;
}

/**
 * One operation on many objects with limited concurrency. Failures are
 * independent.
 */
export class Bulk {
  readonly #options: BulkOptions;
  readonly #log: BulkLog;
  readonly #tally: BulkTally;
  readonly #order: readonly number[];
  #next = 0;

  constructor(options: BulkOptions) {
    const { ids, states, work } = options;
    this.#options = options;
    this.#log = new BulkLog(work);
    this.#tally = new BulkTally(ids.length);
    for (const [index, state] of states ?? []) this.#takeOver(index, state);
    this.#order = toOrder(ids.length, states);
  }

  /** @throws XoError ABORTED; SOME_FAILED, with the result in its data */
  async run(): Promise<BulkResult> {
    const { work, plan } = this.#options;
    this.#notify();
    const workers = Math.min(plan.concurrency, this.#order.length);
    await Promise.all(Array.from({ length: workers }, () => this.#serve()));
    this.#notify();
    const result = this.#tally.result();
    const { failed, total } = this.#tally.counts();
    if (work.signal.aborted)
      throw new XoError("ABORTED", { what: plan.method, result });
    if (failed === 0) return result;
    throw new XoError("SOME_FAILED", {
      what: plan.method,
      failed,
      total,
      reasons: listFailures(result.failed, failed),
      result,
    });
  }

  #takeOver(index: number, state: ItemState): void {
    if (state.name === "begun") return;
    this.#tally.begin();
    if (state.name === "succeeded") this.#tally.succeed();
    else
      this.#tally.fail({ id: this.#options.ids[index]!, error: state.error });
  }

  async #serve(): Promise<void> {
    for (;;) {
      await this.#options.turns.next();
      if (this.#isStopped) return;
      const index = this.#order[this.#next++];
      if (index === undefined) return;
      this.#tally.begin();
      if (this.#isRefused(index)) continue;
      this.#notify();
      await this.#do(index);
      this.#notify();
    }
  }

  /** Only the failure of a refused item is recorded: after a restart it is refused again. */
  #isRefused(index: number): boolean {
    const { ids, states, admit } = this.#options;
    const id = ids[index]!;
    if (admit === undefined || states?.has(index) === true) return false;
    try {
      admit(id);
      return false;
    } catch (error) {
      this.#tally.fail(this.#toFailure(id, error));
      return true;
    }
  }

  #toFailure(id: string, error: unknown): BulkFailure {
    return toBulkFailure({ id, name: this.#options.nameOf?.(id) }, error);
  }

  get #isStopped(): boolean {
    const { work, plan } = this.#options;
    return work.signal.aborted || (plan.stopOnError && this.#tally.failed > 0);
  }

  async #do(index: number): Promise<void> {
    const { work, plan, ids } = this.#options;
    const id = ids[index]!;
    try {
      await work.part(`${plan.method} ${id}`, async (part) =>
        toItemResult(await this.#doPart(index, part)),
      );
      this.#tally.succeed();
      this.#writeEnd(index, { name: "succeeded" });
    } catch (error) {
      const failure = this.#toFailure(id, error);
      this.#tally.fail(failure);
      this.#writeEnd(index, { name: "failed", error: failure.error });
    }
  }

  async #doPart(index: number, part: TaskContext): Promise<unknown> {
    const { ids, states, settle } = this.#options;
    const state = states?.get(index);
    const run = () => this.#runPart(index, part);
    return state?.name === "begun" && settle !== undefined
      ? settle(state, { id: ids[index]!, part, again: run })
      : run();
  }

  async #runPart(index: number, part: TaskContext): Promise<unknown> {
    const { ids, run, plan } = this.#options;
    const isWritten = this.#log.write(index, {
      name: "begun",
      part: part.taskId ?? "",
    });
    // For a single XAPI task, the commit that writes the record of that task also writes this state.
    if (plan.isOneCall !== true) await isWritten;
    return run(ids[index]!, part, this.#tally.isLast);
  }

  #writeEnd(index: number, state: ItemState): void {
    // If the item is a single XAPI task, the record of that task already has the outcome.
    if (this.#options.plan.isOneCall === true)
      this.#log.writeSoon(index, state);
    else void this.#log.write(index, state);
  }

  #notify(): void {
    const { work } = this.#options;
    const counts = this.#tally.counts();
    const { succeeded, failed, total } = counts;
    work.reportCounts(counts);
    work.progress(total === 0 ? 1 : (succeeded + failed) / total);
  }
}

/** What the subtask of an item shows: the id of the object that the operation has created. */
function toItemResult(result: unknown): unknown {
  return typeof result === "string" ? { id: result } : result;
}

/** Order of execution: items that were in progress come first. */
function toOrder(
  total: number,
  states: ReadonlyMap<number, ItemState> = new Map(),
): readonly number[] {
  const all = Array.from({ length: total }, (_, index) => index);
  const begun = all.filter((index) => states.get(index)?.name === "begun");
  return [...begun, ...all.filter((index) => !states.has(index))];
}
