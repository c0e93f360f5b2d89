import { isDeepStrictEqual } from "node:util";
import type { Inventory } from "@xo-server/inventory";
import type { SimulatedPool } from "@xo-server/xapi-sim";

/** The first class of which the mirror differs from the database of the pool; undefined: none. */
export function mirrorDifference(
  { database }: SimulatedPool,
  inventory: Inventory,
): string | undefined {
  for (const { className } of database.tables()) {
    if (className === "role" || className === "session") continue;
    const held = new Map<string, unknown>();
    for (const { ref, record } of inventory.list(className))
      held.set(ref, record);
    const counted = inventory.count("p", className);
    if (counted === 0 && className !== "VM") continue;
    const truth = new Map(database.records(className));
    if (truth.size !== held.size)
      return `${className}: ${held.size} objects instead of ${truth.size}`;
    for (const [ref, record] of truth)
      if (!isSameRecord(held.get(ref), record)) return `${className} ${ref}`;
  }
  return undefined;
}

/** Compares the fields that the faults change. */
function isSameRecord(held: unknown, record: unknown): boolean {
  const fields = held as Record<string, unknown> | undefined;
  const truth = record as Record<string, unknown>;
  return (
    fields !== undefined &&
    isDeepStrictEqual(fields["name_label"], truth["name_label"]) &&
    isDeepStrictEqual(fields["power_state"], truth["power_state"]) &&
    isDeepStrictEqual(fields["other_config"], truth["other_config"]) &&
    isDeepStrictEqual(fields["resident_on"], truth["resident_on"])
  );
}
