import { pause, type MonotonicClock } from "@xo-server/kit";

/** Time without an answer before the host is probed, and between two probes, in ms. */
const PROBE_INTERVAL_MS = 3_000;
/** The same while the host does not answer probes, in ms. */
const SILENT_PROBE_INTERVAL_MS = 1_000;
/** A host that only sometimes answers in time must be able to complete a slow attempt. */
const MAX_RESTARTS = 3;

interface WatchedAttempt<T> {
  readonly attempt: (signal: AbortSignal) => Promise<T>;
  /** Resolves with whether the host answers now, within a time limit. Must not reject. */
  readonly probe: (signal: AbortSignal) => Promise<boolean>;
  readonly clock: MonotonicClock;
  readonly signal: AbortSignal;
}

/**
 * Runs an attempt, and probes the host while it takes long. If the host was silent and
 * answers again, the attempt is started again: what a host has received while it was
 * silent, or what was sent into an interrupted network, may never be answered. An
 * attempt that is slow at a host that answers probes is left alone.
 * @returns what the last attempt resolves with
 * @throws what it rejects with
 */
export async function restartAfterSilence<T>(
  options: WatchedAttempt<T>,
): Promise<T> {
  for (let restarts = 0; restarts < MAX_RESTARTS; restarts++) {
    const ended = new AbortController();
    const signal = AbortSignal.any([options.signal, ended.signal]);
    const attempt = options
      .attempt(signal)
      .then((value) => ({ outcome: "ended", value }) as const);
    // After a restart no caller waits for it.
    attempt.catch(() => undefined);
    try {
      const first = await Promise.race([
        attempt,
        untilAnswersAgain(options, signal),
      ]);
      if (first.outcome === "ended") return first.value;
    } finally {
      ended.abort();
    }
  }
  return options.attempt(options.signal);
}

/** Resolves when the host has not answered a probe and answers one again, or when the signal is aborted. */
async function untilAnswersAgain(
  { probe, clock }: Pick<WatchedAttempt<unknown>, "probe" | "clock">,
  signal: AbortSignal,
): Promise<{ readonly outcome: "answers-again" }> {
  let isSilent = false;
  for (;;) {
    const ms = isSilent ? SILENT_PROBE_INTERVAL_MS : PROBE_INTERVAL_MS;
    await pause(clock, ms, signal);
    const answers = signal.aborted || (await probe(signal));
    if (signal.aborted || (isSilent && answers))
      return { outcome: "answers-again" };
    isSilent = !answers;
  }
}
