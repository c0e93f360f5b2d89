import { XoError } from "@xo-server/model";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";

/**
 * Free space that each SR needs for the heartbeat and the pool's database.
 * [XenServer's guide: 356 MB]
 */
const MIN_BYTES = 356 * 2 ** 20;

/**
 * Enables HA in a pool. Problems that XAPI would report only after a minute are
 * checked first.
 * @param srs heartbeat SRs; empty: XAPI selects some
 * @throws XoError INCORRECT_STATE; errors of the pool
 */
export async function enableHa(
  pool: PoolObject,
  hosts: readonly PoolObject[],
  srs: readonly PoolObject[],
  { objects, configuration }: HaOptions,
): Promise<void> {
  checkIs(pool, "HA_enabled", false);
  for (const host of hosts) checkIs(host, "power_state", "Running");
  for (const sr of srs) {
    checkSr(sr, hosts, objects);
    await sr.xapi.call("SR.assert_can_host_ha_statefile", [sr.ref]);
  }
  const refs = srs.map(({ ref }) => ref);
  await pool.xapi.callAsync("pool.enable_ha", [refs, configuration]);
}

interface HaOptions {
  readonly objects: PoolObjects;
  /** HA configuration, such as the seconds after which a host counts as dead: `{timeout: "60"}`. */
  readonly configuration: Readonly<Record<string, string>>;
}

function checkSr(
  sr: PoolObject,
  hosts: readonly PoolObject[],
  objects: PoolObjects,
): void {
  checkIs(sr, "shared", true);
  const { size, physical_usage, $PBDs } = sr.object;
  const free = Number(size) - Number(physical_usage);
  if (free < MIN_BYTES)
    throw wrong(sr, {
      property: "free space",
      actual: free,
      expected: MIN_BYTES,
    });
  const attached = ($PBDs as readonly string[])
    .map((id) => objects.get(id, "PBD").object)
    .filter(({ attached }) => attached === true);
  const reach = new Set(attached.map(({ host }) => host));
  const without = hosts.find(({ id }) => !reach.has(id));
  if (without !== undefined)
    throw wrong(sr, {
      property: "connection",
      actual: `not to host ${without.id}`,
      expected: "to every host",
    });
}

function checkIs(one: PoolObject, property: string, expected: unknown): void {
  const actual = one.object[property];
  if (actual !== expected) throw wrong(one, { property, actual, expected });
}

function wrong({ id }: PoolObject, state: object): XoError {
  return new XoError("INCORRECT_STATE", { object: id, ...state });
}
