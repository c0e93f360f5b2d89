import type { Schedule } from "@xo-server/store";
import type { Times } from "../schedules/times.js";

/** What to do about a schedule now. Times are ms since the epoch. */
export type ScheduleDecision =
  /** Wait until `at`; absent: the schedule is never due again. */
  | { readonly kind: "wait"; readonly at?: number }
  /** Run the job for `dueAt`; this also covers all due times up to `until`. */
  | { readonly kind: "run"; readonly dueAt: number; readonly until: number }
  /** Record a skipped run with the reason. */
  | {
      readonly kind: "skip";
      readonly dueAt: number;
      readonly until: number;
      readonly reason: string;
    }
  /** The mark is in the future: the clock was set back by more than BACK_MS. */
  | { readonly kind: "reset" };

/** A run that starts with a smaller delay was not missed, in ms. */
export const LATE_MS = 60_000;
/** If the clock is set back by at most this time, in ms, no run is repeated. */
const BACK_MS = 3_600_000;

/** @param mark all due times up to this one have been handled */
export function decideSchedule(
  { missed, missedLimitMs }: Pick<Schedule, "missed" | "missedLimitMs">,
  times: Times,
  { mark, now }: { readonly mark: number; readonly now: number },
): ScheduleDecision {
  if (mark > now + BACK_MS) return { kind: "reset" };
  const first = times.next(mark);
  if (first === undefined) return { kind: "wait" };
  if (first > now) return { kind: "wait", at: first };
  const until = times.last(mark, now) ?? first;
  if (now - until <= LATE_MS) return { kind: "run", dueAt: until, until };
  const dueAt = until;
  if (missed === "skip")
    return { kind: "skip", dueAt, until, reason: "no server was running" };
  if (missedLimitMs !== undefined && now - until > missedLimitMs)
    return {
      kind: "skip",
      dueAt,
      until,
      reason: "no server was running at that time",
    };
  return { kind: "run", dueAt, until };
}
