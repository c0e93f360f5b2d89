import { XapiError, XoError } from "@xo-server/model";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";

/** One action on a VM, see Action of the placement package. */
export interface PlanStep {
  readonly kind: "start" | "migrate";
  readonly vm: string;
  readonly from?: string;
  readonly to: string;
  /** Only for starts: VMs with a lower order start first. */
  readonly order?: number;
  /** Indices of steps that must end first. */
  readonly after?: readonly number[];
}

export interface StepOptions {
  /** Network for migrations; absent: the management network. */
  readonly network?: PoolObject | undefined;
}

/**
 * Executes a step after checking the VM's current state in XAPI. Does nothing
 * when the VM is running on the target already.
 * @throws XoError NO_SUCH_OBJECT, NOT_CONNECTED, INCORRECT_STATE (the VM is not
 *   on the source host); XAPI's errors
 */
export async function executeStep(
  step: PlanStep,
  objects: PoolObjects,
  options: StepOptions = {},
): Promise<void> {
  const vm = objects.get(step.vm, "VM");
  const to = objects.get(step.to, "host");
  const state = String(await vm.xapi.call("VM.get_power_state", [vm.ref]));
  const resident = await vm.xapi.call("VM.get_resident_on", [vm.ref]);
  const isDone = state === "Running" && resident === to.ref;
  if (isDone) return;
  if (step.kind === "start") return start(vm, to, state);
  check(vm, "power_state", { actual: state, expected: "Running" });
  if (step.from !== undefined) {
    const { ref } = objects.get(step.from, "host");
    const actual =
      resident === ref ? step.from : objects.idOf(String(resident));
    check(vm, "host", { actual, expected: step.from });
  }
  await move(vm, to, options);
}

async function start(
  vm: PoolObject,
  to: PoolObject,
  state: string,
): Promise<void> {
  const verb = state === "Suspended" ? "resume" : "start";
  if (verb === "start")
    check(vm, "power_state", { actual: state, expected: "Halted" });
  await vm.xapi.call("VM.assert_can_boot_here", [vm.ref, to.ref]);
  await vm.xapi.callAsync(`VM.${verb}_on`, [vm.ref, to.ref, false, false]);
}

async function move(
  vm: PoolObject,
  to: PoolObject,
  { network }: StepOptions,
): Promise<void> {
  await vm.xapi.call("VM.assert_can_boot_here", [vm.ref, to.ref]);
  const by = network === undefined ? {} : { network: network.ref };
  const options = { live: "true", ...by };
  await vm.xapi.callAsync("VM.pool_migrate", [vm.ref, to.ref, options]);
}

function check(
  { id }: PoolObject,
  property: string,
  { actual, expected }: { readonly actual: unknown; readonly expected: string },
): void {
  if (actual !== expected)
    throw new XoError("INCORRECT_STATE", {
      object: id,
      property,
      actual: actual ?? "unknown",
      expected,
    });
}

/** Error of a step, as clients get it. */
export interface StepError {
  readonly code: string;
  readonly message: string;
}

/**
 * Error of a step, for the record of the run. Messages of unexpected errors may
 * contain internals, so clients do not see them.
 */
export function toStepError(error: unknown): StepError {
  const known = error instanceof XapiError || error instanceof XoError;
  return known
    ? { code: error.code, message: error.message.slice(0, 300) }
    : { code: "INTERNAL", message: "internal error" };
}
