import type { Store } from "@xo-server/store";
import type { Clock } from "../clock.js";

const INTERVAL_MS = 3_600_000;

/** Deletes tokens that have run out, once an hour; they are good for nothing long before. @returns how to stop */
export function startTokenCleanup(
  { tokens }: Pick<Store, "tokens">,
  clock: Clock,
): () => void {
  let timer: unknown;
  const dropLater = () => {
    timer = clock.setTimeout(() => {
      // Should the store be away, the next time will do.
      void tokens.deleteExpired().catch(() => undefined);
      dropLater();
    }, INTERVAL_MS);
  };
  dropLater();
  return () => {
    clock.clearTimeout(timer);
  };
}
