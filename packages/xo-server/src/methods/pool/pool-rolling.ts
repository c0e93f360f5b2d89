import { Type } from "typebox";
import { nameOf } from "../../hosts/evacuation-blockers.js";
import type { RestRoute } from "../../operations/rest-route.js";
import { abandonRun } from "../../rolling/abandon-run.js";
import type { RollingParts } from "../../rolling/rolling-parts.js";
import { rollPool, type RollingCall } from "../../rolling/roll-pool.js";
import type { TaskContext } from "../../tasks/task-context.js";
import { asTask } from "../definition/as-task.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { actionRoute } from "../definition/on-object.js";
import { poolRollingStateOperations } from "./pool-rolling-state.js";
import { flag, hostsOf, onPool, options, pool } from "./rolling-parameters.js";

const resume = (what: string) =>
  flag(
    `Default: a rolling ${what} that has stopped is resumed. false: a new one is started. true: one whose server has crashed is resumed too.`,
  );

const ignored = flag("Ignored. Clients of Xen Orchestra send it.");

/** The persisted state from which the task of a run continues after a crash of the server. */
type RollingState = { readonly pool: string } & Omit<RollingCall, "kind">;

/** Runs as a task, for calls by either API. */
const roll = (
  context: OperationContext,
  pool: string,
  call: RollingCall,
): Promise<boolean> => {
  const { objects } = context;
  const { kind, ...input } = call;
  const one = objects.get(pool, "pool");
  const subject = {
    name: `Rolling ${kind} of ${nameOf(one)}`,
    objectType: "pool",
    objectId: pool,
    operation: kind === "update" ? "pool.rollingUpdate" : "pool.rollingReboot",
    params: { pool, ...input },
  };
  return asTask(context, subject, async (work) => {
    const state: RollingState = { pool, ...input };
    await work.persistState(state);
    await rollAs(work, context, pool, call);
    return true;
  });
};

async function rollAs(
  work: TaskContext,
  context: OperationContext,
  pool: string,
  call: RollingCall,
): Promise<void> {
  const parts = partsFor(work, context, pool);
  const { objects } = parts;
  const { services } = context;
  const hosts = () => hostsOf({ services, objects }, pool);
  await rollPool(objects.get(pool, "pool"), hosts, parts, call);
}

function partsFor(
  work: TaskContext,
  { objects, services }: OperationContext,
  pool: string,
): RollingParts {
  return {
    objects: objects.forTask(work).ofPool(pool),
    clock: services.clock,
    signal: work.signal,
    work,
    records: services.rollingRecords,
    planner: services.wavePlanner,
    patches: services.missingPatches,
  };
}

/**
 * After a crash of the server, continues the run of the task; if the run had not
 * begun, starts the requested one.
 */
const goOn =
  (kind: RollingCall["kind"]) =>
  async (
    { pool, ...input }: RollingState,
    context: OperationContext,
  ): Promise<boolean> => {
    const { task, services } = context;
    const record = services.rollingRecords.current(pool);
    const isBegun =
      record !== undefined && (record.task ?? task.taskId) === task.taskId;
    const call = isBegun ? { kind, resume: true } : { ...input, kind };
    await rollAs(task, context, pool, call);
    return true;
  };

/** Omits ignored parameters. */
function toCall(
  kind: RollingCall["kind"],
  input: Omit<RollingCall, "kind">,
): RollingCall {
  const { shutdownPinnedVms, migrateBack, parallel, windows, resume } = input;
  return { kind, shutdownPinnedVms, migrateBack, parallel, windows, resume };
}

const shared = { result: Type.Boolean(), changes: true };

const poolRollingReboot = defineOperation({
  ...shared,
  name: "pool.rollingReboot",
  summary:
    "Start or resume the rolling reboot of a pool: evacuate and reboot its hosts, the coordinator first, then migrate the VMs back. Stops at the first failure; the next call resumes it.",
  params: Type.Object({
    pool,
    ...options,
    migrateBack: flag(
      "Whether VMs are migrated back at the end. Default: true.",
    ),
    bypassBackupCheck: ignored,
    resume: resume("reboot"),
  }),
  permission: onPool("administrate:restart"),
  rest: action("rolling_reboot", "RollingReboot"),
  handler: ({ pool, ...input }, context) =>
    roll(context, pool, toCall("reboot", input)),
  resume: goOn("reboot"),
});

const poolRollingUpdate = defineOperation({
  ...shared,
  name: "pool.rollingUpdate",
  summary:
    "Start or resume the rolling update of a pool: evacuate its hosts that lack updates, the coordinator first, install the updates and reboot the hosts. VMs are migrated to updated hosts. Stops at the first failure; the next call resumes it.",
  params: Type.Object({
    pool,
    ...options,
    migrateBack: flag(
      "Whether VMs are migrated back at the end. Default: false.",
    ),
    rebootVm: ignored,
    bypassBackupCheck: ignored,
    resume: resume("update"),
  }),
  permission: onPool("administrate:update"),
  rest: action("rolling_update", "RollingUpdate"),
  handler: ({ pool, ...input }, context) =>
    roll(context, pool, toCall("update", input)),
  resume: goOn("update"),
});

const suspension = (
  name: string,
  summary: string,
  verb: string,
  isSuspended: boolean,
) =>
  defineOperation({
    ...shared,
    name,
    summary,
    params: Type.Object({ pool }),
    permission: onPool("administrate:update"),
    rest: action(
      verb,
      name.slice("pool.".length).replace(/^./, (a) => a.toUpperCase()),
    ),
    handler: async ({ pool }, { services }) => {
      await services.rollingRecords.setSuspended(pool, isSuspended);
      return true;
    },
  });

const poolSuspendRolling = suspension(
  "pool.suspendRolling",
  "Suspend the rolling update or reboot of a pool after its current step: HA is restored, and no further host is taken down until pool.continueRolling.",
  "suspend_rolling",
  true,
);

const poolContinueRolling = suspension(
  "pool.continueRolling",
  "Continue a rolling update or reboot that was suspended by pool.suspendRolling; maintenance windows still apply.",
  "continue_rolling",
  false,
);

const poolAbandonRolling = defineOperation({
  ...shared,
  name: "pool.abandonRolling",
  summary:
    "End a rolling update or reboot that has stopped: restore HA and automatic power-on and start the VMs that are still shut down. The next call starts from the beginning.",
  params: Type.Object({
    pool,
    force: flag(
      "Ends it also if HA cannot be enabled or a VM cannot be started; they are left as they are. Default: false.",
    ),
  }),
  permission: onPool("administrate:update"),
  rest: action("abandon_rolling", "AbandonRolling"),
  handler: async ({ pool, force = false }, context) => {
    const { objects, task } = context;
    const parts = partsFor(task, context, pool);
    await abandonRun(objects.get(pool, "pool"), parts, force);
    return true;
  },
});

function action(verb: string, operationId: string): RestRoute {
  return actionRoute(`/pools/{pool}/actions/${verb}`, operationId);
}

/** Reboots and updates of all hosts of a pool. */
export const poolRollingOperations = [
  poolRollingReboot,
  poolRollingUpdate,
  poolSuspendRolling,
  poolContinueRolling,
  poolAbandonRolling,
  ...poolRollingStateOperations,
];
