import type { Schedule } from "@xo-server/store";
import type { Times } from "../schedules/times.js";

/** What to do about a schedule now. Times are ms since the epoch. */
export type Due =
  /** Wait until `at`; absent: it is never due again. */
  | { readonly kind: "wait"; readonly at?: number }
  /** Run the job for `dueAt`; this covers all times up to `until`. */
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

/** A run that starts at most this late was not missed, in ms. */
export const LATE_MS = 60_000;
/** Maximum change of the clock to the past without repeated runs, in ms. */
const BACK_MS = 3_600_000;

/** @param mark all times up to here have been handled */
export function dueOf(
  { missed, missedLimitMs }: Pick<Schedule, "missed" | "missedLimitMs">,
  times: Times,
  { mark, now }: { readonly mark: number; readonly now: number },
): Due {
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
      reason: "no server was running in time",
    };
  return { kind: "run", dueAt, until };
}
