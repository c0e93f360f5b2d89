import { NULL_REF, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { retryWhileInUse } from "../../transfers/retry-while-in-use.js";
import type { Rollback } from "../rollback.js";

interface NewVmDisk {
  readonly sr: Ref;
  /** Bytes. */
  readonly size: number;
  readonly name: string;
  readonly description?: string | undefined;
  /**
   * The VM that the disk is created for. If the server crashes before the disk is
   * attached, it is found by this VM.
   */
  readonly vm: Ref;
}

/** Key of a disk's other_config. */
export const CREATED_FOR = "xo:made_for";

/** Creates an empty disk, which `rollback` deletes. @returns the VDI @throws XapiError */
export async function createDisk(
  xapi: Xapi,
  { sr, size, name, description = "", vm }: NewVmDisk,
  rollback: Rollback,
): Promise<Ref> {
  const record = {
    name_label: name,
    name_description: description,
    SR: sr,
    virtual_size: String(size),
    type: "user",
    sharable: false,
    read_only: false,
    other_config: { [CREATED_FOR]: vm },
  };
  const vdi = (await xapi.callAsync("VDI.create", [record])) as Ref;
  // After a failed upload the disk is in use for a moment.
  rollback.add(`disk ${vdi}`, (cleanupXapi) =>
    retryWhileInUse(() => cleanupXapi.callAsync("VDI.destroy", [vdi])),
  );
  return vdi;
}

interface NewVbd {
  readonly vm: Ref;
  /** Absent: an empty CD drive. */
  readonly vdi?: Ref;
  readonly type?: "Disk" | "CD";
  readonly mode?: "RO" | "RW";
  /** Absent: the first free position. */
  readonly position?: string | undefined;
  readonly bootable?: boolean | undefined;
}

/** Creates a VBD. A running guest detects it once it is plugged. @returns the VBD @throws XapiError */
export async function createVbd(
  xapi: Xapi,
  { vm, vdi = NULL_REF, type = "Disk", ...vbd }: NewVbd,
): Promise<Ref> {
  const record = {
    VM: vm,
    VDI: vdi,
    userdevice: vbd.position ?? "autodetect",
    bootable: vbd.bootable ?? false,
    mode: vbd.mode ?? (type === "CD" ? "RO" : "RW"),
    type,
    unpluggable: true,
    empty: vdi === NULL_REF,
    other_config: {},
    qos_algorithm_type: "",
    qos_algorithm_params: {},
  };
  return (await xapi.callAsync("VBD.create", [record])) as Ref;
}

interface NewInterface {
  readonly vm: Ref;
  readonly network: Ref;
  readonly device: string;
  /** Absent: XAPI generates one. */
  readonly mac?: string | undefined;
  readonly mtu?: number | undefined;
  readonly ipv4?: readonly string[] | undefined;
  readonly ipv6?: readonly string[] | undefined;
}

/**
 * Creates a VIF. With addresses it is locked: packets with other addresses are dropped.
 * @returns the VIF
 * @throws XapiError
 */
export async function createInterface(
  xapi: Xapi,
  { vm, network, device, mac = "", mtu = 1500, ...more }: NewInterface,
): Promise<Ref> {
  const { ipv4 = [], ipv6 = [] } = more;
  const isLocked = ipv4.length > 0 || ipv6.length > 0;
  const record = {
    VM: vm,
    network,
    device,
    MAC: mac,
    MTU: String(mtu),
    other_config: {},
    qos_algorithm_type: "",
    qos_algorithm_params: {},
    locking_mode: isLocked ? "locked" : "network_default",
    ipv4_allowed: ipv4,
    ipv6_allowed: ipv6,
  };
  return (await xapi.callAsync("VIF.create", [record])) as Ref;
}
