import { XapiError, type Ref } from "@xo-server/model";
import type { PoolObject } from "../objects/pool-objects.js";
import type { TaskContext } from "../tasks/task-context.js";

export interface SnapshotKind {
  /** Whether the memory is saved too; only of a VM that is not halted. */
  readonly saveMemory?: boolean;
  /** Whether the guest flushes its file systems first (quiesce). */
  readonly quiesce?: boolean;
  readonly work: Pick<TaskContext, "warn">;
}

/** XAPI's errors if the guest or the pool (since version 8) does not support quiesced snapshots. */
const QUIESCE_REFUSALS = new Set([
  "MESSAGE_REMOVED",
  "MESSAGE_METHOD_UNKNOWN",
  "OPERATION_NOT_ALLOWED",
  "VM_LACKS_FEATURE",
  "VM_SNAPSHOT_WITH_QUIESCE_FAILED",
  "VM_SNAPSHOT_WITH_QUIESCE_NOT_SUPPORTED",
  "VM_SNAPSHOT_WITH_QUIESCE_PLUGIN_DEOS_NOT_RESPOND",
  "VM_SNAPSHOT_WITH_QUIESCE_TIMEOUT",
]);

/** @returns the reference of the snapshot */
export async function takeSnapshot(
  { xapi, ref }: Pick<PoolObject, "xapi" | "ref">,
  label: string,
  { saveMemory = false, quiesce = false, work }: SnapshotKind,
): Promise<Ref> {
  if (saveMemory)
    return (await xapi.callAsync("VM.checkpoint", [ref, label])) as Ref;
  if (quiesce)
    try {
      const params = [ref, label];
      const created = await xapi.callAsync("VM.snapshot_with_quiesce", params);
      return created as Ref;
    } catch (error) {
      if (!cannotQuiesce(error)) throw error;
      work.warn("the guest does not support quiescing", { code: error.code });
    }
  return (await xapi.callAsync("VM.snapshot", [ref, label, []])) as Ref;
}

/** Whether a snapshot without quiescing follows. */
export function cannotQuiesce(error: unknown): error is XapiError {
  return error instanceof XapiError && QUIESCE_REFUSALS.has(error.code);
}
