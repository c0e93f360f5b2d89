import type { ForeignVm } from "@xo-server/backup";
import { randomUUID } from "node:crypto";
import { VM_FIELDS, type VmPlan } from "../backups/restore/restore-plan.js";

/** What the user sets instead of what the source says. */
export interface ForeignVmChanges {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** Bytes. */
  readonly memory?: number | undefined;
  readonly vcpus?: number | undefined;
}

/** As in XAPI's template for other installation media. */
const PLATFORM: Readonly<Record<string, string>> = {
  acpi: "1",
  apic: "true",
  hpet: "true",
  nx: "true",
  pae: "true",
  timeoffset: "0",
  vga: "std",
  videoram: "8",
  viridian: "true",
};

/** `userdevice` of the CD drive. */
const CD_DRIVE = 3;

/** The VM that is made of one of another product; without VIFs. */
export function planForeignVm(
  vm: ForeignVm,
  changes: ForeignVmChanges = {},
): VmPlan {
  const name = changes.name ?? vm.name;
  const memory = String(changes.memory ?? vm.memory);
  const vcpus = String(changes.vcpus ?? vm.vcpus);
  return {
    name,
    uuid: randomUUID(),
    vm: {
      ...VM_FIELDS,
      name_label: name,
      name_description: changes.description ?? vm.description,
      memory_static_min: memory,
      memory_dynamic_min: memory,
      memory_dynamic_max: memory,
      memory_static_max: memory,
      VCPUs_max: vcpus,
      VCPUs_at_startup: vcpus,
      domain_type: "hvm",
      HVM_boot_params: { order: "cdn", firmware: vm.firmware },
      platform: platformOf(vm, Number(vcpus)),
    },
    biosStrings: {},
    disks: vm.disks.map(({ id, name: disk, size, position }) => ({
      name: id,
      size,
      label: `${name} ${disk}`,
      description: "",
      userdevice: String(position < CD_DRIVE ? position : position + 1),
      bootable: position === 0,
      mode: "RW",
    })),
    vifs: [],
    cdDrives: [String(CD_DRIVE)],
    vtpms: [],
  };
}

function platformOf(
  { firmware, secureBoot, coresPerSocket }: ForeignVm,
  vcpus: number,
): Readonly<Record<string, string>> {
  const hasCores = coresPerSocket !== undefined && vcpus % coresPerSocket === 0;
  return {
    ...PLATFORM,
    "device-model":
      firmware === "uefi" ? "qemu-upstream-uefi" : "qemu-upstream-compat",
    ...(secureBoot && { secureboot: "true" }),
    ...(hasCores && { "cores-per-socket": String(coresPerSocket) }),
  };
}
