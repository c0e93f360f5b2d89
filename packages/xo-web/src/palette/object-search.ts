import { isObject, type Json } from "@xo-server/kit";
import type { Call } from "../api/server-connection.js";
import type { ObjectRow } from "../api/object-row.js";
import { rank } from "./ranking.js";
import type { ObjectName } from "./route-object.js";
import { anyOf } from "../filters/value-text.js";

/** Searched types, in the order of equal matches. */
export const mainTypes = ["pool", "host", "VM", "SR", "network", "VM-template"];
/** Types with many objects: searched after the main types. */
export const minorTypes = ["VDI", "VM-snapshot"];

/** Objects per type that are ranked by the page. */
const MAX_PER_TYPE = 40;
/** Objects per type whose names begin with the text, if there are more than MAX_PER_TYPE. */
const MAX_BY_PREFIX = 10;

const fields = [
  "id",
  "type",
  "name_label",
  "$pool",
  "power_state",
  "enabled",
  "current_operations",
  "mainIpAddress",
  "inMaintenanceMode",
  "$SR",
  "$snapshot_of",
];

/**
 * Objects of these types that match the typed text, the best first. If more match
 * than can be ranked, objects whose names begin with the text are included.
 */
export async function searchObjects(
  call: Call,
  typed: string,
  types: readonly string[],
): Promise<readonly ObjectRow[]> {
  const search = typed.trim();
  if (search === "") return [];
  const pages = await Promise.all([
    ...types.map((type) => searchType(call, type, search)),
    ...(types.includes("VM") && MAC.test(search)
      ? [searchByMac(call, search)]
      : []),
  ]);
  const found = Array.from(pages.flat(), (row) => ({
    row,
    name: row.name_label ?? "",
    typeRank: types.indexOf(row.type),
  }));
  return rank(found, search).map(({ row }) => row);
}

/** Three bytes of a MAC address at least; fewer fit too many. */
const MAC = /^[0-9a-f]{2}([:-][0-9a-f]{2}){2,5}$/i;

/** VMs by the MAC address of an interface, or a part of it. */
async function searchByMac(
  call: Call,
  typed: string,
): Promise<readonly ObjectRow[]> {
  const vifs = await readPage(call, {
    type: "VIF",
    filter: `MAC:${JSON.stringify(typed.replaceAll("-", ":"))}`,
    fields: ["id", "type", "$VM"],
    limit: MAX_PER_TYPE,
  });
  const ids = new Set(
    vifs.rows.flatMap(({ $VM }) => (typeof $VM === "string" ? [$VM] : [])),
  );
  if (ids.size === 0) return [];
  const { rows } = await readPage(call, {
    type: "VM",
    ids: [...ids],
    fields,
    limit: ids.size,
  });
  return rows;
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
    limit: MAX_PER_TYPE,
  });
  if (total <= rows.length) return rows;
  const filter = `name_label:/^${escaped(search)}/i`;
  const begin = await readPage(call, {
    type,
    filter,
    fields,
    limit: MAX_BY_PREFIX,
  });
  const byId = new Map([...begin.rows, ...rows].map((row) => [row.id, row]));
  return [...byId.values()];
}

/** The current state of these objects; deleted ones are omitted. */
export async function readObjects(
  call: Call,
  names: readonly ObjectName[],
): Promise<readonly ObjectRow[]> {
  const types = [...new Set(names.map(({ type }) => type))];
  const pages = await Promise.all(
    types.map((type) => {
      const ids = names.filter((one) => one.type === type);
      const filter = `id:${anyOf(ids.map(({ id }) => id))}`;
      return readPage(call, { type, filter, limit: ids.length, fields });
    }),
  );
  const all = pages.flatMap(({ rows }) => rows);
  const byId = new Map(all.map((row) => [row.id, row]));
  return names.flatMap(({ id }) => byId.get(id) ?? []);
}

/** Empty without permission, or for an unknown type. */
async function readPage(
  call: Call,
  params: Readonly<Record<string, Json>>,
): Promise<{ readonly rows: readonly ObjectRow[]; readonly total: number }> {
  // A failed search shows no objects; the banner shows a lost connection.
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
