/**
 * The columns that lists, filters and cross references need, by class. A parser
 * worker reports where each lies in the record, so that nobody has to parse the
 * record to draw a row. Keep them few: each costs 8 bytes an object.
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

/** Every class not named above: these where the record has them. */
export const defaultColumns: readonly string[] = ["uuid", "name_label"];

/** The columns that a parser worker reports for a class. */
export function columnsOf(className: string): readonly string[] {
  return Object.hasOwn(columnsByClass, className)
    ? columnsByClass[className]!
    : defaultColumns;
}
