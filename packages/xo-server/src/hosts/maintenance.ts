import type { PoolObject } from "../objects/pool-objects.js";
import {
  whileEmpty,
  type EmptyOptions,
  type LeaveParts,
} from "./empty-host.js";
import { guestIdsOf, withoutBlocks } from "./guests.js";
import { moveBack, type MoveParts } from "./move-back.js";

/** Where a host's guests are noted down that have left it for a while: on the host, so that whoever ends it knows. */
const KEY = "xo:evacuatedVms";

export interface MaintenanceOptions extends EmptyOptions {
  /** Guests that are moved although that is blocked. */
  readonly blocked: readonly PoolObject[];
}

/**
 * Moves all guests away from a host and has it take no more.
 * @throws XoError VMS_CANNOT_LEAVE: nothing was done; what the pool refused:
 *   then it takes guests as before
 */
export async function enterMaintenance(
  host: PoolObject,
  parts: LeaveParts,
  { blocked, ...options }: MaintenanceOptions,
): Promise<void> {
  const moves = ["pool_migrate", "migrate_send"];
  // Those of before stay noted down: it may be the second try.
  const guests = [...new Set([...notedOn(host), ...guestIdsOf(host)])];
  await withoutBlocks(blocked, moves, () =>
    whileEmpty(host, parts, options, () => note(host, guests)),
  );
}

/** Has a host take guests again. */
export async function leaveMaintenance(
  host: PoolObject,
  parts: MoveParts,
  { migrateBack }: { readonly migrateBack: boolean },
): Promise<void> {
  await host.xapi.call("host.enable", [host.ref]);
  const guests = notedOn(host);
  if (guests.length === 0) return;
  if (migrateBack) await moveBack(host, guests, parts);
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

/** Anybody may have written there. */
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
