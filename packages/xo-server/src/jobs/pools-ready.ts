import type { WallClock } from "@xo-server/kit";
import type { Pools } from "../pools/pools.js";

/** Interval of the check, in ms. */
const CHECK_MS = 500;
/** Maximum wait, in ms, because pools may be unreachable. */
const TIMEOUT_MS = 60_000;

/** Resolves when all pools are listed or have failed, or after a minute. */
export async function poolsReady(
  pools: Pick<Pools, "listSummaries">,
  clock: WallClock,
  isStopping: () => boolean,
): Promise<void> {
  const end = clock.now() + TIMEOUT_MS;
  const isComing = () =>
    pools
      .listSummaries()
      .some(({ state }) => state === "connecting" || state === "listing");
  while (isComing() && clock.now() < end && !isStopping())
    await new Promise<void>((resolve) => {
      clock.setTimeout(resolve, CHECK_MS);
    });
}
