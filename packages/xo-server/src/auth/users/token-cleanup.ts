import type { WallClock } from "@xo-server/kit";
import type { Store } from "@xo-server/store";

const INTERVAL_MS = 3_600_000;

/** Deletes expired tokens once an hour; they are rejected as soon as they expire. @returns a function that stops it */
export function startTokenCleanup(
  { tokens }: Pick<Store, "tokens">,
  clock: WallClock,
): () => void {
  let timer: unknown;
  const scheduleNext = () => {
    timer = clock.setTimeout(() => {
      // If the database is unavailable, the next run deletes the tokens.
      void tokens.deleteExpired().catch(() => undefined);
      scheduleNext();
    }, INTERVAL_MS);
  };
  scheduleNext();
  return () => {
    clock.clearTimeout(timer);
  };
}
