import { isObject } from "@xo-server/kit";
import type { Call } from "../api/server-connection.js";
import type { ObjectRow } from "../api/object-row.js";
import { fieldsForActions } from "./fields.js";
import { anyOf } from "../filters/value-text.js";

/** Maximum number of objects per request. */
const A_PAGE = 200;
/** Maximum number of concurrent requests. */
const MAX_CONCURRENT = 6;

/**
 * Rows with the fields of an action: missing ones are fetched. A deleted row
 * stays as it was: the server reports it.
 */
export async function completeRows(
  call: Call,
  rows: readonly ObjectRow[],
): Promise<readonly ObjectRow[]> {
  // A single object is read with all its fields, because forms show most of them.
  const isOne = rows.length === 1;
  const lacking = rows.filter((row) => isOne || lacks(row));
  const found = new Map<string, ObjectRow>();
  const pages = [...byType(lacking)].flatMap(([type, some]) =>
    Array.from({ length: Math.ceil(some.length / A_PAGE) }, (_, i) => ({
      type,
      ids: some.slice(i * A_PAGE, (i + 1) * A_PAGE).map(({ id }) => id),
    })),
  );
  const readNext = async (): Promise<void> => {
    for (let page = pages.shift(); page; page = pages.shift())
      for (const row of await readPage(call, page, isOne))
        found.set(row.id, row);
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, readNext));
  return rows.map((row) => ({ ...row, ...found.get(row.id) }));
}

async function readPage(
  call: Call,
  { type, ids }: { readonly type: string; readonly ids: readonly string[] },
  isOne: boolean,
): Promise<readonly ObjectRow[]> {
  const answer = await call("query.page", {
    type,
    filter: `id:${anyOf(ids)}`,
    limit: ids.length,
    ...(isOne ? {} : { fields: [...fieldsForActions(type)] }),
    // Without an answer the rows stay as they are; the server checks the action.
  }).catch(() => null);
  const rows = isObject(answer) ? answer["rows"] : undefined;
  return Array.isArray(rows) ? (rows as readonly ObjectRow[]) : [];
}

function lacks(row: ObjectRow): boolean {
  return fieldsForActions(row.type).some(
    (field) => !Object.hasOwn(row, field) && field !== "xenTools",
  );
}

function byType(rows: readonly ObjectRow[]): Map<string, ObjectRow[]> {
  const types = new Map<string, ObjectRow[]>();
  for (const row of rows) {
    const some = types.get(row.type);
    if (some === undefined) types.set(row.type, [row]);
    else some.push(row);
  }
  return types;
}
