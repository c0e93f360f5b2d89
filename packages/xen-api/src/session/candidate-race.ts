import { type MonotonicClock, pause } from "@xo-server/kit";
import type { Address } from "../http/address.js";

/** The next candidate is tried when the previous one has failed or has not answered within this time, in ms. */
const HEAD_START_MS = 500;

/** `connected`: end the race. `stop`: end it without a connection. `next`: try the other candidates. */
type CandidateOutcome = "connected" | "stop" | "next";

interface CandidateRace {
  readonly addresses: readonly Address[];
  readonly clock: MonotonicClock;
  readonly signal: AbortSignal;
  /** Tries one address. Must not reject. The signal is aborted when the race has ended. */
  readonly attempt: (
    address: Address,
    signal: AbortSignal,
  ) => Promise<CandidateOutcome>;
}

/**
 * Tries candidates, each a moment after the previous one: a host that accepts
 * connections and does not answer delays the others by that moment only.
 * @returns when one is connected, the race was stopped, or all have failed
 */
export async function raceCandidates(race: CandidateRace): Promise<void> {
  const ended = new AbortController();
  const signal = AbortSignal.any([race.signal, ended.signal]);
  const running = new Set<Promise<void>>();
  const start = (address: Address): Promise<void> => {
    const attempt = race.attempt(address, signal).then((outcome) => {
      running.delete(attempt);
      if (outcome !== "next") ended.abort();
    });
    running.add(attempt);
    return attempt;
  };
  for (const address of race.addresses) {
    if (signal.aborted) break;
    const failed = new AbortController();
    void start(address).then(() => {
      failed.abort();
    });
    await pause(
      race.clock,
      HEAD_START_MS,
      AbortSignal.any([failed.signal, signal]),
    );
  }
  await Promise.all(running);
}
