import type { PoolObject } from "../objects/pool-objects.js";
import {
  whileEvacuated,
  type EmptyOptions,
  type EvacuationOptions,
} from "./evacuate-host.js";
import { guestIdsOf, withoutBlocks } from "./guests.js";
import { migrateBackTo, type MoveParts } from "./migrate-back.js";

/** Key in the host's other_config: ids of the VMs evacuated for maintenance, to migrate back. */
const KEY = "xo:evacuatedVms";

interface HostMaintenanceOptions extends EmptyOptions {
  /** VMs that are migrated although the operation is blocked on them. */
  readonly blocked: readonly PoolObject[];
}

/**
 * Disables and evacuates a host.
 * @throws XoError VMS_CANNOT_LEAVE: nothing was done; XapiError: the host is
 * enabled as before
 */
export async function enterHostMaintenance(
  host: PoolObject,
  parts: EvacuationOptions,
  { blocked, ...options }: HostMaintenanceOptions,
): Promise<void> {
  const moves = ["pool_migrate", "migrate_send"];
  // VMs of an earlier attempt stay in the list.
  const guests = [...new Set([...notedOn(host), ...guestIdsOf(host)])];
  await withoutBlocks(blocked, moves, () =>
    whileEvacuated(host, parts, options, () => note(host, guests)),
  );
}

/** Enables a host. */
export async function exitHostMaintenance(
  host: PoolObject,
  parts: MoveParts,
  { migrateBack }: { readonly migrateBack: boolean },
): Promise<void> {
  await host.xapi.call("host.enable", [host.ref]);
  const guests = notedOn(host);
  if (guests.length === 0) return;
  if (migrateBack) await migrateBackTo(host, guests, parts);
  await note(host, []);
}

async function note(
  { xapi, ref }: PoolObject,
  guests: readonly string[],
): Promise<void> {
  await xapi.call("host.remove_from_other_config", [ref, KEY]);
  if (guests.length === 0) return;
  const value = JSON.stringify(guests);
  await xapi.call("host.add_to_other_config", [ref, KEY, value]);
}

/** Other clients may have written the value. */
function notedOn({ object }: PoolObject): string[] {
  const text = (object["otherConfig"] as Readonly<Record<string, string>>)[KEY];
  if (text === undefined) return [];
  try {
    const value = JSON.parse(text) as unknown;
    return Array.isArray(value)
      ? value.filter((id) => typeof id === "string")
      : [];
  } catch {
    return [];
  }
}
