import type { FleetBuilder } from "./fleet-builder.js";
import type { FleetHost } from "./fleet-host.js";
import { addConsoles } from "./consoles.js";
import { controlDomainOperations } from "../records/allowed-operations.js";

const MEMORY = 8 * 2 ** 30;
const VCPUS = 16;

/** The host's own domain 0: a paravirtual VM that cannot be moved. Takes its memory from the host. */
export function addControlDomain(
  builder: FleetBuilder,
  host: Omit<FleetHost, "nics">,
): void {
  host.freeMemory -= MEMORY;
  const { ref, record } = host.host;
  const vm = builder.add("VM", {
    ...controlDomain,
    name_label: `Control domain on host: ${record["name_label"] as string}`,
    resident_on: ref,
    affinity: ref,
    other_config: { storage_driver_domain: ref, is_system_domain: "true" },
    metrics: addMetrics(builder),
  });
  record["control_domain"] = vm.ref;
  addConsoles(builder, vm.ref, host.consoleAddress);
}

const controlDomain = {
  allowed_operations: controlDomainOperations,
  name_description:
    "The domain which manages physical devices and manages other domains",
  power_state: "Running",
  user_version: 1,
  memory_overhead: 12582912,
  memory_target: MEMORY,
  memory_static_max: MEMORY,
  memory_dynamic_max: MEMORY,
  memory_dynamic_min: MEMORY,
  memory_static_min: MEMORY,
  VCPUs_max: VCPUS,
  VCPUs_at_startup: VCPUS,
  actions_after_shutdown: "destroy",
  actions_after_reboot: "destroy",
  actions_after_crash: "destroy",
  HVM_shadow_multiplier: 1,
  domid: 0,
  domarch: "x64",
  is_control_domain: true,
  generation_id: "",
  has_vendor_device: false,
  domain_type: "pv",
};

function addMetrics(builder: FleetBuilder): string {
  return builder.add("VM_metrics", {
    memory_actual: MEMORY,
    VCPUs_number: VCPUS,
    VCPUs_utilisation: { "0": 0 },
    state: ["running"],
    start_time: builder.ago(30 * 86400),
    install_time: builder.ago(400 * 86400),
    last_updated: builder.ago(30),
    current_domain_type: "pv",
  }).ref;
}
