import type { Random } from "../faults/seeded-random.js";
import { shuffled } from "./shuffled.js";

/** An action, or several at once, that a client requests of any server. */
export interface RequestedAction {
  /** Calls as the pool logs them: `VM.snapshot OpaqueRef:…`; each belongs to this action only. */
  readonly calls: readonly string[];
  /** Ids of their objects, in the same order. */
  readonly ids: readonly string[];
  readonly path: string;
  readonly body: object;
}

/** A VM as the server shows it. */
export interface ListedVm {
  readonly id: string;
  readonly power_state: string;
  readonly _xapiRef: string;
  readonly $container: string;
  readonly $pool: string;
}

/** A host as the server shows it. */
export interface ListedHost {
  readonly id: string;
  readonly $pool: string;
}

/** VMs of one bulk operation, and of one job. */
const SEVERAL = 4;

/**
 * Each VM is an object of one action, so that a call shows who requested it: starts, reboots,
 * snapshots and migrations; bulk operations; jobs.
 * @param createJob @returns its id
 */
export async function actionsFor(
  vms: readonly ListedVm[],
  hosts: readonly ListedHost[],
  random: Random,
  createJob: (job: object) => Promise<string>,
): Promise<readonly RequestedAction[]> {
  const halted = vms.filter(({ power_state: state }) => state === "Halted");
  const running = vms.filter(({ power_state: state }) => state === "Running");
  const take = () => running.splice(0, SEVERAL);
  const actions: RequestedAction[] = [];
  for (let i = 0; i < vms.length / (6 * SEVERAL); i++) {
    actions.push(bulk("vm.snapshot", "VM.snapshot", take()));
    actions.push(bulk("vm.restart", "VM.hard_reboot", take()));
    actions.push(await job(take(), createJob));
  }
  actions.push(...halted.map((vm) => single(vm, "start", "VM.start")));
  for (const [i, vm] of running.entries()) {
    const to = hosts.find(
      ({ id, $pool }) => $pool === vm.$pool && id !== vm.$container,
    )!.id;
    if (i % 3 === 0)
      actions.push(single(vm, "snapshot", "VM.snapshot", { name_label: "s" }));
    else if (i % 3 === 1)
      actions.push(single(vm, "hard_reboot", "VM.hard_reboot"));
    else actions.push(single(vm, "migrate", "VM.pool_migrate", { hostId: to }));
  }
  return shuffled(actions, random);
}

const callsOf = (method: string, vms: readonly ListedVm[]) => ({
  calls: vms.map(({ _xapiRef: ref }) => `${method} ${ref}`),
  ids: vms.map(({ id }) => id),
});

function single(
  vm: ListedVm,
  name: string,
  method: string,
  body: object = {},
): RequestedAction {
  const path = `/vms/${vm.id}/actions/${name}`;
  return { ...callsOf(method, [vm]), path, body };
}

function bulk(
  method: string,
  xapi: string,
  vms: readonly ListedVm[],
): RequestedAction {
  const ids = vms.map(({ id }) => id);
  const params = method === "vm.restart" ? { force: true } : {};
  const body = { method, ids, params, concurrency: 2 };
  return { ...callsOf(xapi, vms), path: "/bulk", body };
}

async function job(
  vms: readonly ListedVm[],
  createJob: (job: object) => Promise<string>,
): Promise<RequestedAction> {
  const values = vms.map(({ id }) => ({ id }));
  const id = await createJob({
    type: "call",
    name: `snapshots of ${values.length} VMs`,
    method: "vm.snapshot",
    paramsVector: {
      type: "crossProduct",
      items: [{ type: "set", values }],
    },
  });
  const path = `/jobs/${id}/actions/run`;
  return { ...callsOf("VM.snapshot", vms), path, body: {} };
}
