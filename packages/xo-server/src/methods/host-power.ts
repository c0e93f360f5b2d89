import { Type } from "typebox";
import { emergencyShutdown } from "../hosts/emergency-shutdown.js";
import {
  evacuateAll,
  whileEmpty,
  type LeaveParts,
} from "../hosts/empty-host.js";
import { enterMaintenance, leaveMaintenance } from "../hosts/maintenance.js";
import { goDown, restartAgent } from "../hosts/restart.js";
import { smartReboot } from "../hosts/smart-reboot.js";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import type { HandlerContext } from "../operations/operation.js";
import { defineOperation, type OperationContext } from "./define-operation.js";
import type { RestRoute } from "../operations/rest-route.js";
import { actionRoute, idOf, onId } from "./on-object.js";

const id = idOf("a host");
const flag = (description: string) =>
  Type.Optional(Type.Boolean({ description }));
const notNeeded = flag("Taken, and not needed here.");
const force = flag("Goes on although not every VM could be moved.");
const migrateBack = flag(
  "Moves VMs back that maintenance has moved away and that still run.",
);

const on = ({ objects }: Pick<OperationContext, "objects">, id: string) =>
  objects.get(id, "host");

const shared = { result: Type.Boolean(), changes: true };

const may = (what: string) => onId(`administrate:${what}`, "host");

const parts = (
  { objects, services }: Pick<OperationContext, "objects" | "services">,
  { signal }: HandlerContext,
) => ({ objects: objects, clock: services.clock, signal });

const leaving = (
  { objects, services }: Pick<OperationContext, "objects" | "services">,
  { signal, task: work }: HandlerContext,
): LeaveParts => ({
  objects: objects,
  evacuations: services.evacuations,
  signal,
  work,
});

export const hostDisable = defineOperation({
  ...shared,
  name: "host.disable",
  summary: "Has a host take no more VMs; those that run there stay.",
  params: Type.Object({
    id,
    transient: flag("It takes VMs again after its next start. Default."),
    evacuate: flag("Moves the VMs that run there to other hosts."),
    vmsToForceMigrate: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description: "Ids of VMs that are moved although that is blocked.",
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
      const asked = { force, blocked };
      await enterMaintenance(host, leaving(context, context), asked);
    }
    await host.xapi.call("host.disable", [host.ref, ...autoEnable]);
    return true;
  },
});

export const hostEnable = defineOperation({
  ...shared,
  name: "host.enable",
  summary: "Has a host take VMs again.",
  params: Type.Object({ id, migrateBack }),
  permission: may("enable"),
  rest: action("enable", "Enable"),
  handler: async ({ id, migrateBack = false }, context) => {
    await leaveMaintenance(
      on(context, id),
      { objects: context.objects, work: context.task },
      { migrateBack },
    );
    return true;
  },
});

export const hostSetMaintenanceMode = defineOperation({
  ...shared,
  name: "host.setMaintenanceMode",
  summary:
    "Moves all VMs away from a host and has it take no more, or ends that.",
  params: Type.Object({
    id,
    maintenance: Type.Boolean(),
    vmsToForceMigrate: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description: "Ids of VMs that are moved although that is blocked.",
      }),
    ),
    migrateBack,
  }),
  permission: may("disable"),
  handler: async ({ id, maintenance, ...given }, context) => {
    const { migrateBack = false, vmsToForceMigrate } = given;
    const { task: work } = context;
    const host = on(context, id);
    const blocked = toBlocked(vmsToForceMigrate, context.objects, context);
    if (maintenance)
      await enterMaintenance(host, leaving(context, context), { blocked });
    else
      await leaveMaintenance(
        host,
        { objects: context.objects, work },
        { migrateBack },
      );
    return true;
  },
});

export const hostEvacuate = defineOperation({
  ...shared,
  name: "host.evacuate",
  summary: "Moves the VMs that run on a host to others.",
  params: Type.Object({
    id,
    network: Type.Optional(idOf("the network to use")),
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

export const hostRestart = defineOperation({
  ...shared,
  name: "host.restart",
  summary: "Reboots a host; its VMs are moved to others, or suspended.",
  params: Type.Object({
    id,
    force,
    suspendResidentVms: flag("Suspends VMs, and resumes them afterwards."),
    bypassBlockedSuspend: flag("Also those whose suspension is blocked."),
    bypassBackupCheck: notNeeded,
    bypassCurrentVmCheck: notNeeded,
    bypassVersionCheck: notNeeded,
  }),
  permission: may("restart"),
  rest: [
    action("clean_reboot", "CleanRebootHost", {
      exposure: "deny",
      summary: "Moves a host's VMs away and reboots it",
    }),
    action("smart_reboot", "SmartRebootHost", {
      exposure: "deny",
      summary: "Suspends a host's VMs, reboots it and resumes them",
      params: { suspendResidentVms: true },
    }),
  ],
  handler: async (given, context) => {
    const { force = false, bypassBlockedSuspend = false } = given;
    const host = on(context, given.id);
    if (given.suspendResidentVms === true)
      await smartReboot(host, parts(context, context), {
        bypassBlockedSuspend,
      });
    else
      await whileEmpty(host, leaving(context, context), { force }, () =>
        goDown(host, "host.reboot"),
      );
    return true;
  },
});

export const hostStop = defineOperation({
  ...shared,
  name: "host.stop",
  summary: "Moves a host's VMs away and shuts it down.",
  params: Type.Object({
    id,
    bypassEvacuate: flag("Its VMs are not moved: there must be none."),
    bypassBackupCheck: notNeeded,
  }),
  permission: may("stop"),
  rest: action("clean_shutdown", "CleanShutdownHost", { exposure: "deny" }),
  handler: async ({ id, bypassEvacuate = false }, context) => {
    const host = on(context, id);
    const down = () => goDown(host, "host.shutdown");
    await whileEmpty(host, leaving(context, context), { bypassEvacuate }, down);
    return true;
  },
});

export const hostStart = defineOperation({
  ...shared,
  name: "host.start",
  summary: "Switches a host on, in the way that its power-on mode says.",
  params: Type.Object({ id }),
  permission: may("start"),
  rest: action("start", "StartHost"),
  handler: async ({ id }, context) => {
    const { xapi, ref } = on(context, id);
    await xapi.callAsync("host.power_on", [ref]);
    return true;
  },
});

export const hostEmergencyShutdownHost = defineOperation({
  ...shared,
  name: "host.emergencyShutdownHost",
  summary: "Suspends a host's VMs, or cuts their power, and shuts it down.",
  params: Type.Object({ host: id }),
  permission: { ...may("stop"), id: ({ host }) => host },
  rest: {
    ...action("emergency_shutdown", "EmergencyShutdownHost"),
    path: "/hosts/{host}/actions/emergency_shutdown",
    exposure: "deny",
  },
  handler: async ({ host }, context) => {
    await emergencyShutdown(on(context, host), context.objects);
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

/** VMs that are moved although that is blocked: the caller must be allowed to unblock them. */
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
 * Power of hosts, and whether they take guests.
 * @param evacuations absent: XAPI finds other hosts for guests
 */
export const hostPowerOperations = [
  hostDisable,
  hostEnable,
  hostSetMaintenanceMode,
  hostEvacuate,
  hostRestart,
  hostStop,
  hostStart,
  hostEmergencyShutdownHost,
  ...["restartAgent", "restart_agent"].map((verb, index) =>
    defineOperation({
      ...shared,
      name: `host.${verb}`,
      summary: "Restarts XAPI on a host; its VMs go on.",
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
