import { shownParameters } from "../../../operations/audit.js";
import type { RestOperation } from "./rest-operation.js";

/** Limit of the other parameters as JSON: every summary of the task contains them. */
const MAX_LENGTH = 1_024;

/**
 * The parameters of `bulk.run` that run the operation again for its object.
 * @param id of the object
 * @returns empty: the operation does not change one object, or some of its parameters are
 *   secret or too long to be stored
 */
export function retryParameters(
  { name, permission, changes }: RestOperation,
  params: object,
  id: string | undefined,
): { readonly retry?: object } {
  if (id === undefined || changes !== true || typeof permission !== "object")
    return {};
  const entries = Object.entries(params) as [string, unknown][];
  const idParameter = entries.find(([, value]) => value === id)?.[0];
  if (idParameter === undefined) return {};
  const others = Object.fromEntries(
    entries.filter(([key]) => key !== idParameter),
  );
  const json = JSON.stringify(others);
  const isComplete = JSON.stringify(shownParameters(others)) === json;
  return isComplete && json.length <= MAX_LENGTH
    ? { retry: { method: name, idParameter, ids: [id], params: others } }
    : {};
}
