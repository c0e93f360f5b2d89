import { NULL_REF } from "@xo-server/model";
import { deviceName } from "../records/device-names.js";
import type { DraftObject, FleetBuilder } from "./fleet-builder.js";
import type { FleetHost } from "./fleet-host.js";
import type { Guest, GuestDisk, GuestContext } from "./guest.js";
import { vbdOperations, vdiOperations } from "../records/allowed-operations.js";

interface DiskOwner {
  readonly vm: DraftObject;
  readonly name: string;
  readonly state: Guest["state"];
  /** Whose local storage it may use. */
  readonly home: FleetHost;
}

const GiB = 2 ** 30;

/** Of a guest. */
const DISKS = [1, 1, 2, 2, 2, 3, 4];

/** The disks of a guest and its CD drive. */
export function addDisks(
  builder: FleetBuilder,
  { hosts, storage, profile }: GuestContext,
  owner: DiskOwner,
): readonly GuestDisk[] {
  const { random } = builder;
  const sr =
    random.chance(0.85) && storage.shared.length > 0
      ? random.pick(storage.shared)
      : storage.local[hosts.indexOf(owner.home)]!;
  const count = random.pick(profile.disks ?? DISKS);
  const disks = Array.from({ length: count }, (_, position) =>
    addDisk(builder, owner, { sr, position }),
  );
  addCdDrive(
    builder,
    owner,
    random.chance(0.08) ? random.pick(storage.isos) : undefined,
  );
  return disks;
}

function addDisk(
  builder: FleetBuilder,
  owner: DiskOwner,
  location: { readonly sr: DraftObject; readonly position: number },
): GuestDisk {
  const attached = owner.state === "Running" || owner.state === "Paused";
  const vdi = addGuestVdi(builder, owner, { ...location, attached });
  const userdevice = userDevice(location.position);
  const vbd = builder.add("VBD", {
    VM: owner.vm.ref,
    VDI: vdi.ref,
    allowed_operations: vbdOperations({
      type: "Disk",
      empty: false,
      attached,
      canHotPlug: attached,
    }),
    device: attached ? deviceName(Number(userdevice)) : "",
    userdevice,
    bootable: location.position === 0,
    mode: "RW",
    type: "Disk",
    unpluggable: true,
    other_config: { owner: "", task_id: builder.random.ref() },
    currently_attached: attached,
    metrics: NULL_REF,
  });
  return { vdi, vbd };
}

function addGuestVdi(
  builder: FleetBuilder,
  owner: DiskOwner,
  {
    sr,
    position,
    attached,
  }: { sr: DraftObject; position: number; attached: boolean },
): DraftObject {
  const { random } = builder;
  const sizes = position === 0 ? [10, 20, 32, 40, 64] : [50, 100, 200, 500];
  const size = random.pick(sizes) * GiB;
  const base = random.chance(0.21) ? addBaseCopy(builder, sr, size) : undefined;
  const vdi = addVdi(builder, sr, {
    name_label: `${owner.name}_disk_${position}`,
    name_description: position === 0 ? "System" : `Data ${position}`,
    allowed_operations: vdiOperations({ inUse: attached, readOnly: false }),
    virtual_size: size,
    other_config: { content_id: random.uuid() },
    sm_config: {
      vdi_type: "vhd",
      "image-format": "vhd",
      ...(base === undefined ? {} : { "vhd-parent": base }),
      ...hostKey(owner, attached),
    },
    cbt_enabled: random.chance(0.1),
  });
  if (vdi.record["cbt_enabled"] === true)
    vdi.record["allowed_operations"] = vdiOperations({
      inUse: attached,
      readOnly: false,
      isTracked: true,
    });
  return vdi;
}

/** Storage drivers mark which host has a disk open. */
function hostKey(
  { home }: DiskOwner,
  attached: boolean,
): Record<string, string> {
  return attached ? { [`host_${home.host.ref}`]: "RW" } : {};
}

/** The hidden parent of a disk in its chain of VHD files. Answers its uuid. */
export function addBaseCopy(
  builder: FleetBuilder,
  sr: DraftObject,
  size: number,
): string {
  const vdi = addVdi(builder, sr, {
    name_label: "base copy",
    allowed_operations: vdiOperations({ inUse: false, readOnly: true }),
    virtual_size: size,
    read_only: true,
    managed: false,
    sm_config: {
      vdi_type: "vhd",
      "image-format": "vhd",
      // Which blocks of the file are in use: zlib in base64, for a disk of some gigabytes.
      "vhd-blocks": VHD_BLOCKS,
    },
  });
  return vdi.record["uuid"] as string;
}

const VHD_BLOCKS = `eJzt${"wTEBAAAAwqD1T20ND6AAAAAAAAAA".repeat(40)}g2cYAAB`;

/** A disk; what it takes is added to its SR. */
export function addVdi(
  builder: FleetBuilder,
  sr: DraftObject,
  fields: DraftObject["record"],
): DraftObject {
  const size = fields["virtual_size"] as number;
  const taken = Math.floor(size * (0.1 + 0.6 * builder.random.next()));
  const { record } = sr;
  record["virtual_allocation"] =
    (record["virtual_allocation"] as number) + size;
  record["physical_utilisation"] =
    (record["physical_utilisation"] as number) + taken;
  const vdi = builder.add("VDI", {
    SR: sr.ref,
    physical_utilisation: taken,
    type: "user",
    managed: true,
    ...fields,
  });
  vdi.record["location"] = vdi.record["uuid"]!;
  return vdi;
}

function addCdDrive(
  builder: FleetBuilder,
  owner: DiskOwner,
  iso: DraftObject | undefined,
): void {
  const attached = owner.state === "Running" || owner.state === "Paused";
  const empty = iso === undefined;
  builder.add("VBD", {
    VM: owner.vm.ref,
    VDI: iso?.ref ?? NULL_REF,
    allowed_operations: vbdOperations({
      type: "CD",
      empty,
      attached,
      canHotPlug: attached,
    }),
    device: attached ? "xvdd" : "",
    userdevice: "3",
    mode: "RO",
    type: "CD",
    unpluggable: false,
    empty,
    currently_attached: attached && !empty,
  });
}

/** The position of a disk on the bus; the fourth belongs to the CD drive. */
export function userDevice(position: number): string {
  return String(position < 3 ? position : position + 1);
}
