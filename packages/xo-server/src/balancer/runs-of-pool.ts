import type { BalancePlan, HostFigures } from "@xo-server/placement";
import type { BalancerRun, Store } from "@xo-server/store";
import { recordOf, type RunRecord } from "./run-record.js";

export interface RunsOfPoolParts {
  readonly pool: string;
  readonly owner: string;
  readonly store: Pick<Store, "balancerRuns">;
  readonly now: () => number;
}

/** Of one question to the store: each run is parsed. */
const PAGE = 50;
/** A VM cools down for a day at most. */
const RECENT_MS = 24 * 3600 * 1000;
/** A run a minute, for a day, and some. */
const MOST_RECENT = 1_500;
/** Older ones are forgotten, in ms: 90 days. */
const KEPT_MS = 90 * 24 * 3600 * 1000;

/** What was done to one pool lately, as the store has it, and in memory while this server balances it. */
export class RunsOfPool {
  readonly #parts: RunsOfPoolParts;
  #recent: readonly BalancerRun[] | undefined;

  constructor(parts: RunsOfPoolParts) {
    this.#parts = parts;
  }

  /** Another server may have done something. */
  forget(): void {
    this.#recent = undefined;
  }

  /** Newest first; of all but the newest no more than what they mean for the next. */
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
        ...runs.map((run, i) => (i + found.length > 0 ? lean(run) : run)),
      );
      cursor = next;
    } while (
      cursor !== undefined &&
      found.length < MOST_RECENT &&
      found.at(-1)!.startedAt > since
    );
    return found;
  }

  /** What is pending in the store is nobody's any more. */
  async interrupt(): Promise<void> {
    const { store, pool } = this.#parts;
    if ((await store.balancerRuns.interrupt(pool)) > 0) this.forget();
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
    const before = all.slice(0, MOST_RECENT).map(lean);
    this.#recent = [run, ...before];
    return run;
  }

  async end(
    run: BalancerRun,
    record: RunRecord,
    status: BalancerRun["status"],
  ): Promise<BalancerRun> {
    const { store, pool, now } = this.#parts;
    const change = { status, endedAt: now(), body: record };
    const ended = { ...run, ...change };
    // First in memory: whatever becomes of the store, these VMs have been moved.
    this.#put(ended);
    await store.balancerRuns.write(run.id, change);
    await store.balancerRuns.prune(pool, now() - KEPT_MS);
    return ended;
  }

  /** How it turned out, once that is measured. */
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

/** Without figures, names and scores. */
function lean(run: BalancerRun): BalancerRun {
  const { by, moves } = recordOf(run);
  const few = moves.map(({ vm, status, endedAt }) => ({ vm, status, endedAt }));
  return { ...run, body: { by, moves: few } };
}

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
    run.endedAt !== undefined &&
    moves.some(({ status }) => status === "done")
  );
}
