import type { WallClock } from "@xo-server/kit";
import type { MissingPatches } from "../updates/missing-patches.js";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import { pause } from "../tasks/pause.js";

interface PatchCountsParts {
  readonly objects: Pick<PoolObjects, "get">;
  readonly patches: MissingPatches;
  readonly clock: WallClock;
}

/** Maximum wait for a host, in ms. A slower host is included in the next answer. */
const TIMEOUT_MS = 5_000;

/** Hosts with missing patches; hosts that fail or time out count as failed. */
export async function patchCounts(
  hosts: readonly string[],
  { objects, patches, clock }: PatchCountsParts,
) {
  const late = new AbortController();
  const outOfTime = pause(clock, TIMEOUT_MS, late.signal);
  const pools = new Set<string>();
  const poolsWith = new Set<string>();
  let failed = 0;
  let missing = 0;
  await Promise.all(
    hosts.map(async (id) => {
      const found = await Promise.race([
        countOf(id, { objects, patches }),
        outOfTime,
      ]);
      if (typeof found !== "object") failed++;
      else {
        pools.add(found.pool);
        if (found.count > 0) {
          missing++;
          poolsWith.add(found.pool);
        }
      }
    }),
  );
  late.abort();
  return {
    hasAuthorization: true,
    nHosts: hosts.length,
    nPools: pools.size,
    // The end of life of versions is not known.
    nHostsEol: { isEmpty: true },
    nHostsWithMissingPatches: missing,
    nHostsFailed: failed,
    nPoolsWithMissingPatches: poolsWith.size,
  };
}

async function countOf(
  id: string,
  { objects, patches }: Omit<PatchCountsParts, "clock">,
): Promise<{ pool: string; count: number } | undefined> {
  try {
    const host: PoolObject = objects.get(id, "host");
    const { length } = await patches.of(host);
    return { pool: String(host.object["$pool"]), count: length };
  } catch {
    // Counted as failed.
    return undefined;
  }
}
