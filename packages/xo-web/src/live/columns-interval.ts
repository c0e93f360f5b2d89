/** The interval is at least this multiple of the duration of the last request, up to MAX_INTERVAL_MS. */
const DURATION_FACTOR = 4;
const MAX_INTERVAL_MS = 20_000;

/** Interval while pools are being loaded: figures of a part of the objects are shown. */
const INCOMPLETE_MS = 1_000;

interface LastRequest {
  /** Duration of the last request in ms. */
  readonly tookMs: number;
  /** Whether its response has all objects: none of the pools is being loaded. */
  readonly isComplete: boolean;
}

/** Time in ms until columns are requested again. @param everyMs the usual interval */
export function columnsInterval(
  everyMs: number,
  { tookMs, isComplete }: LastRequest,
): number {
  const usual = isComplete ? everyMs : Math.min(everyMs, INCOMPLETE_MS);
  return Math.max(usual, Math.min(DURATION_FACTOR * tookMs, MAX_INTERVAL_MS));
}
