import type { Clock } from "../clock.js";
import type { Pools } from "../pools/pools.js";

/** Between two looks, in ms. */
const LOOK_MS = 500;
/** A pool that cannot be reached is not waited for any longer, in ms. */
const LONGEST_MS = 60_000;

/** Resolves when all pools are listed or failed, after a minute in any case. */
export async function poolsSettled(
  pools: Pick<Pools, "list">,
  clock: Clock,
  isStopping: () => boolean,
): Promise<void> {
  const end = clock.now() + LONGEST_MS;
  const isComing = () =>
    pools
      .list()
      .some(({ state }) => state === "connecting" || state === "listing");
  while (isComing() && clock.now() < end && !isStopping())
    await new Promise<void>((resolve) => {
      clock.setTimeout(resolve, LOOK_MS);
    });
}
