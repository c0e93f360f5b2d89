import { isObject, type Json } from "../api/merge-patch.js";
import type { Call } from "../api/status-stream.js";
import type { ObjectRow } from "../objects/object-row.js";
import { rank } from "./ranking.js";
import type { ObjectName } from "./route-object.js";

/** Types that are searched, in the order of equally good ones. */
export const searchedTypes = [
  "pool",
  "host",
  "VM",
  "SR",
  "network",
  "VM-template",
  "VDI",
  "VM-snapshot",
] as const;

/** Of each type, as the server sorts them. */
const OF_A_TYPE = 8;
/** Of all. */
const MOST = 24;

const fields = [
  ...["id", "type", "name_label", "$pool", "power_state", "enabled"],
  ...["current_operations", "mainIpAddress", "inMaintenanceMode"],
  ...["$SR", "$snapshot_of"],
];

/**
 * Objects of all types for what was typed, the best first. The names that begin
 * with it are asked for beside all that fit: of thousands that fit, the server
 * tells the first few by name.
 */
export async function searchObjects(
  call: Call,
  typed: string,
): Promise<readonly ObjectRow[]> {
  const search = typed.trim();
  if (search === "") return [];
  const begins = `name_label:/^${escaped(search)}/i`;
  const pages = await Promise.all(
    searchedTypes.flatMap((type) => [
      readPage(call, { type, filter: begins, limit: OF_A_TYPE, fields }),
      readPage(call, { type, search, limit: OF_A_TYPE, fields }),
    ]),
  );
  const byId = new Map(pages.flat().map((row) => [row.id, row]));
  const found = Array.from(byId.values(), (row) => ({
    row,
    name: row.name_label ?? "",
    place: placeOf(row.type),
  }));
  return rank(found, search)
    .slice(0, MOST)
    .map(({ row }) => row);
}

/** These objects as they are now; those that are gone are left out. */
export async function readObjects(
  call: Call,
  names: readonly ObjectName[],
): Promise<readonly ObjectRow[]> {
  const types = [...new Set(names.map(({ type }) => type))];
  const pages = await Promise.all(
    types.map((type) => {
      const ids = names.filter((one) => one.type === type);
      const filter = `|(${ids.map(({ id }) => `id:${id}`).join(" ")})`;
      return readPage(call, { type, filter, limit: ids.length, fields });
    }),
  );
  const byId = new Map(pages.flat().map((row) => [row.id, row]));
  return names.flatMap(({ id }) => byId.get(id) ?? []);
}

/** What may not be read, or is of a type that nobody knows, is not found. */
async function readPage(
  call: Call,
  params: Record<string, Json>,
): Promise<ObjectRow[]> {
  const answer = await call("query.page", params).catch(() => null);
  const rows = isObject(answer) ? answer["rows"] : undefined;
  const list = Array.isArray(rows) ? (rows as readonly Json[]) : [];
  return list as unknown as ObjectRow[];
}

function placeOf(type: string): number {
  return (searchedTypes as readonly string[]).indexOf(type);
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/"]/g, "\\$&");
}
