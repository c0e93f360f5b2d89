import type { BalancePlan, HostFigures } from "@xo-server/placement";
import { XoError } from "@xo-server/model";
import type { BalancerRun, Fence, Store } from "@xo-server/store";
import { recordOf } from "./stored-json.js";
import type { RunRecord } from "./run-record.js";

interface PoolRunsParts {
  readonly pool: string;
  readonly owner: string;
  readonly store: Pick<Store, "balancerRuns">;
  readonly now: () => number;
}

interface RunOutcome {
  readonly status: BalancerRun["status"];
  readonly fence?: Fence | undefined;
}

/** Number of runs per query of the database, each of which is parsed. */
const PAGE = 50;
/** The maximum cooldown of a VM is one day. */
const RECENT_MS = 24 * 3600 * 1000;
/** Limit of runs in memory: one per minute for a day, and a margin. */
const MAX_RECENT = 1_500;
/** 90 days, in ms; older runs are deleted. */
const RETENTION_MS = 90 * 24 * 3600 * 1000;

/**
 * The runs of one pool: in the database, and recent ones in memory while this
 * server balances the pool.
 */
export class PoolRuns {
  readonly #parts: PoolRunsParts;
  #recent: readonly BalancerRun[] | undefined;

  constructor(parts: PoolRunsParts) {
    this.#parts = parts;
  }

  /** Another server may have added runs. */
  clearCache(): void {
    this.#recent = undefined;
  }

  /** Runs, newest first. Of all but the newest, only what later decisions need. */
  async recent(): Promise<readonly BalancerRun[]> {
    if (this.#recent === undefined) this.#recent = await this.#load();
    return this.#recent;
  }

  async #load(): Promise<readonly BalancerRun[]> {
    const { store, pool, now } = this.#parts;
    const found: BalancerRun[] = [];
    const since = now() - RECENT_MS;
    let cursor: string | undefined;
    do {
      const { runs, cursor: next } = await store.balancerRuns.list({
        pool,
        limit: PAGE,
        ...(cursor === undefined ? {} : { cursor }),
      });
      found.push(
        ...runs.map((run, i) => (i + found.length > 0 ? summarize(run) : run)),
      );
      cursor = next;
    } while (
      cursor !== undefined &&
      found.length < MAX_RECENT &&
      found.at(-1)!.startedAt > since
    );
    return found;
  }

  /** Marks pending runs of another server as interrupted. */
  async interrupt(): Promise<void> {
    const { store, pool } = this.#parts;
    if ((await store.balancerRuns.interrupt(pool)) > 0) this.clearCache();
  }

  async begin(
    record: RunRecord,
    status: "pending" | "dry-run",
  ): Promise<BalancerRun> {
    const { store, pool, owner } = this.#parts;
    const all = await this.recent();
    const run = await store.balancerRuns.begin({
      pool,
      owner,
      status,
      body: record,
    });
    const before = all.slice(0, MAX_RECENT).map(summarize);
    this.#recent = [run, ...before];
    return run;
  }

  /**
   * @param fence of the lease on the task of the run
   * @throws XoError LEASE_LOST: another server continues the task, and ends the run
   */
  async end(
    run: BalancerRun,
    record: RunRecord,
    { status, fence }: RunOutcome,
  ): Promise<BalancerRun> {
    const { store, pool, now } = this.#parts;
    const change = { status, endedAt: now(), body: record };
    const ended = { ...run, ...change };
    // First in memory: these VMs have been migrated even if the write fails.
    this.#put(ended);
    try {
      await store.balancerRuns.write(run.id, change, fence);
    } catch (error) {
      if (error instanceof XoError && error.code === "LEASE_LOST")
        this.clearCache();
      throw error;
    }
    await store.balancerRuns.prune(pool, now() - RETENTION_MS);
    return ended;
  }

  /** Adds the measured figures to the last run. */
  async noteMeasured({ figuresBefore }: BalancePlan): Promise<void> {
    const [last] = await this.recent();
    if (last === undefined || !isMoved(last)) return;
    const body: RunRecord = {
      ...recordOf(last),
      figuresMeasured: figuresBefore.slice(
        0,
        recordOf(last).figuresBefore.length,
      ),
    };
    this.#put({ ...last, body });
    await this.#parts.store.balancerRuns.write(last.id, { body });
  }

  async noteTask(
    run: BalancerRun,
    taskId: string | undefined,
  ): Promise<BalancerRun> {
    if (taskId === undefined) return run;
    const noted = { ...run, taskId };
    this.#put(noted);
    await this.#parts.store.balancerRuns.write(run.id, { taskId });
    return noted;
  }

  #put(run: BalancerRun): void {
    this.#recent = this.#recent?.map((one) => (one.id === run.id ? run : one));
  }
}

/** Summarizes a run: without figures, names and scores. */
function summarize(run: BalancerRun): BalancerRun {
  const { by, moves, reason } = recordOf(run);
  const few = moves.map(({ vm, status, endedAt, error }) => ({
    vm,
    status,
    endedAt,
    ...(error === undefined ? {} : { error }),
  }));
  return { ...run, body: { by, moves: few, reason } };
}

/** An interrupted run has no figures: the server that settles what was migrated may still write it. */
function isMoved(run: BalancerRun): boolean {
  const {
    moves,
    figuresMeasured,
  }: {
    moves: RunRecord["moves"];
    figuresMeasured?: readonly HostFigures[];
  } = recordOf(run);
  return (
    figuresMeasured === undefined &&
    run.status !== "interrupted" &&
    run.endedAt !== undefined &&
    moves.some(({ status }) => status === "done")
  );
}
