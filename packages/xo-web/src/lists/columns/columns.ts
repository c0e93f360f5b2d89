import type { Column } from "./column.js";
import {
  message,
  network,
  pif,
  pools,
  sr,
  vdi,
} from "./infrastructure-columns.js";
import { host, snapshot, template, vm } from "./machine-columns.js";
import { id, name } from "./shared-columns.js";

const byType: Readonly<Record<string, readonly Column[]>> = {
  VM: vm,
  "VM-template": template,
  "VM-snapshot": snapshot,
  host,
  pool: pools,
  SR: sr,
  VDI: vdi,
  network,
  PIF: pif,
  message,
};

/** Columns of a type, in their default order. */
export function columnsOf(type: string): readonly Column[] {
  return (Object.hasOwn(byType, type) && byType[type]) || [name, id];
}

/**
 * Fields that every row needs for its state and its actions, in addition to those
 * of the columns.
 */
const requiredFields: Readonly<Record<string, readonly string[]>> = {
  VM: ["power_state", "current_operations", "$container"],
  "VM-snapshot": ["$snapshot_of"],
  host: ["power_state", "current_operations", "enabled"],
  PIF: ["device", "$host"],
  message: ["name"],
};

/** Fields that the server sends for these columns. */
export function fieldsOf(
  type: string,
  columns: readonly Column[],
): readonly string[] {
  const always =
    (Object.hasOwn(requiredFields, type) && requiredFields[type]) || [];
  const requested = columns.flatMap(({ fields }) => fields);
  const named = ["id", "type", "name_label", "$pool"];
  return [...new Set([...named, ...always, ...requested])].sort();
}
