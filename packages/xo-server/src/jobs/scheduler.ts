import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Job, Schedule, Store } from "@xo-server/store";
import type { HeldLease } from "../cluster/held-lease.js";
import type { Logger } from "../log/logger.js";
import { decideSchedule, type ScheduleDecision } from "./schedule-decision.js";
import type { Runs } from "./runs.js";
import { createTimes, type Times } from "../schedules/times.js";

export interface SchedulerOptions {
  readonly store: Pick<Store, "jobs" | "schedules" | "onChange">;
  readonly runs: Pick<Runs, "begin" | "beginQueued">;
  /** The lease on all schedules. Absent: there is only one server. */
  readonly lease?: HeldLease;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "warn">;
  /** Why a run that is due is skipped; undefined: it is not. Absent: no run is skipped. */
  readonly pausedReason?: (job: Job) => Promise<string | undefined>;
}

/** Maximum sleep, in ms, so that changes of the clock and suspension of the machine are noticed. */
const MAX_SLEEP_MS = 30_000;
/**
 * Schedules per turn of the event loop: computing the next time usually takes 60
 * us, but 6 ms for February 29.
 */
const SCHEDULES_PER_TURN = 2;

/** Errors that others report: the database its failures, the holder of a lease its loss. */
const EXPECTED: ReadonlySet<string> = new Set([
  "STORE_UNAVAILABLE",
  "LEASE_LOST",
]);

interface CachedTimes {
  readonly cron: string;
  readonly timezone: string | undefined;
  readonly times: Times;
}

/** Starts jobs at the times of their schedules. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #cache = new Map<string, CachedTimes>();
  readonly #stopListening: () => void;
  #timer: unknown;
  #pass: Promise<void> | undefined;
  #isWoken = false;
  #isStopped = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#stopListening = options.store.onChange((table) => {
      if (table === "schedules") this.wake();
    });
  }

  /** Checks the schedules now; the result determines the next check. */
  wake(): void {
    if (this.#isStopped) return;
    if (this.#pass !== undefined) {
      this.#isWoken = true;
      return;
    }
    this.#options.clock.clearTimeout(this.#timer);
    this.#pass = this.#checkAll()
      .catch((error: unknown) => {
        this.#warn("due schedules could not be determined", error);
        return MAX_SLEEP_MS;
      })
      .then((ms) => {
        this.#pass = undefined;
        this.#sleep(ms);
      });
  }

  /** Resolves when no check is in progress. */
  async idle(): Promise<void> {
    while (this.#pass !== undefined) await this.#pass;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopListening();
    this.#options.clock.clearTimeout(this.#timer);
    await this.idle();
  }

  #sleep(ms: number): void {
    if (this.#isStopped) return;
    if (this.#isWoken) {
      this.#isWoken = false;
      this.wake();
      return;
    }
    this.#timer = this.#options.clock.setTimeout(() => {
      this.wake();
    }, ms);
  }

  /** @returns ms until the next check */
  async #checkAll(): Promise<number> {
    const { store, runs, clock } = this.#options;
    await this.#options.lease?.untilValid();
    await runs.beginQueued(this.#options.lease?.fence);
    const marks = await store.schedules.marks();
    let next = Infinity;
    let count = 0;
    for (const schedule of store.schedules.list()) {
      if (++count % SCHEDULES_PER_TURN === 0) await new Promise(setImmediate);
      const mark = marks.get(schedule.id);
      if (!schedule.enabled || mark === undefined) continue;
      const at = await this.#check(schedule, mark);
      if (at !== undefined) next = Math.min(next, at);
    }
    this.#evictDeleted();
    return Math.min(MAX_SLEEP_MS, Math.max(1, next - clock.now()));
  }

  /** @returns the next time that the schedule is due */
  async #check(schedule: Schedule, mark: number): Promise<number | undefined> {
    const { clock, store } = this.#options;
    try {
      const times = this.#timesOf(schedule);
      const now = clock.now();
      const due = decideSchedule(schedule, times, { mark, now });
      if (due.kind === "wait") return due.at;
      if (due.kind === "reset") {
        this.#warn(
          `schedule ${schedule.id}: its last run is in the future, the clock was set back`,
        );
        await store.schedules.moveMark(schedule.id, mark, now);
        return times.next(now);
      }
      await this.#begin(schedule, due);
      return times.next(due.until);
    } catch (error) {
      this.#warn(`schedule ${schedule.id} could not be checked`, error);
      return undefined;
    }
  }

  async #begin(
    { id, jobId, overlap }: Schedule,
    due: Extract<ScheduleDecision, { kind: "run" | "skip" }>,
  ): Promise<void> {
    const { store, runs } = this.#options;
    const job = store.jobs.get(jobId);
    if (job === undefined) return;
    const { userId, name } = job;
    const { dueAt, until } = due;
    const skip =
      due.kind === "skip"
        ? due.reason
        : await this.#options.pausedReason?.(job);
    await runs.begin({
      jobId,
      jobName: name,
      ...(userId === undefined ? {} : { userId }),
      schedule: { id, dueAt, until, overlap },
      ...(skip === undefined ? {} : { skip }),
      fence: this.#options.lease?.fence,
    });
  }

  #timesOf({ id, cron, timezone }: Schedule): Times {
    const known = this.#cache.get(id);
    if (known?.cron === cron && known.timezone === timezone) return known.times;
    const times = cacheNext(createTimes(cron, timezone));
    this.#cache.set(id, { cron, timezone, times });
    return times;
  }

  #evictDeleted(): void {
    const { schedules } = this.#options.store;
    for (const id of this.#cache.keys())
      if (schedules.get(id) === undefined) this.#cache.delete(id);
  }

  #warn(message: string, error?: unknown): void {
    if (error instanceof XoError && EXPECTED.has(error.code)) return;
    this.#options.logger.warn(message, error === undefined ? {} : { error });
  }
}

/** The mark rarely changes between two checks. */
function cacheNext(times: Times): Times {
  let previous: number | undefined;
  let found: number | undefined;
  return {
    last: (after, until) => times.last(after, until),
    next(after) {
      if (after !== previous) found = times.next(after);
      previous = after;
      return found;
    },
  };
}
