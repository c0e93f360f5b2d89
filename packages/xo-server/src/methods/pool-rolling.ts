import { Type } from "typebox";
import type { HandlerContext } from "../operations/operation.js";
import type { RestRoute } from "../operations/rest-route.js";
import { rollPool, type RollingCall } from "../rolling/roll-pool.js";
import { defineOperation, type OperationContext } from "./define-operation.js";
import { actionRoute } from "./on-object.js";
import { poolRollingStateOperations } from "./pool-rolling-state.js";
import { flag, hostsOf, onPool, options, pool } from "./rolling-parameters.js";

const resume = (what: string) =>
  flag(
    `Default: resumes a rolling ${what} that stopped. False: starts a new one. True: also resumes one of a server that has crashed.`,
  );

const ignored = flag("Accepted and ignored.");

const roll = async (
  context: OperationContext,
  pool: string,
  call: RollingCall,
  { signal, task: work }: HandlerContext,
) => {
  const { services, objects } = context;
  const parts = {
    objects,
    clock: services.clock,
    signal,
    work,
    records: services.rollingRecords,
    planner: services.wavePlanner,
    patches: services.missingPatches,
    onBegin: () => work.persistState({ pool, kind: call.kind }),
  };
  const hosts = () => hostsOf(context, pool);
  await rollPool(objects.get(pool, "pool"), hosts, parts, call);
  return true;
};

/** Without the parameters that are ignored. */
function toCall(
  kind: RollingCall["kind"],
  given: Omit<RollingCall, "kind">,
): RollingCall {
  const { shutdownPinnedVms, migrateBack, parallel, windows, resume } = given;
  return { kind, shutdownPinnedVms, migrateBack, parallel, windows, resume };
}

const shared = { result: Type.Boolean(), changes: true };

export const poolRollingReboot = defineOperation({
  ...shared,
  name: "pool.rollingReboot",
  summary:
    "Rolling reboot of a pool: evacuates and reboots its hosts, the coordinator first, then migrates the VMs back. It stops at the first failure; the next call resumes it.",
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
  handler: ({ pool, ...given }, context) =>
    roll(context, pool, toCall("reboot", given), context),
  resume: ({ pool }: { readonly pool: string }, context) =>
    roll(context, pool, { kind: "reboot", resume: true }, context),
});

export const poolRollingUpdate = defineOperation({
  ...shared,
  name: "pool.rollingUpdate",
  summary:
    "Rolling update of a pool: evacuates its hosts that lack updates, the coordinator first, installs the updates and reboots them. VMs move to hosts that are updated. It stops at the first failure; the next call resumes it.",
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
  handler: ({ pool, ...given }, context) =>
    roll(context, pool, toCall("update", given), context),
  resume: ({ pool }: { readonly pool: string }, context) =>
    roll(context, pool, { kind: "update", resume: true }, context),
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

export const poolSuspendRolling = suspension(
  "pool.suspendRolling",
  "Suspends the rolling update or reboot of a pool after its current step: HA is restored, and no further host is taken down until pool.continueRolling.",
  "suspend_rolling",
  true,
);

export const poolContinueRolling = suspension(
  "pool.continueRolling",
  "Continues a rolling update or reboot that was suspended by pool.suspendRolling; maintenance windows still apply.",
  "continue_rolling",
  false,
);

function action(verb: string, operationId: string): RestRoute {
  return actionRoute(`/pools/{pool}/actions/${verb}`, operationId);
}

/** Reboots and updates of all hosts of a pool. */
export const poolRollingOperations = [
  poolRollingReboot,
  poolRollingUpdate,
  poolSuspendRolling,
  poolContinueRolling,
  ...poolRollingStateOperations,
];
