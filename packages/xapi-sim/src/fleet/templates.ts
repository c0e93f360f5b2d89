import type { FleetBuilder, FleetFields } from "./fleet-builder.js";
import { guestRecommendations } from "./guest-constants.js";
import { guestSystems, templateNames } from "./guest-systems.js";
import { vmOperations } from "../records/allowed-operations.js";

const GiB = 2 ** 30;

/** The default templates that XAPI makes at first start. */
export function addTemplates(builder: FleetBuilder): void {
  const allowed_operations = vmOperations({
    powerState: "Halted",
    isTemplate: true,
    isSnapshot: false,
    isControlDomain: false,
    agent: false,
  });
  for (const name of templateNames)
    builder.add("VM", {
      ...emptyVm,
      ...templateFields(name),
      allowed_operations,
      metrics: builder.add("VM_metrics", {}).ref,
    });
}

/** What every guest has in common with every template. */
export const emptyVm: FleetFields = {
  user_version: 1,
  memory_overhead: 9437184,
  VCPUs_max: 1,
  VCPUs_at_startup: 1,
  actions_after_shutdown: "destroy",
  actions_after_reboot: "restart",
  actions_after_crash: "restart",
  HVM_boot_policy: "BIOS order",
  HVM_shadow_multiplier: 1,
  domid: -1,
  has_vendor_device: false,
  domain_type: "hvm",
};

function templateFields(name: string): FleetFields {
  const system = guestSystems.find(({ template }) => template === name);
  const windows = name.startsWith("Windows");
  const memory = (windows ? 4 : 2) * GiB;
  return {
    name_label: name,
    name_description: name.startsWith("Other")
      ? "Template which allows VM installation from install media"
      : `Clone this template to create and provision a ${name} VM. Assign name and then install from media.`,
    is_a_template: true,
    is_default_template: true,
    reference_label: name.toLowerCase().replace(/[^a-z0-9]+/g, "-"),
    memory_static_max: memory,
    memory_dynamic_max: memory,
    memory_dynamic_min: memory,
    memory_static_min: memory / 2,
    VCPUs_max: windows ? 2 : 1,
    VCPUs_at_startup: windows ? 2 : 1,
    HVM_boot_params: { order: "cdn", firmware: system?.firmware ?? "bios" },
    platform: guestPlatform({
      windows,
      firmware: system?.firmware ?? "bios",
      cores: 1,
    }),
    recommendations: guestRecommendations,
    other_config: {
      default_template: "true",
      ...(windows ? {} : { linux_template: "true" }),
      "install-methods": windows ? "cdrom" : "cdrom,nfs,http,ftp",
      disks: `<provision><disk device="0" size="${(windows ? 32 : 10) * GiB}" sr="" bootable="true" type="system"/></provision>`,
    },
    bios_strings: {},
  };
}

/** VM.platform: the virtual machine's motherboard. */
export function guestPlatform(guest: {
  readonly windows: boolean;
  readonly firmware: "bios" | "uefi";
  readonly cores: number;
}): Record<string, string> {
  return {
    timeoffset: "0",
    nx: "true",
    acpi: "1",
    apic: "true",
    pae: "true",
    hpet: "true",
    viridian: String(guest.windows),
    ...(guest.windows
      ? {
          viridian_time_ref_count: "true",
          viridian_reference_tsc: "true",
          viridian_apic_assist: "true",
          viridian_crash_ctl: "true",
          viridian_stimer: "true",
          device_id: "0002",
        }
      : { device_id: "0001" }),
    videoram: "8",
    vga: "std",
    "cores-per-socket": String(guest.cores),
    secureboot: String(guest.windows && guest.firmware === "uefi"),
    "device-model": `qemu-upstream-${guest.firmware === "uefi" ? "uefi" : "compat"}`,
  };
}
