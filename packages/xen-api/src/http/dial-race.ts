import { pause, type MonotonicClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { DialedSocket } from "./dial.js";

type Way = "direct" | "indirect";

interface DialRace {
  /** Each establishes a connection in its way. */
  readonly ways: Readonly<
    Record<Way, (signal: AbortSignal) => Promise<DialedSocket>>
  >;
  /** The way that is tried first. */
  readonly first: Way;
  /** The other one is tried after this time, in ms, or when the first one has failed. */
  readonly headStartMs: number;
  /** Whether the other way could succeed where the direct one has failed with this error. */
  readonly isPathFailure: (error: unknown) => boolean;
  readonly clock: MonotonicClock;
  readonly signal: AbortSignal | undefined;
}

export interface RaceResult {
  readonly way: Way;
  readonly dialed: DialedSocket;
  /** Why there is no direct connection; undefined: there is, or its attempt still runs. */
  readonly failure: Error | undefined;
  /** Whether the direct way has led to a connection in the end. */
  readonly isDirect: Promise<boolean>;
}

type Outcome =
  | { readonly way: Way; readonly dialed: DialedSocket }
  | { readonly way: Way; readonly dialed?: never; readonly error: Error };

/**
 * Connects in one of two ways. An attempt at the direct one continues when the other has
 * been faster, which shows whether it works.
 * @throws the error of the direct way, if both have failed
 */
export async function raceWays(race: DialRace): Promise<RaceResult> {
  const { first, headStartMs, clock, signal } = race;
  const ended: Record<Way, AbortController> = {
    direct: new AbortController(),
    indirect: new AbortController(),
  };
  const onAbort = () => {
    for (const one of Object.values(ended)) one.abort();
  };
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted === true) onAbort();
  const start = (way: Way): Promise<Outcome> =>
    race.ways[way](ended[way].signal).then(
      (dialed) => ({ way, dialed }),
      (error: unknown) => ({ way, error: error as Error }),
    );
  const running = [start(first)];
  try {
    const early = await settledWithin(running[0]!, headStartMs, clock);
    if (early === undefined || !isFinal(early, race))
      running.push(start(otherWay(first)));
    const { winner, failure } = await decide(running, race);
    if (winner.dialed === undefined || winner.way === "direct")
      ended.indirect.abort();
    const isDirect = endOthers(running, winner);
    if (winner.dialed === undefined) throw winner.error;
    return { way: winner.way, dialed: winner.dialed, failure, isDirect };
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

function otherWay(way: Way): Way {
  return way === "direct" ? "indirect" : "direct";
}

/** @returns undefined: not yet */
async function settledWithin(
  outcome: Promise<Outcome>,
  ms: number,
  clock: MonotonicClock,
): Promise<Outcome | undefined> {
  const settled = new AbortController();
  const first = await Promise.race([
    outcome,
    pause(clock, ms, settled.signal).then(() => undefined),
  ]);
  settled.abort("settled");
  return first;
}

/** @returns the outcome of the race, and why the direct way had failed before it */
async function decide(
  running: readonly Promise<Outcome>[],
  race: DialRace,
): Promise<{
  readonly winner: Outcome;
  readonly failure: Error | undefined;
}> {
  const one = await Promise.race(running);
  if (isFinal(one, race)) return { winner: one, failure: undefined };
  const all = await Promise.all(running);
  const other = all.find(({ way }) => way !== one.way) ?? one;
  const direct = one.way === "direct" ? one : other;
  if (other.dialed === undefined) return { winner: direct, failure: undefined };
  const failure = direct.dialed === undefined ? direct.error : undefined;
  return { winner: other, failure };
}

function isFinal(outcome: Outcome, { isPathFailure }: DialRace): boolean {
  if (outcome.dialed !== undefined) return true;
  const { way, error } = outcome;
  if (error instanceof XoError && error.code === "ABORTED") return true;
  return way === "direct" && !isPathFailure(error);
}

/** Closes connections that are not used. @returns whether there was, or is, a direct one */
async function endOthers(
  all: readonly Promise<Outcome>[],
  winner: Outcome,
): Promise<boolean> {
  let isDirect = winner.way === "direct";
  for (const { way, dialed } of await Promise.all(all)) {
    if (dialed === undefined || dialed === winner.dialed) continue;
    if (way === "direct") isDirect = true;
    dialed.socket.destroy();
  }
  return isDirect;
}
