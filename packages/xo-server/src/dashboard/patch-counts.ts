import type { Clock } from "../clock.js";
import type { MissingPatches } from "../hosts/missing-patches.js";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import { pause } from "../tasks/pause.js";

export interface PatchCountsParts {
  readonly objects: Pick<PoolObjects, "get">;
  readonly patches: MissingPatches;
  readonly clock: Clock;
}

/** Hosts that take longer tell the next one who asks. */
const WITHIN_MS = 5_000;

/** Hosts that have updates to install; those that did not tell, in time or at all, count as failed. */
export async function patchCounts(
  hosts: readonly string[],
  { objects, patches, clock }: PatchCountsParts,
) {
  const late = new AbortController();
  const outOfTime = pause(clock, WITHIN_MS, late.signal);
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
    // Nobody here knows when a version is no longer supported.
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
    return undefined;
  }
}
