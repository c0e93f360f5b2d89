import type { Schedule } from "@xo-server/store";
import type { Times } from "./times.js";

/** What is to be done about a schedule now. Times in ms since the epoch. */
export type Due =
  /** Nothing, until then; absent: never again. */
  | { readonly kind: "wait"; readonly at?: number }
  /** The job: as of `dueAt`, and all times up to `until` are seen to by that. */
  | { readonly kind: "run"; readonly dueAt: number; readonly until: number }
  /** Nothing but to write down why not. */
  | {
      readonly kind: "skip";
      readonly dueAt: number;
      readonly until: number;
      readonly reason: string;
    }
  /** The mark is in the future: the clock was set back by far. */
  | { readonly kind: "reset" };

/** What is done no later than this after its time was not missed, in ms. */
export const LATE_MS = 60_000;
/** A clock may be set back so far without anything being done twice, in ms. */
const BACK_MS = 3_600_000;

/** @param mark up to when its times have been seen to */
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
    return { kind: "skip", dueAt, until, reason: "no server was there" };
  if (missedLimitMs !== undefined && now - until > missedLimitMs)
    return {
      kind: "skip",
      dueAt,
      until,
      reason: "no server was there in time",
    };
  return { kind: "run", dueAt, until };
}
