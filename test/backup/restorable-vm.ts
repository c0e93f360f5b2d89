/** Records in a backup of a small VM without interfaces. */
export const RESTORABLE = {
  VM: {
    name_label: "db",
    memory_static_max: String(2 ** 30),
    memory_dynamic_max: String(2 ** 30),
    memory_dynamic_min: String(2 ** 30),
    memory_static_min: String(2 ** 29),
    VCPUs_max: "1",
    VCPUs_at_startup: "1",
    HVM_boot_policy: "BIOS order",
    platform: {},
    other_config: {},
  },
  VBDs: {},
  VDIs: {},
  VIFs: {},
  VTPMs: {},
  networks: {},
};
