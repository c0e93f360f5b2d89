/**
 * Fields that actions need to find out whether they are possible; lists request
 * them for their rows.
 */
export function fieldsForActions(type: string): readonly string[] {
  return fields[type] ?? ["id", "type", "$pool", "name_label"];
}

const ofVm = [
  "id",
  "type",
  "$pool",
  "name_label",
  "power_state",
  "$container",
  "current_operations",
  "blockedOperations",
  "xenTools",
  "tags",
  "folder",
];
const fields: Readonly<Record<string, readonly string[]>> = {
  VM: ofVm,
  "VM-template": [...ofVm, "isDefaultTemplate"],
  "VM-snapshot": [...ofVm, "$snapshot_of"],
  host: [
    "id",
    "type",
    "$pool",
    "name_label",
    "power_state",
    "enabled",
    "powerOnMode",
    "tags",
  ],
  SR: [
    "id",
    "type",
    "$pool",
    "name_label",
    "content_type",
    "VDIs",
    "inMaintenanceMode",
    "tags",
    "SR_type",
  ],
};
