/** State of a VM, from its XAPI record or from the object that clients see. */
interface VmState {
  readonly power_state?: unknown;
  readonly current_operations?: unknown;
}

/** Why a VM cannot be live-migrated now. */
interface MigrationObstacle {
  /** XAPI's error code. */
  readonly code: "VM_BAD_POWER_STATE" | "OTHER_OPERATION_IN_PROGRESS";
  /** In English, for states, logs and the history. */
  readonly message: string;
}

/**
 * Why a VM cannot be live-migrated. Both planning and execution use this function;
 * otherwise a migration could be planned and rejected again and again. XAPI only
 * migrates running VMs; a paused VM has a host, but stays there.
 * @returns undefined: the VM can be migrated
 */
export function migrationObstacle({
  power_state,
  current_operations,
}: VmState): MigrationObstacle | undefined {
  if (power_state !== "Running")
    return {
      code: "VM_BAD_POWER_STATE",
      message: `VM is ${String(power_state).toLowerCase()} (only running VMs can be migrated)`,
    };
  if (Object.keys(current_operations ?? {}).length > 0)
    return {
      code: "OTHER_OPERATION_IN_PROGRESS",
      message: "another operation is in progress on the VM",
    };
  return undefined;
}
