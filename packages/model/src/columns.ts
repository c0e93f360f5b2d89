/**
 * Columns by class: fields that lists, filters and links need. Parser workers
 * report the position of each in the record, so that a row can be shown without
 * parsing the record. Each column costs 8 bytes per object.
 */
export const columnsByClass: Readonly<Record<string, readonly string[]>> = {
  pool: ["uuid", "name_label", "master", "default_SR", "tags"],
  host: [
    "uuid",
    "name_label",
    "name_description",
    "hostname",
    "address",
    "enabled",
    "metrics",
    "resident_VMs",
    "tags",
  ],
  host_metrics: ["uuid", "live", "memory_total", "memory_free"],
  VM: [
    "uuid",
    "name_label",
    "name_description",
    "power_state",
    "resident_on",
    "is_a_template",
    "is_default_template",
    "is_a_snapshot",
    "is_control_domain",
    "snapshot_of",
    "snapshot_time",
    "metrics",
    "guest_metrics",
    "VBDs",
    "memory_static_min",
    "memory_static_max",
    "memory_dynamic_min",
    "memory_dynamic_max",
    "VCPUs_max",
    "VCPUs_at_startup",
    "ha_restart_priority",
    "blocked_operations",
    "tags",
    "other_config",
  ],
  VM_metrics: [
    "uuid",
    "start_time",
    "install_time",
    "memory_actual",
    "VCPUs_number",
  ],
  VM_guest_metrics: [
    "uuid",
    "networks",
    "os_version",
    "PV_drivers_version",
    "memory",
  ],
  SR: [
    "uuid",
    "name_label",
    "name_description",
    "type",
    "content_type",
    "shared",
    "PBDs",
    "physical_size",
    "physical_utilisation",
    "tags",
  ],
  VDI: [
    "uuid",
    "name_label",
    "name_description",
    "type",
    "SR",
    "VBDs",
    "virtual_size",
    "physical_utilisation",
    "is_a_snapshot",
    "snapshot_of",
    "snapshot_time",
    "managed",
    "cbt_enabled",
    "sm_config",
    "tags",
  ],
  VBD: ["uuid", "VM", "VDI", "type", "device", "currently_attached"],
  VIF: ["uuid", "VM", "network", "device", "MAC", "currently_attached"],
  PIF: ["uuid", "host", "network", "device", "VLAN"],
  PBD: ["uuid", "host", "SR", "currently_attached"],
  network: ["uuid", "name_label", "name_description", "bridge", "tags"],
  task: ["uuid", "name_label", "status", "progress", "created", "resident_on"],
  message: ["uuid", "name", "cls", "obj_uuid", "timestamp"],
};

/** Columns of all other classes. */
export const defaultColumns: readonly string[] = ["uuid", "name_label"];

/** The columns that a parser worker reports for a class. */
export function columnsOf(className: string): readonly string[] {
  return Object.hasOwn(columnsByClass, className)
    ? columnsByClass[className]!
    : defaultColumns;
}
