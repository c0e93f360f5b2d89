import { NULL_REF, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";

/*
 * Current records of XAPI, because the catalog may be some events behind. Integers are
 * numbers or, with old transports, strings.
 */

export interface VmRecord {
  readonly uuid: string;
  readonly name_label: string;
  readonly power_state: string;
  readonly is_a_template: boolean;
  readonly is_control_domain: boolean;
  readonly is_default_template?: boolean;
  readonly domain_type?: string;
  readonly HVM_boot_policy: string;
  readonly HVM_boot_params: Readonly<Record<string, string>>;
  readonly PV_bootloader: string;
  readonly VBDs: readonly Ref[];
  readonly VIFs: readonly Ref[];
  readonly snapshots: readonly Ref[];
  readonly snapshot_of: Ref;
  readonly snapshot_info: Readonly<Record<string, string>>;
  readonly suspend_VDI: Ref;
  readonly metrics: Ref;
  readonly guest_metrics: Ref;
  readonly other_config: Readonly<Record<string, string>>;
  readonly blocked_operations: Readonly<Record<string, string>>;
  readonly memory_static_min: number | string;
  readonly memory_dynamic_min: number | string;
  readonly memory_dynamic_max: number | string;
  readonly memory_static_max: number | string;
  readonly VCPUs_max: number | string;
  readonly VCPUs_at_startup: number | string;
}

interface VbdRecord {
  readonly VM: Ref;
  readonly VDI: Ref;
  readonly type: string;
  readonly mode: string;
  readonly userdevice: string;
  readonly bootable: boolean;
  readonly empty: boolean;
  readonly currently_attached: boolean;
  readonly other_config: Readonly<Record<string, string>>;
}

interface VdiRecord {
  readonly uuid: string;
  readonly name_label: string;
  readonly SR: Ref;
  readonly VBDs: readonly Ref[];
  readonly virtual_size: number | string;
  readonly other_config: Readonly<Record<string, string>>;
}

interface Records {
  readonly VM: VmRecord;
  readonly VBD: VbdRecord;
  readonly VDI: VdiRecord;
}

/**
 * Reads the record from the pool instead of the mirror.
 * @throws XapiError HANDLE_INVALID
 */
export async function readRecord<C extends keyof Records>(
  xapi: Pick<Xapi, "call">,
  className: C,
  ref: Ref,
): Promise<Records[C]> {
  return (await xapi.call(`${className}.get_record`, [ref])) as Records[C];
}

/** XAPI sends `OpaqueRef:NULL`, and some fields an empty string, for no object. */
export function isSet(ref: Ref | undefined): ref is Ref {
  return ref !== undefined && ref !== "" && ref !== NULL_REF;
}

/** Whether the VM has a domain: paused VMs have one, suspended VMs do not. */
export function isRunning({ power_state }: Pick<VmRecord, "power_state">) {
  return power_state === "Running" || power_state === "Paused";
}

/** A VBD of a VM, with its reference. */
export interface Vbd extends VbdRecord {
  readonly ref: Ref;
}

/**
 * Reads the current records from XAPI.
 * @throws XapiError HANDLE_INVALID: one does not exist any more
 */
export async function readVbds(
  xapi: Pick<Xapi, "call">,
  vbds: readonly Ref[],
): Promise<Vbd[]> {
  return Promise.all(
    vbds.map(async (ref) => ({
      ...(await readRecord(xapi, "VBD", ref)),
      ref,
    })),
  );
}

/** Disks, not CD drives. */
export function disksOf(vbds: readonly Vbd[]): Vbd[] {
  return vbds.filter(({ type, VDI }) => type !== "CD" && isSet(VDI));
}
