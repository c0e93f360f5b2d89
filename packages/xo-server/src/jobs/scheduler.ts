import { XoError } from "@xo-server/model";
import type { Schedule, Store } from "@xo-server/store";
import type { Clock } from "../clock.js";
import type { Logger } from "../log/logger.js";
import { dueOf, type Due } from "./due.js";
import type { Runs } from "./runs.js";
import { createTimes, type Times } from "./times.js";

export interface SchedulerOptions {
  readonly store: Pick<Store, "jobs" | "schedules" | "onChange">;
  readonly runs: Pick<Runs, "begin" | "tend">;
  readonly clock: Clock;
  readonly logger: Pick<Logger, "warn">;
}

/** The longest sleep, in ms: a clock that is set, or a machine that slept, is noticed within this. */
const LONGEST_MS = 30_000;
/** Schedules that are looked at in one turn of the event loop: a next time takes 60 us to compute, that of February 29 6 ms. */
const IN_ONE_TURN = 2;

interface Known {
  readonly cron: string;
  readonly timezone: string | undefined;
  readonly times: Times;
}

/** Begins jobs when their schedules say so. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #known = new Map<string, Known>();
  readonly #stopListening: () => void;
  #timer: unknown;
  #looking: Promise<void> | undefined;
  #lookAgain = false;
  #isStopped = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#stopListening = options.store.onChange((table) => {
      if (table === "schedules") this.look();
    });
  }

  /** Now, and from then on when something is due. */
  look(): void {
    if (this.#isStopped) return;
    if (this.#looking !== undefined) {
      this.#lookAgain = true;
      return;
    }
    this.#options.clock.clearTimeout(this.#timer);
    this.#looking = this.#lookAtAll()
      .catch((error: unknown) => {
        this.#warn("what is due is not known", error);
        return LONGEST_MS;
      })
      .then((ms) => {
        this.#looking = undefined;
        this.#sleep(ms);
      });
  }

  /** Resolves when it does nothing. */
  async idle(): Promise<void> {
    while (this.#looking !== undefined) await this.#looking;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopListening();
    this.#options.clock.clearTimeout(this.#timer);
    await this.idle();
  }

  #sleep(ms: number): void {
    if (this.#isStopped) return;
    if (this.#lookAgain) {
      this.#lookAgain = false;
      this.look();
      return;
    }
    this.#timer = this.#options.clock.setTimeout(() => {
      this.look();
    }, ms);
  }

  /** @returns ms until the next look */
  async #lookAtAll(): Promise<number> {
    const { store, runs, clock } = this.#options;
    await runs.tend();
    const marks = await store.schedules.marks();
    let next = Infinity;
    let count = 0;
    for (const schedule of store.schedules.list()) {
      if (++count % IN_ONE_TURN === 0) await new Promise(setImmediate);
      const mark = marks.get(schedule.id);
      if (!schedule.enabled || mark === undefined) continue;
      const at = await this.#lookAt(schedule, mark);
      if (at !== undefined) next = Math.min(next, at);
    }
    this.#forgetOld();
    return Math.min(LONGEST_MS, Math.max(1, next - clock.now()));
  }

  /** @returns when it is due next */
  async #lookAt(schedule: Schedule, mark: number): Promise<number | undefined> {
    const { clock, store } = this.#options;
    try {
      const times = this.#timesOf(schedule);
      const now = clock.now();
      const due = dueOf(schedule, times, { mark, now });
      if (due.kind === "wait") return due.at;
      if (due.kind === "reset") {
        this.#warn(`schedule ${schedule.id} was done in the future`);
        await store.schedules.moveMark(schedule.id, mark, now);
        return times.next(now);
      }
      await this.#begin(schedule, due);
      return times.next(due.until);
    } catch (error) {
      this.#warn(`schedule ${schedule.id} is not looked at`, error);
      return undefined;
    }
  }

  async #begin(
    { id, jobId, overlap }: Schedule,
    due: Extract<Due, { kind: "run" | "skip" }>,
  ): Promise<void> {
    const { store, runs } = this.#options;
    const job = store.jobs.get(jobId);
    if (job === undefined) return;
    const { userId, name } = job;
    const { dueAt, until } = due;
    await runs.begin({
      jobId,
      jobName: name,
      ...(userId === undefined ? {} : { userId }),
      schedule: { id, dueAt, until, overlap },
      ...(due.kind === "skip" ? { skip: due.reason } : {}),
    });
  }

  #timesOf({ id, cron, timezone }: Schedule): Times {
    const known = this.#known.get(id);
    if (known?.cron === cron && known.timezone === timezone) return known.times;
    const times = rememberNext(createTimes(cron, timezone));
    this.#known.set(id, { cron, timezone, times });
    return times;
  }

  #forgetOld(): void {
    const { schedules } = this.#options.store;
    for (const id of this.#known.keys())
      if (schedules.get(id) === undefined) this.#known.delete(id);
  }

  #warn(message: string, error?: unknown): void {
    // While the store is gone it says so itself.
    if (error instanceof XoError && error.code === "STORE_UNAVAILABLE") return;
    this.#options.logger.warn(message, error === undefined ? {} : { error });
  }
}

/** The mark stays where it is from one look to the next, mostly. */
function rememberNext(times: Times): Times {
  let asked: number | undefined;
  let found: number | undefined;
  return {
    last: (after, until) => times.last(after, until),
    next(after) {
      if (after !== asked) found = times.next(after);
      asked = after;
      return found;
    },
  };
}
