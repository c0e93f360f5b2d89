import { isObject } from "@xo-server/kit";
import type { Call } from "../api/server-connection.js";
import type { ObjectRow } from "../api/object-row.js";
import { fieldsForActions } from "./fields.js";
import { textOf } from "./plan/text-of.js";

/** Objects of one question. */
const A_PAGE = 200;

/**
 * Rows with what an action looks at: those that a list did not ask for are fetched.
 * One that is gone stays as it was given: the server says so.
 */
export async function completeRows(
  call: Call,
  rows: readonly ObjectRow[],
): Promise<readonly ObjectRow[]> {
  // One gets all that there is: forms show much of it.
  const isOne = rows.length === 1;
  const lacking = rows.filter((row) => isOne || lacks(row));
  const found = new Map<string, ObjectRow>();
  for (const [type, some] of byType(lacking))
    for (let at = 0; at < some.length; at += A_PAGE) {
      const ids = some.slice(at, at + A_PAGE).map(({ id }) => `id:${id}`);
      const fields = isOne ? {} : { fields: [...fieldsForActions(type)] };
      const filter = `|(${ids.join(" ")})`;
      const answer = await call("query.page", {
        type,
        filter,
        limit: ids.length,
        ...fields,
      }).catch(() => null);
      const objects = isObject(answer) ? answer["rows"] : undefined;
      for (const object of Array.isArray(objects) ? objects : [])
        if (isObject(object))
          found.set(textOf(object["id"]), object as ObjectRow);
    }
  return rows.map((row) => ({ ...row, ...found.get(row.id) }));
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
