import { NULL_REF } from "@xo-server/model";
import type {
  DraftObject,
  FleetBuilder,
  FleetFields,
} from "./fleet-builder.js";
import type { FleetHost } from "./fleet-host.js";
import type { Guest, GuestName } from "./guest.js";
import type { GuestSystem } from "./guest-systems.js";
import { guestBiosStrings, guestRecommendations } from "./guest-constants.js";
import { emptyVm, guestPlatform } from "./templates.js";
import { vmOperations } from "../records/allowed-operations.js";

interface VmPlan {
  readonly title: GuestName;
  readonly system: GuestSystem;
  readonly memory: number;
  readonly state: Guest["state"];
  readonly host: FleetHost | undefined;
  readonly guestMetrics: string;
}

/** The VM and its metrics. */
export function addVm(builder: FleetBuilder, plan: VmPlan): DraftObject {
  const vcpus = builder.random.pick([1, 2, 2, 2, 4, 4, 8]);
  return builder.add("VM", {
    ...emptyVm,
    ...stateFields(builder, plan),
    ...sizeFields(plan.memory, vcpus),
    ...paperFields(builder, plan),
    ...machineFields(builder, plan, vcpus),
    metrics: addVmMetrics(builder, plan, vcpus).ref,
    guest_metrics: plan.guestMetrics,
  });
}

function stateFields(
  builder: FleetBuilder,
  { state, host, guestMetrics, system, title }: VmPlan,
): FleetFields {
  const runs = host !== undefined;
  return {
    allowed_operations: vmOperations({
      powerState: state,
      isTemplate: false,
      isSnapshot: false,
      isControlDomain: false,
      agent: guestMetrics !== NULL_REF && system.osVersion !== undefined,
    }).filter((name) => !Object.hasOwn(blockedOperations(title), name)),
    power_state: state,
    resident_on: host?.host.ref ?? NULL_REF,
    affinity: builder.random.chance(0.1)
      ? (host?.host.ref ?? NULL_REF)
      : NULL_REF,
    domid: runs ? builder.random.int(1, 900) : -1,
    domarch: runs ? "hvm" : "",
    last_boot_CPU_flags: runs ? bootCpuFlags : {},
    last_booted_record: "",
    ha_always_run: false,
    ha_restart_priority: "",
  };
}

const bootCpuFlags = Object.freeze({
  vendor: "GenuineIntel",
  features:
    "1fcbfbff-f7fa3223-2d93fbff-00000023-00000001-009c07ab-00000000-00000100-00000000-1c000000-00000000-00000000-00000000-00000000-00000000-00000000-00000000-00000000",
});

function sizeFields(memory: number, vcpus: number): FleetFields {
  return {
    memory_target: memory,
    memory_static_max: memory,
    memory_dynamic_max: memory,
    memory_dynamic_min: memory,
    memory_static_min: memory / 4,
    VCPUs_max: vcpus,
    VCPUs_at_startup: vcpus,
  };
}

function paperFields(
  builder: FleetBuilder,
  { title, system }: VmPlan,
): FleetFields {
  const { random } = builder;
  return {
    name_label: title.name,
    name_description: title.role.description,
    tags: title.role.tags,
    other_config: {
      base_template_name: system.template,
      "install-methods": "cdrom,nfs,http,ftp",
      ...(system.family === "linux" ? { linux_template: "true" } : {}),
      mac_seed: random.uuid(),
      import_task: random.ref(),
      folder: title.role.folder,
      "XenCenter.CustomFields.owner": random.pick(owners),
      "XenCenter.CustomFields.cost centre": String(random.int(1000, 1040)),
      ...(random.chance(0.7) ? { auto_poweron: "true" } : {}),
      "xo:8f2a1b7c": `{"creation":{"date":"${creationDate(builder)}","template":"${random.uuid()}","user":"${random.uuid()}"}}`,
    },
    blocked_operations: blockedOperations(title),
  };
}

function blockedOperations({ role }: VmPlan["title"]): Record<string, string> {
  return role.stem === "db-prod" ? { destroy: "true" } : {};
}

const owners = [
  "alice@example.com",
  "bruno@example.com",
  "chloé@example.com",
  "dev-team@example.com",
  "ops@example.com",
];

function creationDate(builder: FleetBuilder): string {
  const day = builder.now - builder.random.int(1, 900) * 86400;
  return new Date(day * 1000).toISOString();
}

function machineFields(
  builder: FleetBuilder,
  { system, host, title }: VmPlan,
  vcpus: number,
): FleetFields {
  const windows = system.family === "windows";
  return {
    HVM_boot_params: { order: "cdn", firmware: system.firmware },
    platform: guestPlatform({
      windows,
      firmware: system.firmware,
      cores: vcpus > 2 ? 2 : 1,
    }),
    recommendations: guestRecommendations,
    bios_strings: guestBiosStrings,
    generation_id: generationId(builder),
    hardware_platform_version: windows ? 2 : 0,
    has_vendor_device: windows,
    NVRAM: system.firmware === "uefi" ? { "EFI-variables": nvramStart } : {},
    xenstore_data: {
      "vm-data": "",
      "vm-data/hostname": title.name,
      ...(host === undefined ? {} : { "vm-data/ip": "dhcp" }),
      "vm-data/mmio-hole-size": "268435456",
    },
    secureboot_certificates_state: "ok",
  };
}

/** Variables of the firmware are base64 and some kilobytes on real pools; the head of them is enough here. */
const nvramStart =
  "VkFSUwEAAAAAAAAAAAAAAAAAAAAIAAAAU2VjdXJlQm9vdAAAAAAAAAAB".padEnd(220, "A");

function generationId({ random }: FleetBuilder): string {
  const half = () =>
    String(random.uint32()) +
    String(random.uint32()).padStart(9, "0").slice(0, 9);
  return `${half()}:${half()}`;
}

function addVmMetrics(
  builder: FleetBuilder,
  { memory, state, host }: VmPlan,
  vcpus: number,
): DraftObject {
  const { random } = builder;
  const runs = host !== undefined;
  return builder.add("VM_metrics", {
    memory_actual: runs ? memory : 0,
    VCPUs_number: runs ? vcpus : 0,
    VCPUs_utilisation: runs
      ? Object.fromEntries(
          Array.from({ length: vcpus }, (_, i) => [
            String(i),
            random.int(0, 999) / 1000,
          ]),
        )
      : { "0": 0 },
    VCPUs_CPU: runs
      ? Object.fromEntries(
          Array.from({ length: vcpus }, (_, i) => [
            String(i),
            random.int(0, 31),
          ]),
        )
      : {},
    VCPUs_flags: runs
      ? Object.fromEntries(
          Array.from({ length: vcpus }, (_, i) => [String(i), ["online"]]),
        )
      : {},
    VCPUs_params: { weight: "256", cap: "0" },
    state: runs ? [state === "Paused" ? "paused" : "running"] : [],
    start_time: builder.ago(
      runs ? random.int(600, 120 * 86400) : random.int(121, 300) * 86400,
    ),
    install_time: builder.ago(random.int(300, 900) * 86400),
    last_updated: builder.ago(random.int(0, 300)),
    hvm: runs,
    current_domain_type: runs ? "hvm" : "unspecified",
    numa_nodes: runs ? 1 : 0,
  });
}
