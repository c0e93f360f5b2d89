import type { Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { mapOf, read } from "./xapi-objects.js";

/** A migration of disks that are being read would make the backup fail. */
const BLOCKED = ["migrate_send", "pool_migrate"] as const;
const REASON = "xo-server backup";

/** Blocks migrations of a VM. Operations that are already blocked are not changed. */
export async function blockMigration(
  xapi: Xapi,
  vm: Ref,
  runId: string,
): Promise<void> {
  const blocked = mapOf(await read(xapi, "VM", vm), "blocked_operations");
  for (const operation of BLOCKED)
    if (!Object.hasOwn(blocked, operation))
      await xapi.call("VM.add_to_blocked_operations", [
        vm,
        operation,
        `${REASON} (run ${runId})`,
      ]);
}

/** @param isOver whether a run has ended; default: all runs have */
export async function unblockMigration(
  xapi: Xapi,
  vm: Ref,
  isOver: (runId: string) => boolean = () => true,
): Promise<void> {
  const blocked = mapOf(await read(xapi, "VM", vm), "blocked_operations");
  for (const operation of BLOCKED) {
    const run = blockingRun(blocked[operation]);
    if (run !== undefined && isOver(run))
      await xapi.call("VM.remove_from_blocked_operations", [vm, operation]);
  }
}

/**
 * The run that has blocked an operation.
 * @param reason the value in blocked_operations
 */
export function blockingRun(reason: unknown): string | undefined {
  if (typeof reason !== "string" || !reason.startsWith(REASON))
    return undefined;
  return /\(run ([^)]+)\)$/.exec(reason)?.[1] ?? "";
}
