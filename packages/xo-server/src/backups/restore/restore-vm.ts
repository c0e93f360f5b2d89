import { XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { TaskContext } from "../../tasks/task-context.js";
import { addVm } from "../../vms/destroy-vm.js";
import { createVbd } from "../../vms/drives/new-vbds.js";
import { Rollback } from "../../vms/rollback.js";
import { exists, restoreDisks, type DiskParts } from "./restore-disks.js";
import type { RestoreJournal } from "./restore-journal.js";
import type { PlannedVif, VmPlan } from "./restore-plan.js";

interface VmRestoreParts extends Pick<DiskParts, "srOf" | "baseOf" | "upload"> {
  readonly xapi: Xapi;
  /** Calls of this client are not cancelled with the task. */
  readonly cleanupXapi: Xapi;
  readonly plan: VmPlan;
  readonly name: string;
  /** Unique name of the VM until it is complete. */
  readonly token: string;
  /** Id of the archive, which is written to the VM. */
  readonly archive: string;
  /** Added to other_config of the VM. */
  readonly marks: Readonly<Record<string, string>>;
  readonly keepsMacs: boolean;
  readonly start: boolean;
  /** Undefined: the VIF is left out. */
  readonly networkOf: (vif: PlannedVif) => Ref | undefined;
  readonly task: TaskContext;
  readonly journal: RestoreJournal;
}

/** Key of the VM's other_config. */
const RESTORED_FROM = "xo:restored:from";
/** Operations that would use incomplete disks. */
export const BLOCKED = [
  "start",
  "start_on",
  "snapshot",
  "clone",
  "copy",
  "export",
];

/**
 * Creates the VM of a backup. If that fails or is cancelled, everything that was
 * created is deleted. If the server stops, it is kept, and the restore continues by
 * the `journal`.
 * @returns the opaque reference of the VM
 * @throws XapiError; XoError BACKUP_*, ABORTED, LEFT_BEHIND
 */
export async function restoreVm(parts: VmRestoreParts): Promise<Ref> {
  const rollback = new Rollback();
  try {
    return await new VmRestore(parts, rollback).run();
  } catch (error) {
    if (isStopping(error)) throw error;
    const left = await rollback.run(parts.cleanupXapi);
    if (left.length === 0) throw error;
    const reason = error instanceof Error ? error.message : "it failed";
    throw new XoError("LEFT_BEHIND", { reason, left: left.join(", ") }, error);
  }
}

/** Whether the server stops: its next start continues the restore. */
export function isStopping(error: unknown): boolean {
  return error instanceof XoError && error.code === "CLOSED";
}

class VmRestore {
  readonly #parts: VmRestoreParts;
  readonly #rollback: Rollback;

  constructor(parts: VmRestoreParts, rollback: Rollback) {
    this.#parts = parts;
    this.#rollback = rollback;
  }

  async run(): Promise<Ref> {
    const { xapi, plan, task } = this.#parts;
    const vm = await this.#vm();
    await restoreDisks(plan.disks, {
      ...this.#parts,
      vm,
      attaches: true,
      rollback: this.#rollback,
    });
    task.signal.throwIfAborted();
    await this.#devices(vm);
    if (Object.keys(plan.biosStrings).length > 0)
      await xapi.call("VM.set_bios_strings", [vm, plan.biosStrings]);
    await this.#release(vm);
    return vm;
  }

  /** The VM of the previous run, or a new one. */
  async #vm(): Promise<Ref> {
    const { xapi, journal, token } = this.#parts;
    const known =
      journal.vm ??
      ((await xapi.call("VM.get_by_name_label", [token])) as Ref[])[0];
    if (known !== undefined && (await exists(xapi, "VM", known))) {
      addVm(this.#rollback, known);
      await journal.writeVm(known);
      return known;
    }
    const vm = (await xapi.callAsync("VM.create", [this.#record()])) as Ref;
    addVm(this.#rollback, vm);
    await journal.writeVm(vm);
    return vm;
  }

  #record(): object {
    const { plan, token, archive, marks, keepsMacs } = this.#parts;
    const { mac_seed, ...config } = {
      ...(plan.vm["other_config"] as Record<string, string> | undefined),
    };
    const own = Object.entries(config).filter(
      ([key]) => !key.startsWith("xo:backup:"),
    );
    const keep = keepsMacs && mac_seed !== undefined;
    return {
      ...plan.vm,
      name_label: token,
      is_a_template: false,
      affinity: "OpaqueRef:NULL",
      ha_always_run: false,
      ha_restart_priority: "",
      other_config: {
        ...Object.fromEntries(own),
        ...(keep ? { mac_seed } : {}),
        ...marks,
        [RESTORED_FROM]: archive,
      },
      blocked_operations: Object.fromEntries(
        BLOCKED.map((operation) => [operation, "the restore is under way"]),
      ),
    };
  }

  /** Creates interfaces, CD drives and the VTPM; those of the previous run are replaced. */
  async #devices(vm: Ref): Promise<void> {
    const { xapi, plan, networkOf, keepsMacs, task } = this.#parts;
    for (const vif of (await xapi.call("VM.get_VIFs", [vm])) as Ref[])
      await xapi.callAsync("VIF.destroy", [vif]);
    for (const vif of plan.vifs) {
      const network = networkOf(vif);
      if (network === undefined)
        task.warn(
          `interface ${vif.device} was left out: there is no network ${vif.network.name_label} in the pool`,
        );
      else
        await xapi.callAsync("VIF.create", [
          vifRecord(vif, { vm, network, keepsMacs }),
        ]);
    }
    const taken = await this.#positions(vm);
    for (const position of plan.cdDrives)
      if (!taken.has(position))
        await createVbd(xapi, { vm, type: "CD", position });
    await restoreVtpm(xapi, vm, plan);
  }

  async #positions(vm: Ref): Promise<ReadonlySet<string>> {
    const { xapi } = this.#parts;
    const vbds = (await xapi.call("VM.get_VBDs", [vm])) as readonly Ref[];
    const all = vbds.map((vbd) => xapi.call("VBD.get_userdevice", [vbd]));
    return new Set((await Promise.all(all)).map(String));
  }

  /** Removes the marks of the restore from the complete VM. */
  async #release(vm: Ref): Promise<void> {
    const { xapi, name, start, task } = this.#parts;
    await xapi.call("VM.set_blocked_operations", [vm, {}]);
    await xapi.call("VM.set_name_label", [vm, name]);
    if (!start) return;
    try {
      await xapi.callAsync("VM.start", [vm, false, false]);
    } catch (error) {
      // The VM is restored, and must not be deleted because no host can start it now.
      task.warn(`the VM was restored, but could not be started`, {
        error: error instanceof Error ? error.message : String(error),
      });
    }
  }
}

/**
 * Restores the contents of the VTPM, which are secrets of the guest: without them
 * it cannot open its encrypted disks.
 */
export async function restoreVtpm(
  xapi: Xapi,
  vm: Ref,
  { vtpms: [contents] }: Pick<VmPlan, "vtpms">,
): Promise<void> {
  if (contents === undefined) return;
  const present = (await xapi.call("VM.get_VTPMs", [vm])) as readonly Ref[];
  const vtpm =
    present[0] ?? ((await xapi.callAsync("VTPM.create", [vm, false])) as Ref);
  if (contents !== "") await xapi.call("VTPM.set_contents", [vtpm, contents]);
}

function vifRecord(
  { device, mac, mtu, record }: PlannedVif,
  target: {
    readonly vm: Ref;
    readonly network: Ref;
    readonly keepsMacs: boolean;
  },
): object {
  const { vm, network, keepsMacs } = target;
  return {
    VM: vm,
    network,
    device,
    MTU: String(mtu),
    MAC: keepsMacs ? mac : "",
    other_config: record["other_config"] ?? {},
    qos_algorithm_type: record["qos_algorithm_type"] ?? "",
    qos_algorithm_params: record["qos_algorithm_params"] ?? {},
    locking_mode: record["locking_mode"] ?? "network_default",
    ipv4_allowed: record["ipv4_allowed"] ?? [],
    ipv6_allowed: record["ipv6_allowed"] ?? [],
  };
}
