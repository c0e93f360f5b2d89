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
    "power_state",
    "resident_on",
    "is_a_template",
    "is_a_snapshot",
    "is_control_domain",
    "snapshot_of",
    "guest_metrics",
    "memory_static_max",
    "VCPUs_max",
    "tags",
  ],
  VM_guest_metrics: ["uuid", "networks", "os_version"],
  SR: [
    "uuid",
    "name_label",
    "type",
    "content_type",
    "shared",
    "physical_size",
    "physical_utilisation",
    "tags",
  ],
  VDI: [
    "uuid",
    "name_label",
    "SR",
    "VBDs",
    "virtual_size",
    "is_a_snapshot",
    "managed",
    "tags",
  ],
  VBD: ["uuid", "VM", "VDI", "type", "currently_attached"],
  VIF: ["uuid", "VM", "network", "MAC", "currently_attached"],
  PIF: ["uuid", "host", "network", "device", "VLAN"],
  PBD: ["uuid", "host", "SR", "currently_attached"],
  network: ["uuid", "name_label", "bridge", "tags"],
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
