import { NULL_REF } from "@xo-server/model";
import type { DraftObject, FleetBuilder } from "./fleet-builder.js";
import type { Guest, GuestContext } from "./guest.js";
import { addBaseCopy, addVdi, userDevice } from "./guest-disks.js";
import { addGuestMetrics } from "./guest-metrics.js";
import { macAddress } from "./networks.js";
import { vmOperations, vdiOperations } from "../records/allowed-operations.js";

const allowed_operations = vmOperations({
  powerState: "Halted",
  isTemplate: false,
  isSnapshot: true,
  isControlDomain: false,
  agent: false,
});

/** Snapshots of some guests, those of schedules and of backups above all. */
export function addSnapshots(
  builder: FleetBuilder,
  guests: readonly Guest[],
  around: GuestContext & { readonly schedules: readonly DraftObject[] },
): void {
  const { random } = builder;
  for (const guest of guests) {
    const scheduled = random.chance(around.profile.snapshotsPerVm / 2);
    const count = scheduled ? 2 : 0;
    if (scheduled && around.schedules.length > 0)
      guest.vm.record["snapshot_schedule"] = random.pick(around.schedules).ref;
    for (let i = 0; i < count; i++)
      addSnapshot(builder, guest, {
        around,
        seconds: (i + 1) * 86400 - random.int(0, 3600),
      });
  }
}

function addSnapshot(
  builder: FleetBuilder,
  guest: Guest,
  { around, seconds }: { around: GuestContext; seconds: number },
): void {
  const { vm, index, system, state } = guest;
  const snapshot_time = builder.ago(seconds);
  const snapshot = builder.add("VM", {
    ...vm.record,
    uuid: builder.random.uuid(),
    allowed_operations: allowed_operations.filter(
      (name) => !Object.hasOwn(vm.record["blocked_operations"] as object, name),
    ),
    name_label: `[Snapshot] ${guest.name} ${snapshot_time}`,
    power_state: "Halted",
    is_a_snapshot: true,
    is_a_template: true,
    is_vmss_snapshot: true,
    snapshot_of: vm.ref,
    snapshot_time,
    snapshot_info: {
      "disk-snapshot-type": "crash_consistent",
      "power-state-at-snapshot": state,
    },
    snapshot_metadata: snapshotMetadata(vm),
    resident_on: NULL_REF,
    snapshot_schedule: NULL_REF,
    appliance: NULL_REF,
    groups: [],
    domid: -1,
    metrics: builder.add("VM_metrics", { last_updated: snapshot_time }).ref,
    guest_metrics: addGuestMetrics(builder, { system, index, live: false }),
  });
  guest.disks.forEach((_, position) =>
    addSnapshotDisk(builder, guest, { snapshot, position, snapshot_time }),
  );
  addSnapshotDevices(builder, snapshot, builder.random.pick(around.networks));
}

interface SnapshotDisk {
  readonly snapshot: DraftObject;
  readonly position: number;
  readonly snapshot_time: string;
}

function addSnapshotDisk(
  builder: FleetBuilder,
  guest: Guest,
  disk: SnapshotDisk,
): void {
  const { snapshot, position } = disk;
  builder.add("VBD", {
    VM: snapshot.ref,
    VDI: addSnapshotVdi(builder, guest, disk),
    allowed_operations: ["attach"],
    userdevice: userDevice(position),
    bootable: position === 0,
    mode: "RW",
    type: "Disk",
    unpluggable: true,
    other_config: { owner: "", task_id: builder.random.ref() },
  });
}

function addSnapshotVdi(
  builder: FleetBuilder,
  guest: Guest,
  { position, snapshot_time }: SnapshotDisk,
): string {
  const { ref, record } = guest.disks[position]!.vdi;
  const sr = builder.get(record["SR"] as string);
  const virtual_size = record["virtual_size"] as number;
  return addVdi(builder, sr, {
    name_label: record["name_label"]!,
    name_description: record["name_description"]!,
    allowed_operations: vdiOperations({ inUse: false, readOnly: true }),
    virtual_size,
    is_a_snapshot: true,
    snapshot_of: ref,
    snapshot_time,
    other_config: {
      content_id: builder.random.uuid(),
      ...backupMarks(builder, guest, snapshot_time),
    },
    sm_config: {
      vdi_type: "vhd",
      "image-format": "vhd",
      "vhd-parent": addBaseCopy(builder, sr, virtual_size),
    },
  }).ref;
}

/** Returns the marks of a backup program on the snapshots on which its next run is based. */
function backupMarks(
  { random }: FleetBuilder,
  { vm }: Guest,
  time: string,
): Record<string, string> {
  return {
    "xo:backup:datetime": time,
    "xo:backup:job": "4c084697-6efd-4e35-a4ff-74ae50824c8b",
    "xo:backup:schedule": "2f8ae1bb-29c1-4a8b-8a6e-4f1e5d9f1c02",
    "xo:backup:vm": vm.record["uuid"] as string,
    "xo:backup:sr": random.uuid(),
    "xo:backup:deltaChainLength": String(random.int(0, 7)),
    "xo:backup:exported": "true",
  };
}

function addSnapshotDevices(
  builder: FleetBuilder,
  snapshot: DraftObject,
  network: DraftObject,
): void {
  builder.add("VBD", {
    VM: snapshot.ref,
    allowed_operations: ["attach"],
    userdevice: "3",
    mode: "RO",
    type: "CD",
    unpluggable: false,
    empty: true,
  });
  builder.add("VIF", {
    VM: snapshot.ref,
    network: network.ref,
    allowed_operations: ["attach"],
    device: "0",
    MAC: macAddress(builder, "02:16:3e"),
    MTU: 1500,
    MAC_autogenerated: true,
  });
}

/** The VM's record in XAPI's notation, for a revert: `('name_label' 'web-1') ...`. */
function snapshotMetadata({ record }: DraftObject): string {
  const members = Object.entries(record).map(
    ([name, value]) => `('${name}' ${toSexpr(value)})`,
  );
  return `('struct' ${members.join(" ")})`;
}

function toSexpr(value: DraftObject["record"][string]): string {
  if (Array.isArray(value))
    return `('array' ${value.map((item) => toSexpr(item as string)).join(" ")})`;
  if (typeof value === "object")
    return `('struct' ${Object.entries(value)
      .map(([key, item]) => `('${key}' ${toSexpr(item as string)})`)
      .join(" ")})`;
  return typeof value === "boolean"
    ? `('boolean' '${value ? 1 : 0}')`
    : `'${String(value)}'`;
}
