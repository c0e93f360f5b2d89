import { XoError } from "@xo-server/model";
import type { PoolObject } from "../objects/pool-objects.js";
import type { PoolAddress } from "../pools/pool-credentials.js";
import { ignoreConnectionLoss, until, type RestartParts } from "./restart.js";

interface JoinParts extends RestartParts {
  /** @throws XoError NOT_CONNECTED: the pool is not followed */
  readonly addressOf: (pool: PoolObject) => Promise<PoolAddress>;
  /** Disconnects a pool that no longer exists. */
  readonly disconnect: (pool: PoolObject) => Promise<void>;
}

interface Join {
  /** A pool of one host; further hosts must be ejected first. */
  readonly source: PoolObject;
  readonly hosts: readonly PoolObject[];
  readonly target: PoolObject;
  /** Joins even if the CPUs of the host differ from those of the pool. */
  readonly force: boolean;
}

/**
 * Makes the only host of a pool join another pool, and disconnects the pool that it
 * leaves.
 * @throws XoError INCORRECT_STATE, CALL_TIMEOUT; errors of the pools
 */
export async function joinPool(
  { source, hosts, target, force }: Join,
  parts: JoinParts,
): Promise<void> {
  const [host] = hosts;
  if (host === undefined || hosts.length > 1 || source.id === target.id)
    throw new XoError("INCORRECT_STATE", {
      object: source.id,
      property: "number of hosts",
      actual: hosts.length,
      expected: "1, and of another pool",
    });
  for (const pool of [source, target]) checkNoHa(pool);
  const { address, user, password } = await parts.addressOf(target);
  const method = force ? "pool.join_force" : "pool.join";
  // A synchronous call, because the host loses its tasks when it joins.
  await source.xapi
    .call(method, [address, user, password], { timeoutMs: JOIN_MS })
    .catch(ignoreConnectionLoss);
  await until(parts, method, async () => {
    await target.xapi.call("host.get_by_uuid", [host.id]);
    return true;
  });
  // While both pools are connected, the host is listed in the pool that it has left.
  await parts.disconnect(source);
  await until(parts, method, () => {
    const { object } = parts.objects.get(host.id, "host");
    return object["$pool"] === target.id && object["power_state"] === "Running";
  });
}

/** Maximum duration of the join, in ms: the host transfers its database and storage. */
const JOIN_MS = 15 * 60_000;

function checkNoHa({ id, object }: PoolObject): void {
  const actual = object["HA_enabled"];
  if (actual === true)
    throw new XoError("INCORRECT_STATE", {
      object: id,
      property: "HA_enabled",
      actual,
      expected: false,
    });
}
