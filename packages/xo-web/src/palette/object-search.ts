import { isObject, type Json } from "@xo-server/kit";
import type { Call } from "../api/server-connection.js";
import type { ObjectRow } from "../api/object-row.js";
import { rank } from "./ranking.js";
import type { ObjectName } from "./route-object.js";

/** Types that are searched, in the order of equally good ones. */
export const mainTypes = [
  ...["pool", "host", "VM", "SR", "network", "VM-template"],
];
/** The many that are seldom wanted: they are looked for when the others have been found. */
export const minorTypes = ["VDI", "VM-snapshot"];

/** Of a type, of which all can be ranked here. */
const OF_A_TYPE = 40;
/** Of a type of which more fit: those whose names begin with it. */
const THAT_BEGIN = 10;

const fields = [
  ...["id", "type", "name_label", "$pool", "power_state", "enabled"],
  ...["current_operations", "mainIpAddress", "inMaintenanceMode"],
  ...["$SR", "$snapshot_of"],
];

/**
 * Objects of these types for what was typed, the best first. Where more fit
 * than can be ranked here, those whose names begin with it are the best.
 */
export async function searchObjects(
  call: Call,
  typed: string,
  types: readonly string[],
): Promise<readonly ObjectRow[]> {
  const search = typed.trim();
  if (search === "") return [];
  const pages = await Promise.all(
    types.map((type) => searchType(call, type, search)),
  );
  const found = Array.from(pages.flat(), (row) => ({
    row,
    name: row.name_label ?? "",
    place: types.indexOf(row.type),
  }));
  return rank(found, search).map(({ row }) => row);
}

async function searchType(
  call: Call,
  type: string,
  search: string,
): Promise<readonly ObjectRow[]> {
  const { rows, total } = await readPage(call, {
    type,
    search,
    fields,
    limit: OF_A_TYPE,
  });
  if (total <= rows.length) return rows;
  const filter = `name_label:/^${escaped(search)}/i`;
  const begin = await readPage(call, {
    type,
    filter,
    fields,
    limit: THAT_BEGIN,
  });
  const byId = new Map([...begin.rows, ...rows].map((row) => [row.id, row]));
  return [...byId.values()];
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
  const all = pages.flatMap(({ rows }) => rows);
  const byId = new Map(all.map((row) => [row.id, row]));
  return names.flatMap(({ id }) => byId.get(id) ?? []);
}

/** What may not be read, or is of a type that nobody knows, is not found. */
async function readPage(
  call: Call,
  params: Readonly<Record<string, Json>>,
): Promise<{ readonly rows: readonly ObjectRow[]; readonly total: number }> {
  const answer = await call("query.page", params).catch(() => null);
  const { rows, total } = isObject(answer) ? answer : {};
  const list = Array.isArray(rows) ? (rows as readonly Json[]) : [];
  return {
    rows: list as unknown as ObjectRow[],
    total: typeof total === "number" ? total : list.length,
  };
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/"]/g, "\\$&");
}
