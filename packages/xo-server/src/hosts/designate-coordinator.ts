import { XoError } from "@xo-server/model";
import type { PoolObject } from "../objects/pool-objects.js";
import { ignoreConnectionLoss, until, type RestartParts } from "./restart.js";

/**
 * Designates a host as the coordinator of its pool, and waits until the server is
 * connected to the new coordinator.
 * @throws XoError INCORRECT_STATE: the host is disabled; CALL_TIMEOUT; errors of
 * the pool
 */
export async function designateCoordinator(
  host: PoolObject,
  parts: RestartParts,
): Promise<void> {
  const { objects } = parts;
  const pool = () => objects.get(String(host.object["$pool"]), "pool");
  if (pool().object["master"] === host.id) return;
  const actual = host.object["enabled"];
  if (actual !== true)
    throw new XoError("INCORRECT_STATE", {
      object: host.id,
      property: "enabled",
      actual,
      expected: true,
    });
  // Both hosts restart XAPI, so the response may be lost with the connection.
  await host.xapi
    .callAsync("pool.designate_new_master", [host.ref])
    .catch(ignoreConnectionLoss);
  await until(
    parts,
    "pool.designate_new_master",
    () => pool().object["master"] === host.id,
  );
}
