import { XoError } from "@xo-server/model";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { Audit, AuditedCall } from "../operations/audit.js";
import { onBehalfOf } from "../operations/on-behalf.js";
import type { Witness } from "../operations/witness.js";
import type { AuthenticatedUser } from "../auth/authenticated-user.js";
import { doStep } from "../placement/plan-step.js";
import { Rights } from "../rights/rights.js";
import type { TaskContext } from "../tasks/task-context.js";
import type { MoveRecord } from "./run-record.js";

/** What the audit log and activity have as the one who did it, where nobody asked for it. */
export const balancerItself: AuthenticatedUser = {
  id: "load-balancer",
  name: "load balancer",
  isAdmin: true,
  groups: [],
  rights: Rights.all,
};

export interface MoveVmParts {
  readonly objects: PoolObjects;
  readonly audit: Audit;
  readonly witness: Witness;
}

/** Whose move it is. */
export interface MoveFor {
  readonly pool: string;
  readonly run: string;
  readonly person: AuthenticatedUser;
}

/** As the audit log has it. */
const MOVE: AuditedCall["operation"] = {
  name: "balancer.move",
  permission: {
    action: "operate:migrate",
    resource: "VM",
    id: ({ vm }: { readonly vm: string }) => vm,
  },
};

/**
 * Moves a VM, and writes it down.
 * @throws XoError, XapiError: it is where it was
 */
export async function moveVm(
  move: MoveRecord,
  { pool, run, person }: MoveFor,
  work: TaskContext,
  { objects, audit, witness }: MoveVmParts,
): Promise<void> {
  audit.check();
  const { vm, from, to, purpose } = move;
  const params = { vm, from, to, reason: purpose, pool, run };
  const context = { ...onBehalfOf(person, work), address: "balancer" };
  const call = { operation: MOVE, params, context };
  const end = witness.begin(call);
  try {
    await doStep({ kind: "move", vm, from, to }, objects.forTask(work));
    end(true);
  } catch (error) {
    end();
    await audit.write({ ...call, outcome: { error: error as Error } });
    throw error;
  }
  await audit.write({ ...call, outcome: { result: true } });
}

/** Why a move of a plan does not hold any more; undefined: it does. */
export function changeOf(
  { vm, from, to }: MoveRecord,
  objects: MoveVmParts["objects"],
): string | undefined {
  try {
    const { object } = objects.get(vm, "VM");
    if (object["power_state"] !== "Running") return "it does not run";
    if (object["$container"] !== from) return "it runs elsewhere";
    if (Object.keys(object["current_operations"] ?? {}).length > 0)
      return "something is being done to it";
    const { object: host } = objects.get(to, "host");
    return host["enabled"] === true ? undefined : "its new host takes no VMs";
  } catch (error) {
    if (error instanceof XoError) return error.message;
    throw error;
  }
}
