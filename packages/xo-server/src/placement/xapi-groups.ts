import type { Inventory } from "@xo-server/inventory";
import { PoolRecords } from "./read-records.js";

/**
 * A VM group of XAPI with anti-affinity: XAPI separates its VMs where possible.
 */
export interface XapiGroup {
  readonly id: string;
  readonly name: string;
  readonly vms: readonly string[];
}

/** @param connection id of the pool connection */
export function xapiGroupsOf(
  inventory: Pick<Inventory, "list" | "peek" | "column">,
  connection: string,
): XapiGroup[] {
  const records = new PoolRecords(inventory, connection);
  return Array.from(records.list("VM_group"), ({ ref }) => {
    const record = records.get("VM_group", ref);
    if (record?.placement !== "anti_affinity") return [];
    const vms = records.ids("VM", record.VMs);
    const [id, name] = [String(record.uuid), String(record.name_label)];
    return [{ id, name, vms }];
  }).flat();
}
