/** Types, spelled as in objects. */
const TYPES = [
  "pool",
  "host",
  "VM",
  "VM-template",
  "VM-snapshot",
  "VM-controller",
  "SR",
  "SM",
  "VDI",
  "VDI-snapshot",
  "VDI-unmanaged",
  "VBD",
  "VIF",
  "PIF",
  "network",
  "PBD",
  "message",
  "task",
  "patch",
  "pool_patch",
  "PCI",
  "PGPU",
  "vgpu",
  "gpuGroup",
  "vgpuType",
  "VTPM",
  "PUSB",
  "VUSB",
  "USB_group",
  "bond",
];

/** Default columns of a type. */
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  pool: ["name_label", "HA_enabled", "cpus.cores", "master", "id"],
  host: [
    "name_label",
    "power_state",
    "address",
    "cpus.cores",
    "memory.size",
    "memory.usage",
    "version",
    "$pool",
    "id",
  ],
  VM: [
    "name_label",
    "power_state",
    "mainIpAddress",
    "CPUs.number",
    "memory.size",
    "tags",
    "$pool",
    "id",
  ],
  "VM-template": ["name_label", "CPUs.number", "memory.size", "id"],
  "VM-snapshot": ["name_label", "snapshot_time", "$snapshot_of", "id"],
  SR: [
    "name_label",
    "SR_type",
    "shared",
    "size",
    "physical_usage",
    "$pool",
    "id",
  ],
  VDI: ["name_label", "size", "usage", "$SR", "id"],
  network: ["name_label", "bridge", "MTU", "$pool", "id"],
  PIF: ["device", "vlan", "ip", "attached", "$host", "id"],
  VIF: ["device", "MAC", "attached", "$VM", "$network", "id"],
  VBD: ["device", "is_cd_drive", "attached", "VM", "VDI", "id"],
  PBD: ["attached", "host", "SR", "id"],
  task: ["name_label", "status", "progress", "created", "id"],
  message: ["name", "time", "$object", "id"],
};

const BY_NAME = new Map(
  TYPES.flatMap((type) => [
    [type.toLowerCase(), type],
    [`${type.toLowerCase()}s`, type],
  ]),
);

export const knownTypes: readonly string[] = TYPES;

/** `vm`, `VMs` and `VM` are equivalent. Unknown types are passed to the server. */
export function toType(text: string): string {
  return BY_NAME.get(text.toLowerCase()) ?? text;
}

/** Properties that `list` shows by default. @param type undefined: objects of several types */
export function columnsOf(type: string | undefined): readonly string[] {
  if (type === undefined) return ["type", "name_label", "id"];
  return COLUMNS[type] ?? ["name_label", "id"];
}
