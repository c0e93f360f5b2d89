import { XoError } from "@xo-server/model";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { Audit, AuditedCall } from "../operations/audit.js";
import { onBehalfOf } from "../operations/on-behalf.js";
import type { ActivityRecorder } from "../operations/activity-recorder.js";
import type { AuthenticatedUser } from "../auth/users/authenticated-user.js";
import { migrationObstacle } from "../placement/migration-obstacle.js";
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

export interface MigrationParts {
  readonly objects: PoolObjects;
  readonly audit: Audit;
  readonly recorder: ActivityRecorder;
}

/** The run that a migration belongs to. */
interface MigrationContext {
  readonly pool: string;
  readonly run: string;
  readonly user: AuthenticatedUser;
}

/** The operation as which a migration is recorded in the audit log. */
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
export async function executeMigration(
  move: MoveRecord,
  { pool, run, user }: MigrationContext,
  work: TaskContext,
  { objects, audit, recorder }: MigrationParts,
): Promise<void> {
  audit.check();
  const { vm, from, to, purpose } = move;
  const params = { vm, from, to, reason: purpose, pool, run };
  const context = { ...onBehalfOf(user, work), address: "balancer" };
  const call = { operation: MIGRATION, params, context };
  const audited = await audit.begin(call);
  const end = recorder.begin(call);
  try {
    await executeStep({ kind: "migrate", vm, from, to }, objects.forTask(work));
    end(true);
  } catch (error) {
    end();
    await audited.end({ error: error as Error });
    throw error;
  }
  await audited.end({ result: true });
}

/**
 * Why a planned migration is no longer possible because the VM or its target host
 * has changed; undefined: it still is.
 */
export function changeOf(
  { vm, from, to }: MoveRecord,
  objects: MigrationParts["objects"],
): string | undefined {
  try {
    const { object } = objects.get(vm, "VM");
    const obstacle = migrationObstacle(object);
    if (obstacle !== undefined) return obstacle.message;
    if (object["$container"] !== from) return "VM has moved to another host";
    const { object: host } = objects.get(to, "host");
    return host["enabled"] === true ? undefined : "target host is disabled";
  } catch (error) {
    if (error instanceof XoError) return error.message;
    throw error;
  }
}
