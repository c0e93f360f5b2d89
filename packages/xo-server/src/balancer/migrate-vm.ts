import { XoError } from "@xo-server/model";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { Audit, AuditedCall } from "../operations/audit.js";
import { onBehalfOf } from "../operations/on-behalf.js";
import type { ActivityRecorder } from "../operations/activity-recorder.js";
import type { AuthenticatedUser } from "../auth/authenticated-user.js";
import { executeStep } from "../placement/plan-step.js";
import { Rights } from "../rights/rights.js";
import type { TaskContext } from "../tasks/task-context.js";
import type { MoveRecord } from "./run-record.js";

/** The actor in the audit log and the activity log for automatic runs. */
export const balancerUser: AuthenticatedUser = {
  id: "load-balancer",
  name: "load balancer",
  isAdmin: true,
  groups: [],
  rights: Rights.all,
};

export interface MigrateVmParts {
  readonly objects: PoolObjects;
  readonly audit: Audit;
  readonly recorder: ActivityRecorder;
}

/** The run that a migration belongs to. */
export interface MigrationContext {
  readonly pool: string;
  readonly run: string;
  readonly person: AuthenticatedUser;
}

/** The operation as it is audited. */
const MIGRATION: AuditedCall["operation"] = {
  name: "balancer.move",
  permission: {
    action: "operate:migrate",
    resource: "VM",
    id: ({ vm }: { readonly vm: string }) => vm,
  },
};

/**
 * Migrates a VM, with entries in the audit log and the activity log.
 * @throws XoError, XapiError: the VM stayed on its host
 */
export async function migrateVm(
  move: MoveRecord,
  { pool, run, person }: MigrationContext,
  work: TaskContext,
  { objects, audit, recorder }: MigrateVmParts,
): Promise<void> {
  audit.check();
  const { vm, from, to, purpose } = move;
  const params = { vm, from, to, reason: purpose, pool, run };
  const context = { ...onBehalfOf(person, work), address: "balancer" };
  const call = { operation: MIGRATION, params, context };
  const end = recorder.begin(call);
  try {
    await executeStep({ kind: "migrate", vm, from, to }, objects.forTask(work));
    end(true);
  } catch (error) {
    end();
    await audit.write({ ...call, outcome: { error: error as Error } });
    throw error;
  }
  await audit.write({ ...call, outcome: { result: true } });
}

/** Why a planned migration is no longer possible; undefined: it is. */
export function obstacleOf(
  { vm, from, to }: MoveRecord,
  objects: MigrateVmParts["objects"],
): string | undefined {
  try {
    const { object } = objects.get(vm, "VM");
    if (object["power_state"] !== "Running")
      return `VM is ${String(object["power_state"]).toLowerCase()} (only running VMs can be migrated)`;
    if (object["$container"] !== from) return "VM has moved to another host";
    if (Object.keys(object["current_operations"] ?? {}).length > 0)
      return "another operation is in progress on the VM";
    const { object: host } = objects.get(to, "host");
    return host["enabled"] === true ? undefined : "target host is disabled";
  } catch (error) {
    if (error instanceof XoError) return error.message;
    throw error;
  }
}
