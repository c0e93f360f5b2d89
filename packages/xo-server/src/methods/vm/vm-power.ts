import { XapiError } from "@xo-server/model";
import { Type } from "typebox";
import type { PoolObject } from "../../objects/pool-objects.js";
import type { RestRoute } from "../../operations/rest-route.js";
import { withOperationUnblocked } from "../../vms/blocked-operation.js";
import { PoolScope } from "../../vms/pool-scope.js";
import { recoveryStart } from "../../vms/recovery-start.js";
import { defineOperation } from "../definition/define-operation.js";
import type { OperateVerb } from "../../rights/actions.js";

const id = Type.String({ minLength: 1, description: "Id of a VM." });
const force = Type.Optional(
  Type.Boolean({ description: "Does not wait for the guest. Default: false." }),
);

const bypassBlockedOperation = Type.Optional(
  Type.Boolean({
    description: "Executes the operation also if it is blocked on the VM.",
  }),
);

const operate = (what: OperateVerb) => ({
  action: `operate:${what}` as const,
  resource: "VM",
  id: (params: { id: string }) => params.id,
});

type Routed = Pick<RestRoute, "body" | "from" | "params" | "summary">;

/** `POST /vms/{id}/actions/clean_reboot`, operation id CleanRebootVm. */
function action(verb: string, route: Routed = {}): RestRoute {
  const name = verb
    .split("_")
    .map((part) => part[0]!.toUpperCase() + part.slice(1))
    .join("");
  return {
    ...route,
    method: "post",
    path: `/vms/{id}/actions/${verb}`,
    operationId: `${name}Vm`,
    exposure: "confirm",
    isAction: true,
  };
}

const isOneCall = () => true;

const CLEAN = { params: { force: false } };
const HARD = { params: { force: true } };

const idOnly = Type.Object({ id });
const shared = { result: Type.Boolean(), changes: true };

const vmStart = defineOperation({
  ...shared,
  name: "vm.start",
  summary: "Start a VM. A paused VM is unpaused, a suspended one is resumed.",
  params: Type.Object({
    id,
    force: Type.Optional(
      Type.Boolean({
        description:
          "Skips XAPI's checks of the VM, and allows hosts that placement rules exclude.",
      }),
    ),
    host: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "Id of the host on which the VM is started. Default: chosen by XAPI and the placement rules.",
      }),
    ),
    paused: Type.Optional(
      Type.Boolean({
        description: "Leaves the VM paused after the start.",
      }),
    ),
    bypassMacAddressesCheck: Type.Optional(
      Type.Boolean({
        description: "Ignored. Clients of Xen Orchestra send it.",
      }),
    ),
  }),
  permission: operate("start"),
  rest: [
    action("start", {
      summary: "Start a VM.",
      from: "Halted",
      body: { hostId: "host" },
    }),
    action("unpause", {
      summary: "Unpause a VM.",
      from: "Paused",
      params: { force: false, paused: false },
    }),
  ],
  isOneCall,
  handler: async ({ id, host, force = false, paused = false }, context) => {
    const { objects, signal } = context;
    const { startHosts } = context.services;
    const vm = objects.get(id, "VM");
    const options = { force, paused };
    if (host === undefined)
      return startHosts.choose(vm, signal, (chosen) =>
        startOrResume(vm, { ...options, host: chosen }),
      );
    const scope = new PoolScope(objects, vm, context);
    const target = scope.use("operate:place", "host", host);
    if (!force) await startHosts.check(vm, target, signal);
    return startOrResume(vm, { ...options, host: target });
  },
});

const vmStop = defineOperation({
  ...shared,
  name: "vm.stop",
  summary:
    "Shut down a VM: clean shutdown by its guest, or hard shutdown with `force`.",
  params: Type.Object({
    id,
    force,
    bypassBlockedOperation,
    forceShutdownDelay: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 86_400_000,
        description:
          "Timeout of the clean shutdown, in ms, after which the VM is shut down by a hard shutdown.",
      }),
    ),
  }),
  permission: operate("stop"),
  rest: [
    action("clean_shutdown", {
      ...CLEAN,
      summary: "Shut down a VM cleanly, by its guest.",
    }),
    action("hard_shutdown", {
      ...HARD,
      summary: "Shut down a VM immediately, without its guest (hard shutdown).",
    }),
  ],
  isOneCall: ({ bypassBlockedOperation, forceShutdownDelay = 0 }) =>
    bypassBlockedOperation !== true && forceShutdownDelay === 0,
  handler: ({ id, force = false, ...options }, { objects }) =>
    shutDownOrReboot(
      objects.get(id, "VM"),
      force ? "hard_shutdown" : "clean_shutdown",
      options,
    ),
});

const vmRestart = defineOperation({
  ...shared,
  name: "vm.restart",
  summary:
    "Reboot a VM: clean reboot by its guest, or hard reboot with `force`.",
  params: Type.Object({ id, force, bypassBlockedOperation }),
  permission: operate("restart"),
  rest: [
    action("clean_reboot", {
      ...CLEAN,
      summary: "Reboot a VM cleanly, by its guest.",
    }),
    action("hard_reboot", {
      ...HARD,
      summary: "Reboot a VM immediately, without its guest (hard reboot).",
    }),
  ],
  isOneCall: ({ bypassBlockedOperation }) => bypassBlockedOperation !== true,
  handler: ({ id, force = false, ...options }, { objects }) =>
    shutDownOrReboot(
      objects.get(id, "VM"),
      force ? "hard_reboot" : "clean_reboot",
      options,
    ),
});

const vmPause = defineOperation({
  ...shared,
  name: "vm.pause",
  summary: "Pause a VM. vm.start unpauses it.",
  params: idOnly,
  permission: operate("pause"),
  rest: action("pause"),
  isOneCall,
  handler: ({ id }, { objects }) => callVm(objects.get(id, "VM"), "pause"),
});

const vmSuspend = defineOperation({
  ...shared,
  name: "vm.suspend",
  summary: "Suspend a VM: write its memory to the suspend SR and stop it.",
  params: idOnly,
  permission: operate("suspend"),
  rest: action("suspend"),
  isOneCall,
  handler: ({ id }, { objects }) => callVm(objects.get(id, "VM"), "suspend"),
});

const vmResume = defineOperation({
  ...shared,
  name: "vm.resume",
  summary: "Resume a suspended VM.",
  params: idOnly,
  permission: operate("resume"),
  rest: action("resume"),
  isOneCall,
  handler: ({ id }, { objects }) =>
    callVm(objects.get(id, "VM"), "resume", false, false),
});

const vmRecoveryStart = defineOperation({
  ...shared,
  name: "vm.recoveryStart",
  summary:
    "Start a halted VM from its CD drive, without changing its boot order.",
  params: idOnly,
  permission: operate("start"),
  handler: async ({ id }, { objects }) => {
    await recoveryStart(objects.get(id, "VM"));
    return true;
  },
});

export const vmPowerOperations = [
  vmStart,
  vmStop,
  vmRestart,
  vmPause,
  vmSuspend,
  vmResume,
  vmRecoveryStart,
];

interface StartOptions {
  readonly force: boolean;
  readonly paused: boolean;
  readonly host: PoolObject | undefined;
}

/**
 * Calls the XAPI message that fits the power state in the mirror, so that no XAPI
 * task fails. If the mirror is outdated, XAPI's error contains the current power
 * state.
 */
async function startOrResume(
  vm: PoolObject,
  options: StartOptions,
): Promise<true> {
  const shown = String(vm.object["power_state"]).toLowerCase();
  try {
    return await startFrom(shown, vm, options);
  } catch (error) {
    const actual = stateIn(error);
    if (actual === undefined || actual === shown || actual === "running")
      throw error;
    return startFrom(actual, vm, options);
  }
}

async function startFrom(
  state: string,
  vm: PoolObject,
  options: StartOptions,
): Promise<true> {
  if (state === "suspended") return startOn("resume", vm, options);
  if (state !== "paused") return startOn("start", vm, options);
  return options.paused ? true : callVm(vm, "unpause");
}

function startOn(
  verb: "start" | "resume",
  vm: PoolObject,
  { force, paused, host }: StartOptions,
): Promise<true> {
  return host === undefined
    ? callVm(vm, verb, paused, force)
    : callVm(vm, `${verb}_on`, host.ref, paused, force);
}

/** The power state of a VM, from XAPI's error VM_BAD_POWER_STATE. */
function stateIn(error: unknown): string | undefined {
  const isRefusal =
    error instanceof XapiError && error.code === "VM_BAD_POWER_STATE";
  return isRefusal ? error.params[2]?.toLowerCase() : undefined;
}

interface StopOptions {
  readonly bypassBlockedOperation?: boolean;
  readonly forceShutdownDelay?: number;
}

/** @param verb such as `clean_shutdown` */
async function shutDownOrReboot(
  vm: PoolObject,
  verb: string,
  { bypassBlockedOperation = false, forceShutdownDelay = 0 }: StopOptions,
): Promise<true> {
  if (bypassBlockedOperation)
    return withOperationUnblocked(vm, verb, () =>
      shutDownOrReboot(vm, verb, { forceShutdownDelay }),
    );
  if (forceShutdownDelay === 0 || verb !== "clean_shutdown")
    return callVm(vm, verb);
  const signal = AbortSignal.timeout(forceShutdownDelay);
  try {
    await vm.xapi.callAsync(`VM.${verb}`, [vm.ref], { signal });
    return true;
  } catch (error) {
    if (!signal.aborted) throw error;
    return callVm(vm, "hard_shutdown");
  }
}

async function callVm(
  { xapi, ref }: PoolObject,
  verb: string,
  ...params: readonly unknown[]
): Promise<true> {
  await xapi.callAsync(`VM.${verb}`, [ref, ...params]);
  return true;
}
