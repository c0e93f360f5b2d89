import { XoError } from "@xo-server/model";
import type { PoolObjects } from "../objects/pool-objects.js";
import { pause } from "../tasks/pause.js";
import { guestsOf } from "./guests.js";
import type { RestartParts } from "./restart.js";
import { isNoSuchObject } from "../objects/no-such-object.js";

const POLL_MS = 1_000;
/**
 * Maximum wait, in ms, for the migration of a VM with much memory. After it the
 * caller continues and gets XAPI's error.
 */
const MOVES_TIMEOUT_MS = 15 * 60_000;
const MOVES = new Set(["pool_migrate", "migrate_send"]);

/**
 * Waits until no guest of the hosts is being migrated by anyone. The load balancer
 * starts no more migrations as soon as a maintenance operation of the pool is
 * recorded.
 * @throws XoError ABORTED
 */
export async function migrationsEnded(
  hosts: readonly string[],
  { objects, clock, signal }: RestartParts,
): Promise<void> {
  const until = clock.now() + MOVES_TIMEOUT_MS;
  while (hosts.some((host) => isMoving(host, objects))) {
    if (clock.now() >= until) return;
    await pause(clock, POLL_MS, signal);
    if (signal.aborted) throw new XoError("ABORTED", { what: "it" });
  }
}

function isMoving(host: string, objects: PoolObjects): boolean {
  try {
    return guestsOf(objects.get(host, "host"), objects).some(({ object }) =>
      Object.values(object["current_operations"] ?? {}).some((one: unknown) =>
        MOVES.has(String(one)),
      ),
    );
  } catch (error) {
    if (isNoSuchObject(error)) return false;
    throw error;
  }
}
