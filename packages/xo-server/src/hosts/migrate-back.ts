import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import type { TaskContext } from "../tasks/task-context.js";
import { eachOf } from "./guests.js";

export interface MoveParts {
  readonly objects: PoolObjects;
  readonly work: TaskContext;
}

/**
 * Migrates VMs back to this host, a few at a time. If a VM cannot be migrated, the
 * task gets a warning.
 * @param vms ids; VMs that are deleted or not running are skipped
 */
export async function migrateBackTo(
  host: PoolObject,
  vms: readonly string[],
  { objects, work }: MoveParts,
): Promise<void> {
  await eachOf(vms, async (id) => {
    try {
      const { xapi, ref, object } = objects.get(id, "VM");
      const { power_state, $container } = object;
      if (power_state !== "Running" || $container === host.id) return;
      const options = { live: "true" };
      await xapi.callAsync("VM.pool_migrate", [ref, host.ref, options]);
    } catch (error) {
      const { message } = error as Error;
      work.warn(`${id} stays on another host: ${message}`, { vm: id });
    }
  });
}
