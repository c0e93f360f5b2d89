import { Type } from "typebox";
import { emergencyShutdown } from "../../hosts/emergency-shutdown.js";
import {
  evacuateAll,
  vmsPreventingEvacuation,
  whileEvacuated,
  type EvacuationOptions,
} from "../../hosts/evacuate-host.js";
import {
  enterHostMaintenance,
  exitHostMaintenance,
} from "../../hosts/maintenance.js";
import {
  callIgnoringConnectionLoss,
  restartAgent,
} from "../../hosts/restart.js";
import { smartReboot } from "../../hosts/smart-reboot.js";
import { nameOf } from "../../hosts/evacuation-blockers.js";
import type { PoolObject, PoolObjects } from "../../objects/pool-objects.js";
import type { HandlerContext } from "../../operations/operation.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import type { RestRoute } from "../../operations/rest-route.js";
import { actionRoute, idOf, onId } from "../definition/on-object.js";
import type { AdministrateVerb } from "../../rights/actions.js";

const id = idOf("a host");
const flag = (description: string) =>
  Type.Optional(Type.Boolean({ description }));
const notNeeded = flag("Ignored. Clients of Xen Orchestra send it.");
const force = flag("Continues even if some VMs cannot be migrated.");
const migrateBack = flag(
  "Migrates back the running VMs that were evacuated when the host was disabled.",
);

const on = ({ objects }: Pick<OperationContext, "objects">, id: string) =>
  objects.get(id, "host");

const shared = { result: Type.Boolean(), changes: true };

const may = (what: AdministrateVerb) => onId(`administrate:${what}`, "host");

const parts = (
  { objects, services }: Pick<OperationContext, "objects" | "services">,
  { signal }: HandlerContext,
) => ({ objects, clock: services.clock, signal });

const leaving = (
  { objects, services }: Pick<OperationContext, "objects" | "services">,
  { signal, task: work }: HandlerContext,
): EvacuationOptions => ({
  objects,
  evacuations: services.evacuations,
  signal,
  work,
});

const hostDisable = defineOperation({
  ...shared,
  name: "host.disable",
  summary:
    "Disable a host: no VMs are started on it. With `evacuate`, its VMs are migrated to other hosts.",
  params: Type.Object({
    id,
    transient: flag(
      "The host is enabled again at its next start. Default: true.",
    ),
    evacuate: flag(
      "Evacuates the host: migrates its VMs to other hosts. Default: false.",
    ),
    vmsToForceMigrate: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        maxItems: 1_000,
        description:
          "Ids of VMs to migrate even if migration is blocked on them.",
      }),
    ),
    force,
  }),
  permission: may("disable"),
  rest: action("disable", "Disable", {
    body: {
      autoEnable: "transient",
      vmIdsToForceMigrate: "vmsToForceMigrate",
    },
  }),
  handler: async ({ id, transient, ...options }, context) => {
    const host = on(context, id);
    // Older hosts do not know the parameter.
    const autoEnable = transient === false ? [false] : [];
    if (options.evacuate === true) {
      const { force = false, vmsToForceMigrate } = options;
      const blocked = toBlocked(vmsToForceMigrate, context.objects, context);
      const conditions = { force, blocked };
      await enterHostMaintenance(host, leaving(context, context), conditions);
    }
    await host.xapi.call("host.disable", [host.ref, ...autoEnable]);
    return true;
  },
});

const hostEnable = defineOperation({
  ...shared,
  name: "host.enable",
  summary: "Enable a host: VMs can be started on it again.",
  params: Type.Object({ id, migrateBack }),
  permission: may("enable"),
  rest: action("enable", "Enable"),
  handler: async ({ id, migrateBack = false }, context) => {
    await exitHostMaintenance(
      on(context, id),
      { objects: context.objects, work: context.task },
      { migrateBack },
    );
    return true;
  },
});

const hostSetMaintenanceMode = defineOperation({
  ...shared,
  name: "host.setMaintenanceMode",
  summary:
    "Enter or exit the maintenance mode of a host, in which it is disabled and evacuated.",
  params: Type.Object({
    id,
    maintenance: Type.Boolean({
      description: "true: enter maintenance mode; false: exit it.",
    }),
    vmsToForceMigrate: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        maxItems: 1_000,
        description:
          "Ids of VMs to migrate even if migration is blocked on them.",
      }),
    ),
    migrateBack,
  }),
  permission: may("disable"),
  handler: async ({ id, maintenance, ...input }, context) => {
    const { migrateBack = false, vmsToForceMigrate } = input;
    const { task: work } = context;
    const host = on(context, id);
    const blocked = toBlocked(vmsToForceMigrate, context.objects, context);
    if (maintenance)
      await enterHostMaintenance(host, leaving(context, context), { blocked });
    else
      await exitHostMaintenance(
        host,
        { objects: context.objects, work },
        { migrateBack },
      );
    return true;
  },
});

const hostListVmsPreventingEvacuation = defineOperation({
  name: "host.listVmsPreventingEvacuation",
  summary:
    "List the VMs that prevent the evacuation of a host, with the reasons. Changes nothing.",
  params: Type.Object({ id }),
  permission: may("disable"),
  result: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      code: Type.String({
        description:
          "Error code of XAPI, such as VM_LACKS_FEATURE, or NO_HOST_FOR_VM.",
      }),
      params: Type.Array(Type.String(), {
        description:
          "Parameters of XAPI's error; with NO_HOST_FOR_VM the reasons of the refusals, such as memory.",
      }),
    }),
  ),
  handler: async ({ id }, context) => {
    const stuck = await vmsPreventingEvacuation(
      on(context, id),
      leaving(context, context),
    );
    return stuck.map(({ vm, reason: [code = "", ...params] }) => ({
      id: vm.id,
      name: nameOf(vm),
      code,
      params,
    }));
  },
});

const hostEvacuate = defineOperation({
  ...shared,
  name: "host.evacuate",
  summary: "Evacuate a host: migrate its VMs to other hosts.",
  params: Type.Object({
    id,
    network: Type.Optional(idOf("the network for the migration traffic")),
  }),
  permission: may("evacuate"),
  handler: async ({ id, network }, context) => {
    if (network !== undefined) context.check("read", "network", network);
    const by =
      network === undefined
        ? undefined
        : context.objects.get(network, "network");
    await evacuateAll(on(context, id), leaving(context, context), by);
    return true;
  },
});

const hostRestart = defineOperation({
  ...shared,
  name: "host.restart",
  summary:
    "Reboot a host. Its VMs are migrated to other hosts, or suspended and resumed.",
  params: Type.Object({
    id,
    force,
    suspendResidentVms: flag(
      "Suspends the VMs that cannot be migrated, and resumes them afterwards.",
    ),
    bypassBlockedSuspend: flag(
      "Suspends also VMs on which the operation suspend is blocked.",
    ),
    bypassBackupCheck: notNeeded,
    bypassCurrentVmCheck: notNeeded,
    bypassVersionCheck: notNeeded,
  }),
  permission: may("restart"),
  rest: [
    action("clean_reboot", "CleanRebootHost", {
      exposure: "deny",
      summary: "Evacuate a host and reboot it.",
    }),
    action("smart_reboot", "SmartRebootHost", {
      exposure: "deny",
      summary: "Suspend the VMs of a host, reboot it and resume them.",
      params: { suspendResidentVms: true },
    }),
  ],
  handler: async (input, context) => {
    const { force = false, bypassBlockedSuspend = false } = input;
    const host = on(context, input.id);
    if (input.suspendResidentVms === true)
      await smartReboot(host, parts(context, context), {
        bypassBlockedSuspend,
      });
    else
      await whileEvacuated(host, leaving(context, context), { force }, () =>
        callIgnoringConnectionLoss(host, "host.reboot"),
      );
    return true;
  },
});

const hostStop = defineOperation({
  ...shared,
  name: "host.stop",
  summary: "Evacuate a host and shut it down.",
  params: Type.Object({
    id,
    bypassEvacuate: flag(
      "Does not evacuate the host, on which no VM may be running.",
    ),
    bypassBackupCheck: notNeeded,
  }),
  permission: may("stop"),
  rest: action("clean_shutdown", "CleanShutdownHost", { exposure: "deny" }),
  handler: async ({ id, bypassEvacuate = false }, context) => {
    const host = on(context, id);
    const down = () => callIgnoringConnectionLoss(host, "host.shutdown");
    await whileEvacuated(
      host,
      leaving(context, context),
      { bypassEvacuate },
      down,
    );
    return true;
  },
});

const hostStart = defineOperation({
  ...shared,
  name: "host.start",
  summary: "Power on a host, using its power-on mode.",
  params: Type.Object({ id }),
  permission: may("start"),
  rest: action("start", "StartHost"),
  handler: async ({ id }, context) => {
    const { xapi, ref } = on(context, id);
    await xapi.callAsync("host.power_on", [ref]);
    return true;
  },
});

const hostEmergencyShutdownHost = defineOperation({
  ...shared,
  name: "host.emergencyShutdownHost",
  summary:
    "Shut down a host in an emergency: suspend its VMs (hard shutdown if that fails) and shut down the host.",
  params: Type.Object({ host: id }),
  permission: { ...may("stop"), id: ({ host }) => host },
  rest: {
    ...action("emergency_shutdown", "EmergencyShutdownHost"),
    path: "/hosts/{host}/actions/emergency_shutdown",
    exposure: "deny",
  },
  handler: async ({ host }, context) => {
    const { objects, services } = context;
    const { turns } = services.bulkRuns;
    await emergencyShutdown(on(context, host), { objects, turns });
    return true;
  },
});

function action(
  verb: string,
  operationId: string,
  more: Partial<RestRoute> = {},
): RestRoute {
  const route = actionRoute(`/hosts/{id}/actions/${verb}`, operationId, more);
  return { ...route, ...more };
}

/**
 * VMs that are migrated although migration is blocked on them. The caller must be
 * allowed to unblock it.
 */
function toBlocked(
  ids: readonly string[] = [],
  objects: PoolObjects,
  context: HandlerContext,
): PoolObject[] {
  return ids.map((id) => {
    context.check("administrate:set", "VM", id);
    return objects.get(id, "VM");
  });
}

/**
 * Power, maintenance and evacuation of hosts.
 * @param evacuations absent: XAPI chooses the hosts for VMs
 */
export const hostPowerOperations = [
  hostDisable,
  hostEnable,
  hostSetMaintenanceMode,
  hostListVmsPreventingEvacuation,
  hostEvacuate,
  hostRestart,
  hostStop,
  hostStart,
  hostEmergencyShutdownHost,
  ...["restartAgent", "restart_agent"].map((verb, index) =>
    defineOperation({
      ...shared,
      name: `host.${verb}`,
      summary: "Restart the toolstack (XAPI) of a host. Its VMs keep running.",
      params: Type.Object({ id, bypassBackupCheck: notNeeded }),
      permission: may("restart"),
      ...(index === 0
        ? { rest: action("restart_toolstack", "RestartHostToolstack") }
        : {}),
      handler: async ({ id }, context) => {
        await restartAgent(on(context, id), parts(context, context));
        return true;
      },
    }),
  ),
];
