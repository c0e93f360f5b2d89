import type { DraftObject, FleetBuilder } from "./fleet-builder.js";
import type { FleetHost } from "./fleet-host.js";
import type { FleetProfile } from "./profiles.js";
import type { FleetStorage } from "./storage.js";
import { restrictions } from "./guest-constants.js";
import { cpuInfo } from "./hosts.js";
import { POOL_ADMIN_ROLE, VM_OPERATOR_ROLE } from "./roles.js";
import { poolOperations } from "../records/allowed-operations.js";

/** The pool itself. Its default SR is the first shared one. */
export function addPool(
  builder: FleetBuilder,
  profile: FleetProfile,
  {
    hosts,
    storage,
    name,
  }: { hosts: readonly FleetHost[]; storage: FleetStorage; name: string },
): void {
  const sr = storage.shared[0] ?? storage.local[0]!;
  builder.add("pool", {
    name_label: name,
    name_description: `${profile.hosts} hosts, ${profile.vms} virtual machines`,
    master: hosts[0]!.host.ref,
    default_SR: sr.ref,
    suspend_image_SR: sr.ref,
    crash_dump_SR: sr.ref,
    other_config: {
      "memory-ratio-hvm": "0.25",
      "memory-ratio-pv": "0.25",
      auto_poweron: "true",
      cpuid_feature_mask: "",
    },
    tags: ["simulated"],
    restrictions,
    ha_cluster_stack: "xhad",
    allowed_operations: poolOperations,
    cpu_info: cpuInfo(profile.cpusPerHost * profile.hosts),
    tls_verification_enabled: true,
    repositories: addRepositories(builder),
    telemetry_next_collection: builder.ago(-5 * 86400),
    last_update_sync: builder.ago(86400),
  });
  addSubjects(builder);
  addObserver(builder);
}

function addRepositories(builder: FleetBuilder): readonly string[] {
  return ["base", "updates"].map(
    (name) =>
      builder.add("Repository", {
        name_label: `xcp-ng-${name}`,
        name_description: `XCP-ng 8.3, ${name}`,
        binary_url: `https://updates.example.com/8/8.3/${name}/x86_64/`,
        source_url: `https://updates.example.com/8/8.3/${name}/Source/`,
        update: name === "updates",
        gpgkey_path: "RPM-GPG-KEY-xcpng",
      }).ref,
  );
}

function addSubjects(builder: FleetBuilder): void {
  for (const [user, role] of [
    ["alice", POOL_ADMIN_ROLE],
    ["helpdesk", VM_OPERATOR_ROLE],
  ] as const)
    builder.add("subject", {
      subject_identifier: `S-1-5-21-2000478354-1708537768-1957994488-${builder.random.int(1000, 9999)}`,
      other_config: {
        "subject-name": `EXAMPLE\\${user}`,
        "subject-upn": `${user}@example.com`,
        "subject-gecos": user,
        "subject-is-group": String(user === "helpdesk"),
      },
      roles: [role],
    });
}

function addObserver(builder: FleetBuilder): void {
  builder.add("Observer", {
    name_label: "Local tracing",
    endpoints: ["bugtool"],
    components: ["xapi", "xenopsd"],
    enabled: false,
  });
}

/** Snapshot schedules for guests to follow. */
export function addSchedules(builder: FleetBuilder): readonly DraftObject[] {
  return (["daily", "weekly"] as const).map((frequency) =>
    builder.add("VMSS", {
      name_label: `${frequency} snapshots`,
      type: "snapshot",
      frequency,
      retained_snapshots: 2,
      schedule: {
        hour: "1",
        min: "0",
        ...(frequency === "weekly" ? { days: "Sunday" } : {}),
      },
      last_run_time: builder.ago(43200),
    }),
  );
}

/** Guests that start and stop together, and guests that keep apart. */
export function addGroups(
  builder: FleetBuilder,
  guests: readonly { readonly vm: DraftObject; readonly name: string }[],
): void {
  const apart = builder.add("VM_group", {
    name_label: "Databases apart",
    placement: "anti_affinity",
  });
  let appliance: DraftObject | undefined;
  guests.forEach(({ vm, name }, i) => {
    if (name.startsWith("db-prod") && i % 4 === 0)
      vm.record["groups"] = [apart.ref];
    if (!name.startsWith("app-") || i % 6 !== 0) return;
    if (appliance === undefined || builder.random.chance(0.2))
      appliance = builder.add("VM_appliance", {
        name_label: `Shop around ${name}`,
        name_description: "Front ends, application and database",
        allowed_operations: [
          "start",
          "clean_shutdown",
          "hard_shutdown",
          "shutdown",
        ],
      });
    vm.record["appliance"] = appliance.ref;
    vm.record["order"] = i % 3;
    vm.record["start_delay"] = 30;
  });
}
