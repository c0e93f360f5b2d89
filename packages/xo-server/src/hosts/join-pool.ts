import { XoError } from "@xo-server/model";
import type { PoolObject } from "../objects/pool-objects.js";
import type { PoolAddress } from "../pools/pool-credentials.js";
import { ignoreConnectionLoss, until, type RestartParts } from "./restart.js";

export interface JoinParts extends RestartParts {
  /** @throws XoError NOT_CONNECTED: the pool is not followed */
  readonly addressOf: (pool: PoolObject) => Promise<PoolAddress>;
  /** Follows a pool no more that is one no more. */
  readonly disconnect: (pool: PoolObject) => Promise<void>;
}

export interface Join {
  /** Of one host: more must be detached one by one before. */
  readonly source: PoolObject;
  readonly hosts: readonly PoolObject[];
  readonly target: PoolObject;
  /** Although its CPUs differ from those of the pool. */
  readonly force: boolean;
}

/**
 * Has a pool of one host join another: its host is one of the other's then. It
 * is followed through that pool from then on.
 * @throws XoError INCORRECT_STATE, CALL_TIMEOUT; what the pools refused
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
  // Its host forgets tasks when it has joined: the call itself is waited for.
  await source.xapi
    .call(method, [address, user, password], { timeoutMs: JOIN_MS })
    .catch(ignoreConnectionLoss);
  await until(parts, method, async () => {
    await target.xapi.call("host.get_by_uuid", [host.id]);
    return true;
  });
  // As long as both pools are followed, the host shows as that of the first.
  await parts.disconnect(source);
  await until(parts, method, () => {
    const { object } = parts.objects.get(host.id, "host");
    return object["$pool"] === target.id && object["power_state"] === "Running";
  });
}

/** It brings its database and its storage along. */
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
