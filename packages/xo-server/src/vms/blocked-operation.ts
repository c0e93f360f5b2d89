import type { PoolObject } from "../objects/pool-objects.js";
import { readRecord } from "./xapi-records.js";

/**
 * Runs an operation that is blocked on a VM, and blocks it again afterwards for the
 * same reason.
 */
export async function withOperationUnblocked<T>(
  { xapi, ref }: Pick<PoolObject, "xapi" | "ref">,
  operation: string,
  act: () => Promise<T>,
): Promise<T> {
  const { blocked_operations } = await readRecord(xapi, "VM", ref);
  if (!Object.hasOwn(blocked_operations, operation)) return act();
  const reason = blocked_operations[operation];
  await xapi.call("VM.remove_from_blocked_operations", [ref, operation]);
  try {
    return await act();
  } finally {
    await xapi.call("VM.add_to_blocked_operations", [ref, operation, reason]);
  }
}
