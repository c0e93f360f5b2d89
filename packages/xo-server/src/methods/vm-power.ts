import { XapiError } from "@xo-server/model";
import { Type } from "typebox";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import { defineOperation, type Operation } from "../operations/operation.js";
import type { RestRoute } from "../operations/rest-route.js";
import type { StartHosts } from "../placement/start-hosts.js";
import { despiteBlock } from "../vms/blocked-operation.js";
import { PoolScope } from "../vms/pool-scope.js";
import { recoveryStart } from "../vms/recovery-start.js";

const id = Type.String({ minLength: 1, description: "Of a VM." });
const force = Type.Optional(
  Type.Boolean({ description: "Without asking the guest." }),
);

const bypassBlockedOperation = Type.Optional(
  Type.Boolean({ description: "Also where that is blocked." }),
);

const operate = (what: string) => ({
  action: `operate:${what}`,
  resource: "VM",
  id: (params: { id: string }) => params.id,
});

type Routed = Pick<RestRoute, "body" | "from" | "params" | "summary">;

/** `POST /vms/{id}/actions/clean_reboot`, known as CleanRebootVm. */
function action(verb: string, route: Routed = {}): RestRoute {
  const words = verb
    .split("_")
    .map((word) => word[0]!.toUpperCase() + word.slice(1));
  return {
    ...route,
    method: "post",
    path: `/vms/{id}/actions/${verb}`,
    operationId: `${words.join("")}Vm`,
    exposure: "confirm",
    isAction: true,
  };
}

const isOneCall = () => true;

const CLEAN = { params: { force: false } };
const HARD = { params: { force: true } };

/**
 * Power of VMs. Each answers when XAPI has done it.
 * @param starts absent: where no host is named, XAPI chooses one
 */
export function vmPowerMethods(
  objects: PoolObjects,
  starts?: Pick<StartHosts, "choose" | "check">,
): Operation[] {
  const on = (id: string) => objects.get(id, "VM");
  const shared = { result: Type.Boolean(), changes: true };
  const idOnly = Type.Object({ id });
  return [
    defineOperation({
      ...shared,
      name: "vm.start",
      summary: "Starts a VM; a paused one goes on, a suspended one is resumed.",
      params: Type.Object({
        id,
        force: Type.Optional(
          Type.Boolean({
            description:
              "Without XAPI's checks of the VM, and on a host that rules of placement forbid.",
          }),
        ),
        host: Type.Optional(
          Type.String({ minLength: 1, description: "Id of the host." }),
        ),
        paused: Type.Optional(
          Type.Boolean({
            description:
              "Ready, but not going yet: for a debugger, or a look at its console from the first moment on.",
          }),
        ),
        bypassMacAddressesCheck: Type.Optional(
          Type.Boolean({ description: "Taken, and not needed here." }),
        ),
      }),
      permission: operate("start"),
      rest: [
        action("start", {
          summary: "Starts a VM",
          from: "Halted",
          body: { hostId: "host" },
        }),
        action("unpause", {
          summary: "Lets a paused VM go on",
          from: "Paused",
          params: { force: false, paused: false },
        }),
      ],
      isOneCall,
      handler: async ({ id, host, force = false, paused = false }, context) => {
        const vm = on(id);
        const scope = new PoolScope(objects, vm, context);
        const target =
          host === undefined
            ? undefined
            : scope.use("operate:place", "host", host);
        const startOn = (chosen: PoolObject | undefined) =>
          start(vm, { force, paused, host: chosen });
        if (starts === undefined) return startOn(target);
        if (target === undefined)
          return starts.choose(vm, context.signal, startOn);
        if (!force) await starts.check(vm, target, context.signal);
        return startOn(target);
      },
    }),
    defineOperation({
      ...shared,
      name: "vm.stop",
      summary:
        "Shuts a VM down: its guest does, or with `force` its power goes.",
      params: Type.Object({
        id,
        force,
        bypassBlockedOperation,
        forceShutdownDelay: Type.Optional(
          Type.Number({
            minimum: 0,
            maximum: 86_400_000,
            description:
              "In ms: a guest that has not shut down by then loses its power.",
          }),
        ),
      }),
      permission: operate("stop"),
      rest: [
        action("clean_shutdown", {
          ...CLEAN,
          summary: "Asks the guest of a VM to shut down",
        }),
        action("hard_shutdown", {
          ...HARD,
          summary: "Takes the power from a VM",
        }),
      ],
      isOneCall: ({ bypassBlockedOperation, forceShutdownDelay = 0 }) =>
        bypassBlockedOperation !== true && forceShutdownDelay === 0,
      handler: ({ id, force = false, ...options }) =>
        stop(on(id), force ? "hard_shutdown" : "clean_shutdown", options),
    }),
    defineOperation({
      ...shared,
      name: "vm.restart",
      summary: "Reboots a VM: its guest does, or with `force` it is reset.",
      params: Type.Object({ id, force, bypassBlockedOperation }),
      permission: operate("restart"),
      rest: [
        action("clean_reboot", {
          ...CLEAN,
          summary: "Asks the guest of a VM to reboot",
        }),
        action("hard_reboot", { ...HARD, summary: "Resets a VM" }),
      ],
      isOneCall: ({ bypassBlockedOperation }) =>
        bypassBlockedOperation !== true,
      handler: ({ id, force = false, ...options }) =>
        stop(on(id), force ? "hard_reboot" : "clean_reboot", options),
    }),
    defineOperation({
      ...shared,
      name: "vm.pause",
      summary: "Pauses a VM; vm.start lets it go on.",
      params: idOnly,
      permission: operate("pause"),
      rest: action("pause"),
      isOneCall,
      handler: ({ id }) => steer(on(id), "pause"),
    }),
    defineOperation({
      ...shared,
      name: "vm.suspend",
      summary: "Writes a VM's memory to disk and stops it.",
      params: idOnly,
      permission: operate("suspend"),
      rest: action("suspend"),
      isOneCall,
      handler: ({ id }) => steer(on(id), "suspend"),
    }),
    defineOperation({
      ...shared,
      name: "vm.resume",
      summary: "Lets a suspended VM go on.",
      params: idOnly,
      permission: operate("resume"),
      rest: action("resume"),
      isOneCall,
      handler: ({ id }) => steer(on(id), "resume", false, false),
    }),
    defineOperation({
      ...shared,
      name: "vm.recoveryStart",
      summary: "Starts a halted VM from its CD, this once.",
      params: idOnly,
      permission: operate("start"),
      handler: async ({ id }) => {
        await recoveryStart(on(id));
        return true;
      },
    }),
  ];
}

interface StartOptions {
  readonly force: boolean;
  readonly paused: boolean;
  readonly host: PoolObject | undefined;
}

/** XAPI is asked to start it whatever state is shown here: it knows best, and says so. */
async function start(vm: PoolObject, options: StartOptions): Promise<true> {
  try {
    return await launch("start", vm, options);
  } catch (error) {
    const state = stateIn(error);
    if (state === "suspended") return launch("resume", vm, options);
    if (state !== "paused") throw error;
    return options.paused ? true : steer(vm, "unpause");
  }
}

function launch(
  verb: "start" | "resume",
  vm: PoolObject,
  { force, paused, host }: StartOptions,
): Promise<true> {
  return host === undefined
    ? steer(vm, verb, paused, force)
    : steer(vm, `${verb}_on`, host.ref, paused, force);
}

/** The state that a VM is in, according to XAPI's refusal. */
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
async function stop(
  vm: PoolObject,
  verb: string,
  { bypassBlockedOperation = false, forceShutdownDelay = 0 }: StopOptions,
): Promise<true> {
  if (bypassBlockedOperation)
    return despiteBlock(vm, verb, () => stop(vm, verb, { forceShutdownDelay }));
  if (forceShutdownDelay === 0 || verb !== "clean_shutdown")
    return steer(vm, verb);
  const signal = AbortSignal.timeout(forceShutdownDelay);
  try {
    await vm.xapi.callAsync(`VM.${verb}`, [vm.ref], { signal });
    return true;
  } catch (error) {
    if (!signal.aborted) throw error;
    return steer(vm, "hard_shutdown");
  }
}

async function steer(
  { xapi, ref }: PoolObject,
  verb: string,
  ...params: readonly unknown[]
): Promise<true> {
  await xapi.callAsync(`VM.${verb}`, [ref, ...params]);
  return true;
}
