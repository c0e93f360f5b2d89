import type { Inventory } from "@xo-server/inventory";
import { PoolRecords } from "../placement/read-records.js";
import { softwareVersion } from "./software-version.js";

/** Software versions of the hosts of a pool, by their ids. */
export function versionsOfPool(
  inventory: Pick<Inventory, "list" | "peek" | "column">,
  connection: string,
): Map<string, string> {
  const records = new PoolRecords(inventory, connection);
  const versions = new Map<string, string>();
  for (const { ref } of records.list("host")) {
    const host = records.get("host", ref);
    if (typeof host?.uuid === "string")
      versions.set(host.uuid, softwareVersion(host.software_version));
  }
  return versions;
}
