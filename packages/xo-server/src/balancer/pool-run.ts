import type { WallClock } from "@xo-server/kit";
import { XapiError, XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import type { Logger } from "../log/logger.js";
import { PlanSchedule } from "../placement/plan-schedule.js";
import type { PlanStep } from "../placement/plan-step.js";
import type { TaskContext } from "../tasks/task-context.js";
import type { MoveRecord, RunRecord } from "./run-record.js";

/** Why migrations that have not started are skipped. */
export interface StopReason {
  readonly code: string;
  readonly message: string;
}

interface PoolRunParts {
  readonly store: Pick<Store, "balancerRuns">;
  readonly clock: Pick<WallClock, "now">;
  readonly logger: Pick<Logger, "warn">;
  /**
   * Called before each migration.
   * @returns why this one must be skipped: the VM or its target has changed
   *   since it was planned
   */
  readonly changeOf: (move: MoveRecord) => string | undefined;
  /**
   * Called before each migration.
   * @returns why it and all further ones must be skipped
   */
  readonly check: () => Promise<StopReason | undefined>;
  readonly move: (move: MoveRecord, work: TaskContext) => Promise<void>;
  /**
   * Called when a migration has ended.
   * @param done number of migrations that have ended
   */
  readonly onChange: (done: number) => void;
  /** While the server shuts down, the outcome of a migration remains unknown. */
  readonly isStopping: () => boolean;
}

/**
 * Maximum number of concurrent migrations per host, as source or target: more
 * slow each other down.
 */
const PER_HOST = 2;

/** Code of a migration that was skipped because the VM has changed. */
export const VM_CHANGED = "changed";

export type RunEnd = "success" | "failure" | "stopped";

/**
 * Executes the migrations of one plan. Each is recorded before it starts and
 * when it has ended.
 */
export class PoolRun {
  readonly #id: string;
  readonly #parts: PoolRunParts;
  #record: RunRecord;
  #stopped: StopReason | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(id: string, record: RunRecord, parts: PoolRunParts) {
    this.#id = id;
    this.#record = record;
    this.#parts = parts;
  }

  get record(): RunRecord {
    return this.#record;
  }

  /** Skips migrations that have not started. */
  stop(reason: StopReason): void {
    this.#stopped ??= reason;
  }

  /** Never rejects: errors are recorded. */
  async run(
    steps: readonly PlanStep[],
    parallel: number,
    work: TaskContext,
  ): Promise<RunEnd> {
    const limits = { parallel, perHost: PER_HOST };
    await this.#moveAll(new PlanSchedule(steps, limits), work);
    const left = this.#record.moves.map((move) =>
      move.status === "waiting"
        ? { ...move, status: "skipped" as const }
        : move,
    );
    this.#record = { ...this.#record, moves: left };
    const failed = left.find(({ status }) => status === "failed");
    const changed = left.find(({ error }) => error !== undefined);
    const reason = failed?.error ?? this.#stopped ?? changed?.error;
    const isComplete = left.every(({ status }) => status === "done");
    if (reason !== undefined && !isComplete)
      this.#record = { ...this.#record, reason };
    if (failed !== undefined) return "failure";
    return isComplete ? "success" : "stopped";
  }

  /**
   * After the first failure no more migrations start; those in progress finish.
   * A migration that is skipped because its VM has changed stops only those
   * that depend on it.
   */
  async #moveAll(schedule: PlanSchedule, work: TaskContext): Promise<void> {
    const running = new Set<Promise<void>>();
    let hasFailed = false;
    for (;;) {
      while (!hasFailed && !this.#isOver(work)) {
        const index = schedule.next(0);
        if (index === undefined) break;
        schedule.begin(index);
        const end = this.#move(index, work)
          .then(
            (isDone) => {
              schedule.end(index, isDone);
            },
            () => {
              hasFailed = true;
              schedule.end(index, false);
            },
          )
          .finally(() => running.delete(end));
        running.add(end);
      }
      if (running.size === 0) return;
      await Promise.race(running);
    }
  }

  #isOver(work: TaskContext): boolean {
    if (work.signal.aborted)
      this.stop({ code: "ABORTED", message: "canceled" });
    return this.#stopped !== undefined;
  }

  /** @returns false: it was skipped */
  async #move(index: number, work: TaskContext): Promise<boolean> {
    const move = this.#record.moves[index]!;
    const reason = await this.#parts.check().catch(toReason);
    if (reason !== undefined) this.stop(reason);
    if (this.#isOver(work)) return false;
    const change = this.#parts.changeOf(move);
    if (change !== undefined) {
      const message = `${move.vmName}: ${change}`;
      const error = { code: VM_CHANGED, message };
      await this.#set(index, { status: "skipped", error }, work);
      return false;
    }
    const { vmName, toName } = move;
    const started = { status: "migrating" as const, startedAt: this.#now };
    await this.#set(index, started, work);
    try {
      await work.part(`migrate ${vmName} to ${toName}`, (part) =>
        this.#parts.move(move, part),
      );
      const done = { status: "done" as const, endedAt: this.#now };
      await this.#set(index, done, work);
      return true;
    } catch (error) {
      if (this.#parts.isStopping()) throw error;
      const failed = { status: "failed" as const, error: toReason(error) };
      await this.#set(index, { ...failed, endedAt: this.#now }, work);
      throw error;
    } finally {
      const ended = this.#record.moves.filter((one) => one.endedAt);
      work.progress(ended.length / this.#record.moves.length);
      this.#parts.onChange(ended.length);
    }
  }

  get #now(): number {
    return this.#parts.clock.now();
  }

  /** Writes are sequential, so that the last one is the newest. */
  #set(
    index: number,
    change: Partial<MoveRecord>,
    work: TaskContext,
  ): Promise<void> {
    const moves = this.#record.moves.with(index, {
      ...this.#record.moves[index]!,
      ...change,
    });
    this.#record = { ...this.#record, moves };
    this.#writing = this.#writing.then(() => this.#write(work));
    return this.#writing;
  }

  /** If a write fails, the next one contains its changes too; if the lease is lost, the server that continues the task has recorded what was done. */
  async #write({ lease }: TaskContext): Promise<void> {
    const { store, logger } = this.#parts;
    try {
      const change = { body: this.#record };
      await store.balancerRuns.write(this.#id, change, lease?.fence);
    } catch (error) {
      logger.warn("load balancer: a migration could not be recorded", {
        error,
      });
    }
  }
}

/** Messages of unexpected errors may contain internals and are not persisted. */
export function toReason(error: unknown): StopReason {
  const isKnown = error instanceof XoError || error instanceof XapiError;
  return isKnown
    ? { code: error.code, message: error.message.slice(0, 1_000) }
    : { code: "INTERNAL", message: "internal error" };
}
